"""Checks that every store makes before it takes or gives posts."""

from __future__ import annotations

from collections.abc import Sequence

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.window.records import PostId, StoredPost


def check_consecutive(posts: Sequence[StoredPost], next_position: int) -> None:
    """Raise `StoreError` unless the positions of the posts follow one another from ``next_position`` on."""
    for expected, post in enumerate(posts, next_position):
        if post.position != expected:
            raise StoreError(f"a post to append has position {post.position}; the next one is {expected}")


def check_held(positions: Int64s, first: int, end: int) -> None:
    """Raise `StoreError` unless each position is at least ``first`` and less than ``end``."""
    if len(positions) and not (first <= int(positions.min()) and int(positions.max()) < end):
        wrong = positions[(positions < first) | (positions >= end)][:3].tolist()
        raise StoreError(f"no post at the positions {wrong}: the store holds those from {first} up to, without, {end}")


def check_edge(position: int, next_position: int) -> None:
    """Raise `StoreError` if posts were to be forgotten that are yet to come."""
    if position > next_position:
        raise StoreError(f"cannot forget posts before position {position}: the next post has position {next_position}")


def check_ids_new(ids: Sequence[PostId], found: Sequence[StoredPost | None]) -> None:
    """Raise `StoreError` if the store has found a post that has one of the ids."""
    for post_id, post in zip(ids, found, strict=True):
        if post is not None:
            raise stands_already(post_id)


def check_each_once(ids: Sequence[PostId]) -> None:
    """Raise `StoreError` if an id stands twice."""
    if len(set(ids)) < len(ids):
        raise stands_already(next(post_id for place, post_id in enumerate(ids) if post_id in ids[:place]))


def stands_already(post_id: PostId) -> StoreError:
    """Return the error of an id that a post has already."""
    return StoreError(f"the id {post_id!r} is in the store already; a post is appended once")
