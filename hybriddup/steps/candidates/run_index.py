"""The index of a run: all texts are known in advance, so the memory of each key is laid out before the first look-up.

The texts with one key form a group. Each group has a ring buffer for all of its texts, or for the newest
``max_bucket_size``. A look-up reads contiguous memory, and nothing is hashed, moved or allocated while texts are
decided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, NearPairs
from hybriddup.kernels.search.decide import NONE
from hybriddup.kernels.search.group_search import Queries
from hybriddup.kernels.search.pair_limits import TextColumns
from hybriddup.kernels.search.rings import add_kept, depths_in_rings
from hybriddup.steps.blocks import BlockIndex, BlockReport
from hybriddup.steps.candidates import Batch, find_depths, search_texts
from hybriddup.steps.candidates.groups import Groups


class RunIndex:
    """Index of the kept texts of a run, by block key. Each distinct text is stored once, however often it occurs.

    Parameters
    ----------
    index
        The block index that computed the keys.
    groups
        The groups of all distinct texts. The constructor calls `Groups.lay_out`.
    columns, texts
        The distinct texts: their fingerprints and limits, and their contents.
    text_numbers
        int32[n]: number of the distinct text at each position in the order of deciding.
    """

    def __init__(
        self,
        index: BlockIndex,
        groups: Groups,
        columns: TextColumns,
        texts: Sequence[str],
        text_numbers: Int32s,
        workers: int,
    ) -> None:
        is_limited = index.max_bucket_size > 0 or index.max_candidates > 0
        self.report = BlockReport(shape=index.describe(), exact=index.is_complete and not is_limited)
        self._index, self._groups, self._columns = index, groups, columns
        self._texts, self._text_numbers, self._workers = texts, text_numbers, workers
        self._rings, self._is_crowded = groups.lay_out(index.max_bucket_size or len(columns.bits))
        self.kept_at: Int32s = np.full(len(columns.bits), NONE, np.int32)
        """int32[n_texts]: position in the order of deciding at which each distinct text was kept; `NONE` = not kept."""

    def batch(self, positions: Int64s) -> Batch:
        """Return a batch of the texts at ``positions``; each key is replaced with the offset of its ring buffer."""
        numbers = self._text_numbers[positions].astype(np.int64)
        columns = self._columns.take(numbers)
        keys = self._groups.of(numbers)
        if self._groups.table is None:
            return Batch(positions, keys, keys, columns, numbers, may_be_crowded=self._is_crowded[numbers])
        texts = [self._texts[number] for number in numbers.tolist()]
        return Batch(positions, keys, self._groups.probed(self._index, numbers, texts, columns.bits), columns, numbers)

    def look_up(self, batch: Batch) -> NearPairs:
        """Return the candidate pairs of each text with the kept texts in the ring buffers of its look-up keys."""
        queries = Queries(batch.text_numbers, batch.probes, np.zeros((0, 0), np.int32))
        near = search_texts(self._columns, queries, self._rings, self._workers, self.report)
        return by_pair(near._replace(earlier=self.kept_at[near.earlier].astype(np.int64)))

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n_pairs, n_probes]: the earlier text's recency rank under each look-up key of the later text.

        1 = the newest text in the key's ring buffer, 0 = the earlier text is not in it. The pairs are given as
        ``rows``, the rows of the later texts in the batch, and ``earlier``, the positions of the earlier texts.
        """
        numbers, starts = self._text_numbers[earlier].astype(np.int64), batch.probes

        def find(first: int, last: int) -> Int64s:
            return depths_in_rings(rows[first:last], numbers[first:last], starts, self._rings)

        return find_depths(find, len(rows), starts.shape[1], self._workers)

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Add the kept texts of a batch; count the batch's look-ups of keys with over ``max_bucket_size`` texts."""
        numbers, most = batch.text_numbers, self._index.max_bucket_size
        n_crowded = add_kept(self._columns, numbers, is_kept, batch.probes, batch.keys, self._rings, most)
        self.kept_at[numbers[is_kept]] = batch.positions[is_kept]
        self.report.hit("max_bucket_size", n_crowded)


def by_pair(near: NearPairs) -> NearPairs:
    """Return pairs sorted by later text, then by the position of the earlier text.

    A search returns earlier texts in the order of their first occurrence in the run. So pairs are unsorted only if the
    kept copy of a text is not its first occurrence.
    """
    falls = np.flatnonzero((near.earlier[1:] < near.earlier[:-1]) & (near.later[1:] == near.later[:-1]))
    if not len(falls):
        return near
    is_mixed = np.zeros(near.later[-1] + 1, np.bool_)
    is_mixed[near.later[falls]] = True
    mixed, order = np.flatnonzero(is_mixed[near.later]), np.arange(len(near.later))
    order[mixed] = mixed[np.lexsort((near.earlier[mixed], near.later[mixed]))]
    return near.take(order)
