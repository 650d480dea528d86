"""`scan` for a window: every text compared with every one that can be found. Exact; the oracle of the other indexes."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Enough, UInt64s
from hybriddup.kernels.ring_reads import LookUpCounts, find_near_anywhere
from hybriddup.kernels.ring_texts import LaterTexts
from hybriddup.steps.blocks.pigeonhole import Scan
from hybriddup.steps.parallel import map_slices
from hybriddup.window.index.ring_index import Found, RingIndex, WindowSize

FEWEST_IN_SLICE = 2**18
"""Comparisons that are worth a thread."""


class LiveScan(RingIndex):
    """Compares all fingerprints; needs no keys, misses nothing, and takes about a nanosecond a text of the window."""

    def __init__(self, size: WindowSize) -> None:
        super().__init__(size, Scan().describe(), exact=True)

    def _find(self, probes: UInt64s, later: LaterTexts, enough: Enough) -> Found:  # noqa: ARG002
        ring, n_later = self._ring, len(later.positions)
        places = [0, ring.runs()[0][1] - ring.runs()[0][0]]
        parts = [self._near(later, run, place) for run, place in zip(ring.runs(), places, strict=False)]
        counts = LookUpCounts(n_later * ring.n_texts, n_later, ring.n_texts)
        return ring.select(np.sort(np.concatenate(parts)), later), counts

    def _near(self, later: LaterTexts, run: tuple[int, int], place: int) -> UInt64s:
        ring, (first, last) = self._ring, run
        partners = ring.table.partners

        def find(start: int, stop: int) -> UInt64s:
            return find_near_anywhere(ring.columns.bits, first + start, first + stop, place + start, later, partners)

        n_worthwhile = max(FEWEST_IN_SLICE // len(later.bits), 1)
        return np.concatenate(map_slices(find, last - first, self._workers, n_worthwhile))
