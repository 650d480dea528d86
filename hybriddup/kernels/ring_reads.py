"""Reading the ring of texts of a live index: what is near a later text, of those that some buckets or lists hold.

What was read of them is a list of numbers: the place of a text among those of the ring in the upper 32 bits, and in the
lower its depth, which is the number from the newest text of its key on, 1 = the newest.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, LOW_HALF, popcount
from hybriddup.kernels.ring_texts import LaterTexts
from hybriddup.kernels.vectors import fetch_early

READ_AT_ONCE = np.uint64(512)
"""Texts whose fingerprints are fetched before they are compared."""


class LiveTexts(NamedTuple):
    """Which texts are live, and where their fingerprints are."""

    next_number: np.uint64
    """The next number to be given out."""
    span: np.uint64
    """So many numbers before it are live."""
    first_slot: np.uint64
    """The slot of the first of them in the ring; the others follow."""


class LookUpCounts(NamedTuple):
    """What looking up some texts took."""

    n_comparisons: int
    """Pairs of fingerprints whose distance was computed."""
    n_look_ups: int
    """Keys that were looked up."""
    largest: int
    """The most texts that were read of a key."""


@njit(cache=True, nogil=True, inner=True)
def fetch_texts(bits: UInt64s, read: UInt64s, first: np.uint64, last: np.uint64, live: LiveTexts) -> None:
    """Fetch the fingerprints of some of what was read."""
    n_words, capacity = np.uint64(bits.shape[1]), np.uint64(len(bits))
    for i in range(first, last):
        fetch_early(bits, slot_of_place(read[np.uint64(i)] >> HALF, live.first_slot, capacity) * n_words)


@njit(cache=True, nogil=True, inner=True)
def slot_of_place(place: np.uint64, first_slot: np.uint64, capacity: np.uint64) -> np.uint64:
    """Return the slot of a text, of which the place among those of the ring is given."""
    slot = first_slot + place
    return slot - capacity if slot >= capacity else slot


@njit(cache=True, nogil=True, inner=True)
def compare_read(
    bits: UInt64s,
    read: UInt64s,
    n_read: np.uint64,
    live: LiveTexts,
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
