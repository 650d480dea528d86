"""Checksums of records of equal size, many in one call."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.xxh3 import PRIME_1, PRIME_MX1, fold_product
from hybriddup.records import UInt64s


@njit(cache=True, nogil=True)
def sum_records(records: UInt64s, seed: np.uint64) -> UInt64s:
    """Return uint64[n]: a checksum of each row of uint64[n, n_words].

    Every word goes into a product of 128 bits with what the words before it gave, whose halves are folded, as in XXH3's
    short inputs. It tells what a disk or a crash did to a record, not what somebody made on purpose.
    """
    sums = np.empty(len(records), np.uint64)
    for i in range(len(records)):
        mixed = PRIME_1 ^ seed
        for word in records[i]:
            mixed = fold_product(mixed ^ word, PRIME_MX1)
        sums[i] = mixed
    return sums
