"""Hamming distances of given pairs."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount
from hybriddup.records import Int32s, Int64s, UInt64s


@njit(cache=True, nogil=True)
def pair_distances(bits_a: UInt64s, rows_a: Int64s, bits_b: UInt64s, rows_b: Int64s) -> Int32s:
    """Return int32[n_pairs]: the number of differing bits of ``bits_a[rows_a[p]]`` and ``bits_b[rows_b[p]]``."""
    distances = np.empty(len(rows_a), np.int32)
    for pair in range(len(rows_a)):
        distance = np.uint64(0)
        for word in range(bits_a.shape[1]):
            distance += popcount(bits_a[rows_a[pair], word] ^ bits_b[rows_b[pair], word])
        distances[pair] = np.int32(distance)
    return distances
