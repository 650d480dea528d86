"""Depths: at which place of a posting list a text stands, the newest having 1."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posting_lists import BLOCK_BITS, NUMBER_MASK, Postings, number_at, read_header
from hybriddup.kernels.posting_table import HALF, IS_LIST, NO_KEY, value_of
from hybriddup.kernels.ring_texts import BLOCK_BITS as ANCHOR_BITS
from hybriddup.kernels.ring_texts import LaterTexts, RingColumns, SelectedPairs, slot_at
from hybriddup.kernels.rings import LOW_HALF, note_texts, slot_of

IN_NO_LIST = np.int64(2**40)
"""A number that lists do not hold."""


@njit(cache=True, nogil=True)
def depths_of_pairs(
    pairs: SelectedPairs, near: UInt64s, depths: Int32s, columns: RingColumns, first_slot: int, later: LaterTexts
) -> Int32s:
    """Return int32[n_pairs]: the depth of each pair, as `hybriddup.kernels.posting_look_ups.look_up` returns it.

    Parameters
    ----------
    near, depths
        As `hybriddup.kernels.posting_look_ups.find_in_lists` returns them; the pairs are some of these, in order.
    """
    found, i = np.empty(len(pairs.earlier), np.int32), 0
    for pair in range(len(found)):
        while True:
            slot = slot_at(near[i], first_slot, len(columns.bits))
            position = columns.anchors[slot >> ANCHOR_BITS] + np.int64(columns.offsets[slot])
            is_pair = position == pairs.earlier[pair] and later.positions[near[i] >> HALF] == pairs.later[pair]
            i += 1
            if is_pair:
                break
        found[pair] = depths[i - 1]
    return found


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
    depths, slots = np.zeros((len(rows), keys.shape[1]), np.int32), np.zeros(1024, np.uint64)
    told = np.where((numbers >= first_live) & (numbers < next_number), numbers & np.int64(NUMBER_MASK), IN_NO_LIST)
    first = 0
    while first < len(rows):
        last = first
        while last < len(rows) and rows[last] == rows[first]:
            last += 1
        while len(slots) < 2 * (last - first):
            slots = np.zeros(2 * len(slots), np.uint64)
        note_texts(told, first, last, slots)
        for i in range(keys.shape[1]):
            if keys[rows[first], i] != NO_KEY:
                note_depths(postings, value_of(postings, keys[rows[first], i]), told, first, slots, depths[:, i])
        first = last
    return depths


@njit(cache=True, nogil=True, inner=True)
def note_depths(
    postings: Postings, value: np.uint64, numbers: Int64s, first: int, slots: UInt64s, depths: Int32s
) -> None:
    """Write the depths of the numbers in a list that were noted."""
    n, start, newest = np.uint64(value != 0), np.uint64(0), np.uint64(0)
    if value & IS_LIST:
        start = (value ^ IS_LIST) << BLOCK_BITS
        _, n, oldest = read_header(postings.words, start, postings.ring_size)
        newest, n = oldest + n, min(n, np.uint64(postings.ring_size - 1))
    stamp = np.uint64(first + 1)
    for depth in range(np.uint64(1), n + np.uint64(1)):
        number = value
        if value & IS_LIST:
            number = number_at(postings.words, start, newest - np.uint64(depth), postings.ring_size)
        slot = slot_of(np.uint64(number), numbers, stamp, slots)
        if slots[slot] >> HALF == stamp:
            depths[np.int64(slots[slot] & LOW_HALF)] = np.int32(depth)
