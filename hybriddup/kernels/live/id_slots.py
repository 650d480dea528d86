"""A hash map from the hashes of ids to positions, with linear probing and without removal.

A slot holds an index into the array of hashes and a few bits of the hash as a tag. Most ids that are looked up are new:
the tags rule nearly all of them out without a read of the array of hashes, which would be a cache miss.
"""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.vectors import fetch_early

FETCH_SOON = 16
"""How many look-ups ahead a slot is fetched."""
PLACE_BITS = 25
MOST_PLACES = (1 << PLACE_BITS) - 1
PLACE_MASK = np.uint32(MOST_PLACES)
TAG_SHIFT = np.uint64(64 - (32 - PLACE_BITS))
"""The upper bits of a hash are its tag; the lower bits select its slot."""


@njit(cache=True, nogil=True)
def tag_of(hashed: np.uint64) -> np.uint32:
    """Return the tag of a hash, shifted to its place in a slot."""
    return np.uint32(hashed >> TAG_SHIFT << np.uint64(PLACE_BITS))


@njit(cache=True, nogil=True)
def fill_slots(slots: UInt32s, hashes: UInt64s, first: int, end: int) -> None:
    """Enter the hashes at the places ``first`` up to ``end``, which is left out.

    Parameters
    ----------
    slots
        uint32[a power of two], more than ``end``; 0 = free, else a place plus 1 under the tag. Changed in place.
    hashes
        uint64[n], n at least ``end``, which is at most `MOST_PLACES`. Equal ones are all entered.
    """
    mask = np.uint64(len(slots) - 1)
    for place in range(first, end):
        slot = hashes[place] & mask
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = tag_of(hashes[place]) | np.uint32(place + 1)


@njit(cache=True, nogil=True)
def find_latest(slots: UInt32s, hashes: UInt64s, wanted: UInt64s, first_position: int, found: Int64s) -> None:
    """Write for each hash wanted the position of the last place that has it, and leave the others as they are.

    Parameters
    ----------
    slots, hashes
        As `fill_slots` leaves them.
    wanted
        uint64[n].
    first_position
        Of the first place; the others follow.
    found
        int64[n]: positions before the first one, or -1. Changed in place.
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
