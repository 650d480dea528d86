"""The index of a run: all texts are known beforehand, so that each key has its places before the first is looked up.

A group has room for as many kept texts as there can be, at most for the newest ``max_bucket_size``, which stand there
in a ring with their fingerprints: a look-up reads contiguous memory, and nothing is hashed, moved or allocated while
texts are decided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt32s, UInt64s
from hybriddup.kernels.group_search import (
    HEAD,
    NearPairs,
    Places,
    SearchCounts,
    TextColumns,
    add_kept,
    depths_in_groups,
    pack_facts,
    search_kept,
)
from hybriddup.kernels.key_groups import NO_GROUP
from hybriddup.kernels.vectors import N_LANES
from hybriddup.steps.blocks import BlockIndex, BlockReport
from hybriddup.steps.candidates import Batch, Near, count_search, join_near
from hybriddup.steps.candidates.groups import Groups
from hybriddup.steps.parallel import map_slices

FEWEST_A_SLICE = 512
"""Texts to look up that are worth a thread."""


class RunIndex:
    """The kept texts of a run, by group.

    Parameters
    ----------
    index
        What made the keys.
    groups
        The groups of all texts.
    columns, texts
        What is known of all texts, and the texts, by position.
    text_numbers
        int64[n]: equal where the texts are equal.
    """

    def __init__(
        self,
        index: BlockIndex,
        groups: Groups,
        columns: TextColumns,
        texts: Sequence[str],
        text_numbers: Int64s,
        workers: int,
    ) -> None:
        is_limited = index.max_bucket_size > 0 or index.max_candidates > 0
        self.report = BlockReport(shape=index.describe(), exact=index.is_complete and not is_limited)
        self._index, self._groups, self._columns = index, groups, columns
        self._texts, self._text_numbers, self._workers = texts, text_numbers, workers
        self._facts = pack_facts(columns)
        self._widest = int(columns.max_distances.max(initial=0))
        self._heads = np.zeros(len(groups.sizes), HEAD)
        most = index.max_bucket_size or len(columns.bits)
        self._heads["room"] = np.minimum(groups.sizes, most)
        ends = np.cumsum(self._heads["room"], dtype=np.int64)
        self._heads["start"][1:] = ends[:-1]
        n_places = int(ends[-1]) + N_LANES if len(ends) else N_LANES
        self._places = Places(
            np.zeros(n_places, np.uint64), np.zeros(n_places, np.uint64), np.zeros(n_places, np.uint32)
        )

    def batch(self, positions: Int64s) -> Batch:
        """Return the texts at these positions as a batch, its keys being the groups."""
        columns = self._columns.take(positions)
        keys = probes = as_keys(self._groups.own[positions])
        if self._groups.table is not None:
            own = self._index.keys([self._texts[position] for position in positions.tolist()], columns.bits)
            probes = as_keys(self._groups.table.groups(self._index.probes(own, columns.bits)))
        return Batch(positions, keys, probes, columns, self._text_numbers[positions])

    def look_up(self, batch: Batch) -> Near:
        """Return the pairs of a batch with kept texts, of each key the newest ones."""
        groups = as_groups(batch.probes)

        def search(first: int, last: int) -> tuple[NearPairs, SearchCounts]:
            found: tuple[NearPairs, SearchCounts] = search_kept(
                self._columns,
                self._facts,
                batch.positions[first:last],
                groups[first:last],
                self._heads,
                self._places,
                self._widest,
            )
            return found

        parts = map_slices(search, len(batch), self._workers, FEWEST_A_SLICE)
        for _, counts in parts:
            count_search(self.report, counts)
        near = join_near([Near(*pairs) for pairs, _ in parts])
        return near._replace(later=np.searchsorted(batch.positions, near.later))

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: which number from the newest the earlier text has in each group, 0 = none."""
        own, groups = self._groups.own[earlier], as_groups(batch.probes[rows])
        depths: Int64s = depths_in_groups(earlier, own, groups, self._heads, self._places)
        return depths

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Take in the kept ones of a batch, and count the look-ups that met a crowded group."""
        n_crowded = add_kept(
            self._columns.bits,
            batch.positions,
            is_kept,
            as_groups(batch.probes),
            as_groups(batch.keys),
            self._heads,
            self._places,
            self._index.max_bucket_size,
        )
        self.report.hit("max_bucket_size", n_crowded)


def as_keys(groups: UInt32s) -> UInt64s:
    """Return groups as keys."""
    return np.where(groups == NO_GROUP, np.uint64(NO_KEY), groups.astype(np.uint64))


def as_groups(keys: UInt64s) -> UInt32s:
    """Return keys that `as_keys` made as groups again."""
    return keys.astype(np.uint32)  # NO_KEY has the low bits of NO_GROUP
