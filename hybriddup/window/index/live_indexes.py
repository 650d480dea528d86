"""The three kinds of live index; `make_live_index` chooses the kind that suits the block index of the window."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hybriddup.data.records import Bools, Int64s, NearPairs, UInt32s, UInt64s
from hybriddup.errors import ConfigError
from hybriddup.kernels.live.segments import LARGEST_SEGMENT, BucketKeys, Segments, build_segments, look_up
from hybriddup.kernels.live.texts import LaterTexts
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, Scan
from hybriddup.steps.candidates import Batch, find_depths
from hybriddup.window.index import LiveIndex, WindowSize
from hybriddup.window.index.posting_lists import PostingLists

WIDTHS = (64, 128)
FEWEST_TEXTS = 2**20
"""Minimum initial capacity of a live index, in texts; memory that is never written to costs nothing."""
KEYS_EXPECTED = 16
"""Expected keys per text if the block index has no fixed number; with more, memory is reallocated."""
MOST_KEY_BITS = 18
"""Largest width of keys that are used as bucket numbers, in bits. The bucket offsets of a table then take 1 MiB."""
SMALLEST_SEGMENT = 2**12
"""Number of texts in the smallest segment, a power of two. The newest texts are compared one by one until there are
enough for such a segment, because reading buckets would take longer."""
SEGMENTS_OF_WINDOW = 4
"""Minimum number of segments of the largest size in a full window. A segment is reused as a whole once all its texts
are forgotten; so the smaller it is, the less memory forgotten texts take."""


def make_live_index(index: BlockIndex, size: WindowSize) -> LiveIndex:
    """Return an empty live index of the kind that suits a prepared block index.

    A `LiveScan` for `scan`, which has no keys; `LiveTables`, which take the least memory, for keys of few bits with
    unlimited buckets; `LiveLists` for any other block index.
    """
    if size.bits not in WIDTHS:
        raise ConfigError(f"fingerprint.bits must be 64 or 128 for a live window; got {size.bits}.")
    if isinstance(index, Scan):
        return LiveScan(size)
    if (
        isinstance(index, (Blocks, Probing))
        and not index.max_bucket_size
        and max(map(len, index.chosen)) <= MOST_KEY_BITS
    ):
        return LiveTables(size, index)
    return LiveLists(size, index)


class LiveLists(LiveIndex):
    """A live index with a posting list for each key of a block index."""

    def __init__(self, size: WindowSize, index: BlockIndex) -> None:
        super().__init__(size, index.describe())
        self._lists = PostingLists(
            size.n_texts, index.n_keys or KEYS_EXPECTED, index.max_bucket_size, wide=index.key_bits > 32
        )

    @property
    def n_bytes(self) -> int:
        """Memory in use, in bytes."""
        return self._ring.n_bytes + self._lists.n_bytes

    def _find(self, probes: UInt64s, later: LaterTexts) -> NearPairs:
        return self._lists.look_up(probes, later, self._ring)

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: for each pair, the earlier text's rank in the list of each key of the later text.

        The newest text of a list has rank 1; 0 means that the earlier text is not in the list.
        """
        numbers = self._ring.numbers_of(earlier)

        def find(first: int, last: int) -> Int64s:
            return self._lists.depths_by_key(texts.probes, rows[first:last], numbers[first:last]).astype(np.int64)

        return find_depths(find, len(rows), texts.probes.shape[1], self._workers)

    def remove(self, texts: Batch) -> None:
        """Remove texts from the lists of their keys."""
        numbers = self._ring.numbers_at(texts.positions)
        for keys, number in zip(texts.keys, numbers.tolist(), strict=True):
            if number >= 0:
                self._lists.remove(keys, number, self._ring.first)

    def add(self, texts: Batch, is_kept: Bools) -> None:
        """Add the texts for which ``is_kept``, bool[n], is True, and count the crowded keys; see `LiveIndex.add`."""
        numbers = np.zeros(0, np.int64)
        if is_kept.any():
            numbers = self._ring.append(texts.take(np.flatnonzero(is_kept)))
        # a text that is not kept has looked things up when the next kept one had not come
        coming = np.append(numbers, self._ring.next)[np.cumsum(is_kept) - is_kept]
        lengths = np.ascontiguousarray(texts.columns.lengths)
        if texts.probes is texts.keys or not self._lists.max_bucket_size:
            n_crowded = self._lists.add(texts.keys, coming, lengths, is_kept, self._ring.first)
        else:
            n_crowded = self._lists.add_probing(texts.keys, texts.probes, coming, lengths, is_kept, self._ring.first)
        self.report.hit("max_bucket_size", n_crowded)


class LiveScan(LiveIndex):
    """Compares each text with all texts of the window, without keys; takes about a nanosecond per comparison.

    It misses nothing, so it is the reference for the other indexes.
    """

    def __init__(self, size: WindowSize) -> None:
        super().__init__(size, Scan().describe())

    def _find(self, probes: UInt64s, later: LaterTexts) -> NearPairs:  # noqa: ARG002
        return self._ring.near_anywhere(self._ring.first, self._ring.next, later, self._workers)


class LiveTables(LiveIndex):
    """A live index with tables of buckets, for `blocks` and `probing` with few bits per key and unlimited buckets.

    A key is used as the number of its bucket, and entries are small: 50 million texts with fingerprints of 64 bits and
    four keys take 1.48 GB. Posting lists, which find a key by its hash and have room to grow, take about twice as much.
    """

    def __init__(self, size: WindowSize, index: Blocks | Probing) -> None:
        super().__init__(size, index.describe())
        self._keys, self._n_tables = bucket_keys(index.chosen, index.radii), len(index.chosen)
        part = 1 << max(size.n_texts // SEGMENTS_OF_WINDOW, 1).bit_length() - 1
        self._smallest = SMALLEST_SEGMENT
        self._largest = min(max(part, self._smallest), LARGEST_SEGMENT)
        self._segments = self._make_segments(size.n_texts)

    @property
    def n_bytes(self) -> int:
        """Memory in use, in bytes."""
        return self._ring.n_bytes + self._segments.entries.nbytes + self._segments.starts.nbytes

    def add(self, texts: Batch, is_kept: Bools) -> None:
        """Add the texts for which ``is_kept``, bool[n], is True."""
        ring, before = self._ring, self._ring.next
        super().add(texts, is_kept)
        if ring.span + self._largest > len(self._segments.entries) // self._n_tables:  # what they have room for
            self._segments, before = self._make_segments(2 * ring.span), 0
        if before // self._smallest < ring.next // self._smallest:
            build_segments(self._segments, self._keys, ring.live, before)

    def _find(self, probes: UInt64s, later: LaterTexts) -> NearPairs:  # noqa: ARG002
        """Find pairs by the bits of the fingerprints; ``probes``, which is computed from these bits, is not used."""
        return look_up(self._segments, self._keys, self._ring.live, later)

    def _make_segments(self, n_numbers: int) -> Segments:
        """Return empty segments for ``n_numbers`` texts, and in addition a spare segment of the largest size."""
        n_largest, n_smaller = -(-n_numbers // self._largest) + 1, (self._largest // self._smallest).bit_length() - 1
        starts = np.zeros((n_largest + n_smaller, (self._n_tables << self._keys.bucket_bits) + 1), np.uint32)
        entries = np.zeros(n_largest * self._largest * self._n_tables, np.uint32)
        return Segments(entries, starts, self._smallest, self._largest)


def bucket_keys(chosen: list[Int64s], radii: list[int]) -> BucketKeys:
    """Return which fingerprint bits form the key of each table, and masks that give the keys of all buckets to read.

    For each table, ``chosen`` has the positions of the key's bits in the fingerprint, and ``radii`` a number of bits: a
    look-up reads the buckets of all keys that differ from the text's key in at most this many bits.
    """
    offsets = [neighbour_offsets(len(key), radius) for key, radius in zip(chosen, radii, strict=True)]
    bucket_bits = max(map(len, chosen))
    return BucketKeys(
        np.concatenate(chosen), starts_of(chosen), np.concatenate(offsets), starts_of(offsets), bucket_bits
    )


def neighbour_offsets(key_bits: int, radius: int) -> UInt32s:
    """Return uint32[n]: all masks that flip at most ``radius`` of the ``key_bits`` bits of a key; the first is 0."""
    flips = (sum(1 << bit for bit in chosen) for n in range(radius + 1) for chosen in combinations(range(key_bits), n))
    return np.fromiter(flips, np.uint32)


def starts_of(parts: list[Int64s] | list[UInt32s]) -> Int64s:
    """Return int64[n + 1]: the start of each part in the concatenation of all, and the total length."""
    return np.cumsum([0, *map(len, parts)])
