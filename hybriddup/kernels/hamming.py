"""Hamming distances."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount


@njit(cache=True, nogil=True)
def pair_distances(bits_a: UInt64s, rows_a: Int64s, bits_b: UInt64s, rows_b: Int64s) -> Int32s:
    """Return int32[n_pairs]: the number of differing bits of ``bits_a[rows_a[p]]`` and ``bits_b[rows_b[p]]``."""
    distances = np.empty(len(rows_a), np.int32)
    for pair in range(len(rows_a)):
        distances[pair] = np.int32(differing_bits(bits_a, rows_a[pair], bits_b, rows_b[pair]))
    return distances


@njit(cache=True, nogil=True, counts_references=False)
def differing_bits(a: UInt64s, row_a: int, b: UInt64s, row_b: int) -> int:
    """Return the Hamming distance of two rows of fingerprints uint64[n, words]."""
    distance = np.int64(0)
    for word in range(a.shape[1]):
        distance += np.int64(popcount(a[row_a, word] ^ b[row_b, word]))
    return distance
