"""Checks that every store makes before it takes or gives posts."""

from __future__ import annotations

from collections.abc import Sequence

from hybriddup.errors import StoreError
from hybriddup.records import Int64s
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
    """Raise `StoreError` if an id stands twice, or the store has found a post that has it."""
    seen: set[PostId] = set()
    for post_id, post in zip(ids, found, strict=True):
        if post is not None or post_id in seen:
            raise StoreError(f"the id {post_id!r} is in the store already; a post is appended once")
        seen.add(post_id)
