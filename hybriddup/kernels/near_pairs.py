"""Every pair of some texts within its limits, for as many as one batch has."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.hamming import differing_bits
from hybriddup.records import Int32s, Int64s, UInt64s


@njit(cache=True, nogil=True)
def near_pairs(
    bits: UInt64s, lengths: Int32s, max_distances: Int32s, max_partner_lengths: Int32s, first: int, last: int
) -> tuple[Int64s, Int64s, Int32s]:
    """Return the pairs within their limits whose later text is from ``first`` to ``last``, by later, then by earlier.

    Parameters
    ----------
    bits
        uint64[n, words]: fingerprints.
    lengths, max_distances, max_partner_lengths
        int32[n]: as in `hybriddup.records.PairLimits`; those of the shorter text rule a pair.

    Returns
    -------
    earlier, later, distances
        int64[n_pairs], int64[n_pairs], int32[n_pairs]: the rows, and how many bits differ.
    """
    n, n_pairs, widest = len(bits), np.int64(0), np.int64(-1)
    for row in range(n):
        widest = max(widest, np.int64(max_distances[row]))
    near, of_near = np.empty(n + 1, np.int64), np.empty(n + 1, np.int32)
    earlier, later, distances = np.empty(n + 1024, np.int64), np.empty(n + 1024, np.int64), np.empty(n + 1024, np.int32)
    for row in range(first, last):
        if n_pairs + row > len(earlier):
            earlier, later = with_room_for(earlier, n_pairs, row), with_room_for(later, n_pairs, row)
            distances = with_room_for(distances, n_pairs, row)
        for i in range(note_near(bits, row, widest, near, of_near)):
            other = near[i]
            shorter, longer = (other, row) if lengths[other] < lengths[row] else (row, other)
            earlier[n_pairs], later[n_pairs], distances[n_pairs] = other, row, of_near[i]
            n_pairs += of_near[i] <= max_distances[shorter] and lengths[longer] <= max_partner_lengths[shorter]
    return earlier[:n_pairs].copy(), later[:n_pairs].copy(), distances[:n_pairs].copy()


@njit(cache=True, nogil=True, counts_references=False)
def note_near(bits: UInt64s, row: int, limit: int, near: Int64s, distances: Int32s) -> int:
    """Write the earlier rows within a limit of a row, rising, and their distances; return how many there are."""
    n_near = np.int64(0)
    for other in range(row):
        distance = differing_bits(bits, row, bits, other)
        near[n_near], distances[n_near] = other, np.int32(distance)
        n_near += distance <= limit
    return n_near
