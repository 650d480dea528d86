"""A hash map from hashed ids to positions, with linear probing and without removal.

A slot holds an index into the array of hashes, and a few bits of the hash as a tag. Most ids that are looked up are
new. The tags rule out nearly all of them without reading the array of hashes, which would be a cache miss.
"""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.vectors import fetch_early

FETCH_SOON = 16
"""How many look-ups ahead a slot is prefetched."""
PLACE_BITS = 25
MOST_PLACES = (1 << PLACE_BITS) - 1
PLACE_MASK = np.uint32(MOST_PLACES)
TAG_SHIFT = np.uint64(64 - (32 - PLACE_BITS))
"""Number of bits by which to shift a hash right to get its tag; the lowest bits of a hash select the slot."""


@njit(cache=True, nogil=True)
def tag_of(hashed: np.uint64) -> np.uint32:
    """Return the tag of a hash, shifted to the position of the tag bits in a slot."""
    return np.uint32(hashed >> TAG_SHIFT << np.uint64(PLACE_BITS))


@njit(cache=True, nogil=True)
def fill_slots(slots: UInt32s, hashes: UInt64s, first: int, end: int) -> None:
    """Insert ``hashes[first:end]`` into a hash map.

    Parameters
    ----------
    slots
        uint32[n_slots], with n_slots a power of two above ``end``. 0 = free; otherwise the tag of a hash, and in the
        low bits its index plus 1. Changed in place.
    hashes
        uint64[n], with ``end`` at most `MOST_PLACES`. Equal hashes are all inserted.
    """
    mask = np.uint64(len(slots) - 1)
    for place in range(first, end):
        slot = hashes[place] & mask
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = tag_of(hashes[place]) | np.uint32(place + 1)


@njit(cache=True, nogil=True)
def find_latest(slots: UInt32s, hashes: UInt64s, wanted: UInt64s, first_position: int, found: Int64s) -> None:
    """Look up hashes, and write the latest position of each hash that is in the map into ``found``.

    Parameters
    ----------
    slots, hashes
        The hash map, as filled by `fill_slots`.
    wanted
        uint64[n]: the hashes to look up.
    first_position
        ``hashes[i]`` has the position ``first_position + i``.
    found
        int64[n]: on entry, earlier positions of the hashes, or -1. Changed in place for the hashes in the map.
    """
    mask, last = np.uint64(len(slots) - 1), len(wanted) - 1
    for i in range(len(wanted)):
        fetch_early(slots, wanted[min(i + FETCH_SOON, last)] & mask)
        slot, tag = wanted[i] & mask, tag_of(wanted[i])
        while slots[slot] != 0:
            place = np.int64(slots[slot] & PLACE_MASK) - 1
            if slots[slot] & ~PLACE_MASK == tag and hashes[place] == wanted[i]:
                found[i] = max(found[i], first_position + place)
            slot = (slot + np.uint64(1)) & mask
