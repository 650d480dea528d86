"""Which pairs of a text with too many are the nearest: those with the fewest differing bits."""

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.nearest_hits import FARTHEST, distance_of_sure


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
