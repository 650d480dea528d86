"""A live index of tables: a ring of texts, and chained buckets that hold their numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybriddup.records import CandidatePairs, Fingerprints, UInt32s, UInt64s
from hybriddup.steps.blocks import Expectation, KeysInCommon
from hybriddup.steps.blocks.join import no_pairs
from hybriddup.window.index import LiveReport, LiveTexts
from hybriddup.window.index.bucket_keys import BucketKeys
from hybriddup.window.index.chained_tables import ChainedTables
from hybriddup.window.index.entry_classes import ONE_CLASS, EntryClasses
from hybriddup.window.index.ring_index import RingIndex
from hybriddup.window.index.text_ring import as_later

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
    classes: EntryClasses = ONE_CLASS
    """By which texts in a bucket are passed over."""


class LiveTables(RingIndex):
    """Texts of a window, found by tables.

    Parameters
    ----------
    shape
        The tables.
    expectation
        How many texts will be in the window, their bits, and how many threads to use.
    """

    def __init__(self, shape: LiveShape, expectation: Expectation, *, sketched: bool = False) -> None:
        super().__init__(expectation, sketched=sketched, n_shingles=shape.keys.n_shingles)
        self.shape = shape
        self._tables = ChainedTables(shape.keys, expectation.n_texts, shape.classes)
        self._n_planned = expectation.n_texts

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
        self._count(counts.n_look_ups, counts.n_comparisons, counts.largest_bucket)
        self._hit_limit("max_bucket_size", counts.n_buckets_cut)
        return CandidatePairs(pairs.earlier, pairs.later, pairs.distances)

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
