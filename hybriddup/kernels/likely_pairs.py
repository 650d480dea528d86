"""The likeliest of many candidate pairs of a text, in time that grows with their number alone: nothing is sorted."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.records import Bools, Int32s, Int64s, UInt64s

LOW_HALF = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def nearest_pairs(rows: Int64s, distances: Int32s, most: Int64s, n_distances: int) -> Bools:
    """Return bool[n_pairs]: which pairs are among the nearest of their row.

    Parameters
    ----------
    rows
        int64[n_pairs].
    distances
        int32[n_pairs], each less than ``n_distances``. Of pairs with the same distance the first are kept.
    most
        int64[n_rows]: how many pairs of each row are kept.
    """
    allowed = np.zeros((len(most), n_distances), np.int64)
    for pair in range(len(rows)):
        allowed[rows[pair], distances[pair]] += 1
    for row in range(len(most)):
        left = most[row]
        for distance in range(n_distances):
            allowed[row, distance] = min(allowed[row, distance], left)
            left -= allowed[row, distance]
    kept = np.zeros(len(rows), np.bool_)
    for pair in range(len(rows)):
        if allowed[rows[pair], distances[pair]] > 0:
            allowed[rows[pair], distances[pair]] -= 1
            kept[pair] = True
    return kept


@njit(cache=True, nogil=True)
def newest_places(near: UInt64s, n_rows: int, most: int) -> UInt64s:
    """Return the entries of each row with the largest places: about ``most`` of a row that has more, else all of them.

    Parameters
    ----------
    near
        uint64[n]: row in the upper 32 bits, place in the lower; no two are the same, in any order.
    most
        At least 1. Places are told apart by 1,024 steps of their range, and the last step that fits is kept whole.
    """
    counts = np.zeros(n_rows, np.int64)
    largest = np.uint64(0)
    for i in range(len(near)):
        counts[near[i] >> np.uint64(32)] += 1
        largest = max(largest, near[i] & LOW_HALF)
    if counts.max() <= most:
        return near
    shift = np.uint64(0)
    while largest >> shift >= np.uint64(1024):
        shift += np.uint64(1)
    steps = np.zeros((n_rows, 1024), np.int64)
    for i in range(len(near)):
        steps[near[i] >> np.uint64(32), (near[i] & LOW_HALF) >> shift] += 1
    first = np.zeros(n_rows, np.int64)
    for row in range(n_rows):
        left, step = most, 1023
        while counts[row] > most and step >= 0 and left > 0:
            left -= steps[row, step]
            first[row] = step
            step -= 1
    kept, n_kept = np.empty(len(near), np.uint64), 0
    for i in range(len(near)):
        if np.int64((near[i] & LOW_HALF) >> shift) >= first[near[i] >> np.uint64(32)]:
            kept[n_kept] = near[i]
            n_kept += 1
    return kept[:n_kept].copy()
