"""Hits of one text: each other text once, and where there are far more than are verified, only the nearest of them.

A hit is a number of another text in the upper 32 bits, and in the lower its depth, which is the number from the newest
text of a key that both have.
"""

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt64s
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
    """Keep each text that was hit once, at its smallest depth, in the first ``n_hits`` of ``hits``; return how many.

    ``slots`` uint64[n], n a power of two and at least twice ``n_hits``, is a hash table of places among the hits, each
    under the number of the query that wrote it; ``query`` is another number for each call, 1 or more.
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
    """Keep those of a text's hits that may be among its nearest candidates; return how many, and within which distance.

    Where more of them than are verified will be candidates for sure, whatever else is hit later, what is farther away
    than these will not be verified. One more than needed is kept, so that it is seen that some were left out. The
    distance is `FARTHEST` where all are left.

    Parameters
    ----------
    hits
        uint64[n]: pairs within their limits; changed in place.
    distances, is_sure
        int32[n], bool[n]: of the hits; whether each is a candidate, whatever else is kept of the batch.
    most
        So many of the candidates are verified.
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


@njit(cache=True, nogil=True)
def choose_nearest(distances: Int32s, is_candidate: Bools, most: int) -> None:
    """Leave so many candidates, those with the fewest differing bits, the first ones where as many differ."""
    limit, n_left = nearest_limit(distances, is_candidate, most)
    for i in range(len(distances)):
        if is_candidate[i] and distances[i] == limit and n_left > 0:
            n_left -= 1
        elif distances[i] >= limit:
            is_candidate[i] = False


@njit(cache=True, nogil=True)
def nearest_limit(distances: Int32s, is_candidate: Bools, most: int) -> tuple[int, int]:
    """Return the distance at which the nearest candidates end, and how many of that distance are in."""
    counts = np.zeros(np.int64(distances.max()) + 2, np.int64)
    for i in range(len(distances)):
        counts[distances[i]] += is_candidate[i]
    left, distance = np.int64(most), np.int64(0)
    while distance < len(counts) - 1 and counts[distance] <= left:
        left -= counts[distance]
        distance += 1
    return distance, left


@njit(cache=True, nogil=True)
def farthest_wanted(later: Int64s, distances: Int32s, is_sure: Bools, most_pairs: Int64s) -> Int32s:
    """Return int32[n_texts]: no pair that differs in more bits is among the nearest candidates of a text.

    Parameters
    ----------
    later
        int64[n_pairs], rising: the row of the later text.
    is_sure
        bool[n_pairs]: whether a pair is a candidate for sure.
    most_pairs
        int64[n_texts]: of each text's candidates so many are verified. Where more than that are sure, one more of them
        is wanted, so that it is seen that some were left out.
    """
    farthest = np.full(len(most_pairs), FARTHEST, np.int32)
    first = 0
    while first < len(later):
        row, last = later[first], first
        while last < len(later) and later[last] == row:
            last += 1
        if last - first > most_pairs[row]:
            farthest[row] = distance_of_sure(distances[first:last], is_sure[first:last], most_pairs[row])
        first = last
    return farthest
