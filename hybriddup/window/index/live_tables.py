"""Exact tables for a window: `blocks` and `probing` with few bits a key, of which every text is looked at.

Buckets are numbered by the bits themselves, and entries are small: 50 million texts of 64 bits with four keys take
1.48 GB, where posting lists, which find a key by its hash and have room to grow, take about twice as much.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hybriddup.data.records import Bools, Enough, Int64s, NearPairs, UInt32s, UInt64s
from hybriddup.kernels.ring_reads import LookUpCounts
from hybriddup.kernels.ring_texts import LaterTexts
from hybriddup.kernels.segments import LARGEST_SEGMENT, BucketKeys, Segments, build_segments, look_up
from hybriddup.window.index import LiveTexts
from hybriddup.window.index.ring_index import Found, RingIndex, WindowSize

MOST_KEY_BITS = 18
"""Keys of so few bits are numbered directly: all buckets of a table are then 1 MiB."""
SMALLEST_SEGMENT = 2**12
"""Fewer texts are compared one by one: that takes less time than reading their buckets."""
SEGMENTS_OF_WINDOW = 4
"""A window has at least so many of the largest segments, so that hardly more is held than its texts."""


class LiveTables(RingIndex):
    """Texts of a window, found by tables; every pair within the limits is found.

    Parameters
    ----------
    chosen
        The bit positions of each table's key.
    radii
        Within how many bits of its own key a text looks, in each table.
    smallest
        Numbers of the smallest segment, a power of two.
    """

    def __init__(
        self,
        size: WindowSize,
        chosen: list[Int64s],
        radii: list[int],
        description: str,
        *,
        smallest: int = SMALLEST_SEGMENT,
    ) -> None:
        super().__init__(size, description, exact=True)
        self._keys = bucket_keys(chosen, radii)
        part = 1 << max(size.n_texts // SEGMENTS_OF_WINDOW, 1).bit_length() - 1
        self._smallest, self._largest = smallest, min(max(part, smallest), LARGEST_SEGMENT)
        self._segments = self._make_segments(size.n_texts)

    @property
    def n_bytes(self) -> int:
        """Bytes in use."""
        return self._ring.n_bytes + self._segments.entries.nbytes + self._segments.starts.nbytes

    def add(self, texts: LiveTexts, is_kept: Bools) -> None:
        """Make the kept ones findable."""
        ring, before = self._ring, self._ring.next
        super().add(texts, is_kept)
        if ring.span + self._largest > self._capacity:
            self._segments, before = self._make_segments(2 * ring.span), 0
        if before // self._smallest < ring.next // self._smallest:
            build_segments(self._segments, self._keys, ring.columns.bits, ring.live, before)

    def _find(self, probes: UInt64s, later: LaterTexts, enough: Enough) -> Found:  # noqa: ARG002
        """Find pairs by the bits of the fingerprints, which are what the probes were made of."""
        ring, table = self._ring, self._ring.table
        found: tuple[NearPairs, LookUpCounts] = look_up(
            self._segments, self._keys, ring.columns, table.rows, ring.live, later, table.partners
        )
        return found

    @property
    def _n_tables(self) -> int:
        return len(self._keys.starts) - 1

    @property
    def _capacity(self) -> int:
        """Numbers that the segments have room for."""
        return len(self._segments.entries) // self._n_tables

    def _make_segments(self, n_numbers: int) -> Segments:
        """Return empty segments with room for so many numbers, and for one of the largest segments more."""
        n_largest, n_smaller = -(-n_numbers // self._largest) + 1, (self._largest // self._smallest).bit_length() - 1
        starts = np.zeros((n_largest + n_smaller, (self._n_tables << self._keys.bucket_bits) + 1), np.uint32)
        entries = np.zeros(n_largest * self._largest * self._n_tables, np.uint32)
        return Segments(entries, starts, self._smallest, self._largest)


def bucket_keys(chosen: list[Int64s], radii: list[int]) -> BucketKeys:
    """Return the keys of tables, and which buckets texts look into, as the kernels take them."""
    offsets = [neighbour_offsets(len(key), radius) for key, radius in zip(chosen, radii, strict=True)]
    bucket_bits = max(map(len, chosen))
    return BucketKeys(
        np.concatenate(chosen), starts_of(chosen), np.concatenate(offsets), starts_of(offsets), bucket_bits
    )


def neighbour_offsets(key_bits: int, radius: int) -> UInt32s:
    """Return uint32[n]: what flips up to ``radius`` of the key's bits, each once, 0 first."""
    flips = (sum(1 << bit for bit in chosen) for n in range(radius + 1) for chosen in combinations(range(key_bits), n))
    return np.fromiter(flips, np.uint32)


def starts_of(parts: list[Int64s] | list[UInt32s]) -> Int64s:
    """Return int64[n + 1]: where each part begins when they are put one after another."""
    return np.cumsum([0, *map(len, parts)])
