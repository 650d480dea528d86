"""What every live index has in common: its texts stand in a ring, and come and go alike, however they are looked up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import ALL_PAIRS, Bools, Enough, Fingerprints, Int64s, NearPairs, UInt64s
from hybriddup.kernels.ring_reads import LookUpCounts
from hybriddup.kernels.ring_texts import LaterTexts
from hybriddup.steps.candidates import join_near
from hybriddup.steps.parallel import map_slices
from hybriddup.window.index import LiveReport, LiveTexts, Scanned
from hybriddup.window.index.text_ring import TextRing, as_later

Found = tuple[NearPairs, LookUpCounts]
"""Pairs of later texts, in order, each once, and what finding them took."""
WORTHWHILE = 64
"""Texts to look up that are worth a thread."""


@dataclass(frozen=True)
class WindowSize:
    """What a live index may know of its window."""

    n_texts: int
    """About so many texts will be in it; with more, it grows."""
    bits: int
    """Width of the fingerprints: 64 or 128."""
    workers: int = 1
    sketched: bool = False
    """Whether a sketch of the characters is kept of each text, 32 bytes, so that fewer pairs are handed on."""
    n_first: int | None = None
    """The ring of texts, all of whose memory is written to sooner or later, begins with room for so many, and grows;
    None = for as many as will be in it."""


class RingIndex(ABC):
    """The part of a `hybriddup.window.index.LiveIndex` that its ring of texts answers."""

    def __init__(self, size: WindowSize, shape: str, *, exact: bool) -> None:
        self._ring = TextRing(size.bits, size.n_texts if size.n_first is None else size.n_first, sketched=size.sketched)
        self._workers = size.workers
        self._shape, self._exact = shape, exact
        self._n_look_ups = self._n_comparisons = self._largest = 0
        self._limits_hit: dict[str, int] = {}

    @property
    def sketched(self) -> bool:
        """Whether sketches of the characters are kept."""
        return self._ring.sketched

    def look_up(self, texts: LiveTexts, enough: Enough = ALL_PAIRS) -> NearPairs:
        """Return the pairs with texts that were added and not forgotten, of each key the newest."""
        if not len(texts.prints) or not self._ring.n_texts:
            return join_near([])
        later, probes, n = as_later(texts.prints, texts.sketches), texts.probes, len(texts.prints)

        def find(first: int, last: int) -> NearPairs:
            part = slice(first, last)
            some = later if last - first == n else LaterTexts._make(column[part] for column in later)
            near, counts = self._find(probes[part], some, enough.take(part))
            parts.append(counts)
            return near._replace(later=near.later + first)

        parts: list[LookUpCounts] = []
        found = [find(0, n)] if n < 2 * WORTHWHILE else map_slices(find, n, self._workers, WORTHWHILE)
        for counts in parts:
            self._count(*counts)
        return found[0] if len(found) == 1 else join_near(found)

    @abstractmethod
    def _find(self, probes: UInt64s, later: LaterTexts, enough: Enough) -> Found:
        """Return the pairs of the later texts but for those left out, and what that took."""

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:  # noqa: ARG002
        """Return 1 for each where no text is left out."""
        return np.ones((len(rows), texts.probes.shape[1]), np.int64)

    def add(self, texts: LiveTexts, is_kept: Bools) -> None:
        """Make the kept ones findable."""
        kept = texts.take(is_kept)
        if len(kept.prints):
            self._ring.append(kept.prints, kept.sketches)

    def remove(self, texts: LiveTexts) -> None:  # noqa: B027  not for each to write
        """Do nothing: where every text is looked at, none takes the room of another."""

    def scan_from(self, position: int, n_texts: int, later: Fingerprints, sketches: UInt64s | None = None) -> Scanned:
        """Compare these with every text from a position on, up to about so many."""
        return self._ring.scan_from(position, n_texts, as_later(later, sketches))

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more."""
        self._ring.forget_before(position)

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        counts = (self._n_look_ups, self._n_comparisons, self._largest, dict(self._limits_hit))
        return LiveReport(self._ring.n_texts, self.n_bytes, self._shape, self._exact, *counts)

    @property
    def n_bytes(self) -> int:
        """Bytes in use."""
        return self._ring.n_bytes

    def _count(self, n_comparisons: int, n_look_ups: int, largest: int) -> None:
        self._n_look_ups += n_look_ups
        self._n_comparisons += n_comparisons
        self._largest = max(self._largest, largest)

    def _hit_limit(self, name: str, n_times: int) -> None:
        if n_times:
            self._limits_hit[name] = self._limits_hit.get(name, 0) + n_times
