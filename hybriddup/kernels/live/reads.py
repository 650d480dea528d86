"""Compares later texts with the live texts of a ring buffer: with all of them, or only those in some lists or buckets.

Each text found is packed into a uint64. The upper 32 bits are its *place*, the rank among the live texts, 0 = the
oldest. The lower 32 bits are its *depth*, the rank in the list or bucket, 1 = the newest.
"""

import numpy as np

from hybriddup.data.records import Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.live.texts import IN_BLOCK, LaterTexts, Ring, slot_of_place, widest_limit
from hybriddup.kernels.popcount import HALF, LOW_HALF, popcount
from hybriddup.kernels.vectors import fetch_early

READ_AT_ONCE = np.uint64(512)
"""Number of texts whose fingerprints are prefetched before the first is compared."""


@njit(cache=True, nogil=True, inner=True)
def fetch_texts(ring: Ring, read: UInt64s, first: np.uint64, last: np.uint64) -> None:
    """Prefetch the fingerprints of live texts, given by rank in the upper 32 bits of ``read[first:last]``."""
    bits = ring.columns.bits
    n_words, capacity = np.uint64(bits.shape[1]), np.uint64(len(bits))
    for i in range(first, last):
        fetch_early(bits, slot_of_place(read[np.uint64(i)] >> HALF, ring.first_slot, capacity) * n_words)


@njit(cache=True, nogil=True, inner=True)
def compare_read(
    ring: Ring, read: UInt64s, n_read: np.uint64, later: LaterTexts, row: int, limit: np.uint64, near: UInt64s, n: int
) -> int:
    """Append to ``near[:n]`` the texts of ``read[:n_read]`` within ``limit`` bits of later text ``row``.

    Return the new ``n``.
    """
    bits, n_near = ring.columns.bits, np.uint64(n)
    capacity, n_words = np.uint64(len(bits)), bits.shape[1]
    first_word, second_word = later.texts.bits[row, 0], later.texts.bits[row, n_words - 1]
    for i in range(n_read):
        slot = slot_of_place(read[np.uint64(i)] >> HALF, ring.first_slot, capacity)
        distance = popcount(bits[slot, np.uint64(0)] ^ first_word)
        if n_words == 2:
            distance += popcount(bits[slot, np.uint64(1)] ^ second_word)
        near[n_near] = read[np.uint64(i)]
        n_near += np.uint64(distance <= limit)
    return np.int64(n_near)


@njit(cache=True, nogil=True, inner=True)
def keep_least_depths(near: UInt64s, depths: Int32s, first: int, last: int, row: int) -> int:
    """Remove duplicates from ``near[first:last]``, the texts found for later text ``row``; return the new end.

    The items must be sorted. An item has the rank of a live text in the upper 32 bits, and its depth in a list or
    bucket in the lower 32. The result has ``row`` in the upper bits and the rank in the lower. ``depths`` gets the
    smallest depth of each text.
    """
    n, high = np.int64(first), np.uint64(row) << HALF
    for i in range(first, last):
        each = near[np.uint64(i)]
        if n == first or near[np.uint64(n - 1)] != high | each >> HALF:
            near[np.uint64(n)], depths[np.uint64(n)] = high | each >> HALF, np.int32(each & LOW_HALF)
            n += 1
    return n


@njit(cache=True, nogil=True)
def find_near_anywhere(ring: Ring, first: int, last: int, later: LaterTexts) -> UInt64s:
    """Compare each later text with the live texts of rank ``first`` to ``last - 1``, 0 = the oldest.

    Returns
    -------
    near
        uint64[n_near]: the pairs within `widest_limit`; the row of the later text in the upper 32 bits, the rank of the
        live text in the lower.
    """
    near, n_near, flat = np.empty(last - first + 1024, np.uint64), np.int64(0), ring.columns.bits.ravel()
    for row in range(len(later.positions)):
        if n_near + last - first > len(near):
            near = with_room_for(near, n_near, last - first)
        limit = widest_limit(ring, later, row)
        n_near = compare_places(ring, flat, first, last, later, row, limit, near, n_near)
    return near[:n_near].copy()


@njit(cache=True, nogil=True, inner=True)
def compare_places(
    ring: Ring,
    flat: UInt64s,
    first: int,
    last: int,
    later: LaterTexts,
    row: int,
    limit: np.uint64,
    near: UInt64s,
    n_near: int,
) -> int:
    """Append to ``near[:n_near]`` the live texts of rank ``first`` to ``last - 1`` within ``limit`` of text ``row``.

    Return the new ``n_near``; ``near`` must be large enough, and has the format of `find_near_anywhere`. ``flat`` is as
    in `compare_slots`.
    """
    n_words, capacity = ring.columns.bits.shape[1], np.int64(len(ring.columns.bits))
    place, slot = np.int64(first), (np.int64(ring.first_slot) + first) % capacity
    while place < last:
        n = min(np.int64(last) - place, capacity - slot)
        n_near = compare_slots(flat, n_words, slot, slot + n, place, later, row, limit, near, n_near)
        place, slot = place + n, np.int64(0)
    return n_near


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
    """Append to ``near[:n_near]`` the texts in slots ``first`` to ``last - 1`` within ``limit`` bits of text ``row``.

    Return the new ``n_near``; ``near`` must be large enough. ``flat``, uint64[capacity * n_words], holds fingerprints
    of one or two words. In each block of slots, the texts within the limit are first only counted, in many SIMD lanes
    at once, because most blocks have none. ``place`` is the rank of the text in slot ``first`` among the live texts.
    """
    word, second, n = later.texts.bits[row, 0], later.texts.bits[row, n_words - 1], np.uint64(n_near)
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
