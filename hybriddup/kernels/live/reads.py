"""Reading the ring of texts of a live index: what is near a later text, of those that some buckets or lists hold.

What was read of them is a list of numbers: the place of a text among those of the ring in the upper 32 bits, and in the
lower its depth, which is the number from the newest text of its key on, 1 = the newest.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.live.texts import IN_BLOCK, LaterTexts, Partners, slot_of_place, widest_limit
from hybriddup.kernels.popcount import HALF, LOW_HALF, popcount
from hybriddup.kernels.vectors import fetch_early

READ_AT_ONCE = np.uint64(512)
"""Texts whose fingerprints are fetched before they are compared."""


class LiveNumbers(NamedTuple):
    """Which numbers of a ring are live, and where their texts are."""

    next_number: np.uint64
    """The next number to be given out."""
    span: np.uint64
    """So many numbers before it are live."""
    first_slot: np.uint64
    """The slot of the first of them in the ring; the others follow."""


@njit(cache=True, nogil=True, inner=True)
def fetch_texts(bits: UInt64s, read: UInt64s, first: np.uint64, last: np.uint64, live: LiveNumbers) -> None:
    """Fetch the fingerprints of some of what was read."""
    n_words, capacity = np.uint64(bits.shape[1]), np.uint64(len(bits))
    for i in range(first, last):
        fetch_early(bits, slot_of_place(read[np.uint64(i)] >> HALF, live.first_slot, capacity) * n_words)


@njit(cache=True, nogil=True, inner=True)
def compare_read(
    bits: UInt64s,
    read: UInt64s,
    n_read: np.uint64,
    live: LiveNumbers,
    later: LaterTexts,
    row: int,
    limit: np.uint64,
    near: UInt64s,
    n_near: int,
) -> int:
    """Write what is within the limit of what was read into ``near``, after what is there; return how many are there."""
    capacity, n = np.uint64(len(bits)), np.uint64(n_near)
    first_word, second_word = later.bits[row, 0], later.bits[row, later.bits.shape[1] - 1]
    for i in range(n_read):
        slot = slot_of_place(read[np.uint64(i)] >> HALF, live.first_slot, capacity)
        distance = popcount(bits[slot, np.uint64(0)] ^ first_word)
        if bits.shape[1] == 2:
            distance += popcount(bits[slot, np.uint64(1)] ^ second_word)
        near[n] = read[np.uint64(i)]
        n += np.uint64(distance <= limit)
    return np.int64(n)


@njit(cache=True, nogil=True, inner=True)
def keep_least_depths(near: UInt64s, depths: Int32s, first: int, last: int, row: int) -> int:
    """Turn what is near a row, sorted, into its places and their least depths, each once; return where that ends.

    A place is then under the row, which takes the upper 32 bits.
    """
    n, high = np.int64(first), np.uint64(row) << HALF
    for i in range(first, last):
        each = near[np.uint64(i)]
        if n == first or near[np.uint64(n - 1)] != high | each >> HALF:
            near[np.uint64(n)], depths[np.uint64(n)] = high | each >> HALF, np.int32(each & LOW_HALF)
            n += 1
    return n


@njit(cache=True, nogil=True)
def find_near_anywhere(
    bits: UInt64s, first: int, last: int, span: int, later: LaterTexts, partners: Partners
) -> UInt64s:
    """Return what is near the later texts in the slots from ``first`` to ``last``; every one of them is compared.

    Parameters
    ----------
    span
        Place of the text in slot ``first`` among the texts of the ring, the oldest being 0.

    Returns
    -------
    near
        uint64[n_near]: row of the later text in the upper 32 bits, place among the texts of the ring in the lower.
    """
    near, n_near = np.empty(last - first + 1024, np.uint64), np.int64(0)
    flat, n_words = bits.ravel(), bits.shape[1]
    for row in range(len(later.bits)):
        if n_near + last - first > len(near):
            near = with_room_for(near, n_near, last - first)
        limit = widest_limit(later, row, partners)
        n_near = compare_slots(flat, n_words, first, last, span, later, row, limit, near, n_near)
    return near[:n_near].copy()


@njit(cache=True, nogil=True, inner=True)
def compare_slots(
    flat: UInt64s,
    n_words: int,
    first: int,
    last: int,
    place: int,
    later: LaterTexts,
    row: int,
    limit: np.uint64,
    near: UInt64s,
    n_near: int,
) -> int:
    """Write what is near a later text in slots ``first`` to before ``last`` into ``near``; return how many are there.

    Slots are counted some at a time, in many lanes at once; mostly none of them is near, and nothing is written. There
    is room. ``flat`` uint64[capacity * n_words] are the fingerprints, of one word or two; ``place`` is that of the text
    in slot ``first`` among the texts of the ring. The row is in the upper 32 bits of what is written, the place in the
    lower.
    """
    word, second, n = later.bits[row, 0], later.bits[row, n_words - 1], np.uint64(n_near)
    for start in range(first, last, IN_BLOCK):
        end, n_in_block = min(start + IN_BLOCK, last), 0
        if n_words == 1:
            for slot in range(np.uint64(start), np.uint64(end)):
                n_in_block += popcount(flat[slot] ^ word) <= limit
        else:
            for slot in range(np.uint64(start), np.uint64(end)):
                pair = slot + slot
                n_in_block += popcount(flat[pair] ^ word) + popcount(flat[pair + np.uint64(1)] ^ second) <= limit
        for slot in range(np.uint64(start), np.uint64(end if n_in_block > 0 else start)):
            at = slot * np.uint64(n_words)
            distance = popcount(flat[at] ^ word)
            if n_words == 2:
                distance += popcount(flat[at + np.uint64(1)] ^ second)
            near[n] = np.uint64(row) << HALF | (slot + np.uint64(place - first))
            n += np.uint64(distance <= limit)
    return np.int64(n)
