"""Definitions shared by the stores of a window: keys of values, derived data, and checks of arguments."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.window.records import StoredPost

RECIPE = "recipe"
"""Key of the recipe of the fingerprints, as JSON."""
LEARNED = "learned"
"""Key of what the window has learned, as `hybriddup.run.recipe.LearnedRecipe.write` writes it."""
WATERMARK = "watermark"
EDGES = "edges"
"""Key of the packed `hybriddup.window.event_time.Edges`."""
COUNTS = "counts"
"""Key that a store has if it counts copies."""
DELETED = "deleted"
"""Key of the positions of the kept posts that were deleted."""

READ_TOGETHER = 4096
"""Posts read together to derive the memory or to learn."""
FEWEST_CLEARED = 256
"""Minimum number of forgotten posts that an append clears, if there are that many."""
BYTES_PER_POST = 200
"""Bytes of a post in the database, in addition to its texts and its record."""


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
    """None = the store has no valid records."""


def packed(watermark: float) -> bytes:
    """Pack a watermark into the bytes that are stored."""
    return struct.pack("<d", watermark)


def check_held(positions: Int64s, first: int, end: int) -> None:
    """Raise `StoreError` unless each position is at least ``first`` and less than ``end``."""
    if len(positions) and not (first <= int(positions.min()) and int(positions.max()) < end):
        wrong = positions[(positions < first) | (positions >= end)][:3].tolist()
        raise StoreError(f"positions {wrong} are outside of the store's range [{first}, {end})")


def size_of(posts: Sequence[StoredPost], derived: Derived | None) -> int:
    """Return the approximate size of a batch in the database, in bytes."""
    size = sum(BYTES_PER_POST + 4 * len(post.text) for post in posts)
    if derived is not None:
        size += sum(len(records) for _, records in derived.parts)
        size += sum(4 * len(text) for text in derived.normalized if text is not None)
    return size
