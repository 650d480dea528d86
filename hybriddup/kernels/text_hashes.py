"""A hash table from texts, by their 64-bit hash, to the latest number given to each."""

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.cache import njit

EMPTY = np.uint64(0)


@njit(cache=True, nogil=True)
def slot_of(keys: UInt64s, key: np.uint64) -> np.uint64:
    """Return the slot that holds the key, or the empty slot where it would go. ``len(keys)`` is a power of 2."""
    mask = np.uint64(len(keys) - 1)
    slot = (key ^ (key >> np.uint64(32))) & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True, nogil=True)
def insert_hashes(keys: UInt64s, numbers: Int64s, hashes: UInt64s, new_numbers: Int64s) -> int:
    """Give each hash uint64[n], not 0, its number int64[n], in place of an earlier one; return how many are new.

    There must be an empty slot for each.
    """
    n_new = np.int64(0)
    for i in range(len(hashes)):
        slot = slot_of(keys, hashes[i])
        n_new += keys[slot] == EMPTY
        keys[slot] = hashes[i]
        numbers[slot] = new_numbers[i]
    return n_new


@njit(cache=True, nogil=True)
def find_hashes(keys: UInt64s, numbers: Int64s, hashes: UInt64s) -> Int64s:
    """Return int64[n]: the number of each hash, -1 where it has none."""
    found = np.full(len(hashes), -1, np.int64)
    for i in range(len(hashes)):
        slot = slot_of(keys, hashes[i])
        if keys[slot] != EMPTY:
            found[i] = numbers[slot]
    return found
