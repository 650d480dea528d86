"""`scan` for a window: every text compared with every one that can be found. Exact; the oracle of the other index."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hybriddup.kernels.ring_texts import LaterTexts, find_near_anywhere
from hybriddup.parallel import map_slices
from hybriddup.records import CandidatePairs, Fingerprints, UInt64s
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.join import no_pairs
from hybriddup.window.live_index import LiveReport, LiveTexts
from hybriddup.window.text_ring import TextRing, as_later

SHAPE = "scan: every text of the window compared"
FEWEST_IN_SLICE = 2**18
"""Comparisons that are worth a thread."""


class LiveScan:
    """Compares all fingerprints; needs no tables, misses nothing, and takes about a nanosecond a text of the window.

    Parameters
    ----------
    expectation
        How many texts will be in the window, their bits, and how many threads to use.
    most_texts
        More are too many to be scanned; None = never.
    """

    def __init__(
        self,
        expectation: Expectation,
        *,
        sketched: bool = False,
        most_texts: int | None = None,
    ) -> None:
        self._ring = TextRing(expectation.bits, expectation.n_texts, sketched=sketched)
        self._workers = expectation.workers
        self._most_texts = most_texts
        self._n_look_ups = self._n_comparisons = self._largest = 0

    @property
    def sketched(self) -> bool:
        """Whether sketches of the characters are kept."""
        return self._ring.sketched

    @property
    def outgrown(self) -> bool:
        """Whether there are too many texts to be scanned."""
        return self._most_texts is not None and self._ring.n_texts > self._most_texts

    def add(self, prints: Fingerprints, sketches: UInt64s | None = None) -> None:
        """Make these texts findable."""
        if len(prints):
            self._ring.append(prints, sketches)

    def candidates(self, later: Fingerprints, sketches: UInt64s | None = None) -> CandidatePairs:
        """Return the pairs between texts added and not forgotten and these."""
        ring = self._ring
        if not len(later) or not ring.n_texts:
            return no_pairs()
        self._count(len(later))
        rows = as_later(later, sketches)
        parts = [self._find(rows, run, place) for run, place in zip(ring.runs(), self._places(), strict=True)]
        return ring.select(np.sort(np.concatenate(parts)), rows, self._workers)

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more."""
        self._ring.forget_before(position)

    def texts(self) -> Iterator[LiveTexts]:
        """Yield the texts that can be found, in order, in batches."""
        return self._ring.texts()

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        ring = self._ring
        return LiveReport(ring.n_texts, ring.n_bytes, SHAPE, True, self._n_look_ups, self._n_comparisons, self._largest)

    def _places(self) -> list[int]:
        runs = self._ring.runs()
        return [0, runs[0][1] - runs[0][0]][: len(runs)]

    def _find(self, later: LaterTexts, run: tuple[int, int], place: int) -> UInt64s:
        ring, (first, last) = self._ring, run
        widest = ring.table.widest

        def find(start: int, stop: int) -> UInt64s:
            return find_near_anywhere(ring.columns.bits, first + start, first + stop, place + start, later, widest)

        n_worthwhile = max(FEWEST_IN_SLICE // len(later.bits), 1)
        return np.concatenate(map_slices(find, last - first, self._workers, n_worthwhile))

    def _count(self, n_later: int) -> None:
        self._n_look_ups += n_later
        self._n_comparisons += n_later * self._ring.n_texts
        self._largest = max(self._largest, self._ring.n_texts)
