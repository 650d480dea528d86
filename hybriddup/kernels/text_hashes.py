"""A hash table from texts, by their 64-bit hash, to the latest number given to each."""

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.token_table import EMPTY, find_slot


@njit(cache=True, nogil=True)
def insert_hashes(keys: UInt64s, numbers: Int64s, hashes: UInt64s, new_numbers: Int64s) -> tuple[int, Int64s]:
    """Give each hash uint64[n], not 0, its number int64[n], in place of an earlier one.

    There must be an empty slot for each.

    Returns
    -------
    n_new, replaced
        How many hashes are new; and int64[n], the number that each had before, -1 = none.
    """
    n_new, replaced = np.int64(0), np.full(len(hashes), -1, np.int64)
    for i in range(len(hashes)):
        slot = find_slot(keys, hashes[i])
        if keys[slot] == EMPTY:
            n_new += 1
        else:
            replaced[i] = numbers[slot]
        keys[slot] = hashes[i]
        numbers[slot] = new_numbers[i]
    return n_new, replaced


@njit(cache=True, nogil=True)
def find_hashes(keys: UInt64s, numbers: Int64s, hashes: UInt64s) -> Int64s:
    """Return int64[n]: the number of each hash, -1 where it has none."""
    found = np.full(len(hashes), -1, np.int64)
    for i in range(len(hashes)):
        slot = find_slot(keys, hashes[i])
        if keys[slot] != EMPTY:
            found[i] = numbers[slot]
    return found
