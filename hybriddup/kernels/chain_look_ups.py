"""Looking later texts up in chains of chunks, and comparing them with what is there."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.chain_reads import OPEN_AT_ONCE, WORDS_OF_CLASSES, Room, open_chains, read_round, want_classes
from hybriddup.kernels.chunked_buckets import OCTET_BITS, Chains, Live, LiveEntries, live_entries, shift_of
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.hamming import differing_bits
from hybriddup.kernels.popcount import lowest_bit, popcount
from hybriddup.kernels.ring_texts import (
    LOW_HALF,
    LaterTexts,
    LengthRows,
    Partners,
    RingColumns,
    SelectedPairs,
    select_in_ring,
    slot_at,
    widest_limit,
)
from hybriddup.kernels.short_runs import sort_run
from hybriddup.kernels.vectors import near_in_line

SLOTS_AT_ONCE = 256
"""Texts or octets whose fingerprints are fetched before they are compared."""


class LookUpCounts(NamedTuple):
    """What looking up some texts took."""

    n_comparisons: int
    largest_bucket: int
    n_look_ups: int


@njit(cache=True, nogil=True)
def look_up(
    chains: Chains,
    listed: UInt64s,
    columns: RingColumns,
    rows: LengthRows,
    live: Live,
    later: LaterTexts,
    partners: Partners,
) -> tuple[SelectedPairs, LookUpCounts]:
    """Return the pairs of the later texts within their limits, in order, each once; as `find_in_chains` finds them."""
    near, counts = find_in_chains(chains, listed, columns.bits, live, later, partners)
    near = without_repeats(near)
    if chains.by_octets:
        near = texts_of_octets(near, columns.bits, live, later, partners)
    return select_in_ring(near, columns, live.first_slot, rows, later), counts


@njit(cache=True, nogil=True)
def find_in_chains(
    chains: Chains, listed: UInt64s, bits: UInt64s, live: Live, later: LaterTexts, partners: Partners
) -> tuple[UInt64s, LookUpCounts]:
    """Return what is near the later texts in the buckets that they look into.

    Parameters
    ----------
    listed
        uint64[n_later, n_probes]: the buckets that each text looks into; the place after the last stands for none.
    bits
        uint64[capacity, words], one or two words: the fingerprints of the ring, by slot.

    Returns
    -------
    near
        uint64[n_near]: row of the later text in the upper 32 bits, place among the texts of the ring in the lower, or
        among its octets; what several buckets hold comes several times.
    """
    chunks, n_read = np.empty(OPEN_AT_ONCE, np.uint64), np.empty(OPEN_AT_ONCE, np.int64)
    slots = np.empty(SLOTS_AT_ONCE + (OPEN_AT_ONCE << chains.chunk_bits), np.uint64)
    room = Room(chunks, n_read, slots, np.zeros(WORDS_OF_CLASSES, np.uint64))
    entries = live_entries(live, chains.by_octets)
    near, n_near = np.empty(4096 + len(slots), np.uint64), np.uint64(0)
    n_later, flat = len(later.lengths), listed.ravel()
    counts, row = LookUpCounts(0, 0, listed.size), np.int64(0)
    while row < n_later:
        row, n_near, counts = look_up_rows(
            chains, flat, bits, entries, later, partners, room, row, near, n_near, counts
        )
        if row < n_later:
            near = with_room_for(near, np.int64(n_near), 0)
    return near[: np.int64(n_near)].copy(), counts


@njit(cache=True, nogil=True, inner=True)
def look_up_rows(
    chains: Chains,
    listed: UInt64s,
    bits: UInt64s,
    entries: LiveEntries,
    later: LaterTexts,
    partners: Partners,
    room: Room,
    first_row: int,
    near: UInt64s,
    n_near: np.uint64,
    counts: LookUpCounts,
) -> tuple[int, np.uint64, LookUpCounts]:
    """Write what is near the later texts from ``first_row`` on into ``near``, after what is there.

    Parameters
    ----------
    listed
        uint64[n_later * n_probes]: the buckets, text after text; see `find_in_chains`. There is a later text at least.

    Returns
    -------
    row, n_near, counts
        The row of the text for which there was no room, what there is of those before it, and what these took.
    """
    n_comparisons, largest, n_look_ups = counts
    n_probes = len(listed) // len(later.lengths)
    for row in range(first_row, len(later.lengths)):
        limit, n_before = widest_limit(later, row, partners), n_near
        before = LookUpCounts(n_comparisons, largest, n_look_ups)
        want_classes(chains.by_residues, later, row, limit, room.wanted)
        for first in range(row * n_probes, (row + 1) * n_probes, OPEN_AT_ONCE):
            last = min(first + OPEN_AT_ONCE, (row + 1) * n_probes)
            n_open, n_slots = open_chains(chains, listed, first, last, room.chunks, room.n_read), np.uint64(0)
            while n_open > 0:
                n_open, n_slots, longest = read_round(chains, entries, bits, room, n_open, n_slots)
                largest = max(largest, longest)
                if n_slots < np.uint64(SLOTS_AT_ONCE) and n_open > 0:
                    continue
                if n_near + n_slots >= np.uint64(len(near)):
                    return row, n_before, before
                n_near = compare_slots(
                    bits, room.slots, n_slots, entries, chains.by_octets, later, row, limit, near, n_near
                )
                n_comparisons += np.int64(n_slots << shift_of(chains.by_octets))
                n_slots = np.uint64(0)
    return len(later.lengths), n_near, LookUpCounts(n_comparisons, largest, n_look_ups)


@njit(cache=True, nogil=True, inner=True)
def compare_slots(
    bits: UInt64s,
    slots: UInt64s,
    n_slots: np.uint64,
    entries: LiveEntries,
    by_octets: bool,
    later: LaterTexts,
    row: int,
    limit: np.uint64,
    near: UInt64s,
    n_near: np.uint64,
) -> np.uint64:
    """Write the places of the texts within the limit into ``near``, after what is there, and return how many are.

    Or of the octets that have such a text.
    """
    high, first = np.uint64(row) << np.uint64(32), np.uint64(entries.first_slot)
    capacity = np.uint64(len(bits)) >> shift_of(by_octets)
    if by_octets:
        for i in range(n_slots):
            octet = slots[np.uint64(i)]
            near[n_near] = high | place_of(octet, first, capacity)
            n_near += np.uint64(near_in_octet(bits, octet, later, row, limit) != 0)
        return n_near
    if bits.shape[1] == 1:
        word = later.bits[row, 0]
        for i in range(n_slots):
            slot = slots[np.uint64(i)]
            near[n_near] = high | place_of(slot, first, capacity)
            n_near += np.uint64(popcount(bits[slot, np.uint64(0)] ^ word) <= limit)
        return n_near
    first_word, second_word = later.bits[row, 0], later.bits[row, 1]
    for i in range(n_slots):
        slot = slots[np.uint64(i)]
        near[n_near] = high | place_of(slot, first, capacity)
        distance = popcount(bits[slot, np.uint64(0)] ^ first_word) + popcount(bits[slot, np.uint64(1)] ^ second_word)
        n_near += np.uint64(distance <= limit)
    return n_near


@njit(cache=True, nogil=True, inner=True)
def place_of(slot: np.uint64, first_slot: np.uint64, capacity: np.uint64) -> np.uint64:
    """Return the place of a slot after the first one, the other way round than `slot_at`."""
    return slot - first_slot + (capacity if slot < first_slot else np.uint64(0))


@njit(cache=True, nogil=True, inner=True)
def near_in_octet(bits: UInt64s, octet: np.uint64, later: LaterTexts, row: int, limit: np.uint64) -> np.uint64:
    """Return which texts of the octet in a slot are within the limit, bit by bit."""
    start = octet << np.uint64(OCTET_BITS)
    if bits.shape[1] == 1:
        return near_in_line(bits, start, later.bits[row, 0], limit)
    flags = np.uint64(0)
    for i in range(1 << OCTET_BITS):
        is_near = np.uint64(differing_bits(bits, start + np.uint64(i), later.bits, row)) <= limit
        flags |= np.uint64(is_near) << np.uint64(i)
    return flags


@njit(cache=True, nogil=True)
def texts_of_octets(near: UInt64s, bits: UInt64s, live: Live, later: LaterTexts, partners: Partners) -> UInt64s:
    """Return the places of the live texts within the limit in each octet, in order, as `find_in_chains` has texts."""
    found, n = np.empty(len(near) << OCTET_BITS, np.uint64), np.uint64(0)
    n_octets, first = len(bits) >> OCTET_BITS, live.first_slot >> OCTET_BITS
    n_before = np.uint64(live.first_slot - (first << OCTET_BITS))
    for i in range(len(near)):
        row, place = np.int64(near[i] >> np.uint64(32)), near[i] & LOW_HALF
        octet = np.uint64(slot_at(near[i], first, n_octets))
        flags = near_in_octet(bits, octet, later, row, widest_limit(later, row, partners))
        while flags != 0:
            text = (place << np.uint64(OCTET_BITS)) + lowest_bit(flags) - n_before
            found[n] = np.uint64(row) << np.uint64(32) | text
            n += np.uint64(text < np.uint64(live.span))
            flags &= flags - np.uint64(1)
    return found[: np.int64(n)]


@njit(cache=True, nogil=True)
def without_repeats(numbers: UInt64s) -> UInt64s:
    """Return the numbers sorted, each once; those given are changed in place.

    Their upper halves rise already, so that the runs in which these are equal are sorted, each by itself.
    """
    n, first = np.int64(0), 0
    while first < len(numbers):
        last = first + 1
        while last < len(numbers) and numbers[last] >> np.uint64(32) == numbers[first] >> np.uint64(32):
            last += 1
        sort_run(numbers, first, last)
        for i in range(first, last):
            if n == 0 or numbers[i] != numbers[n - 1]:
                numbers[n] = numbers[i]
                n += 1
        first = last
    return numbers[:n]
