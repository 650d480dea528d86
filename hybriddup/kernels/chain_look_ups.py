"""Looking later texts up in chains of chunks, and comparing them with what is there."""

from typing import NamedTuple

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.chunked_buckets import (
    Chains,
    Live,
    class_of_length,
    fetch_chunk,
    is_live,
)
from hybriddup.kernels.popcount import popcount
from hybriddup.kernels.residues import classes_within, residues_of
from hybriddup.kernels.ring_texts import (
    LaterTexts,
    LengthRows,
    Partners,
    RingColumns,
    SelectedPairs,
    select_in_ring,
    told_length,
    widest_limit,
)
from hybriddup.kernels.vectors import fetch_early
from hybriddup.records import Int64s, UInt32s, UInt64s

IN_GROUP = 64
"""Buckets that are looked into together."""
FULL_BUCKETS, NEAR_A_PROBE = 4, 16
"""Near texts that are enough for one later text where buckets are limited: as many as are read of so many full buckets,
and so many for each bucket besides, since one text may be in several of them. Ordinary texts have a tenth of that."""
NUMBERS_AT_ONCE = 256
"""Texts whose fingerprints are fetched before they are compared."""
LONGEST_SHORT_RUN = 64
"""Numbers that are sorted by insertion, which is faster than numba's own sorting where they are few."""
BITS_OF_WORD = np.uint64(64)
WORDS_OF_CLASSES = 4
"""For a bit of each class, of which there are 256 at most."""


class LookUpCounts(NamedTuple):
    """What looking up some texts took."""

    n_comparisons: int
    largest_bucket: int
    n_buckets_cut: int
    """Buckets of which only the newest texts were read."""
    n_look_ups: int


class Room(NamedTuple):
    """Where a look-up notes what it is at."""

    chunks: UInt64s
    """uint64[IN_GROUP]: the next chunk of each open chain."""
    n_read: Int64s
    """int64[IN_GROUP]: how many entries of each chain were read."""
    slots: UInt64s
    """uint64[n]: of the texts that are to be compared."""
    wanted: UInt64s
    """uint64[WORDS_OF_CLASSES]: the classes of texts that the later one may match, a bit each."""


@njit(cache=True, nogil=True)
def look_up(
    chains: Chains,
    listed: UInt64s,
    columns: RingColumns,
    rows: LengthRows,
    live: Live,
    later: LaterTexts,
    partners: Partners,
    max_bucket_size: int,
) -> tuple[SelectedPairs, LookUpCounts]:
    """Return the pairs of the later texts within their limits, in order, each once; as `find_in_chains` finds them."""
    near, counts = find_in_chains(chains, listed, columns.bits, live, later, partners, max_bucket_size)
    return select_in_ring(without_repeats(near), columns, live.first_slot, rows, later), counts


@njit(cache=True, nogil=True)
def find_in_chains(
    chains: Chains,
    listed: UInt64s,
    bits: UInt64s,
    live: Live,
    later: LaterTexts,
    partners: Partners,
    max_bucket_size: int,
) -> tuple[UInt64s, LookUpCounts]:
    """Return what is near the later texts in the buckets that they look into.

    Parameters
    ----------
    listed
        uint64[n_later, n_probes]: the buckets that each text looks into; the place after the last stands for none.
    bits
        uint64[capacity, words], one or two words: the fingerprints of the ring, by slot.
    max_bucket_size
        Of larger buckets only the newest texts are read, this many or a few more, and the buckets of a text no farther
        once some thousand of theirs were near (`FULL_BUCKETS`, `NEAR_A_PROBE`); 0 = no limit.

    Returns
    -------
    near
        uint64[n_near]: row of the later text in the upper 32 bits, place among the texts of the ring in the lower; a
        text that several buckets hold comes several times.
    """
    chunks, n_read = np.empty(IN_GROUP, np.uint64), np.empty(IN_GROUP, np.int64)
    slots = np.empty(NUMBERS_AT_ONCE + (IN_GROUP << chains.chunk_bits), np.uint64)
    room = Room(chunks, n_read, slots, np.zeros(WORDS_OF_CLASSES, np.uint64))
    near, n_near = np.empty(4096 + len(slots), np.uint64), np.uint64(0)
    counts, row = LookUpCounts(0, 0, 0, listed.size), np.int64(0)
    while row < len(listed):
        row, n_near, counts = look_up_rows(
            chains,
            listed.ravel(),
            listed.shape[1],
            bits,
            live,
            later,
            partners,
            max_bucket_size,
            room,
            row,
            near,
            n_near,
            counts,
        )
        if row < len(listed):
            near = larger(near, n_near)
    return near[: np.int64(n_near)].copy(), counts


@njit(cache=True, nogil=True, counts_references=False)
def look_up_rows(
    chains: Chains,
    listed: UInt64s,
    n_probes: int,
    bits: UInt64s,
    live: Live,
    later: LaterTexts,
    partners: Partners,
    max_bucket_size: int,
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
        uint64[n_later * n_probes]: the buckets, text after text; see `find_in_chains`.

    Returns
    -------
    row, n_near, counts
        The row of the text for which there was no room, what there is of those before it, and what these took.
    """
    n_comparisons, largest, n_cut, n_look_ups = counts
    most_near = np.uint64(FULL_BUCKETS * max_bucket_size + NEAR_A_PROBE * n_probes)
    for row in range(first_row, len(later.lengths)):
        limit, n_before = widest_limit(later, row, partners), n_near
        before = LookUpCounts(n_comparisons, largest, n_cut, n_look_ups)
        want_classes(chains, later, row, limit, partners, room.wanted)
        for group in range(row * n_probes, (row + 1) * n_probes, IN_GROUP):
            last = min(group + IN_GROUP, (row + 1) * n_probes)
            n_open, n_slots = open_chains(chains, listed, group, last, room.chunks, room.n_read), np.uint64(0)
            while n_open > 0:
                n_open, n_slots, longest, n_stopped = read_round(
                    chains, live, bits, max_bucket_size, room, n_open, n_slots
                )
                largest, n_cut = max(largest, longest), n_cut + n_stopped
                if n_slots < np.uint64(NUMBERS_AT_ONCE) and n_open > 0:
                    continue
                if n_near + n_slots >= np.uint64(len(near)):
                    return row, n_before, before
                n_near = compare_slots(bits, room.slots, n_slots, live.first_slot, later, row, limit, near, n_near)
                n_comparisons, n_slots = n_comparisons + np.int64(n_slots), np.uint64(0)
                if max_bucket_size > 0 and n_near > n_before + most_near:
                    n_cut, n_open = n_cut + n_open, np.int64(0)
    return len(later.lengths), n_near, LookUpCounts(n_comparisons, largest, n_cut, n_look_ups)


@njit(cache=True, nogil=True, counts_references=False)
def want_classes(
    chains: Chains, later: LaterTexts, row: int, limit: np.uint64, partners: Partners, wanted: UInt64s
) -> None:
    """Write into uint64[WORDS_OF_CLASSES] the classes of texts that a later one may match, a bit each."""
    wanted[:] = np.uint64(0)
    if chains.by_residues:
        wanted[0] = classes_within(residues_of(later.bits, row), limit)
        return
    shortest = partners.shortest[told_length(later, row, partners)]
    longest = max(np.int64(later.max_partner_lengths[row]), np.int64(later.lengths[row]))
    first, last = class_of_length(chains.class_of, shortest), class_of_length(chains.class_of, longest)
    for each in range(first, last + np.uint64(1)):
        wanted[np.uint64(each) // BITS_OF_WORD] |= np.uint64(1) << np.uint64(each) % BITS_OF_WORD


@njit(cache=True, nogil=True, counts_references=False)
def open_chains(chains: Chains, listed: UInt64s, first: int, last: int, chunks: UInt64s, n_read: Int64s) -> int:
    """Write the first chunk of each chain listed from ``first`` to ``last`` into ``chunks``; return how many there are.

    Nothing was read of them yet. What is listed soon after them is fetched.
    """
    heads, pool, chunk_bits = chains.heads, chains.pool, chains.chunk_bits
    shift, n_open = np.uint64(chunk_bits), np.int64(0)
    for probe in range(first, last):
        fetch_early(heads, listed[np.uint64(min(probe + IN_GROUP, len(listed) - 1))])
        chunk = np.uint64(heads[listed[np.uint64(probe)]])
        chunks[np.uint64(n_open)], n_read[np.uint64(n_open)] = chunk, 0
        fetch_chunk(pool, chunk << shift, 1 << chunk_bits)
        n_open += np.int64(chunk != 0)
    return n_open


@njit(cache=True, nogil=True, counts_references=False)
def read_round(
    chains: Chains,
    live: Live,
    bits: UInt64s,
    max_bucket_size: int,
    room: Room,
    n_open: int,
    n_slots: np.uint64,
) -> tuple[int, np.uint64, int, int]:
    """Read a chunk of each open chain in turn, so that several are on their way from memory.

    The slots of the texts of wanted classes are written after the first ``n_slots``; their fingerprints are fetched.

    Returns
    -------
    n_open, n_slots, largest, n_cut
        How many chains are still open, how many slots there are, the most entries read of a chain, and how many chains
        were closed though more of their entries are live.
    """
    chunks, n_read, slots, wanted = room
    pool, chunk_bits, number_bits = chains.pool, chains.chunk_bits, chains.number_bits
    size, shift, n_words, capacity = 1 << chunk_bits, np.uint64(chunk_bits), np.uint64(bits.shape[1]), len(bits)
    n_still, largest, n_cut = np.int64(0), np.int64(0), np.int64(0)
    for i in range(n_open):
        start = chunks[np.uint64(i)] << shift
        following = np.uint64(pool[start])
        fetch_chunk(pool, following << shift, size)
        n_before = n_slots
        n_slots, n_live = read_chunk(pool, start, size, number_bits, wanted, live, capacity, slots, n_slots)
        for j in range(n_before, n_slots):
            fetch_early(bits, slots[np.uint64(j)] * n_words)
        n_of_bucket = n_read[np.uint64(i)] + np.int64(n_live)
        largest = max(largest, n_of_bucket)
        # a chunk that was read to its end is followed by live ones, or by none
        may_follow = following != 0 and n_live > 0 and is_live(pool[start + np.uint64(1)], live, number_bits)
        if may_follow and 0 < max_bucket_size <= n_of_bucket:
            n_cut += np.int64(is_live(pool[(following << shift) + np.uint64(size - 1)], live, number_bits))
        elif may_follow:
            chunks[np.uint64(n_still)], n_read[np.uint64(n_still)] = following, n_of_bucket
            n_still += 1
    return n_still, n_slots, largest, n_cut


@njit(cache=True, nogil=True, counts_references=False)
def read_chunk(
    pool: UInt32s,
    start: np.uint64,
    size: int,
    number_bits: int,
    wanted: UInt64s,
    live: Live,
    capacity: int,
    slots: UInt64s,
    n_slots: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """Write the slots of the live texts of wanted classes into ``slots``, the newest first.

    It reads no farther than the first entry of the chunk that is not live.

    Returns
    -------
    n_slots, n_live
        How many slots there are, and how many entries are live.
    """
    shift, span, n_live = np.uint64(number_bits), np.uint64(live.span), np.uint64(0)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    newest_slot, newest_number = np.uint64(live.first_slot + live.span - 1), live.next_number - np.uint64(1)
    for back in range(1, size):
        entry = np.uint64(pool[start + np.uint64(size - back)])
        if entry == 0:
            continue
        n_newer = (newest_number - entry) & mask
        if n_newer >= span:
            break
        n_live += np.uint64(1)
        slots[n_slots] = slot_before(newest_slot, n_newer, capacity)
        kind = entry >> shift
        n_slots += wanted[kind // BITS_OF_WORD] >> kind % BITS_OF_WORD & np.uint64(1)
    return n_slots, n_live


@njit(cache=True, nogil=True, counts_references=False)
def slot_before(newest_slot: np.uint64, n_newer: np.uint64, capacity: int) -> np.uint64:
    """Return the slot of a text that so many are newer than; that of the newest is counted on past the end."""
    slot = newest_slot - n_newer
    return slot - (np.uint64(capacity) if slot >= np.uint64(capacity) else np.uint64(0))


@njit(cache=True, nogil=True, counts_references=False)
def compare_slots(
    bits: UInt64s,
    slots: UInt64s,
    n_slots: np.uint64,
    first_slot: int,
    later: LaterTexts,
    row: int,
    limit: np.uint64,
    near: UInt64s,
    n_near: np.uint64,
) -> np.uint64:
    """Write the places of the texts within the limit into ``near``, after what is there, and return how many are."""
    high, first, capacity = np.uint64(row) << np.uint64(32), np.uint64(first_slot), np.uint64(len(bits))
    if bits.shape[1] == 1:
        word = later.bits[row, 0]
        for i in range(n_slots):
            slot = slots[np.uint64(i)]
            place = slot - first + (capacity if slot < first else np.uint64(0))
            near[n_near] = high | place
            n_near += np.uint64(popcount(bits[slot, np.uint64(0)] ^ word) <= limit)
        return n_near
    first_word, second_word = later.bits[row, 0], later.bits[row, 1]
    for i in range(n_slots):
        slot = slots[np.uint64(i)]
        place = slot - first + (capacity if slot < first else np.uint64(0))
        near[n_near] = high | place
        distance = popcount(bits[slot, np.uint64(0)] ^ first_word) + popcount(bits[slot, np.uint64(1)] ^ second_word)
        n_near += np.uint64(distance <= limit)
    return n_near


@njit(cache=True, nogil=True)
def larger(near: UInt64s, n_near: np.uint64) -> UInt64s:
    """Return an array twice as large that begins with the first ``n_near`` of this one."""
    twice = np.empty(2 * len(near), np.uint64)
    for i in range(n_near):
        twice[np.uint64(i)] = near[np.uint64(i)]
    return twice


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
        if last - first > LONGEST_SHORT_RUN:
            numbers[first:last].sort()
        else:
            sort_short_run(numbers, first, last)
        for i in range(first, last):
            if n == 0 or numbers[i] != numbers[n - 1]:
                numbers[n] = numbers[i]
                n += 1
        first = last
    return numbers[:n]


@njit(cache=True, nogil=True, counts_references=False)
def sort_short_run(numbers: UInt64s, first: int, last: int) -> None:
    """Sort the numbers from ``first`` to ``last``, by insertion."""
    for i in range(first + 1, last):
        number, place = numbers[np.uint64(i)], np.uint64(i)
        while place > np.uint64(first) and numbers[place - np.uint64(1)] > number:
            numbers[place] = numbers[place - np.uint64(1)]
            place -= np.uint64(1)
        numbers[place] = number
