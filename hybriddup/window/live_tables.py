"""A live index of tables: a ring of texts, and chained buckets that hold their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hybriddup.kernels.chain_look_ups import LookUpCounts
from hybriddup.records import CandidatePairs, Fingerprints, UInt32s, UInt64s
from hybriddup.steps.blocks import Expectation, KeysInCommon
from hybriddup.steps.blocks.join import no_pairs
from hybriddup.window.bucket_keys import BucketKeys
from hybriddup.window.chained_tables import ChainedTables
from hybriddup.window.live_index import TEXTS_AT_A_TIME, LiveReport, LiveTexts, Scanned
from hybriddup.window.text_ring import TextRing, as_later

OUTGROWN = 4
"""With so many times the texts that the shape was planned for, another one suits better."""


@dataclass(frozen=True)
class LiveShape:
    """How the tables of a live index are built."""

    keys: BucketKeys
    description: str
    exact: bool
    """Whether every pair within its limits is found, as long as no bucket is cut."""
    fits_any: bool = False
    """Whether the same shape would be planned for a larger window."""


class LiveTables:
    """Texts of a window, found by tables.

    Parameters
    ----------
    shape
        The tables.
    expectation
        How many texts will be in the window, their bits, and how many threads to use.
    """

    def __init__(self, shape: LiveShape, expectation: Expectation, *, sketched: bool = False) -> None:
        self.shape = shape
        n_shingles = shape.keys.n_shingles
        self._ring = TextRing(expectation.bits, expectation.n_texts, sketched=sketched, n_shingles=n_shingles)
        self._tables = ChainedTables(shape.keys, expectation.n_texts)
        self._n_planned = expectation.n_texts
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

    @property
    def outgrown(self) -> bool:
        """Whether another shape would suit the window better."""
        return not self.shape.fits_any and self._ring.n_texts > OUTGROWN * self._n_planned

    def add(self, prints: Fingerprints, sketches: UInt64s | None = None, shingles: UInt32s | None = None) -> None:
        """Make these texts findable."""
        if len(prints):
            numbers = self._ring.append(prints, sketches, shingles)
            self._tables.add(LiveTexts(prints, sketches, shingles), numbers, self._ring)

    def candidates(
        self, later: Fingerprints, sketches: UInt64s | None = None, shingles: UInt32s | None = None
    ) -> CandidatePairs:
        """Return the pairs between texts added and not forgotten and these."""
        if not len(later) or not self._ring.n_texts:
            return no_pairs()
        rows = as_later(later, sketches)
        pairs, counts = self._tables.find(LiveTexts(later, sketches, shingles), rows, self._ring, self._workers)
        self._count(counts)
        return CandidatePairs(pairs.earlier, pairs.later, pairs.distances)

    def scan_from(self, position: int, n_texts: int, later: Fingerprints, sketches: UInt64s | None = None) -> Scanned:
        """Compare these with every text from a position on, up to about so many."""
        return self._ring.scan_from(position, n_texts, as_later(later, sketches))

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more."""
        self._ring.forget_before(position)

    def texts(self, position: int = 0, n_at_a_time: int = TEXTS_AT_A_TIME) -> Iterator[LiveTexts]:
        """Yield the texts that can be found from a position on, in order, in batches."""
        return self._ring.texts(position, n_at_a_time)

    def keys_in_common(self, earlier: LiveTexts, later: LiveTexts) -> KeysInCommon:
        """Return in how many of its buckets a text is found by another, one each, as long as no bucket is cut."""
        keys = self.shape.keys
        shared = np.intersect1d(keys.own(earlier), keys.probed(later))
        return KeysInCommon(int((shared < keys.n_buckets).sum()), keys.n_of_text)

    def report(self) -> LiveReport:
        """Return what the index is, and what was done since it was made."""
        ring, tables, shape = self._ring, self._tables, self.shape
        exact = shape.exact and shape.keys.max_bucket_size == 0
        n_bytes = ring.n_bytes + tables.n_bytes
        counts = (self._n_look_ups, self._n_comparisons, self._largest, dict(self._limits_hit))
        return LiveReport(ring.n_texts, n_bytes, shape.description, exact, *counts)

    def _count(self, counts: LookUpCounts) -> None:
        self._n_look_ups += counts.n_look_ups
        self._n_comparisons += counts.n_comparisons
        self._largest = max(self._largest, counts.largest_bucket)
        if counts.n_buckets_cut:
            self._limits_hit["max_bucket_size"] = self._limits_hit.get("max_bucket_size", 0) + counts.n_buckets_cut
