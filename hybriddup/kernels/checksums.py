"""Checksums: they tell what a disk or a crash did to some words, not what somebody made on purpose."""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.xxh3 import PRIME_1, PRIME_MX1, fold_product


@njit(cache=True, nogil=True)
def sum_records(records: UInt64s, seed: np.uint64) -> UInt64s:
    """Return uint64[n]: the checksum of each row of uint64[n, n_words]."""
    sums = np.empty(len(records), np.uint64)
    for i in range(len(records)):
        sums[i] = sum_words(records[i], seed)
    return sums


@njit(cache=True, nogil=True)
def sum_words(words: UInt64s, seed: np.uint64) -> np.uint64:
    """Return the checksum of uint64[n_words].

    Every word goes into a product of 128 bits with what the words before it gave, whose halves are folded, as in XXH3's
    short inputs.
    """
    mixed: np.uint64 = PRIME_1 ^ seed
    for word in words:
        mixed = fold_product(mixed ^ word, PRIME_MX1)
    return mixed
