"""Finds pairs that share a key within one batch, as if each text were added to the index before the next look-up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import Int32s, Int64s, NearPairs, UInt32s
from hybriddup.kernels.search.batch_groups import count_before, count_keys, number_batch, number_shared
from hybriddup.kernels.search.decide import NONE
from hybriddup.kernels.search.group_search import Queries
from hybriddup.kernels.search.key_groups import NO_GROUP
from hybriddup.kernels.search.rings import add_kept, make_rings
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch, join_near, search_texts

FEW_COMPARISONS = 64
"""Average number of comparisons per text up to which all texts of a batch are compared with each other in advance. With
more, texts that repeat a text of the index are removed first and need no comparison."""


@dataclass(frozen=True)
class WithinBatch:
    """The texts of a batch, grouped by key."""

    batch: Batch
    numbers: UInt32s
    """uint32[n, m]: groups of each text's keys, followed by the groups of its probes if these differ from its keys;
    `NO_GROUP` for a key that occurs only once."""
    own: UInt32s
    """uint32[n, n_keys]: group of each of a text's keys; the texts of a group share a key."""
    probed: UInt32s
    """uint32[n, n_probes]: for each key by which a text is looked up, the group of the texts with that key."""
    sizes: UInt32s
    """uint32[n_groups]: number of texts in each group."""
    before: Int32s
    """int32[n, n_probes]: for each probe, the number of earlier texts of the batch that have this probe as a key."""
    places: Int32s
    """int32[n, n_keys]: for each key, the number of earlier texts of the batch that have this key."""
    most: Int64s
    """int64[n]: for each text, the maximum of ``before`` over its probes."""
    n_comparisons: int
    """Number of comparisons that `pairs` needs for all texts. If ``found`` is set, this includes the texts that `take`
    left out."""
    found: tuple[NearPairs, BlockReport] | None = None
    """All pairs of the batch, and the counts of the search, if `with_pairs` found them in advance; else None."""

    @classmethod
    def of(cls, batch: Batch, numbers: UInt32s, n_groups: int) -> WithinBatch:
        """Group the texts of a batch by key, given the field `numbers`: the groups of their keys and look-up keys."""
        own, probed = own_and_probed(batch, numbers)
        sizes = count_keys(own, n_groups)[:n_groups]
        return cls(batch, numbers, own, probed, sizes, *count_before(own, probed, n_groups))

    def take(self, rows: Int64s) -> WithinBatch:
        """Return a `WithinBatch` of only the texts in ``rows``, int64[n], ascending."""
        if len(rows) == len(self.batch):
            return self
        if self.found is not None:
            return self._take_with_pairs(rows, *self.found)
        numbers = self.numbers[rows]
        return WithinBatch.of(self.batch.take(rows), numbers, number_shared(numbers, self.n_groups))

    def _take_with_pairs(self, rows: Int64s, near: NearPairs, report: BlockReport) -> WithinBatch:
        """Return a `WithinBatch` of the texts in ``rows`` and the pairs of ``near`` between these texts.

        Group numbers and counts are copied unchanged.
        """
        row_of = np.full(len(self.batch), NONE)
        row_of[rows] = np.arange(len(rows))
        near = near._replace(earlier=row_of[near.earlier], later=row_of[near.later])
        near = near.take((near.earlier != NONE) & (near.later != NONE))
        batch, numbers = self.batch.take(rows), self.numbers[rows]
        own, probed = own_and_probed(batch, numbers)
        before, places, most = self.before[rows], self.places[rows], self.most[rows]
        groups = numbers, own, probed, self.sizes, before, places, most
        return WithinBatch(batch, *groups, self.n_comparisons, (near, report))

    @property
    def n_groups(self) -> int:
        """Number of keys that several texts share."""
        return len(self.sizes)

    def pairs(self, report: BlockReport, workers: int) -> NearPairs:
        """Return the candidate pairs of each text with earlier texts of the batch, as rows of the batch.

        The counts of the search are added to ``report``.
        """
        if self.found is None:
            return self.compare(np.arange(len(self.batch)), report, workers)
        near, took = self.found
        report.add(took.n_comparisons, took.n_look_ups, took.largest_bucket)
        return near

    def compare(self, rows: Int64s, report: BlockReport, workers: int) -> NearPairs:
        """Return the pairs of the texts in ``rows``, int64[n], with earlier texts of the batch, as `pairs` does."""
        if not self.n_groups:
            return join_near([])
        columns = self.batch.columns
        sizes = self.sizes if len(rows) == len(self.batch) else self._sizes_for(rows)
        rings, starts = make_rings(sizes, len(columns.bits))
        starts = np.append(np.where(sizes > 0, starts, NO_GROUP), NO_GROUP)
        places, own = np.arange(len(columns.bits)), starts.take(self.own, mode="clip")
        add_kept(columns, places, np.ones(len(places), np.bool_), own, own, rings, 0)
        ranks = self.before[rows]
        probed = np.where(ranks > 0, starts.take(self.probed[rows], mode="clip"), NO_GROUP)
        near = search_texts(columns, Queries(rows, probed, ranks), rings, workers, report)
        return near._replace(later=rows[near.later])

    def with_pairs(self, workers: int) -> WithinBatch:
        """Return a copy with all pairs already found, or self if that takes too many comparisons."""
        if self.n_comparisons > FEW_COMPARISONS * len(self.batch):
            return self
        report = BlockReport()
        return replace(self, found=(self.compare(np.arange(len(self.batch)), report, workers), report))

    def _sizes_for(self, rows: Int64s) -> UInt32s:
        """Return uint32[n_groups]: the size of each group that a text in ``rows`` probes, 0 for all other groups."""
        is_wanted = np.zeros(self.n_groups, np.bool_)
        probed = self.probed[rows]
        is_wanted[probed[probed != NO_GROUP]] = True
        return np.where(is_wanted, self.sizes, np.uint32(0))


def own_and_probed(batch: Batch, numbers: UInt32s) -> tuple[UInt32s, UInt32s]:
    """Split ``numbers`` (see `WithinBatch`) into the groups of the keys and the groups of the probes."""
    if batch.probes is batch.keys:
        return numbers, numbers
    own, probed = map(np.ascontiguousarray, np.split(numbers, [batch.keys.shape[1]], axis=1))
    return own, probed


def group_batch(batch: Batch) -> WithinBatch:
    """Group the texts of a batch by key; the batch must not be empty."""
    is_same = batch.probes is batch.keys
    keys = batch.keys if is_same else np.concatenate([batch.keys, batch.probes], axis=1)
    return WithinBatch.of(batch, *number_batch(keys))
