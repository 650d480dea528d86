"""Reading chains of chunks: which buckets are open, and which texts of wanted residues are in their next chunks."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.chunked_buckets import (
    WORDS_OF_LINE,
    Chains,
    LiveEntries,
    fetch_chunk,
    is_live,
    shift_of,
)
from hybriddup.kernels.residues import residues_of, want_residues
from hybriddup.kernels.ring_texts import LaterTexts
from hybriddup.kernels.vectors import fetch_early

OPEN_AT_ONCE = 64
"""Buckets that are looked into together."""
BITS_OF_WORD = np.uint64(64)
WORDS_OF_CLASSES = 8
"""For a bit of each class, of which there are 512 at most."""


class Room(NamedTuple):
    """Where a look-up notes what it is at."""

    chunks: UInt64s
    """uint64[OPEN_AT_ONCE]: the next chunk of each open chain."""
    n_read: Int64s
    """int64[OPEN_AT_ONCE]: how many entries of each chain were read."""
    slots: UInt64s
    """uint64[n]: of the texts or octets that are to be compared."""
    wanted: UInt64s
    """uint64[WORDS_OF_CLASSES]: the classes of texts that the later one may match, a bit each."""


@njit(cache=True, nogil=True, inner=True)
def want_classes(by_residues: bool, later: LaterTexts, row: int, limit: np.uint64, wanted: UInt64s) -> None:
    """Write into uint64[WORDS_OF_CLASSES] the classes of texts that a later one may match, a bit each."""
    if by_residues:
        want_residues(residues_of(later.bits, row), limit, wanted)
    else:
        wanted[:] = np.uint64(1)  # all are of class 0


@njit(cache=True, nogil=True, inner=True)
def open_chains(chains: Chains, listed: UInt64s, first: int, last: int, chunks: UInt64s, n_read: Int64s) -> int:
    """Write the first chunk of each chain listed from ``first`` to ``last`` into ``chunks``; return how many there are.

    Nothing was read of them yet. What is listed soon after them is fetched.
    """
    heads, pool, chunk_bits = chains.heads, chains.pool, chains.chunk_bits
    shift, n_open = np.uint64(chunk_bits), np.int64(0)
    for probe in range(first, last):
        fetch_early(heads, listed[np.uint64(min(probe + OPEN_AT_ONCE, len(listed) - 1))])
        chunk = np.uint64(heads[listed[np.uint64(probe)]])
        chunks[np.uint64(n_open)], n_read[np.uint64(n_open)] = chunk, 0
        fetch_chunk(pool, chunk << shift, 1 << chunk_bits)
        n_open += np.int64(chunk != 0)
    return n_open


@njit(cache=True, nogil=True, inner=True)
def read_round(
    chains: Chains,
    live: LiveEntries,
    bits: UInt64s,
    room: Room,
    n_open: int,
    n_slots: np.uint64,
) -> tuple[int, np.uint64, int]:
    """Read a chunk of each open chain in turn, so that several are on their way from memory.

    The slots of the entries of wanted classes are written after the first ``n_slots``; their fingerprints are fetched.

    Returns
    -------
    n_open, n_slots, largest
        How many chains are still open, how many slots there are, and the most entries read of a chain.
    """
    chunks, n_read, slots, wanted = room
    pool, chunk_bits, number_bits = chains.pool, chains.chunk_bits, chains.number_bits
    size, shift, capacity = 1 << chunk_bits, np.uint64(chunk_bits), len(bits) >> shift_of(chains.by_octets)
    n_before, n_still, largest = n_slots, np.int64(0), np.int64(0)
    fetch_following(pool, chunks, n_open, chunk_bits)
    for i in range(n_open):
        start = chunks[np.uint64(i)] << shift
        following = np.uint64(pool[start])
        n_slots, n_live = read_chunk(pool, start, size, number_bits, wanted, live, capacity, slots, n_slots)
        n_of_bucket = n_read[np.uint64(i)] + np.int64(n_live)
        largest = max(largest, n_of_bucket)
        # a chunk that was read to its end is followed by live ones, or by none
        if following != 0 and n_live > 0 and is_live(pool[start + np.uint64(1)], live, number_bits):
            chunks[np.uint64(n_still)], n_read[np.uint64(n_still)] = following, n_of_bucket
            n_still += 1
    fetch_fingerprints(bits, slots, n_before, n_slots, bits.shape[1] << shift_of(chains.by_octets))
    return n_still, n_slots, largest


@njit(cache=True, nogil=True, inner=True)
def fetch_following(pool: UInt32s, chunks: UInt64s, n_open: int, chunk_bits: int) -> None:
    """Fetch the chunks that follow those at hand, and do nothing else meanwhile.

    A core finishes no instruction before the page of what was fetched earlier is known, and works only some hundred
    ahead. So pages are looked for side by side only where fetches follow each other closely.
    """
    shift = np.uint64(chunk_bits)
    for i in range(n_open):
        fetch_chunk(pool, np.uint64(pool[chunks[np.uint64(i)] << shift]) << shift, 1 << chunk_bits)


@njit(cache=True, nogil=True, inner=True)
def fetch_fingerprints(bits: UInt64s, slots: UInt64s, first: np.uint64, last: np.uint64, n_words: int) -> None:
    """Fetch the fingerprints of the slots listed from ``first`` to ``last``, of so many words each, closely too."""
    for j in range(first, last):
        for word in range(0, n_words, WORDS_OF_LINE // 2):  # these have 64 bits
            fetch_early(bits, slots[np.uint64(j)] * np.uint64(n_words) + np.uint64(word))


@njit(cache=True, nogil=True, inner=True)
def read_chunk(
    pool: UInt32s,
    start: np.uint64,
    size: int,
    number_bits: int,
    wanted: UInt64s,
    live: LiveEntries,
    capacity: int,
    slots: UInt64s,
    n_slots: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """Write the slots of the live entries of wanted classes into ``slots``, the newest first.

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
        its_class = entry >> shift
        n_slots += wanted[its_class // BITS_OF_WORD] >> its_class % BITS_OF_WORD & np.uint64(1)
    return n_slots, n_live


@njit(cache=True, nogil=True, inner=True)
def slot_before(newest_slot: np.uint64, n_newer: np.uint64, capacity: int) -> np.uint64:
    """Return the slot of an entry that so many are newer than; that of the newest is counted on past the end."""
    slot = newest_slot - n_newer
    return slot - (np.uint64(capacity) if slot >= np.uint64(capacity) else np.uint64(0))
