"""Hamming distances."""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount


@njit(cache=True, nogil=True, inner=True)
def differing_bits(a: UInt64s, row_a: int, b: UInt64s, row_b: int) -> int:
    """Return the Hamming distance of two rows of fingerprints uint64[n, words]."""
    distance = np.int64(0)
    for word in range(a.shape[1]):
        distance += np.int64(popcount(a[row_a, word] ^ b[row_b, word]))
    return distance
