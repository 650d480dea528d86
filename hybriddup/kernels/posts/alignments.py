"""Alignment of two sequences of keys by their longest common subsequence.

After Hyyrö 2004, "Bit-parallel LCS-length computation revisited". The bit vector after each key is stored and then read
backwards, as in RapidFuzz. Equal beginnings and ends are aligned first; the *middle* is the rest of a sequence.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, ONE, SPREAD, power_of_two
from hybriddup.kernels.text.lcs import ALL_ONES, LOW_SIX_BITS, next_state

LONGEST_ALIGNED = 4096
"""Maximum length of sequences that are aligned completely. In a pair with a longer sequence, only the equal beginnings
and ends are aligned."""


class Side(NamedTuple):
    """One sequence of a pair: keys ``first`` to ``last - 1`` of an array."""

    first: int
    last: int
    which: int
    """0 for the first sequence, 1 for the second one: its index in the arrays of `Room`."""


class Room(NamedTuple):
    """Scratch buffers for comparing pairs of sequences of up to n keys, and the results for the current pair.

    The arrays `keys` and `counts` are a hash table of the pair's keys, with linear probing. An empty slot has two
    counts of 0.
    """

    keys: UInt64s
    """uint64[n_slots]: the key in each slot; n_slots is a power of two, at least twice the number of keys."""
    counts: Int32s
    """int32[n_slots, 2]: number of occurrences of each slot's key in the first and in the second sequence."""
    slots: Int32s
    """int32[2, n]: the slot of each key of both sequences."""
    partners: Int32s
    """int32[n]: for each key of the first sequence, index of its partner in the second; -1 = no partner."""
    masks: UInt64s
    """uint64[n_slots, n_words]: for each slot, a bit mask of its key's positions in the first sequence's middle."""
    states: UInt64s
    """uint64[n, n_words]: the LCS bit vector after each key in the middle of the second sequence."""


@njit(cache=True, nogil=True)
def make_room(n: int) -> Room:
    """Allocate the buffers for pairs of sequences of up to ``n`` keys each."""
    n_slots, n_aligned = power_of_two(max(4 * n, 4)), min(n, LONGEST_ALIGNED)
    n_words, n_masks = (n_aligned + 63) // 64, power_of_two(max(4 * n_aligned, 4))
    return Room(
        np.empty(n_slots, np.uint64),
        np.empty((n_slots, 2), np.int32),
        np.empty((2, n), np.int32),
        np.empty(n, np.int32),
        np.empty((n_masks, n_words), np.uint64),
        np.empty((n_aligned, n_words), np.uint64),
    )


@njit(cache=True, nogil=True, inner=True)
def enter_pair(keys: UInt64s, a: Side, b: Side, room: Room) -> None:
    """Read two sequences of keys into ``room``: make the hash table of their keys, with slots."""
    n_slots = power_of_two(max(2 * (a.last - a.first + b.last - b.first), 4))
    for slot in range(n_slots):  # of a large table, short sequences use only the beginning
        room.counts[slot, 0], room.counts[slot, 1] = np.int32(0), np.int32(0)
    count_keys(keys, a, n_slots, room)
    count_keys(keys, b, n_slots, room)


@njit(cache=True, nogil=True, inner=True)
def count_keys(keys: UInt64s, side: Side, n_slots: int, room: Room) -> None:
    """Count the keys of a sequence in the first ``n_slots`` slots of the hash table."""
    mask = np.uint64(n_slots - 1)
    for i in range(side.last - side.first):
        key = keys[side.first + i]
        slot = (key * SPREAD >> HALF) & mask
        while room.keys[slot] != key and (room.counts[slot, 0] | room.counts[slot, 1]) != 0:
            slot = (slot + ONE) & mask
        room.keys[slot], room.slots[side.which, i] = key, np.int32(slot)
        room.counts[slot, side.which] += np.int32(1)


@njit(cache=True, nogil=True, inner=True)
def align(n_a: int, n_b: int, room: Room) -> None:
    """Align the two sequences that `enter_pair` has read, with ``n_a`` and ``n_b`` keys; write ``room.partners``."""
    head, tail, is_short = np.int64(0), np.int64(0), max(n_a, n_b) <= LONGEST_ALIGNED
    for i in range(n_a):
        room.partners[i] = -1
    while head < min(n_a, n_b) and room.slots[0, head] == room.slots[1, head]:
        room.partners[head] = head
        head += 1
    while tail < min(n_a, n_b) - head and room.slots[0, n_a - 1 - tail] == room.slots[1, n_b - 1 - tail]:
        room.partners[n_a - 1 - tail] = n_b - 1 - tail
        tail += 1
    n_a, n_b = n_a - head - tail, n_b - head - tail
    if n_a > 0 and n_b > 0 and is_short:
        mark_places(n_a, n_b, head, room)
        advance(n_a, n_b, head, room)
        trace_back(n_a, n_b, head, room)


@njit(cache=True, nogil=True, inner=True)
def mark_places(n_a: int, n_b: int, head: int, room: Room) -> None:
    """Write to ``room.masks`` where each key of either middle occurs in the first middle, as a bit mask of positions.

    The middles are the ``n_a`` keys of the first sequence, and the ``n_b`` keys of the second, from index ``head`` on.
    """
    for word in range((n_a + 63) // 64):
        for i in range(n_a):
            room.masks[room.slots[0, head + i], word] = np.uint64(0)
        for i in range(n_b):
            room.masks[room.slots[1, head + i], word] = np.uint64(0)
    for i in range(n_a):
        room.masks[room.slots[0, head + i], i >> 6] |= ONE << (np.uint64(i) & LOW_SIX_BITS)


@njit(cache=True, nogil=True, inner=True)
def advance(n_a: int, n_b: int, head: int, room: Room) -> None:
    """Run the bit-parallel LCS over the keys of the second middle; write the bit vector after each to ``room.states``.

    The second middle is the part of the second sequence that is still to be aligned; see `mark_places`.
    """
    for row in range(n_b):
        slot, carry = room.slots[1, head + row], np.uint64(0)
        for word in range((n_a + 63) // 64):
            state = room.states[row - 1, word] if row > 0 else ALL_ONES
            room.states[row, word], carry = next_state(state, room.masks[slot, word], carry)


@njit(cache=True, nogil=True, inner=True)
def trace_back(n_a: int, n_b: int, head: int, room: Room) -> None:
    """Read the bit vectors of `advance` backwards, and write the result to ``room.partners``.

    The partner of a key of the first middle is the equal key of the second middle with which it is aligned;
    `mark_places` defines the middles.
    """
    row, column = n_b, n_a
    while row > 0 and column > 0:
        if is_set(room.states, row - 1, column - 1):
            column -= 1
        elif row > 1 and not is_set(room.states, row - 2, column - 1):
            row -= 1
        else:
            row, column = row - 1, column - 1
            room.partners[head + column] = head + row


@njit(cache=True, nogil=True, inner=True)
def is_set(states: UInt64s, row: int, bit: int) -> bool:
    """Return whether a bit is set in a row of ``states``."""
    return bool(states[row, bit >> 6] >> (np.uint64(bit) & LOW_SIX_BITS) & ONE)
