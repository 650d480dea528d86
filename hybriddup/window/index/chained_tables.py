"""The tables of a live index: buckets that are chains of chunks, all in one pool."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Protocol

import numpy as np

from hybriddup.data.records import Fingerprints, Int64s, UInt32s, UInt64s
from hybriddup.kernels.chain_look_ups import LookUpCounts, look_up
from hybriddup.kernels.chunked_buckets import (
    FRESH,
    N_BOOK,
    N_FREE,
    Chains,
    Live,
    add_and_sweep,
    drop_residues,
)
from hybriddup.kernels.ring_texts import IN_BLOCK, LaterTexts, SelectedPairs
from hybriddup.steps.parallel import map_slices
from hybriddup.window.index.aligned import aligned_zeros
from hybriddup.window.index.entries import NUMBERS, Entries
from hybriddup.window.index.text_ring import TextRing

CHUNK_BITS = (2, 3, 4, 5)
"""Sizes of a chunk as powers of two, in words of 4 bytes: up to two lines of the cache, which are fetched together."""
HARDLY_MORE = 1.15
WORTHWHILE = 64
"""Texts to look up that are worth a thread."""
GROWTH = 1.5
"""A full pool becomes so much larger, at least."""
SPARE = 1.5
"""Room for so many times the chunks that are expected; what is never written to takes no memory."""
FEWEST_SWEEPS, MOST_SWEEPS = 8, 64
"""Sweeps over all buckets while a whole window is added: the more, the fewer forgotten texts are still in a bucket."""
SWEEPS_OF_UNUSED = 2
"""As many are enough where buckets that texts are added to are swept besides."""
VISITS = 16
"""Chunks and buckets that are visited by the sweep for each text added, where that allows more than the fewest."""


class TableKeys(Protocol):
    """Tells the buckets of texts by their fingerprints uint64[n, words]; buckets are numbered through all tables."""

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        ...

    @property
    def n_of_text(self) -> int:
        """In how many of them a text is."""
        ...

    def own(self, bits: UInt64s) -> UInt64s:
        """Return uint64[n, n_of_text]: the buckets that texts are in."""
        ...

    def probed(self, bits: UInt64s) -> UInt64s:
        """Return uint64[n, m]: the buckets that texts look into."""
        ...


class ChainedTables:
    """The tables of one shape over the texts of a ring.

    Parameters
    ----------
    keys
        Which buckets a text is in, and which it looks into.
    n_texts
        Texts that will be in the window; with more, the pool grows.
    entries
        What they have of a text. With more texts than there are numbers for beside residues, these are given up.
    """

    def __init__(self, keys: TableKeys, n_texts: int, entries: Entries = NUMBERS) -> None:
        self.keys = keys
        self._entries = entries
        self.chunk_bits = best_chunk_bits(n_texts * keys.n_of_text / keys.n_buckets)
        self.heads: UInt32s = np.zeros(keys.n_buckets + 1, np.uint32)
        self.book = np.zeros(N_BOOK, np.int64)
        self.book[FRESH] = 1
        self.n_expected = expected_chunks(n_texts * keys.n_of_text, keys.n_buckets, self.chunk_bits)
        self._chains = self._chains_in(self._pool_of(int(self.n_expected * SPARE) + keys.n_of_text))
        sweeps = min(max(VISITS * n_texts / (len(self.heads) + self.n_expected), FEWEST_SWEEPS), MOST_SWEEPS)
        self._own_every = n_texts // (len(self.heads) * MOST_SWEEPS)
        """With one text of so many, a bucket that it is added to is swept; 0 = with none, where buckets are small."""
        self._heads_a_text = len(self.heads) * (SWEEPS_OF_UNUSED if self._own_every else sweeps) / max(n_texts, 1)
        self._swept = 0.0
        """Buckets that this sweep has come to."""
        self._swept_for = self._sweeping_for = IN_BLOCK
        """The number of the oldest text when the last whole sweep began, and when this one did."""

    @property
    def n_bytes(self) -> int:
        """Bytes in use: memory of the pool that was never written to takes none."""
        return self.heads.nbytes + (4 << self.chunk_bits) * int(self.book[FRESH])

    @property
    def n_chunks(self) -> int:
        """Chunks that hold texts."""
        return int(self.book[FRESH] - 1 - self.book[N_FREE])

    def add(self, prints: Fingerprints, numbers: Int64s, ring: TextRing) -> None:
        """Add texts that are in the ring by now, and sweep some buckets."""
        needed = len(numbers) * self.keys.n_of_text
        if int(self.book[FRESH]) - int(self.book[N_FREE]) + needed > self._n_places:
            self._grow(int(self.book[FRESH]) + needed)
        if ring.span > self._entries.most_live:
            self._drop_residues(ring)
        first, last = self._next_sweep(len(numbers), ring)
        own_every = 0 if ring.first == self._swept_for else self._own_every
        listed = self.keys.own(prints.bits)
        add_and_sweep(self._chains, listed, numbers, prints.bits, live_in(ring), first, last, own_every)

    def find(self, later: LaterTexts, ring: TextRing, workers: int) -> tuple[SelectedPairs, LookUpCounts]:
        """Return the pairs of the later texts within their limits, in order, each once."""
        live = live_in(ring)
        if workers == 1 or len(later.bits) == 1:
            return self._look_up(later, ring, live)

        def find(first: int, last: int) -> tuple[SelectedPairs, LookUpCounts]:
            part = slice(first, last)
            some = LaterTexts._make(column[part] for column in later)
            return self._look_up(some, ring, live)

        pairs, counts = zip(*map_slices(find, len(later.bits), workers, WORTHWHILE), strict=True)
        return SelectedPairs._make(map(np.concatenate, zip(*pairs, strict=True))), add_counts(counts)

    def _look_up(self, later: LaterTexts, ring: TextRing, live: Live) -> tuple[SelectedPairs, LookUpCounts]:
        listed, table = self.keys.probed(later.bits), ring.table
        found: tuple[SelectedPairs, LookUpCounts] = look_up(
            self._chains, listed, ring.columns, table.rows, live, later, table.partners
        )
        return found

    def _next_sweep(self, n_added: int, ring: TextRing) -> tuple[int, int]:
        """Return the bounds of the buckets to sweep now, so that a sweep over all takes a part of a window."""
        if ring.first == self._swept_for:
            return 0, 0
        first, last = int(self._swept), min(self._swept + n_added * self._heads_a_text, len(self.heads))
        self._swept = last
        if last == len(self.heads):
            self._swept, self._swept_for, self._sweeping_for = 0.0, self._sweeping_for, ring.first
        return first, int(last)

    @property
    def _n_places(self) -> int:
        """Chunks that the pool has room for."""
        return len(self._chains.pool) >> self.chunk_bits

    def _grow(self, n_chunks: int) -> None:
        """Make the pool larger, with room for so many chunks at least."""
        pool = self._pool_of(max(n_chunks, int(self._n_places * GROWTH) + 1))
        used = int(self.book[FRESH]) << self.chunk_bits
        pool[:used] = self._chains.pool[:used]
        self._chains = self._chains_in(pool)

    def _pool_of(self, n_chunks: int) -> UInt32s:
        return aligned_zeros((n_chunks << self.chunk_bits,), np.uint32)

    def _chains_in(self, pool: UInt32s) -> Chains:
        return Chains(self.heads, pool, self.book, self.chunk_bits, *self._entries)

    def _drop_residues(self, ring: TextRing) -> None:
        """Give all bits of the entries to the numbers, before more of them are live than they tell apart."""
        drop_residues(self._chains, live_in(ring))
        self._entries = NUMBERS._replace(by_octets=self._entries.by_octets)
        self._chains = self._chains_in(self._chains.pool)


def live_in(ring: TextRing) -> Live:
    """Return which numbers are live, and where their texts are."""
    return Live(np.uint64(ring.next), ring.span, ring.first_slot)


def add_counts(parts: Sequence[LookUpCounts]) -> LookUpCounts:
    """Return the counts of several slices as those of one."""
    n_comparisons, largest, n_look_ups = zip(*parts, strict=True)
    return LookUpCounts(sum(n_comparisons), max(largest), sum(n_look_ups))


def best_chunk_bits(mean_bucket: float) -> int:
    """Return the size of chunk, as a power of two of words, for buckets of this mean size.

    The largest that takes hardly more memory than the one that takes least: every chunk of a chain is waited for.
    """
    memory = {bits: chunks_of_bucket(mean_bucket, bits) * (1 << bits) for bits in CHUNK_BITS}
    return max(bits for bits in CHUNK_BITS if memory[bits] <= HARDLY_MORE * min(memory.values()))


def expected_chunks(n_numbers: int, n_buckets: int, chunk_bits: int) -> int:
    """Return how many chunks it takes to hold so many numbers of texts, where they are evenly spread."""
    return int(chunks_of_bucket(n_numbers / n_buckets, chunk_bits) * n_buckets) + 1


def chunks_of_bucket(mean: float, chunk_bits: int) -> float:
    """Return how many chunks a bucket has on average, where the number of its texts is Poisson distributed."""
    n_places = (1 << chunk_bits) - 1
    if mean > 50 * n_places:
        return mean / n_places + 0.5
    # E[ceil(N / n_places)] is the sum over k of P(N > k * n_places)
    most = int(mean + 12 * mean**0.5 + 12)
    chances = np.empty(most + 1)
    logarithms = np.cumsum(np.log(np.maximum(mean, 1e-300) / np.arange(1, most + 1)))
    chances[0] = exp(-mean)
    chances[1:] = np.exp(logarithms - mean)
    beyond = 1.0 - np.cumsum(chances)
    return float(beyond[::n_places].clip(min=0.0).sum())
