"""A ring buffer of the texts of a live index, and the limits that pairs with these texts must meet.

Texts have running numbers, and the slot of a text is its number modulo the capacity. Numbers come in blocks of
`IN_BLOCK`. A block has an *anchor*, the position of its first text in the input, and stores the other positions as
offsets of 16 bits. A text that is more than `LARGEST_OFFSET` positions after the anchor starts a new block. The slots
of skipped numbers hold `NO_TEXT`.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import SKETCH_WORDS, Int32s, Int64s, NearPairs, UInt16s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, LOW_HALF, differing_bits
from hybriddup.kernels.search.pair_limits import (
    Records,
    Sketch,
    TextColumns,
    are_within,
    count_lacking,
    first_pairs,
    length_class,
    new_pairs,
    sketch_of,
)
from hybriddup.kernels.vectors import fetch_early

BLOCK_BITS = 6
IN_BLOCK = 1 << BLOCK_BITS
"""Number of texts per block; their input positions are stored relative to the position of the block's first text."""
LOW_BITS = 20
"""Number of low bits that are never all 0 in the number of a text. So a module that stores only the low bits of
numbers, `LOW_BITS` or more of them, can use 0 for "no text"."""
NO_TEXT = np.uint16(2**16 - 1)
LARGEST_OFFSET = 2**16 - 2
FETCH_SOON = 12
"""How many texts ahead the ring's columns are prefetched."""


class RingColumns(NamedTuple):
    """The stored properties of the texts, one array each, by slot."""

    bits: UInt64s
    """uint64[capacity, words]: fingerprints, each as 64-bit words."""
    length_numbers: UInt16s
    """uint16[capacity] or uint32[capacity]: index of the text's length in `Ring.lengths`."""
    offsets: UInt16s
    """uint16[capacity]: input position of the text, relative to the first text in its block."""
    anchors: Int64s
    """int64[capacity / IN_BLOCK]: for each block, the input position of its first text."""
    sketches: UInt64s
    """uint64[capacity, SKETCH_WORDS]: sketches of the texts' characters; no rows if characters are not counted."""


class Ring(NamedTuple):
    """The live texts, which have not expired, and the limits that pairs with these texts must meet."""

    columns: RingColumns
    lengths: Int32s
    """int32[n_lengths]: the distinct lengths of the texts."""
    limits: Records
    """LIMIT[n_lengths]: for each of ``lengths``, the limits of pairs whose shorter text has this length."""
    max_distances: Int32s
    shortest: Int32s
    """``max_distances`` and ``shortest`` are int32[n], indexed by the length of a later text: the largest Hamming limit
    of the shorter texts that it may match (-1 if there are none), and the length of the shortest such text. The last
    entry is for all greater lengths."""
    next_number: np.uint64
    span: np.uint64
    """How many numbers are live: ``next_number - span`` to ``next_number - 1``, including skipped numbers."""
    first_slot: np.uint64
    """The slot of the oldest live text; the slots of newer texts follow."""


class LaterTexts(NamedTuple):
    """The texts to look up, by row. Each can match only live texts at earlier input positions."""

    positions: Int64s
    texts: TextColumns
    counts_characters: bool
    """Whether pairs with too few common characters are rejected; ignored if the ring stores no character sketches."""


@njit(cache=True, nogil=True)
def number_texts(positions: Int64s, next_number: int, anchor: int) -> tuple[Int64s, Int64s]:
    """Assign ascending numbers to new texts, in blocks of `IN_BLOCK`; some numbers are skipped.

    Parameters
    ----------
    positions
        int64[n]: the input positions of the texts, in ascending order.
    next_number
        The first number to assign, at least `IN_BLOCK`. A block whose first number has only zeros in its `LOW_BITS` low
        bits is skipped, so that no number has low bits that are all 0.
    anchor
        The input position of the first text in the block of ``next_number``; ignored if that block is empty.

    Returns
    -------
    numbers, anchors
        int64[n], int64[n]: the number of each text, and the input position of the first text in its block.
    """
    numbers, anchors = np.empty(len(positions), np.int64), np.empty(len(positions), np.int64)
    number = np.int64(next_number)
    for row in range(len(positions)):
        if number % IN_BLOCK != 0 and positions[row] - anchor > LARGEST_OFFSET:
            number += IN_BLOCK - number % IN_BLOCK
        if number % IN_BLOCK == 0:
            anchor = positions[row]
            if number & np.int64((1 << LOW_BITS) - 1) == 0:
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
    positions: Int64s,
    texts: TextColumns,
    length_numbers: Int64s,
) -> None:
    """Write one or more texts into their slots, and mark the slots of skipped numbers as empty.

    Parameters
    ----------
    columns
        Changed in place; they must have a slot for every number.
    numbers, anchors
        As returned by `number_texts` for ``next_number``.
    positions, texts, length_numbers
        The input position of each text, its fingerprint and sketch, and the index of its length in `Ring.lengths`.
    """
    ring_bits, ring_lengths, ring_offsets, ring_anchors, ring_sketches = columns
    capacity, row = len(ring_bits), 0
    slot = np.int64(next_number) % capacity
    for number in range(next_number, numbers[-1] + 1):
        if number % IN_BLOCK == 0:
            ring_anchors[slot >> BLOCK_BITS] = anchors[row]
        ring_offsets[slot] = NO_TEXT
        if number == numbers[row]:
            ring_offsets[slot] = np.uint16(positions[row] - anchors[row])
            ring_lengths[slot] = length_numbers[row]
            for word in range(ring_bits.shape[1]):
                ring_bits[slot, word] = texts.bits[row, word]
            if len(ring_sketches) > 0:
                sketch = sketch_of(texts.facts[row])
                for word in range(SKETCH_WORDS):
                    ring_sketches[slot, word] = sketch[word]
            row += 1
        slot = slot_of_place(1, slot, capacity)


@njit(cache=True, nogil=True)
def first_from(columns: RingColumns, first: int, next_number: int, position: int) -> tuple[int, int]:
    """Return the running number of the first text at or after ``position``, and how many texts the search skipped.

    The search starts at number ``first`` and skips the texts before ``position``. If all texts are before ``position``,
    the result is ``next_number``.
    """
    capacity, number, n_before = len(columns.offsets), np.int64(first), np.int64(0)
    slot = number % capacity
    while number < next_number:
        if columns.offsets[slot] != NO_TEXT:
            if position_at(columns, slot) >= position:
                break
            n_before += 1
        number, slot = number + 1, slot_of_place(1, slot, capacity)
    return number, n_before


@njit(cache=True, nogil=True)
def numbers_from(columns: RingColumns, first: int, next_number: int, positions: Int64s) -> Int64s:
    """Return int64[n]: for each input position, the running number of the first text at or after it.

    The other parameters, and the number if all texts are before the position, are as in `first_from`.
    """
    numbers, n_blocks = np.empty(len(positions), np.int64), len(columns.anchors)
    first_block = np.int64(first) >> BLOCK_BITS
    first_anchor = first_block % n_blocks
    for row in range(len(positions)):
        block, last = first_block, np.int64(next_number - 1) >> BLOCK_BITS
        while block < last:  # the last block whose anchor is not after the position
            middle = (block + last + 1) // 2
            if columns.anchors[slot_of_place(middle - first_block, first_anchor, n_blocks)] <= positions[row]:
                block = middle
            else:
                last = middle - 1
        number = max(np.int64(first), block << BLOCK_BITS)
        end = min(np.int64(next_number), (block + 1) << BLOCK_BITS)
        its_anchor = block % n_blocks
        offset, number_of_slot_0 = positions[row] - columns.anchors[its_anchor], (block - its_anchor) << BLOCK_BITS
        while number < end:  # offsets rise, and numbers that were passed over are the last of a block
            middle = (number + end) // 2
            if np.int64(columns.offsets[middle - number_of_slot_0]) < offset:
                number = middle + 1
            else:
                end = middle
        numbers[row], _ = first_from(columns, number, next_number, positions[row])
    return numbers


@njit(cache=True, nogil=True, inner=True)
def widest_limit(ring: Ring, later: LaterTexts, row: int) -> np.uint64:
    """Return the largest Hamming limit of any pair with later text ``row``."""
    fact = later.texts.facts[row]
    length = min(np.int64(fact["length"]), np.int64(len(ring.max_distances) - 1))
    return np.uint64(max(later.texts.limits[fact["kind"]]["max_distance"], ring.max_distances[length], 0))


@njit(cache=True, nogil=True, inner=True)
def classes_of_partners(ring: Ring, later: LaterTexts, row: int) -> tuple[np.uint64, np.uint64]:
    """Return the range of length classes that later text ``row`` may match: the lowest class, and how many follow it.

    No text of another class can match. Texts of these classes may still be too short or too long.
    """
    fact = later.texts.facts[row]
    length = np.int64(fact["length"])
    first = length_class(np.int64(ring.shortest[min(length, np.int64(len(ring.shortest) - 1))]))
    last = length_class(max(length, np.int64(later.texts.limits[fact["kind"]]["max_partner_length"])))
    return np.uint64(first), np.uint64(last - first)


@njit(cache=True, nogil=True, inner=True)
def slot_of_place(place: np.uint64, first_slot: np.uint64, capacity: np.uint64) -> np.uint64:
    """Return the slot that is ``place`` slots after ``first_slot`` in a ring of ``capacity`` slots.

    If ``first_slot`` is the slot of the oldest live text, ``place`` is the rank of a text among the live texts.
    """
    slot = first_slot + place
    return slot - capacity if slot >= capacity else slot


@njit(cache=True, nogil=True)
def select_in_ring(near: UInt64s, depths: Int32s, ring: Ring, later: LaterTexts) -> NearPairs:
    """Select the pairs of ``near`` that are within all limits for their lengths, in the order given.

    Parameters
    ----------
    near
        uint64[n], distinct: the row of the later text in the upper 32 bits; in the lower 32 bits, the rank of the
        earlier text among all live texts, 0 = the oldest.
    depths
        int32[n]: the depth of each pair: the recency rank of the earlier text in the list or bucket in which it was
        found, 1 = the newest.
    """
    columns, first, capacity = ring.columns, ring.first_slot, np.uint64(len(ring.columns.bits))
    flat_bits, flat_sketches, n_words = columns.bits.ravel(), columns.sketches.ravel(), np.uint64(columns.bits.shape[1])
    found, n = new_pairs(len(near)), np.int64(0)
    for i in range(len(near)):
        soon = slot_of_place(near[min(i + FETCH_SOON, len(near) - 1)] & LOW_HALF, first, capacity)
        fetch_early(columns.offsets, soon)
        fetch_early(columns.length_numbers, soon)
        fetch_early(flat_bits, soon * n_words)
        if len(columns.sketches) > 0:
            fetch_early(flat_sketches, soon * np.uint64(SKETCH_WORDS))
        row, slot = np.int64(near[i] >> HALF), np.int64(slot_of_place(near[i] & LOW_HALF, first, capacity))
        distance = distance_in_ring(ring, slot, later, row)
        if distance >= 0:
            found.earlier[n], found.later[n] = position_at(columns, slot), row
            found.distances[n], found.depths[n] = distance, np.int64(depths[i])
            n += 1
    return first_pairs(found, n)


@njit(cache=True, nogil=True, inner=True)
def distance_in_ring(ring: Ring, slot: int, later: LaterTexts, row: int) -> int:
    """Return the Hamming distance of later text ``row`` and the text in a slot, -1 if the two cannot match."""
    columns, fact = ring.columns, later.texts.facts[row]
    if columns.offsets[slot] == NO_TEXT or position_at(columns, slot) >= later.positions[row]:
        return np.int64(-1)
    number = np.int64(columns.length_numbers[slot])
    length, other = np.int64(fact["length"]), np.int64(ring.lengths[number])
    limit = ring.limits[number] if other < length else later.texts.limits[fact["kind"]]
    distance, lacking = np.int64(differing_bits(columns.bits, slot, later.texts.bits, row)), np.int64(0)
    if distance > limit["max_distance"]:
        return np.int64(-1)
    if len(columns.sketches) > 0 and later.counts_characters:
        sketch, of_slot = sketch_of(fact), sketch_at(columns, slot)
        lacking = count_lacking(of_slot, sketch) if other < length else count_lacking(sketch, of_slot)
    return distance if are_within(min(length, other), max(length, other), lacking, limit) else np.int64(-1)


@njit(cache=True, nogil=True, inner=True)
def position_at(columns: RingColumns, slot: int) -> int:
    """Return the input position of the text that a slot holds."""
    return np.int64(columns.anchors[slot >> BLOCK_BITS]) + np.int64(columns.offsets[slot])


@njit(cache=True, nogil=True, inner=True)
def sketch_at(columns: RingColumns, slot: int) -> Sketch:
    """Return the character sketch of the text in a slot, as four uint64."""
    sketches = columns.sketches
    return sketches[slot, 0], sketches[slot, 1], sketches[slot, 2], sketches[slot, 3]
