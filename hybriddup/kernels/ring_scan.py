"""Comparing later texts with all texts in a ring of slots, whatever keys they have."""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.popcount import HALF, popcount
from hybriddup.kernels.ring_texts import IN_BLOCK, LaterTexts, Partners, widest_limit


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
    """Write what is near a later text in the slots from ``first`` to before ``last`` into ``near``, which has room.

    Slots are counted some at a time, in many lanes at once; mostly none of them is near, and nothing is written.

    Parameters
    ----------
    flat
        uint64[capacity * n_words]: the fingerprints, of one word or two.
    place
        Of the text in slot ``first`` among the texts of the ring.

    Returns
    -------
    int
        How many there are in ``near``; the row is in the upper 32 bits of each, the place in the lower.
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
