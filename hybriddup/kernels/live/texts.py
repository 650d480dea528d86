"""The texts of a live index in a ring of slots: numbering them, and keeping pairs within limits.

A text has a running number. Its slot follows from how far back it is, counted from the next number to be given out:
1 is the newest text. Numbers come in blocks, each with the position of its first text, its *anchor*; a text is at most
`LARGEST_OFFSET` positions after its anchor, and one farther away begins a new block. Numbers that are passed over stand
for no text, and their slots hold `NO_TEXT`.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import SKETCH_WORDS, Float32s, Int32s, Int64s, NearPairs, PairLimits, UInt16s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, LOW_HALF, popcount
from hybriddup.kernels.search.pair_limits import are_within, length_class
from hybriddup.kernels.text.characters import count_lacking
from hybriddup.kernels.vectors import fetch_early

BLOCK_BITS = 6
IN_BLOCK = 1 << BLOCK_BITS
"""Numbers that share an anchor."""
TOLD_BITS = 20
"""Numbers are told apart by so many of their low bits at least."""
NO_TEXT = np.uint16(2**16 - 1)
LARGEST_OFFSET = 2**16 - 2
FETCH_SOON = 12
"""How many texts ahead the columns are fetched: memory takes that long to answer."""


class RingColumns(NamedTuple):
    """What is kept of each text, by slot."""

    bits: UInt64s
    """uint64[capacity, words]."""
    length_numbers: UInt16s
    """uint16[capacity], or uint32: which of the lengths that have come up the text has."""
    offsets: UInt16s
    """uint16[capacity]: positions after the anchor of the block."""
    anchors: Int64s
    """int64[capacity / IN_BLOCK]."""
    sketches: UInt64s
    """uint64[capacity, SKETCH_WORDS]; no rows where characters are not asked."""


class Partners(NamedTuple):
    """What a later text may match in a window, by its length; one that is longer than the last counts as of that."""

    max_distances: Int32s
    """int32[n]: the largest Hamming limit of shorter texts that it may match; -1 = there is none."""
    shortest: Int32s
    """int32[n]: the length of the shortest text that it may match."""


class LaterTexts(NamedTuple):
    """The texts that are looked up, by row."""

    positions: Int64s
    bits: UInt64s
    lengths: Int32s
    max_distances: Int32s
    max_partner_lengths: Int32s
    common_of_shorter: Float32s
    common_of_longer: Float32s
    sketches: UInt64s


@njit(cache=True, nogil=True)
def number_texts(positions: Int64s, next_number: int, anchor: int) -> tuple[Int64s, Int64s]:
    """Return int64[n], int64[n]: the number of each text and the anchor of its block.

    Parameters
    ----------
    positions
        int64[n], rising.
    next_number
        At least `IN_BLOCK`. Numbers whose low `TOLD_BITS` are those of the first block are never given out, so that the
        low bits of none are 0.
    anchor
        The anchor of the block that ``next_number`` is in; of no meaning where that block is still empty.
    """
    numbers, anchors = np.empty(len(positions), np.int64), np.empty(len(positions), np.int64)
    number = np.int64(next_number)
    for row in range(len(positions)):
        if number % IN_BLOCK != 0 and positions[row] - anchor > LARGEST_OFFSET:
            number += IN_BLOCK - number % IN_BLOCK
        if number % IN_BLOCK == 0:
            anchor = positions[row]
            if number & np.int64((1 << TOLD_BITS) - 1) == 0:
                number += IN_BLOCK
        numbers[row], anchors[row] = number, anchor
        number += 1
    return numbers, anchors


@njit(cache=True, nogil=True)
def write_texts(
    columns: RingColumns,
    numbers: Int64s,
    anchors: Int64s,
    next_number: int,
    turn: int,
    positions: Int64s,
    bits: UInt64s,
    length_numbers: Int64s,
    sketches: UInt64s,
) -> None:
    """Write texts, at least one, into their slots, and that the numbers passed over stand for no text.

    Parameters
    ----------
    columns
        Changed in place; there is a slot for every number.
    numbers, anchors
        As `number_texts` returns them for ``next_number``.
    turn
        The number in slot 0; the last slot comes before it, or is at most one round of the ring after it.
    positions, bits, length_numbers, sketches
        What is to be written, row by row; no sketches where the ring has none.
    """
    ring_bits, ring_lengths, ring_offsets, ring_anchors, ring_sketches = columns
    capacity, number = len(ring_bits), np.int64(next_number)
    for row in range(len(numbers)):
        while number <= numbers[row]:
            slot = slot_of(number, turn, capacity)
            if number % IN_BLOCK == 0:
                ring_anchors[slot >> BLOCK_BITS] = anchors[row]
            ring_offsets[slot] = NO_TEXT
            number += 1
        slot = slot_of(numbers[row], turn, capacity)
        ring_offsets[slot] = np.uint16(positions[row] - anchors[row])
        ring_lengths[slot] = length_numbers[row]
        for word in range(bits.shape[1]):
            ring_bits[slot, word] = bits[row, word]
        if len(ring_sketches) > 0:
            for word in range(SKETCH_WORDS):
                ring_sketches[slot, word] = sketches[row, word]


@njit(cache=True, nogil=True)
def slot_of(number: int, turn: int, capacity: int) -> int:
    """Return the slot of a number, where ``turn`` is the number in slot 0."""
    slot = np.int64(number - turn)
    if slot < 0:
        return slot + capacity
    return slot if slot < capacity else slot - capacity


@njit(cache=True, nogil=True)
def first_from(columns: RingColumns, first: int, next_number: int, turn: int, position: int) -> tuple[int, int]:
    """Return the number of the first text that is not before a position, and how many texts there are before it.

    Where all are before it, the number is ``next_number``. Only texts from number ``first`` on are looked at.
    """
    offsets, anchors = columns.offsets, columns.anchors
    capacity, number, n_before = len(offsets), np.int64(first), np.int64(0)
    while number < next_number:
        slot = slot_of(number, turn, capacity)
        if offsets[slot] != NO_TEXT:
            if anchors[slot >> BLOCK_BITS] + np.int64(offsets[slot]) >= position:
                break
            n_before += 1
        number += 1
    return number, n_before


@njit(cache=True, nogil=True)
def numbers_from(columns: RingColumns, first: int, next_number: int, turn: int, positions: Int64s) -> Int64s:
    """Return int64[n]: the number of the first text that is not before each position, as `first_from` tells it."""
    numbers = np.empty(len(positions), np.int64)
    for row in range(len(positions)):
        block, last = np.int64(first) >> BLOCK_BITS, np.int64(next_number - 1) >> BLOCK_BITS
        while block < last:  # the last block whose anchor is not after the position
            middle = (block + last + 1) // 2
            slot = slot_of(middle << BLOCK_BITS, turn, len(columns.offsets))
            if columns.anchors[slot >> BLOCK_BITS] <= positions[row]:
                block = middle
            else:
                last = middle - 1
        number = max(np.int64(first), block << BLOCK_BITS)
        end = min(np.int64(next_number), (block + 1) << BLOCK_BITS)
        offset = positions[row] - columns.anchors[slot_of(number, turn, len(columns.offsets)) >> BLOCK_BITS]
        while number < end:  # offsets rise, and numbers that were passed over are the last of a block
            middle = (number + end) // 2
            if np.int64(columns.offsets[slot_of(middle, turn, len(columns.offsets))]) < offset:
                number = middle + 1
            else:
                end = middle
        numbers[row], _ = first_from(columns, number, next_number, turn, positions[row])
    return numbers


@njit(cache=True, nogil=True, inner=True)
def widest_limit(later: LaterTexts, row: int, partners: Partners) -> np.uint64:
    """Return the largest Hamming limit of any pair that a later text may be in."""
    length = min(np.int64(later.lengths[row]), np.int64(len(partners.max_distances) - 1))
    return np.uint64(max(later.max_distances[row], partners.max_distances[length], 0))


@njit(cache=True, nogil=True, inner=True)
def classes_of_partners(later: LaterTexts, row: int, partners: Partners) -> tuple[np.uint64, np.uint64]:
    """Return the class of the shortest length that a later text may match, and how much larger that of the longest is.

    A text of another class is no candidate; one of these classes may be too short or too long all the same.
    """
    length = np.int64(later.lengths[row])
    shortest = np.int64(partners.shortest[min(length, np.int64(len(partners.shortest) - 1))])
    first = length_class(shortest)
    last = length_class(max(length, np.int64(later.max_partner_lengths[row])))
    return np.uint64(first), np.uint64(last - first)


@njit(cache=True, nogil=True, inner=True)
def slot_of_place(place: np.uint64, first_slot: np.uint64, capacity: np.uint64) -> np.uint64:
    """Return the slot of a text, of which the place among those of the ring is given."""
    slot = first_slot + place
    return slot - capacity if slot >= capacity else slot


@njit(cache=True, nogil=True)
def select_in_ring(
    near: UInt64s, depths: Int32s, columns: RingColumns, first_slot: int, rows: PairLimits, later: LaterTexts
) -> NearPairs:
    """Return those that are pairs within their limits, in the order given; `later` is the row of the later text.

    Parameters
    ----------
    near
        Row of the later text in the upper 32 bits, place among the texts of the ring in the lower, each once.
    depths
        int32[n]: their depths.
    first_slot
        The slot of place 0.
    """
    bits, length_numbers, offsets, anchors, sketches = columns
    flat_bits, flat_sketches, n_words = bits.ravel(), sketches.ravel(), np.uint64(bits.shape[1])
    first, capacity = np.uint64(first_slot), np.uint64(len(bits))
    earlier, later_rows = np.empty(len(near), np.int64), np.empty(len(near), np.int64)
    distances, found_depths, n = np.empty(len(near), np.int32), np.empty(len(near), np.int64), np.int64(0)
    for i in range(len(near)):
        soon = slot_of_place(near[min(i + FETCH_SOON, len(near) - 1)] & LOW_HALF, first, capacity)
        fetch_early(offsets, soon)
        fetch_early(length_numbers, soon)
        fetch_early(flat_bits, soon * n_words)
        if len(sketches) > 0:
            fetch_early(flat_sketches, soon * np.uint64(SKETCH_WORDS))
        row, slot = np.int64(near[i] >> HALF), np.int64(slot_of_place(near[i] & LOW_HALF, first, capacity))
        distance = distance_in_ring(columns, rows, slot, later, row)
        if distance >= 0:
            earlier[n], later_rows[n] = anchors[slot >> BLOCK_BITS] + np.int64(offsets[slot]), row
            distances[n], found_depths[n] = distance, np.int64(depths[i])
            n += 1
    return NearPairs(earlier[:n].copy(), later_rows[:n].copy(), distances[:n].copy(), found_depths[:n].copy())


@njit(cache=True, nogil=True, inner=True)
def distance_in_ring(columns: RingColumns, rows: PairLimits, slot: int, later: LaterTexts, row: int) -> np.int32:
    """Return in how many bits a later text and that of a slot differ; -1 where they are no pair within their limits."""
    bits, length_numbers, offsets, anchors, sketches = columns
    position = anchors[slot >> BLOCK_BITS] + np.int64(offsets[slot])
    if offsets[slot] == NO_TEXT or position >= later.positions[row]:
        return np.int32(-1)
    number, length = np.int64(length_numbers[slot]), np.int64(later.lengths[row])
    other = np.int64(rows.lengths[number])
    is_shorter, lacking = other < length, np.int64(0)
    distance = np.int32(0)
    for word in range(bits.shape[1]):
        distance += np.int32(popcount(bits[slot, word] ^ later.bits[row, word]))
    if distance > (rows.max_hamming_distances[number] if is_shorter else later.max_distances[row]):
        return np.int32(-1)
    if len(sketches) > 0 and len(later.sketches) > 0:
        if is_shorter:
            lacking = count_lacking(sketches, slot, later.sketches, row)
        else:
            lacking = count_lacking(later.sketches, row, sketches, slot)
    is_within = are_within(
        min(length, other),
        max(length, other),
        lacking,
        np.int64(rows.max_partner_lengths[number] if is_shorter else later.max_partner_lengths[row]),
        rows.common_of_shorter[number] if is_shorter else later.common_of_shorter[row],
        rows.common_of_longer[number] if is_shorter else later.common_of_longer[row],
    )
    return distance if is_within else np.int32(-1)
