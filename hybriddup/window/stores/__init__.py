"""Stores of a window: a Protocol and its two implementations, in memory and in an SQLite file."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.window.event_time import NEVER
from hybriddup.window.records import PostId, StoredPost

RECIPE = "recipe"
"""Key of the recipe of the fingerprints, as JSON."""
LEARNED = "learned"
"""Key of what the window has learned, as `hybriddup.run.recipe.LearnedRecipe.write` writes it."""
WATERMARK = "watermark"
EDGES = "edges"
"""What `hybriddup.window.event_time.Edges` packs."""
DELETED = "deleted"
"""Key of the positions of the kept posts that were deleted."""

READ_TOGETHER = 4096
"""Posts that are read together, to derive what is in memory or to learn from them."""
FEWEST_CLEARED = 256
"""Number of forgotten posts that a call clears, at least, if there are as many."""


class Derived(NamedTuple):
    """Derived data of consecutive posts, stored with the posts so that opening a window does not compute it again."""

    made_with: str
    """Id of everything that the records depend on; records with another id are derived again."""
    parts: Sequence[tuple[int, bytes]]
    """Records of the kept posts in parts, each with the position after its last post; the last part ends the batch."""
    normalized: Sequence[str | None] = ()
    """Normalized text of each post; None = the post's text has to be normalized when it is needed."""


class Span(NamedTuple):
    """Consecutive posts and the records of the kept ones."""

    first: int
    end: int
    """The position after the last post."""
    records: bytes | None
    """None = the store has none that can be used."""


def stored_watermark(store: WindowStore) -> float:
    """Return the watermark that a store has with its posts; minus infinity where it has none."""
    watermark = store.meta(WATERMARK)
    return NEVER if watermark is None else float(struct.unpack("<d", watermark)[0])


def deleted_positions(store: WindowStore) -> Int64s:
    """Return int64[n]: the positions of the kept posts that were deleted and are not forgotten, rising."""
    positions = np.frombuffer(store.meta(DELETED) or b"", "<i8").astype(np.int64)
    return positions[positions >= store.first_position]


def packed(watermark: float) -> bytes:
    """Return a watermark as a store has it."""
    return struct.pack("<d", watermark)


class WindowStore(Protocol):
    """Holds the posts of a window in the order of their positions, and what the window must remember about itself.

    One call at a time, from any thread: the window holds a lock. Ids are compared with their type: ``"1"`` is not
    ``1``, and numbers have 64 bits. Texts and ids may hold any character, lone surrogates and NUL among them. What
    cannot be read or written raises `hybriddup.errors.StoreError`, and the store can be used again as soon as its cause
    is gone.

    `hybriddup.window.state.WindowState` is the only writer of its store, and relies on that. For several writing
    processes, a plugin brings windows of its own, such as those over a `hybriddup.shared_windows.SharedStore`.
    """

    keeps_derived: bool
    """Whether derived data is stored; if not, it need not be made."""

    @property
    def first_position(self) -> int:
        """The first position that is not forgotten; equal to ``next_position`` where no post is left."""
        ...

    @property
    def next_position(self) -> int:
        """The position of the next post to append, also where all posts are forgotten; 0 in a new store."""
        ...

    def append(
        self, posts: Sequence[StoredPost], meta: Mapping[str, bytes] | None = None, derived: Derived | None = None
    ) -> None:
        """Store posts, values and derived data together: all are safe when it returns, or none is and it raises.

        Parameters
        ----------
        posts
            Of consecutive positions from ``next_position``; no id twice, and none of a post that is found.
        meta
            Values that must agree with the posts, such as the watermark.
        derived
            Derived data of these posts; None = there is none.

        Raises
        ------
        StoreError
            If the posts cannot be stored, or are not as described.
        """
        ...

    def find_ids(self, ids: Sequence[PostId]) -> list[StoredPost | None]:
        """Return the post of each id in the order asked, None where there is none or it is forgotten."""
        ...

    def posts(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in the order asked; StoreError where one is forgotten or not in use."""
        ...

    def normalized(self, positions: Int64s) -> dict[int, str]:
        """Return the normalized texts of posts, by position; without those that are not stored, or are damaged."""
        ...

    def spans(self, position: int, made_with: str) -> Iterator[Span]:
        """Yield all posts from a position on, or from the first that is not forgotten, as consecutive spans.

        Records made with anything else are None. The first span may begin before the position. Other calls may come
        between two spans.
        """
        ...

    def put_derived(self, first: int, derived: Derived) -> None:
        """Replace the records of the posts from ``first`` on, where a span begins, up to where a span ends."""
        ...

    def forget_before(self, position: int) -> None:
        """Have posts before a position found no more, at once.

        Their space is used again: a little is cleared at each call or with each `append`, in proportion to the posts
        appended, so that no call takes long. It is durable with the next `append` or `close`. A position before
        ``first_position`` changes nothing; one after ``next_position`` raises `StoreError`.
        """
        ...

    def delete(self, position: int, meta: Mapping[str, bytes]) -> None:
        """Put a mark in place of a post (`hybriddup.window.records.mark_of`), and store values with it, all or none.

        The post's text is gone from the store, and its id is free. Raises as `posts` does.
        """
        ...

    def meta(self, key: str) -> bytes | None:
        """Return the value last stored under a key, None where there is none."""
        ...

    def set_meta(self, values: Mapping[str, bytes]) -> None:
        """Store values under their keys: all of them are safe when it returns, or none is and it raises."""
        ...

    def n_bytes(self) -> int:
        """Return how many bytes the store takes, on disk or in memory; an estimate for memory."""
        ...

    def close(self) -> None:
        """Give everything back; a second call does nothing, any other call then raises `StoreError`."""
        ...


def check_consecutive(posts: Sequence[StoredPost], next_position: int) -> None:
    """Raise `StoreError` unless the positions of the posts follow one another from ``next_position`` on."""
    for expected, post in enumerate(posts, next_position):
        if post.position != expected:
            raise StoreError(f"a post to append has position {post.position}; the next one is {expected}")


def check_held(positions: Int64s, first: int, end: int) -> None:
    """Raise `StoreError` unless each position is at least ``first`` and less than ``end``."""
    if len(positions) and not (first <= int(positions.min()) and int(positions.max()) < end):
        wrong = positions[(positions < first) | (positions >= end)][:3].tolist()
        raise StoreError(f"positions {wrong} are outside of the store's range [{first}, {end})")


def check_edge(position: int, next_position: int) -> None:
    """Raise `StoreError` if posts were to be forgotten that are yet to come."""
    if position > next_position:
        raise StoreError(f"cannot forget posts before position {position}: the next post has position {next_position}")


def check_ids_new(ids: Sequence[PostId], found: Sequence[StoredPost | None]) -> None:
    """Raise `StoreError` if an id stands twice, or the store has found a post that has one."""
    taken = [post.id for post in found if post is not None]
    if len(set(ids)) < len(ids):
        taken += (post_id for place, post_id in enumerate(ids) if post_id in ids[:place])
    if taken:
        raise StoreError(f"the id {taken[0]!r} is in the store already; a post is appended once")
