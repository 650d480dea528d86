"""A hash table from the hashes of ids to positions: open addressing, of numbers alone, without taking anything out."""

from __future__ import annotations

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.vectors import fetch_early
from hybriddup.records import Int32s, Int64s, UInt64s

FETCH_SOON, FETCH_NEXT = 16, 8
"""How many look-ups ahead a slot is fetched, and the hash that it leads to."""


@njit(cache=True, nogil=True)
def fill_slots(slots: Int32s, hashes: UInt64s, first: int, end: int) -> None:
    """Enter the hashes at the places ``first`` up to ``end``, which is left out.

    Parameters
    ----------
    slots
        int32[a power of two], more than ``end``; 0 = free, else a place plus 1. Changed in place.
    hashes
        uint64[n], n at least ``end``. Equal ones are all entered.
    """
    mask = np.uint64(len(slots) - 1)
    for place in range(first, end):
        slot = hashes[place] & mask
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = place + 1


@njit(cache=True, nogil=True)
def latest_places(slots: Int32s, hashes: UInt64s, wanted: UInt64s) -> Int64s:
    """Return int64[n]: for each hash wanted the last place that has it, -1 where there is none.

    Parameters
    ----------
    slots, hashes
        As `fill_slots` leaves them.
    """
    mask, last = np.uint64(len(slots) - 1), len(wanted) - 1
    places = np.full(len(wanted), -1, np.int64)
    for i in range(len(wanted)):
        fetch_early(slots, wanted[min(i + FETCH_SOON, last)] & mask)
        fetch_early(hashes, np.uint64(max(slots[wanted[min(i + FETCH_NEXT, last)] & mask] - 1, 0)))
        slot = wanted[i] & mask
        while slots[slot] != 0:
            place = slots[slot] - 1
            if hashes[place] == wanted[i] and place > places[i]:
                places[i] = place
            slot = (slot + np.uint64(1)) & mask
    return places
