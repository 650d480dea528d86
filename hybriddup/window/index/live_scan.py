"""`scan` for a window: every text compared with every one that can be found. Exact; the oracle of the other index."""

from __future__ import annotations

import numpy as np

from hybriddup.kernels.likely_pairs import newest_places
from hybriddup.kernels.ring_texts import LaterTexts, find_near_anywhere
from hybriddup.parallel import map_slices
from hybriddup.records import CandidatePairs, Fingerprints, UInt32s, UInt64s
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.join import no_pairs
from hybriddup.window.index import LiveReport
from hybriddup.window.index.ring_index import RingIndex
from hybriddup.window.index.text_ring import as_later

MOST_NEAR = 1024
"""Texts within the limits of bits that are looked at for one later text, where a scan only stands in for tables."""
SHAPE = "scan: every text of the window compared"
FEWEST_IN_SLICE = 2**18
"""Comparisons that are worth a thread."""


class LiveScan(RingIndex):
    """Compares all fingerprints; needs no tables, misses nothing, and takes about a nanosecond a text of the window.

    Parameters
    ----------
    expectation
        How many texts will be in the window, their bits, and how many threads to use.
    n_shingles
        How many of each text are kept, for an index that is made from this one.
    most_texts
        More are too many to be scanned; None = never.
    """

    def __init__(
        self,
        expectation: Expectation,
        *,
        sketched: bool = False,
        n_shingles: int = 0,
        most_texts: int | None = None,
    ) -> None:
        super().__init__(expectation, sketched=sketched, n_shingles=n_shingles)
        self._most_texts = most_texts

    @property
    def outgrown(self) -> bool:
        """Whether there are too many texts to be scanned."""
        return self._most_texts is not None and self._ring.n_texts > self._most_texts

    def add(self, prints: Fingerprints, sketches: UInt64s | None = None, shingles: UInt32s | None = None) -> None:
        """Make these texts findable."""
        if len(prints):
            self._ring.append(prints, sketches, shingles)

    def candidates(
        self,
        later: Fingerprints,
        sketches: UInt64s | None = None,
        shingles: UInt32s | None = None,  # noqa: ARG002  a scan goes by nothing
    ) -> CandidatePairs:
        """Return the pairs between texts added and not forgotten and these."""
        ring = self._ring
        if not len(later) or not ring.n_texts:
            return no_pairs()
        self._count(len(later), len(later) * ring.n_texts, ring.n_texts)
        rows = as_later(later, sketches)
        parts = [self._find(rows, run, place) for run, place in zip(ring.runs(), self._places(), strict=True)]
        return ring.select(np.sort(self._newest(np.concatenate(parts), len(later))), rows, self._workers)

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        ring = self._ring
        counts = (self._n_look_ups, self._n_comparisons, self._largest)
        is_exact = self._most_texts is None
        return LiveReport(ring.n_texts, ring.n_bytes, SHAPE, is_exact, *counts, dict(self._limits_hit))

    def _places(self) -> list[int]:
        runs = self._ring.runs()
        return [0, runs[0][1] - runs[0][0]][: len(runs)]

    def _find(self, later: LaterTexts, run: tuple[int, int], place: int) -> UInt64s:
        ring, (first, last) = self._ring, run
        partners = ring.table.partners

        def find(start: int, stop: int) -> UInt64s:
            return find_near_anywhere(ring.columns.bits, first + start, first + stop, place + start, later, partners)

        n_worthwhile = max(FEWEST_IN_SLICE // len(later.bits), 1)
        return np.concatenate(map_slices(find, last - first, self._workers, n_worthwhile))

    def _newest(self, near: UInt64s, n_later: int) -> UInt64s:
        """Return what is near; where this only stands in for tables, of a text with very much only the newest."""
        if self._most_texts is None:
            return near
        newest: UInt64s = newest_places(near, n_later, MOST_NEAR)
        self._hit_limit("most_near", int(len(newest) < len(near)))
        return newest
