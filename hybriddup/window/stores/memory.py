"""A window's posts in memory: gone when the process ends."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.window.records import PostId, StoredPost, mark_of
from hybriddup.window.stores import (
    FEWEST_CLEARED,
    READ_TOGETHER,
    Derived,
    Span,
    check_consecutive,
    check_edge,
    check_held,
    check_ids_new,
)

BYTES_A_POST = 400
"""What the objects around the text of a post take, on average."""


class MemoryStore:
    """Holds posts in dictionaries by position and by id."""

    keeps_derived = False

    def __init__(self) -> None:
        self._posts: dict[int, StoredPost] = {}
        self._ids: dict[PostId, int] = {}
        self._meta: dict[str, bytes] = {}
        self._first = 0
        self._next = 0
        self._cleared = 0
        """Posts before this position are no longer held."""
        self._text_bytes = 0
        self._closed = False

    @property
    def first_position(self) -> int:
        """The first position that is not forgotten."""
        return self._first

    @property
    def next_position(self) -> int:
        """The position of the next post to append."""
        return self._next

    def append(
        self,
        posts: Sequence[StoredPost],
        meta: Mapping[str, bytes] | None = None,
        derived: Derived | None = None,  # noqa: ARG002  gone with the store
    ) -> None:
        """Hold posts and values; see `WindowStore`."""
        self._check_open()
        check_consecutive(posts, self._next)
        ids = [post.id for post in posts]
        check_ids_new(ids, self.find_ids(ids))
        for post in posts:
            self._posts[post.position] = post
            self._ids[post.id] = post.position
            self._text_bytes += sys.getsizeof(post.text)
        self._next += len(posts)
        self._meta.update(meta or {})
        self._clear(max(FEWEST_CLEARED, 2 * len(posts)))

    def find_ids(self, ids: Sequence[PostId]) -> list[StoredPost | None]:
        """Return the post of each id, or None."""
        self._check_open()
        places = [self._ids.get(each, -1) for each in ids]
        return [self._posts[place] if place >= self._first else None for place in places]

    def posts(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions."""
        self._check_open()
        check_held(positions, self._first, self._next)
        return [self._posts[position] for position in positions.tolist()]

    def normalized(self, positions: Int64s) -> dict[int, str]:  # noqa: ARG002
        """Return nothing: no normalized text is stored."""
        return {}

    def spans(self, position: int, made_with: str) -> Iterator[Span]:  # noqa: ARG002
        """Yield the posts from a position on as spans without records."""
        self._check_open()
        for first in range(max(position, self._first), self._next, READ_TOGETHER):
            yield Span(first, min(first + READ_TOGETHER, self._next), None)

    def put_derived(self, first: int, derived: Derived) -> None:
        """Do nothing; see `keeps_derived`."""

    def forget_before(self, position: int) -> None:
        """Have posts before a position found no more; see `WindowStore`."""
        self._check_open()
        check_edge(position, self._next)
        self._first = max(self._first, position)
        self._clear(FEWEST_CLEARED)

    def delete(self, position: int, meta: Mapping[str, bytes]) -> None:
        """Put a mark in place of a post; see `WindowStore`."""
        post = self.posts(np.array([position]))[0]
        if not post.deleted:
            self._posts[position] = mark_of(post)
            self._text_bytes -= sys.getsizeof(post.text) - sys.getsizeof("")
            del self._ids[post.id]
        self._meta.update(meta)

    def meta(self, key: str) -> bytes | None:
        """Return the value under a key."""
        self._check_open()
        return self._meta.get(key)

    def set_meta(self, values: Mapping[str, bytes]) -> None:
        """Hold values under their keys."""
        self._check_open()
        self._meta.update(values)

    def n_bytes(self) -> int:
        """Return an estimate of the bytes that the posts take."""
        return self._text_bytes + BYTES_A_POST * len(self._posts)

    def close(self) -> None:
        """Let go of everything."""
        self._closed = True
        self._posts, self._ids, self._meta = {}, {}, {}
        self._text_bytes = 0

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store in memory is closed; open a new window")

    def _clear(self, limit: int) -> None:
        """Let go of some of the forgotten posts."""
        end = min(self._first, self._cleared + limit)
        for position in range(self._cleared, end):
            post = self._posts.pop(position)
            self._text_bytes -= sys.getsizeof(post.text)
            if self._ids.get(post.id) == position:
                del self._ids[post.id]
        self._cleared = max(end, self._cleared)
