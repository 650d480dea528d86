"""Exact tables for a window: `blocks` and `probing` with few bits a key, of which every text is looked at.

Buckets are numbered by the bits themselves, and entries are small: 50 million texts of 64 bits with four keys take
1.45 GB, where posting lists, which find a key by its hash and have room to grow, take about twice as much.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from hybriddup.data.records import Bools, Int64s, NearPairs, UInt32s, UInt64s
from hybriddup.kernels.listed_buckets import KeyList, list_heads
from hybriddup.steps.candidates import join_near
from hybriddup.window.index import LiveTexts
from hybriddup.window.index.chained_tables import ChainedTables
from hybriddup.window.index.entries import NUMBERS, RESIDUES
from hybriddup.window.index.ring_index import RingIndex, WindowSize
from hybriddup.window.index.text_ring import as_later

MOST_KEY_BITS = 18
"""Keys of so few bits are numbered directly: all buckets of a table are then 1 MiB."""
SOME_MORE = 1.1
"""A window may have so many times the texts that it is expected to have, before the tables give up residues."""


@dataclass(frozen=True)
class TableKeys:
    """The buckets of texts by bits of their fingerprints.

    Parameters
    ----------
    keys
        The bit positions of each table's key.
    radii
        Within how many bits of its own key a text looks, in each table.
    """

    keys: list[Int64s]
    radii: list[int]
    listed: KeyList = field(init=False)

    def __post_init__(self) -> None:
        bucket_bits = max(map(len, self.keys))
        offsets = [neighbour_offsets(len(key), radius) for key, radius in zip(self.keys, self.radii, strict=True)]
        listed = KeyList(
            np.concatenate(self.keys), starts_of(self.keys), np.concatenate(offsets), starts_of(offsets), bucket_bits
        )
        object.__setattr__(self, "listed", listed)

    @property
    def n_buckets(self) -> int:
        """How many buckets there are, in all tables."""
        return len(self.keys) << self.listed.bucket_bits

    @property
    def n_of_text(self) -> int:
        """In how many of them a text is: one of each table."""
        return len(self.keys)

    def own(self, bits: UInt64s) -> UInt64s:
        """Return uint64[n, n_of_text]: the buckets that texts with these fingerprints are in."""
        listed: UInt64s = list_heads(bits, self.listed, True)
        return listed

    def probed(self, bits: UInt64s) -> UInt64s:
        """Return uint64[n, m]: the buckets that they look into."""
        listed: UInt64s = list_heads(bits, self.listed, False)
        return listed


class LiveTables(RingIndex):
    """Texts of a window, found by tables; every pair within the limits is found."""

    def __init__(self, size: WindowSize, keys: TableKeys, description: str) -> None:
        super().__init__(size, description, exact=True)
        entries = RESIDUES if SOME_MORE * size.n_texts <= RESIDUES.most_live else NUMBERS
        self._tables = ChainedTables(keys, size.n_texts, entries)

    @property
    def n_bytes(self) -> int:
        """Bytes in use."""
        return self._ring.n_bytes + self._tables.n_bytes

    def look_up(self, texts: LiveTexts) -> NearPairs:
        """Return the pairs with texts that were added and not forgotten."""
        if not len(texts.prints) or not self._ring.n_texts:
            return join_near([])
        later = as_later(texts.prints, texts.sketches)
        pairs, counts = self._tables.find(later, self._ring, self._workers)
        self._count(counts.n_look_ups, counts.n_comparisons, counts.largest_bucket)
        rows = np.searchsorted(texts.prints.positions, pairs.later)
        return NearPairs(pairs.earlier, rows, pairs.distances, np.ones(len(rows), np.int64))

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:  # noqa: ARG002  (all are looked at)
        """Return 1 for each: no text is left out."""
        return np.ones((len(rows), texts.probes.shape[1]), np.int64)

    def add(self, texts: LiveTexts, is_kept: Bools) -> None:
        """Make the kept ones findable."""
        kept = texts.take(is_kept)
        if len(kept.prints):
            numbers = self._ring.append(kept.prints, kept.sketches)
            self._tables.add(kept.prints, numbers, self._ring)


def neighbour_offsets(key_bits: int, radius: int) -> UInt32s:
    """Return uint32[n]: what flips up to ``radius`` of the key's bits, each once, 0 first."""
    flips = (sum(1 << bit for bit in chosen) for n in range(radius + 1) for chosen in combinations(range(key_bits), n))
    return np.fromiter(flips, np.uint32)


def starts_of(parts: list[Int64s] | list[UInt32s]) -> Int64s:
    """Return int64[n + 1]: where each part begins when they are put one after another."""
    return np.cumsum([0, *map(len, parts)])
