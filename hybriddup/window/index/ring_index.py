"""What every live index has in common: its texts stand in a ring, and come and go alike, however they are looked up."""

from __future__ import annotations

from dataclasses import dataclass

from hybriddup.data.records import Fingerprints, UInt64s
from hybriddup.window.index import LiveReport, Scanned
from hybriddup.window.index.text_ring import TextRing, as_later


@dataclass(frozen=True)
class WindowSize:
    """What a live index may know of its window."""

    n_texts: int
    """About so many texts will be in it; with more, it grows."""
    bits: int
    """Width of the fingerprints: 64 or 128."""
    workers: int = 1
    sketched: bool = False
    """Whether a sketch of the characters is kept of each text, 16 bytes, so that fewer pairs are handed on."""
    n_first: int | None = None
    """The ring of texts, all of whose memory is written to sooner or later, begins with room for so many, and grows;
    None = for as many as will be in it."""


class RingIndex:
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

    def _count(self, n_look_ups: int, n_comparisons: int, largest_bucket: int) -> None:
        self._n_look_ups += n_look_ups
        self._n_comparisons += n_comparisons
        self._largest = max(self._largest, largest_bucket)

    def _hit_limit(self, name: str, n_times: int) -> None:
        if n_times:
            self._limits_hit[name] = self._limits_hit.get(name, 0) + n_times
