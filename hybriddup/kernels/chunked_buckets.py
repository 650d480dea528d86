"""Buckets that grow at one end and are cut at the other: chains of chunks, the newest first.

All tables share one pool of chunks. A chunk is a power of two of words: the next chunk of the chain, 0 = none, and then
an entry for each text, in the order in which they were added; the places not yet filled hold 0, which is no entry. Only
the first chunk of a chain has such places. Chunk 0 is never used.

An entry is the low bits of a text's number, under the residues of its fingerprint where there are any. It can have the
number of the text's *octet* instead, the eight consecutive texts among which it is: that takes fewer bits, and reading
fingerprints of 64 bits takes no longer, since those of an octet are a line of the cache. An entry is *live* when its
number is at most ``span`` before the next one to be given out. All entries after one that is not live, along a chain,
are not either; those of numbers as far back as the bits can tell may be taken for live ones again, and then stand for
texts that a look-up compares in vain.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.residues import residues_of
from hybriddup.kernels.vectors import N_LANES, fetch_early

FRESH, FREE, N_FREE = 0, 1, 2
"""Places in the book of the pool: the first chunk never used, the first that is free again (0 = none), and how many
are free again."""
N_BOOK = 3
FETCH_HEAD, FETCH_CHUNK = np.int64(24), np.int64(12)
"""How many insertions ahead a head and a chunk are fetched: memory takes that long to answer."""
WORDS_OF_LINE = 16
"""Words of a line of the cache, of 32 bits each."""
BITS_OF_ENTRY = 32
OCTET_BITS = N_LANES.bit_length() - 1
"""Numbers that are alike but for so many of their low bits are of an octet: as many as `near_in_line` compares."""
LOW_HALF = np.uint64(0xFFFFFFFF)


class Chains(NamedTuple):
    """The chains of all tables."""

    heads: UInt32s
    """uint32[n_buckets + 1]: the first chunk of each bucket, 0 = none; the last is for texts that go into none."""
    pool: UInt32s
    """uint32[n_chunks << chunk_bits]."""
    book: Int64s
    """int64[N_BOOK]."""
    chunk_bits: int
    number_bits: int
    """The low bits of an entry, which are of the number of the text, or of its octet."""
    by_residues: bool
    """Whether the other bits are the residues of the fingerprint; else they are 0."""
    by_octets: bool
    """Whether entries have not the number of the text, but that of its octet."""


class Live(NamedTuple):
    """Which texts are live, and where their fingerprints are."""

    next_number: np.uint64
    """The next number to be given out."""
    span: int
    """So many numbers before it are live."""
    first_slot: int
    """The slot of the first of them in the ring; the others follow."""


class LiveEntries(NamedTuple):
    """Which entries are live: the same as `Live`, of octets where entries are of these."""

    next_number: np.uint64
    span: int
    """Fewer than the bits of an entry's number can tell apart."""
    first_slot: int
    """The octet in slots 0 to 7 has slot 0."""


@njit(cache=True, nogil=True, inner=True)
def shift_of(by_octets: bool) -> np.uint64:
    """Return how many low bits of a text's number an entry does without."""
    return np.uint64(OCTET_BITS) if by_octets else np.uint64(0)


@njit(cache=True, nogil=True, inner=True)
def live_entries(live: Live, by_octets: bool) -> LiveEntries:
    """Return which entries are live; that of an octet is while any of its texts is.

    The octets of slots are those of numbers, because the number in slot 0 and the slots there are can be divided by 8.
    """
    shift = shift_of(by_octets)
    first = (live.next_number - np.uint64(live.span)) >> shift
    following = ((live.next_number - np.uint64(1)) >> shift) + np.uint64(1)
    return LiveEntries(following, np.int64(following - first), np.int64(np.uint64(live.first_slot) >> shift))


@njit(cache=True, nogil=True)
def age_of(entry: np.uint32, live: LiveEntries, number_bits: int) -> int:
    """Return how many numbers the number of an entry is before the next one to be given out; 0 = as many as can be."""
    mask = (np.uint64(1) << np.uint64(number_bits)) - np.uint64(1)
    return np.int64((live.next_number - np.uint64(entry)) & mask)


@njit(cache=True, nogil=True)
def is_live(entry: np.uint32, live: LiveEntries, number_bits: int) -> bool:
    """Return whether an entry is live."""
    return 0 < age_of(entry, live, number_bits) <= live.span


@njit(cache=True, nogil=True)
def drop_residues(chains: Chains, live: Live) -> None:
    """Turn entries into those of numbers alone, in place; what is not live stays so."""
    pool, size, entries = chains.pool, np.int64(1) << chains.chunk_bits, live_entries(live, chains.by_octets)
    for place in range(size, chains.book[FRESH] << chains.chunk_bits):
        if place % size != 0 and pool[place] != 0:
            age = age_of(pool[place], entries, chains.number_bits)
            is_old = age == 0 or age > entries.span
            pool[place] = np.uint32((entries.next_number - np.uint64(entries.span + 1 if is_old else age)) & LOW_HALF)


@njit(cache=True, nogil=True)
def add_and_sweep(
    chains: Chains,
    listed: UInt64s,
    numbers: Int64s,
    bits: UInt64s,
    live: Live,
    first: int,
    last: int,
    own_every: int,
) -> None:
    """Add texts to their buckets, as `add_to_chains` does, and free what is not live in some buckets.

    All in one call, because a call from Python takes longer than adding a text does. Buckets are swept from ``first``
    to ``last``, and with each text whose number ``own_every`` divides, 0 = none, one of those that it was added to,
    which mostly has just been read.
    """
    add_to_chains(chains, listed, numbers, bits)
    entries = live_entries(live, chains.by_octets)
    sweep_chains(chains, first, last, entries)
    for row in range(len(numbers) if own_every > 0 else 0):
        if numbers[row] % own_every == 0:
            bucket = np.int64(listed[row, numbers[row] // own_every % listed.shape[1]])
            sweep_chains(chains, bucket, bucket + 1, entries)


@njit(cache=True, nogil=True, inner=True)
def take_chunk(pool: UInt32s, book: Int64s, chunk_bits: int) -> np.uint64:
    """Return a chunk with nothing in it, from the free list or never used; the caller has seen that there is one."""
    if book[FREE] == 0:
        book[FRESH] += 1
        return np.uint64(book[FRESH] - 1)
    chunk = np.uint64(book[FREE])
    start = chunk << np.uint64(chunk_bits)
    book[FREE] = np.int64(pool[start])
    book[N_FREE] -= 1
    for place in range(1 << chunk_bits):
        pool[start + np.uint64(place)] = np.uint32(0)
    return chunk


@njit(cache=True, nogil=True)
def add_to_chains(chains: Chains, listed: UInt64s, numbers: Int64s, bits: UInt64s) -> None:
    """Add texts to their buckets.

    Parameters
    ----------
    chains
        Changed in place. There are as many free chunks as there are places listed.
    listed
        uint64[n, n_of_text]: the buckets of each text, those of `list_heads` or others; the place after the last bucket
        stands for none.
    numbers, bits
        int64[n] and uint64[n, words]: of the texts, in order.
    """
    heads, pool, book, chunk_bits = chains.heads, chains.pool, chains.book, chains.chunk_bits
    flat, n_of_text, size, shift = listed.ravel(), np.uint64(listed.shape[1]), 1 << chunk_bits, np.uint64(chunk_bits)
    last, none = np.int64(len(flat)) - 1, np.uint64(len(heads) - 1)
    for i in range(len(flat)):
        fetch_early(heads, flat[np.uint64(min(i + FETCH_HEAD, last))])
        soon = np.uint64(heads[flat[np.uint64(min(i + FETCH_CHUNK, last))]])
        fetch_early(pool, soon << shift)
        bucket, row = flat[np.uint64(i)], np.uint64(i) // n_of_text
        if bucket == none:
            continue
        chunk = np.uint64(heads[bucket])
        place = np.uint64(size)
        if chunk != 0:
            place = first_free_place(pool, chunk << shift, size)
        if place == np.uint64(size):
            fresh = take_chunk(pool, book, chunk_bits)
            pool[fresh << shift] = np.uint32(chunk)
            heads[bucket] = np.uint32(fresh)
            chunk, place = fresh, np.uint64(1)
        pool[(chunk << shift) + place] = entry_of(chains, numbers[row], bits, np.int64(row))


@njit(cache=True, nogil=True, inner=True)
def entry_of(chains: Chains, number: int, bits: UInt64s, row: int) -> np.uint32:
    """Return what stands in the chunks for a text, whose fingerprint is in a row."""
    shift = np.uint64(chains.number_bits)
    low_bits = np.uint64(number) >> shift_of(chains.by_octets) & ((np.uint64(1) << shift) - np.uint64(1))
    residues = residues_of(bits, row) if chains.by_residues else np.uint64(0)
    return np.uint32(low_bits | residues << shift)


@njit(cache=True, nogil=True, inner=True)
def first_free_place(pool: UInt32s, start: np.uint64, size: int) -> np.uint64:
    """Return the first place of a chunk that is not filled, its size where all are; the filled ones come first."""
    low, high = np.uint64(1), np.uint64(size)
    if pool[start + high - np.uint64(1)] != 0:
        return high
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if pool[start + middle] != 0:
            low = middle + np.uint64(1)
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, inner=True)
def fetch_chunk(pool: UInt32s, start: np.uint64, size: int) -> None:
    """Fetch a chunk of so many words, all its lines together."""
    for word in range(0, size, WORDS_OF_LINE):
        fetch_early(pool, start + np.uint64(word))


@njit(cache=True, nogil=True)
def sweep_chains(chains: Chains, first: int, last: int, live: LiveEntries) -> None:
    """Free the chunks of some buckets that hold nothing live; the chains are changed in place."""
    heads, pool, book, chunk_bits, number_bits, _, _ = chains
    shift, size = np.uint64(chunk_bits), 1 << chunk_bits
    for bucket in range(first, last):
        soon = np.uint64(heads[np.uint64(min(bucket + FETCH_CHUNK, len(heads) - 1))])
        fetch_early(pool, soon << shift)
        before, chunk = np.uint64(0), np.uint64(heads[np.uint64(bucket)])
        while chunk != 0:
            start = chunk << shift
            if not is_live(pool[start + first_free_place(pool, start, size) - np.uint64(1)], live, number_bits):
                if before == 0:
                    heads[np.uint64(bucket)] = np.uint32(0)
                else:
                    pool[before << shift] = np.uint32(0)
                free_chain(pool, book, chunk, shift)
                break
            before, chunk = chunk, np.uint64(pool[start])


@njit(cache=True, nogil=True, inner=True)
def free_chain(pool: UInt32s, book: Int64s, chunk: np.uint64, shift: np.uint64) -> None:
    """Put a chunk and all that follow it on the free list."""
    while chunk != 0:
        following = np.uint64(pool[chunk << shift])
        pool[chunk << shift] = np.uint32(book[FREE])
        book[FREE] = np.int64(chunk)
        book[N_FREE] += 1
        chunk = following
