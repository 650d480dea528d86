"""The two live indexes; `make_live_index` chooses by the block index: posting lists, or a scan of all texts."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Bools, Int64s, NearPairs, UInt64s
from hybriddup.errors import ConfigError
from hybriddup.kernels.live.texts import LaterTexts
from hybriddup.kernels.search.pair_limits import LookUpCounts
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Scan
from hybriddup.steps.candidates import find_depths
from hybriddup.window.index import LiveIndex, LiveTexts, WindowSize
from hybriddup.window.index.posting_lists import PostingLists

WIDTHS = (64, 128)
FEWEST_TEXTS = 2**20
"""A window is laid out for so many texts at least; memory that is never written to is not taken."""
KEYS_EXPECTED = 16
"""Keys of a text, where the block index does not tell; more take other memory later."""


def make_live_index(index: BlockIndex, size: WindowSize) -> LiveIndex:
    """Return an empty live index for a window, by a prepared block index."""
    if size.bits not in WIDTHS:
        raise ConfigError(f"fingerprint.bits must be 64 or 128 for a live window; got {size.bits}.")
    if isinstance(index, Scan):
        return LiveScan(size)
    return LiveLists(size, index)


class LiveLists(LiveIndex):
    """Texts of a window, found by the keys of a block index."""

    def __init__(self, size: WindowSize, index: BlockIndex) -> None:
        super().__init__(size, index.describe(), exact=index.is_complete and not index.max_bucket_size)
        self._lists = PostingLists(
            size.n_texts, index.n_keys or KEYS_EXPECTED, index.max_bucket_size, wide=index.key_bits > 32
        )

    @property
    def n_bytes(self) -> int:
        """Bytes in use."""
        return self._ring.n_bytes + self._lists.n_bytes

    def _find(self, probes: UInt64s, later: LaterTexts) -> tuple[NearPairs, LookUpCounts]:
        return self._lists.look_up(probes, later, self._ring)

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:
        """Ask the lists."""
        numbers = self._ring.numbers_of(earlier)

        def find(first: int, last: int) -> Int64s:
            return self._lists.depths_by_key(texts.probes, rows[first:last], numbers[first:last]).astype(np.int64)

        return find_depths(find, len(rows), texts.probes.shape[1], self._workers)

    def remove(self, texts: LiveTexts) -> None:
        """Take texts out of the lists of their keys."""
        numbers = self._ring.numbers_at(texts.prints.positions)
        for keys, number in zip(texts.keys, numbers.tolist(), strict=True):
            if number >= 0:
                self._lists.remove(keys, number, self._ring.first)

    def add(self, texts: LiveTexts, is_kept: Bools) -> None:
        """Make the kept ones findable, and count the look-ups of all that met a crowded key."""
        kept = texts.take(is_kept)
        numbers = np.zeros(0, np.int64)
        if len(kept.prints):
            numbers = self._ring.append(kept.prints, kept.sketches)
        # a text that is not kept has looked things up when the next kept one had not come
        coming = np.append(numbers, self._ring.next)[np.cumsum(is_kept) - is_kept]
        lengths = texts.prints.limits.lengths
        if texts.probes is texts.keys or not self._lists.max_bucket_size:
            n_crowded = self._lists.add(texts.keys, coming, lengths, is_kept, self._ring.first)
        else:
            n_crowded = self._lists.add_probing(texts.keys, texts.probes, coming, lengths, is_kept, self._ring.first)
        self.report.hit("max_bucket_size", n_crowded)


class LiveScan(LiveIndex):
    """Compares a text with all; needs no keys, misses nothing, and takes about a nanosecond a text of the window.

    It is the oracle of the others.
    """

    def __init__(self, size: WindowSize) -> None:
        super().__init__(size, Scan().describe(), exact=True)

    def _find(self, probes: UInt64s, later: LaterTexts) -> tuple[NearPairs, LookUpCounts]:  # noqa: ARG002
        ring, n_later = self._ring, len(later.positions)
        near = ring.near_anywhere(ring.first, ring.next, later, self._workers)
        return near, LookUpCounts(n_later * ring.n_texts, n_later, ring.n_texts)
