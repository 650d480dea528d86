"""`scan` for a window: every text compared with every one that can be found. Exact; the oracle of the other indexes."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Bools, Int64s, NearPairs, UInt64s
from hybriddup.kernels.ring_texts import LaterTexts, find_near_anywhere
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.candidates import join_near
from hybriddup.steps.parallel import map_slices
from hybriddup.window.index import LiveTexts
from hybriddup.window.index.ring_index import RingIndex, WindowSize
from hybriddup.window.index.text_ring import as_later

FEWEST_IN_SLICE = 2**18
"""Comparisons that are worth a thread."""


class LiveScan(RingIndex):
    """Compares all fingerprints; needs no keys, misses nothing, and takes about a nanosecond a text of the window."""

    def __init__(self, size: WindowSize) -> None:
        super().__init__(size, Scan().describe(), exact=True)

    def look_up(self, texts: LiveTexts) -> NearPairs:
        """Return the pairs with texts that were added and not forgotten."""
        ring = self._ring
        n_later = len(texts.prints)
        if not n_later or not ring.n_texts:
            return join_near([])
        self._count(n_later, n_later * ring.n_texts, ring.n_texts)
        later = as_later(texts.prints, texts.sketches)
        places = [0, ring.runs()[0][1] - ring.runs()[0][0]]
        parts = [self._find(later, run, place) for run, place in zip(ring.runs(), places, strict=False)]
        pairs = ring.select(np.sort(np.concatenate(parts)), later, self._workers)
        rows = np.searchsorted(texts.prints.positions, pairs.later)
        return NearPairs(pairs.earlier, rows, pairs.hamming_distances, np.ones(len(pairs), np.int64))

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:  # noqa: ARG002  (all are looked at)
        """Return 1 for each: no text is left out."""
        return np.ones((len(rows), texts.probes.shape[1]), np.int64)

    def add(self, texts: LiveTexts, is_kept: Bools) -> None:
        """Make the kept ones findable."""
        kept = texts.take(is_kept)
        if len(kept.prints):
            self._ring.append(kept.prints, kept.sketches)

    def _find(self, later: LaterTexts, run: tuple[int, int], place: int) -> UInt64s:
        ring, (first, last) = self._ring, run
        partners = ring.table.partners

        def find(start: int, stop: int) -> UInt64s:
            return find_near_anywhere(ring.columns.bits, first + start, first + stop, place + start, later, partners)

        n_worthwhile = max(FEWEST_IN_SLICE // len(later.bits), 1)
        return np.concatenate(map_slices(find, last - first, self._workers, n_worthwhile))
