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
"""Key of the data that the window has learned, in the format of `hybriddup.run.recipe.LearnedRecipe.write`."""
WATERMARK = "watermark"
EDGES = "edges"
"""Key of the pairs of a watermark and a position, packed, as in `hybriddup.window.event_time.Edges`."""
COUNTS = "counts"
"""Key that is present if the store counts copies."""
DELETED = "deleted"
"""Key of the positions of the kept posts that were deleted."""

READ_TOGETHER = 4096
"""Number of posts that are read from a store at a time, for example to recompute their records."""
FEWEST_CLEARED = 256
"""Minimum number of forgotten posts that an append deletes from the database, or all of them if there are fewer. An
append of many posts deletes more."""
BYTES_PER_POST = 200
"""Estimated size of a post in the database, in bytes, in addition to its texts and its record."""


class Derived(NamedTuple):
    """Derived data of consecutive posts, stored with the posts so that opening a window does not compute it again."""

    made_with: str
    """Id of the settings and data from which the records are computed; records with another id are computed again."""
    parts: Sequence[tuple[int, bytes]]
    """The records of the kept posts, in parts. Each part is a pair of the position after its last post and the packed
    records; the last part ends at the end of the batch."""
    normalized: Sequence[str | None] = ()
    """Normalized text of each post; None = the post's text has to be normalized when it is needed."""


class Span(NamedTuple):
    """A range of consecutive positions, and the records of the kept posts in it."""

    first: int
    end: int
    """The position after the last post."""
    records: bytes | None
    """The packed records; None = the store has no valid records."""


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
