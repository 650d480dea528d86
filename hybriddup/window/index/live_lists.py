"""A live index of posting lists: what any block index gives as keys, the newest texts of each key first."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Bools, Enough, Int64s, UInt64s
from hybriddup.kernels.ring_texts import LaterTexts
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.candidates import find_depths
from hybriddup.window.index import LiveTexts
from hybriddup.window.index.posting_lists import PostingLists
from hybriddup.window.index.ring_index import Found, RingIndex, WindowSize

KEYS_EXPECTED = 16
"""Keys of a text, where the block index does not tell; more take other memory later."""


class LiveLists(RingIndex):
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

    def _find(self, probes: UInt64s, later: LaterTexts, enough: Enough) -> Found:
        return self._lists.look_up(probes, later, self._ring, enough)

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return which number from the newest an earlier text has in each key of a later one, 0 = none."""
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
        self._hit_limit("max_bucket_size", n_crowded)
