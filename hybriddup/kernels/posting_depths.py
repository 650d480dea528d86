"""Depths: at which place of a posting list a text stands, the newest having 1."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import NO_KEY
from hybriddup.kernels.posting_lists import BLOCK_BITS, NUMBER_MASK, Postings, number_at, read_header
from hybriddup.kernels.posting_table import IS_LIST, value_of


@njit(cache=True, nogil=True)
def depths_by_key(postings: Postings, keys: UInt64s, numbers: Int64s, next_number: int, first_live: int) -> Int32s:
    """Return int32[n, n_keys]: the depth of a text in the list of each key, row by row.

    It is 0 where the text is not among the newest that are read, or is not live, and for `NO_KEY`.

    Parameters
    ----------
    keys, numbers
        uint64[n, n_keys] and int64[n]: the keys of the later text and the number of the earlier one.
    next_number, first_live
        Numbers from the second on and before the first are live.
    """
    depths = np.zeros(keys.shape, np.int32)
    for row in range(len(keys)):
        if not first_live <= numbers[row] < next_number:
            continue
        for i in range(keys.shape[1]):
            if keys[row, i] != NO_KEY:
                value = value_of(postings, keys[row, i])
                depths[row, i] = np.int32(depth_in(postings, value, np.uint64(numbers[row]) & NUMBER_MASK))
    return depths


@njit(cache=True, nogil=True, inner=True)
def depth_in(postings: Postings, value: np.uint64, number: np.uint64) -> np.uint64:
    """Return the depth of a number in a list, 0 where it is not among those that are read."""
    if not value & IS_LIST:
        return np.uint64(value != 0 and value == number)
    start = (value ^ IS_LIST) << BLOCK_BITS
    _, n, oldest = read_header(postings.words, start, postings.ring_size)
    for depth in range(1, min(n, np.uint64(postings.ring_size - 1)) + np.uint64(1)):
        if number_at(postings.words, start, oldest + n - np.uint64(depth), postings.ring_size) == number:
            return np.uint64(depth)
    return np.uint64(0)
