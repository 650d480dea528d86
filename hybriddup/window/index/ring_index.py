"""What every live index over a ring of texts has in common: its texts come and go alike, however they are looked up."""

from __future__ import annotations

from collections.abc import Iterator

from hybriddup.records import Fingerprints, UInt64s
from hybriddup.steps.blocks import Expectation
from hybriddup.window.index import TEXTS_AT_A_TIME, LiveTexts, Scanned
from hybriddup.window.index.text_ring import TextRing, as_later


class RingIndex:
    """The part of a `hybriddup.window.index.LiveIndex` that its ring of texts answers.

    Parameters
    ----------
    expectation
        How many texts will be in the window, their bits, and how many threads to use.
    sketched
        Whether a sketch of the characters is kept of each text.
    n_shingles
        How many shingles are kept of each text.
    """

    def __init__(self, expectation: Expectation, *, sketched: bool, n_shingles: int) -> None:
        self._ring = TextRing(expectation.bits, expectation.n_texts, sketched=sketched, n_shingles=n_shingles)
        self._workers = expectation.workers
        self._n_look_ups = self._n_comparisons = self._largest = 0
        self._limits_hit: dict[str, int] = {}

    @property
    def sketched(self) -> bool:
        """Whether sketches of the characters are kept."""
        return self._ring.sketched

    @property
    def n_shingles(self) -> int:
        """How many shingles of each text are kept."""
        return self._ring.n_shingles

    def scan_from(self, position: int, n_texts: int, later: Fingerprints, sketches: UInt64s | None = None) -> Scanned:
        """Compare these with every text from a position on, up to about so many."""
        return self._ring.scan_from(position, n_texts, as_later(later, sketches))

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more."""
        self._ring.forget_before(position)

    def texts(self, position: int = 0, n_at_a_time: int = TEXTS_AT_A_TIME) -> Iterator[LiveTexts]:
        """Yield the texts that can be found from a position on, in order, in batches."""
        return self._ring.texts(position, n_at_a_time)

    def _count(self, n_look_ups: int, n_comparisons: int, largest_bucket: int) -> None:
        self._n_look_ups += n_look_ups
        self._n_comparisons += n_comparisons
        self._largest = max(self._largest, largest_bucket)

    def _hit_limit(self, name: str, n_times: int) -> None:
        if n_times:
            self._limits_hit[name] = self._limits_hit.get(name, 0) + n_times
