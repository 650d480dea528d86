"""Alignment of two sequences of keys by their longest common subsequence.

After Hyyrö 2004, "Bit-parallel LCS-length computation revisited"; the state after each key is kept and read backwards,
as RapidFuzz does.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import SPREAD
from hybriddup.kernels.popcount import HALF, ONE

ALL_ONES, LOW_SIX_BITS = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(63)
LONGEST_ALIGNED = 4096
"""Keys between the equal ends of two sequences; if there are more, only the ends are aligned."""


class KeyCounts(NamedTuple):
    """How often keys occur: a hash table with linear probing, emptied by looking up with another stamp."""

    keys: UInt64s
    stamps: UInt64s
    """uint64[n], uint64[n]: n is a power of two, at least twice the number of keys."""
    counts: Int32s
    """int32[n]."""


@njit(cache=True, nogil=True)
def make_counts(n: int) -> KeyCounts:
    """Return a table with room for ``n`` keys."""
    size = 4
    while size < 2 * n:
        size *= 2
    return KeyCounts(np.zeros(size, np.uint64), np.zeros(size, np.uint64), np.zeros(size, np.int32))


@njit(cache=True, nogil=True, inner=True)
def slot_of(table: KeyCounts, key: np.uint64, stamp: np.uint64) -> np.uint64:
    """Return the slot of a key, or the free slot where it belongs."""
    mask = np.uint64(len(table.keys) - 1)
    slot = (key * SPREAD >> HALF) & mask
    while table.stamps[slot] == stamp and table.keys[slot] != key:
        slot = (slot + ONE) & mask
    return slot


@njit(cache=True, nogil=True, inner=True)
def count_of(table: KeyCounts, key: np.uint64, stamp: np.uint64) -> int:
    """Return how often a key was counted."""
    slot = slot_of(table, key, stamp)
    return np.int64(table.counts[slot] if table.stamps[slot] == stamp else 0)


@njit(cache=True, nogil=True, inner=True)
def count_keys(table: KeyCounts, keys: UInt64s, first: int, last: int, stamp: np.uint64, ranks: Int32s) -> None:
    """Count ``keys[first:last]`` under a new stamp; ``ranks`` int32[n]: how often each key occurred before."""
    for i in range(first, last):
        slot = slot_of(table, keys[i], stamp)
        if table.stamps[slot] != stamp:
            table.keys[slot], table.stamps[slot], table.counts[slot] = keys[i], stamp, np.int32(0)
        ranks[i - first] = table.counts[slot]
        table.counts[slot] += np.int32(1)


class Alignment(NamedTuple):
    """Room for aligning two sequences; the partner of each key of the first, and what the search needs."""

    partners: Int32s
    """int32[n]: place in the second sequence; -1 = none."""
    table: KeyCounts
    """The keys of the first sequence between the equal ends; not counted."""
    masks: UInt64s
    """uint64[n_slots, n_words]: where each of these keys occurs, by slot of the table."""
    states: UInt64s
    """uint64[n, n_words]: the state after each key of the second sequence."""


@njit(cache=True, nogil=True)
def make_alignment(n: int) -> Alignment:
    """Return room for sequences of up to ``n`` keys."""
    n_aligned = min(n, LONGEST_ALIGNED)
    n_words, table = (n_aligned + 63) // 64, make_counts(n_aligned)
    masks, states = np.empty((len(table.keys), n_words), np.uint64), np.empty((n_aligned, n_words), np.uint64)
    return Alignment(np.empty(n, np.int32), table, masks, states)


@njit(cache=True, nogil=True)
def align(keys: UInt64s, a: tuple[int, int], b: tuple[int, int], stamp: np.uint64, into: Alignment) -> None:
    """Write the partner of each key of ``keys[a[0]:a[1]]`` in ``keys[b[0]:b[1]]``; each call needs another stamp."""
    n_a, n_b = a[1] - a[0], b[1] - b[0]
    into.partners[:n_a] = -1
    head = np.int64(0)
    while head < min(n_a, n_b) and keys[a[0] + head] == keys[b[0] + head]:
        into.partners[head] = head
        head += 1
    tail = np.int64(0)
    while tail < min(n_a, n_b) - head and keys[a[1] - 1 - tail] == keys[b[1] - 1 - tail]:
        into.partners[n_a - 1 - tail] = n_b - 1 - tail
        tail += 1
    n_a, n_b = n_a - head - tail, n_b - head - tail
    if 0 < n_a <= LONGEST_ALIGNED and 0 < n_b <= LONGEST_ALIGNED:
        align_middle(keys, a[0] + head, n_a, b[0] + head, n_b, stamp, into, head)


@njit(cache=True, nogil=True)
def align_middle(
    keys: UInt64s, start_a: int, n_a: int, start_b: int, n_b: int, stamp: np.uint64, into: Alignment, shift: int
) -> None:
    """Align what is between the equal ends; ``shift`` is the length of the equal beginning."""
    n_words, table = (n_a + 63) // 64, into.table
    for i in range(n_a):
        slot = slot_of(table, keys[start_a + i], stamp)
        if table.stamps[slot] != stamp:
            table.keys[slot], table.stamps[slot] = keys[start_a + i], stamp
            into.masks[slot, :n_words] = np.uint64(0)
        into.masks[slot, i >> 6] |= ONE << (np.uint64(i) & LOW_SIX_BITS)
    for row in range(n_b):
        slot = slot_of(table, keys[start_b + row], stamp)
        is_known, carry = table.stamps[slot] == stamp, np.uint64(0)
        for word in range(n_words):
            state = into.states[row - 1, word] if row > 0 else ALL_ONES
            common = state & into.masks[slot, word] if is_known else np.uint64(0)
            total = state + common
            with_carry = total + carry
            carry = np.uint64(total < common) | np.uint64(with_carry < carry)
            into.states[row, word] = with_carry | (state - common)
    row, column = n_b, n_a
    while row > 0 and column > 0:
        if is_set(into.states, row - 1, column - 1):
            column -= 1
        elif row > 1 and not is_set(into.states, row - 2, column - 1):
            row -= 1
        else:
            row, column = row - 1, column - 1
            into.partners[shift + column] = shift + row


@njit(cache=True, nogil=True, inner=True)
def is_set(states: UInt64s, row: int, bit: int) -> bool:
    """Return whether a bit of a state is set."""
    return bool(states[row, bit >> 6] >> (np.uint64(bit) & LOW_SIX_BITS) & ONE)
