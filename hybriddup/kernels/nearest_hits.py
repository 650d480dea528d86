"""Hits of one text: each other text once, and where there are far more than are verified, only the nearest of them.

A hit is a number of another text in the upper 32 bits, and in the lower its depth, which is the number from the newest
text of a key that both have.
"""

import numpy as np

from hybriddup.data.records import Bools, Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import SPREAD
from hybriddup.kernels.popcount import HALF, LOW_HALF, ONE

FARTHEST = np.int32(2**31 - 1)
"""No pair differs in so many bits."""
MANY_HITS = 2
"""Where so many times as many texts were hit as are verified, those too far away are left out from there on."""
NO_LIMIT = np.int64(2**62)


@njit(cache=True, nogil=True, inner=True)
def keep_distinct(hits: UInt64s, n_hits: int, slots: UInt64s, query: np.uint64) -> int:
    """Keep each text that was hit once, at its smallest depth; return how many there are.

    The first ``n_hits`` of ``hits`` are changed in place.

    Parameters
    ----------
    slots
        uint64[n], n a power of two and at least twice ``n_hits``: a hash table of places among the hits, each under the
        number of the query that wrote it.
    query
        Another number for each call, 1 or more.
    """
    n, mask = np.int64(0), np.uint64(len(slots) - 1)
    for i in range(n_hits):
        row = hits[i] >> HALF
        slot = (row * SPREAD >> HALF) & mask
        while slots[slot] >> HALF == query and hits[np.int64(slots[slot] & LOW_HALF)] >> HALF != row:
            slot = (slot + ONE) & mask
        if slots[slot] >> HALF == query:
            place = np.int64(slots[slot] & LOW_HALF)
            hits[place] = min(hits[place], hits[i])
        else:
            slots[slot] = (query << HALF) | np.uint64(n)
            hits[n] = hits[i]
            n += 1
    return n


@njit(cache=True, nogil=True)
def keep_nearest(hits: UInt64s, distances: Int32s, is_sure: Bools, most: int) -> tuple[int, np.int32]:
    """Keep those of a text's hits that may be among its nearest candidates.

    Where more of them than are verified will be candidates for sure, those that are farther away than these will not be
    verified. One more than needed is kept, so that it is seen that some were left out.

    Parameters
    ----------
    hits
        uint64[n]: pairs within their limits; changed in place.
    distances, is_sure
        int32[n], bool[n]: of the hits; whether each is a candidate, whatever else is kept of the batch.
    most
        So many of the candidates are verified.

    Returns
    -------
    n, limit
        How many hits are left, and the distance that they are within. Whatever else is hit later, what is farther away
        will not be verified. `FARTHEST` where all are left.
    """
    if len(hits) <= most:
        return len(hits), FARTHEST
    limit, n = distance_of_sure(distances, is_sure, most), np.int64(0)
    for hit in range(len(hits)):
        hits[n] = hits[hit]
        n += distances[hit] <= limit
    return n, limit


@njit(cache=True, nogil=True)
def distance_of_sure(distances: Int32s, is_sure: Bools, most: int) -> np.int32:
    """Return the smallest distance within which more sure pairs are than ``most``; `FARTHEST` where there are none."""
    counts = np.zeros(np.int64(distances.max()) + 1, np.int64)
    for i in range(len(distances)):
        counts[distances[i]] += is_sure[i]
    n = np.int64(0)
    for distance in range(len(counts)):
        n += counts[distance]
        if n > most:
            return np.int32(distance)
    return FARTHEST


@njit(cache=True, nogil=True, inner=True)
def power_of_two(least: int) -> int:
    """Return the smallest power of two that is not less."""
    power = np.int64(1)
    while power < least:
        power *= 2
    return power
