"""Depths: at which place of a posting list a text stands, the newest having 1."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import NO_KEY, place_of_key
from hybriddup.kernels.posting_lists import BLOCK_BITS, NUMBER_MASK, Postings, number_at, read_header
from hybriddup.kernels.posting_table import IS_LIST, value_of
from hybriddup.kernels.rings import table_of

IN_NO_LIST = np.int64(2**40)
"""A number that lists do not hold."""


@njit(cache=True, nogil=True)
def depths_by_key(
    postings: Postings, keys: UInt64s, rows: Int64s, numbers: Int64s, next_number: int, first_live: int
) -> Int32s:
    """Return int32[n, n_keys]: the depth of some texts in the lists of the keys of later ones.

    It is 0 where the text is not among the newest that are read, or is not live, and for `NO_KEY`.

    Parameters
    ----------
    keys
        uint64[n_later, n_keys]: of the later texts.
    rows, numbers
        int64[n], int64[n]: the row of the later text, rising, and the number of the earlier one, of each row once.
    next_number, first_live
        Numbers from the second on and before the first are live.
    """
    depths = np.zeros((len(rows), keys.shape[1]), np.int32)
    told = np.where((numbers >= first_live) & (numbers < next_number), numbers & np.int64(NUMBER_MASK), IN_NO_LIST)
    first = 0
    while first < len(rows):
        last = first
        while last < len(rows) and rows[last] == rows[first]:
            last += 1
        table, places = table_of(told, first, last)
        for i in range(keys.shape[1]):
            if keys[rows[first], i] != NO_KEY:
                note_depths(postings, value_of(postings, keys[rows[first], i]), table, places, depths[:, i])
        first = last
    return depths


@njit(cache=True, nogil=True, inner=True)
def note_depths(postings: Postings, value: np.uint64, table: UInt64s, places: Int64s, depths: Int32s) -> None:
    """Write the depths of the numbers of a list that stand in a table, each at its place."""
    n, start, newest = np.uint64(value != 0), np.uint64(0), np.uint64(0)
    if value & IS_LIST:
        start = (value ^ IS_LIST) << BLOCK_BITS
        _, n, oldest = read_header(postings.words, start, postings.ring_size)
        newest, n = oldest + n, min(n, np.uint64(postings.ring_size - 1))
    for depth in range(np.uint64(1), n + np.uint64(1)):
        number = value
        if value & IS_LIST:
            number = number_at(postings.words, start, newest - np.uint64(depth), postings.ring_size)
        at = place_of_key(table, np.uint64(number))
        if table[at] == np.uint64(number):
            depths[places[at]] = np.int32(depth)
