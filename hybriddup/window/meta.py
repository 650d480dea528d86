"""What a store remembers about its window besides the posts."""

import struct

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.event_time import NEVER
from hybriddup.window.stores import WindowStore

RECIPE = "recipe"
"""The recipe of the fingerprints, as JSON."""
WEIGHTS = "weights"
"""The table of the fitted weighter."""
VERIFIER = "verifier "
"""Followed by what tells a verifier from the others: what it learned."""
BLOCKS = "blocks"
"""What the block index learned."""
WATERMARK = "watermark"
EDGES = "edges"
"""What `hybriddup.window.event_time.Edges` packs."""

DELETED = "deleted"
"""Positions of the kept posts that were deleted."""
LOG_TOKEN = "memory log"  # noqa: S105  no secret
"""By which `hybriddup.window.derived.kept_log` knows the store."""


def stored_watermark(store: WindowStore) -> float:
    """Return the watermark that a store has with its posts; minus infinity where it has none."""
    packed = store.meta(WATERMARK)
    return NEVER if packed is None else unpack_float(packed)


def deleted_positions(store: WindowStore) -> Int64s:
    """Return int64[n]: the positions of the kept posts that were deleted and are not forgotten, rising."""
    positions = np.frombuffer(store.meta(DELETED) or b"", "<i8").astype(np.int64)
    return positions[positions >= store.first_position]


def pack_float(number: float) -> bytes:
    """Return a float as eight bytes.

    Examples
    --------
    >>> unpack_float(pack_float(1.5))
    1.5
    """
    return struct.pack("<d", number)


def unpack_float(value: bytes) -> float:
    """Return what `pack_float` packed."""
    number: float = struct.unpack("<d", value)[0]
    return number
