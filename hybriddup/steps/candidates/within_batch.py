"""The pairs among the texts of one batch: those that share a key, as if each had been added before the next came."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, NearPairs, UInt32s
from hybriddup.kernels.batch_groups import (
    count_groups,
    count_kept_before,
    fill_rings,
    most_before,
    number_batch,
    number_shared,
)
from hybriddup.kernels.group_search import Asked
from hybriddup.kernels.key_groups import NO_GROUP
from hybriddup.kernels.rings import make_rings
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch
from hybriddup.steps.candidates.search import SearchedTexts


@dataclass(frozen=True)
class WithinBatch:
    """The texts of a batch by key."""

    batch: Batch
    numbers: UInt32s
    """uint32[n, m]: of the keys, and of the probes after them where these differ; `NO_GROUP` for what stands once."""
    own: UInt32s
    probed: UInt32s
    """uint32[n, n_keys], uint32[n, n_probes]: those of the keys and of the probes."""
    sizes: UInt32s
    """uint32[n_groups]: texts of each group."""
    most: Int64s
    """int64[n]: texts before each with a key that it is looked up by, at most."""
    n_comparisons: int
    """What `pairs` takes for all of them."""

    @classmethod
    def of(cls, batch: Batch, numbers: UInt32s, n_groups: int) -> WithinBatch:
        """Return the texts of a batch, given the numbers of their keys and how many of these there are."""
        own = probed = numbers
        if batch.probes is not batch.keys:
            own, probed = map(np.ascontiguousarray, np.split(numbers, [batch.keys.shape[1]], axis=1))
        sizes = count_groups(own, n_groups)
        return cls(batch, numbers, own, probed, sizes, *most_before(own, probed, n_groups))

    def take(self, rows: Int64s) -> WithinBatch:
        """Return some of the texts, ``rows`` int64[n] rising."""
        if len(rows) == len(self.batch):
            return self
        numbers = self.numbers[rows]
        return WithinBatch.of(self.batch.take(rows), numbers, number_shared(numbers, self.n_groups))

    @property
    def n_groups(self) -> int:
        """How many keys several texts share."""
        return len(self.sizes)

    def pairs(self, rows: Int64s, report: BlockReport, workers: int, farthest: Int32s | None = None) -> NearPairs:
        """Return the pairs of some texts of the batch with those before them; ``earlier`` is a row of it, too.

        ``farthest`` is int32[n_rows]: pairs that differ in more bits are left out; None = there are no such limits.
        """
        columns, no_limit = self.batch.columns, np.zeros(0, np.int64)
        sizes = self.sizes if len(rows) == len(self.batch) else self._sizes_for(rows)
        rings, starts = make_rings(sizes)
        looked_into, ranks = fill_rings(columns, self.own, self.probed, sizes, starts, rings)
        widest = np.full(len(rows), columns.max_distances.max(initial=0), np.int32)
        widest = widest if farthest is None else np.minimum(widest, farthest)
        asked = Asked(rows, looked_into[rows], ranks[rows], widest, no_limit, no_limit, 0)
        near = SearchedTexts.of(columns).near(asked, rings, workers, report)
        return near._replace(later=rows[near.later])

    def _sizes_for(self, rows: Int64s) -> UInt32s:
        """Return the sizes of the groups that some texts look into, 0 for the others."""
        is_wanted = np.zeros(self.n_groups, np.bool_)
        probed = self.probed[rows]
        is_wanted[probed[probed != NO_GROUP]] = True
        return np.where(is_wanted, self.sizes, np.uint32(0))

    def n_kept_before(self, is_kept: Bools) -> Int64s:
        """Return int64[n]: at most so many kept ones, bool[n], stand before each text and share a key with it."""
        counts: Int64s = count_kept_before(self.own, self.probed, is_kept, self.n_groups)
        return counts


def group_batch(batch: Batch) -> WithinBatch:
    """Return the texts of a batch, at least one, by key."""
    is_same = batch.probes is batch.keys
    keys = batch.keys if is_same else np.concatenate([batch.keys, batch.probes], axis=1)
    return WithinBatch.of(batch, *number_batch(keys))
