"""Alignment of two sequences of keys by their longest common subsequence.

After Hyyrö 2004, "Bit-parallel LCS-length computation revisited". The bit vector after each key is stored and then read
backwards, as in RapidFuzz. Equal beginnings and ends are aligned first; the *middle* is the rest of a sequence.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, ONE, SPREAD

ALL_ONES, LOW_SIX_BITS = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(63)
LONGEST_ALIGNED = 4096
"""Maximum length of sequences that are aligned completely; of longer ones, only equal beginnings and ends are."""


class KeyCounts(NamedTuple):
    """A hash table, with linear probing, that counts how often each key occurs in each of two sequences.

    Slots with a stamp other than the current one are empty, so a new stamp empties the whole table.
    """

    keys: UInt64s
    stamps: UInt64s
    """``keys`` and ``stamps``, uint64[n] each: the key in each slot, and the `Use.stamp` with which it was stored; n is
    a power of two, at least twice the number of keys."""
    counts: Int32s
    """int32[n, 2]: for the key in each slot, its number of occurrences in the first and in the second sequence."""


class Use(NamedTuple):
    """Settings for using a `KeyCounts` table for one pair of sequences: a stamp, and the number of slots."""

    stamp: np.uint64
    """Number of this use, at least 1; slots with another stamp are empty."""
    n_slots: int
    """Only the first ``n_slots`` slots are used, so that short sequences touch little of a large table."""


@njit(cache=True, nogil=True, inner=True)
def slots_for(n: int) -> int:
    """Return the size of a hash table for ``n`` keys: a power of two, at least 4, at least ``2 * n``."""
    size = np.int64(4)
    while size < 2 * n:
        size *= 2
    return size


@njit(cache=True, nogil=True)
def make_counts(n: int) -> KeyCounts:
    """Allocate an empty hash table for up to ``n`` keys."""
    size = slots_for(n)
    return KeyCounts(np.zeros(size, np.uint64), np.zeros(size, np.uint64), np.zeros((size, 2), np.int32))


@njit(cache=True, nogil=True, inner=True)
def count_keys(
    table: KeyCounts, use: Use, keys: UInt64s, first: int, last: int, which: int, slots: Int32s, ranks: Int32s
) -> None:
    """Count ``keys[first:last]`` in ``table``, as the first (``which`` 0) or the second sequence (``which`` 1).

    Write the slot of each key to ``slots``, int32[n], and the number of its earlier occurrences to ``ranks``, int32[n].
    """
    stamp, mask = use.stamp, np.uint64(use.n_slots - 1)
    for i in range(first, last):
        slot = (keys[i] * SPREAD >> HALF) & mask
        while table.stamps[slot] == stamp and table.keys[slot] != keys[i]:
            slot = (slot + ONE) & mask
        if table.stamps[slot] != stamp:
            table.keys[slot], table.stamps[slot] = keys[i], stamp
            table.counts[slot, 0], table.counts[slot, 1] = np.int32(0), np.int32(0)
        slots[i - first], ranks[i - first] = np.int32(slot), table.counts[slot, which]
        table.counts[slot, which] += np.int32(1)


class Alignment(NamedTuple):
    """The alignment of two sequences, plus the scratch buffers used to compute it."""

    partners: Int32s
    """int32[n]: for each key of the first sequence, index of its partner in the second; -1 = no partner."""
    masks: UInt64s
    """uint64[n_slots, n_words]: for each slot, a bit mask of its key's positions in the first sequence's middle."""
    states: UInt64s
    """uint64[n, n_words]: the LCS bit vector after each key in the middle of the second sequence."""


@njit(cache=True, nogil=True)
def make_alignment(n: int) -> Alignment:
    """Allocate the buffers for aligning two sequences of up to ``n`` keys."""
    n_aligned = min(n, LONGEST_ALIGNED)
    n_words, n_slots = (n_aligned + 63) // 64, slots_for(2 * n_aligned)
    masks, states = np.zeros((n_slots, n_words), np.uint64), np.empty((n_aligned, n_words), np.uint64)
    return Alignment(np.empty(n, np.int32), masks, states)


@njit(cache=True, nogil=True, inner=True)
def align(a: Int32s, n_a: int, b: Int32s, n_b: int, into: Alignment) -> None:
    """Align sequences ``a`` and ``b``, given as the hash table slots of their keys; write the partners to ``into``."""
    head, tail, is_short = np.int64(0), np.int64(0), max(n_a, n_b) <= LONGEST_ALIGNED
    for i in range(n_a):
        into.partners[i] = -1
    while head < min(n_a, n_b) and a[head] == b[head]:
        into.partners[head] = head
        head += 1
    while tail < min(n_a, n_b) - head and a[n_a - 1 - tail] == b[n_b - 1 - tail]:
        into.partners[n_a - 1 - tail] = n_b - 1 - tail
        tail += 1
    n_a, n_b = n_a - head - tail, n_b - head - tail
    n_words = (n_a + 63) // 64
    if n_a > 0 and n_b > 0 and is_short:
        mark_places(a, n_a, b, n_b, head, n_words, into.masks)
        advance(b, n_b, head, n_words, into.masks, into.states)
        trace_back(n_a, n_b, head, into)


@njit(cache=True, nogil=True, inner=True)
def mark_places(a: Int32s, n_a: int, b: Int32s, n_b: int, head: int, n_words: int, masks: UInt64s) -> None:
    """For each key in the middle of ``a`` or ``b``, write a bit mask of its positions in the middle of ``a``.

    The middles, where the sequences differ, are the ``n_a`` and ``n_b`` keys from index ``head`` on.
    """
    for i in range(n_a):
        for word in range(n_words):
            masks[a[head + i], word] = np.uint64(0)
    for i in range(n_b):
        for word in range(n_words):
            masks[b[head + i], word] = np.uint64(0)
    for i in range(n_a):
        masks[a[head + i], i >> 6] |= ONE << (np.uint64(i) & LOW_SIX_BITS)


@njit(cache=True, nogil=True, inner=True)
def advance(b: Int32s, n_b: int, head: int, n_words: int, masks: UInt64s, states: UInt64s) -> None:
    """Run the bit-parallel LCS over the ``n_b`` keys of ``b`` from ``head`` on; write each bit vector to ``states``."""
    for row in range(n_b):
        slot, carry = b[head + row], np.uint64(0)
        for word in range(n_words):
            state = states[row - 1, word] if row > 0 else ALL_ONES
            common = state & masks[slot, word]
            total = state + common
            with_carry = total + carry
            carry = np.uint64(total < common) | np.uint64(with_carry < carry)
            states[row, word] = with_carry | (state - common)


@njit(cache=True, nogil=True, inner=True)
def trace_back(n_a: int, n_b: int, head: int, into: Alignment) -> None:
    """Read the bit vectors backwards to find the partner of each key of the first sequence's middle."""
    row, column = n_b, n_a
    while row > 0 and column > 0:
        if is_set(into.states, row - 1, column - 1):
            column -= 1
        elif row > 1 and not is_set(into.states, row - 2, column - 1):
            row -= 1
        else:
            row, column = row - 1, column - 1
            into.partners[head + column] = head + row


@njit(cache=True, nogil=True, inner=True)
def is_set(states: UInt64s, row: int, bit: int) -> bool:
    """Return whether a bit is set in a row of ``states``."""
    return bool(states[row, bit >> 6] >> (np.uint64(bit) & LOW_SIX_BITS) & ONE)
