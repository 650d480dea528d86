"""The classic layout of 64-bit fingerprints in a store: a plain cell for each post under each block of its fingerprint.

A key has the number of a block in its lowest byte, and above it this block of the fingerprint, the *segment*.
Fingerprints within three bits of each other have one of four blocks in common (Manku, Jain and Das Sarma 2007). Cells
are big-endian and have no padding, so that other programs can read them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.shared_windows.store import Entries, Keyed, entry_type

CELL = np.dtype([("bits", ">u8"), ("position", ">u8"), ("length", ">u4")])
"""Fingerprint, position and length of a post, 20 bytes."""


def cells_of(texts: Keyed) -> tuple[UInt64s, NDArray[np.void]]:
    """Return all keys of the posts, as uint64[n], and for each key the cell of its post, as records of type `CELL`."""
    rows, columns = np.nonzero(texts.keys != NO_KEY)
    cells = np.zeros(len(rows), CELL)
    cells["bits"] = texts.entries["bits"][rows, 0]
    for name in ("position", "length"):
        cells[name] = texts.entries[name][rows]
    return texts.keys[rows, columns], cells


def entries_of(counts: Int64s, cells: NDArray[np.void]) -> Entries:
    """Convert cells to entries of buckets; ``counts``, int64[n_keys], has the number of cells under each key."""
    entries = np.zeros(len(cells), entry_type(1))
    entries["bits"][:, 0] = cells["bits"]
    for name in ("position", "length"):
        entries[name] = cells[name]
    return Entries(counts, entries)
