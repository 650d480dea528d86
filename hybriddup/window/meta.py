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
    watermark = store.meta(WATERMARK)
    return NEVER if watermark is None else float(struct.unpack("<d", watermark)[0])


def deleted_positions(store: WindowStore) -> Int64s:
    """Return int64[n]: the positions of the kept posts that were deleted and are not forgotten, rising."""
    positions = np.frombuffer(store.meta(DELETED) or b"", "<i8").astype(np.int64)
    return positions[positions >= store.first_position]


def packed(watermark: float) -> bytes:
    """Return a watermark as a store has it."""
    return struct.pack("<d", watermark)
