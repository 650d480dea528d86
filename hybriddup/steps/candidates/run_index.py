"""The index of a run: all texts are known beforehand, so that each key has its places before the first is looked up.

A group has room for as many kept texts as there can be, at most for the newest ``max_bucket_size``, which stand there
in a ring with their fingerprints: a look-up reads contiguous memory, and nothing is hashed, moved or allocated while
texts are decided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import ALL_PAIRS, Bools, Enough, Int64s, NearPairs, UInt32s, UInt64s
from hybriddup.kernels.decide import NONE
from hybriddup.kernels.group_search import Asked
from hybriddup.kernels.key_groups import keys_of_groups
from hybriddup.kernels.rings import add_kept, depths_in_rings, make_rings
from hybriddup.steps.blocks import BlockIndex, BlockReport
from hybriddup.steps.candidates import Batch, SearchedTexts, find_depths
from hybriddup.steps.candidates.groups import Groups, within_scopes


class RunIndex:
    """The kept texts of a run, by group. Each distinct text is known once, however often it comes, and kept once.

    ``index`` made the keys, and ``groups`` are those of all distinct texts, of which ``known`` and ``texts`` tell.
    ``text_numbers`` int64[n] says which of them stands at each position of the order of deciding.
    """

    def __init__(
        self,
        index: BlockIndex,
        groups: Groups,
        known: SearchedTexts,
        texts: Sequence[str],
        text_numbers: Int64s,
        workers: int,
    ) -> None:
        is_limited = index.max_bucket_size > 0 or index.max_candidates > 0
        self.report = BlockReport(shape=index.describe(), exact=index.is_complete and not is_limited)
        self._index, self._groups, self._known = index, groups, known
        self._texts, self._text_numbers, self._workers = texts, text_numbers, workers
        columns = known.columns
        self._widest = int(columns.max_distances.max(initial=0))
        most = index.max_bucket_size or len(columns.bits)
        self._rings, self._starts = make_rings(groups.sizes, len(columns.bits), most)
        self._is_crowded = groups.sizes > most
        self._kept_at = np.full(len(columns.bits), NONE)

    def batch(self, positions: Int64s) -> Batch:
        """Return the texts at these positions as a batch, its keys being the groups."""
        numbers = self._text_numbers[positions]
        columns = self._known.columns.take(numbers)
        keys, crowded = keys_of_groups(self._groups.of(numbers), self._starts, self._is_crowded)
        probes = keys
        if self._groups.table is not None:
            made = self._index.keys([self._texts[number] for number in numbers.tolist()], columns.bits)
            scopes = None if self._groups.scopes is None else self._groups.scopes[numbers]
            probed = self._groups.table.groups(within_scopes(self._index.probes(made, columns.bits), scopes))
            probes, crowded = keys_of_groups(probed, self._starts, self._is_crowded)
        return Batch(positions, keys, probes, columns, numbers, may_be_crowded=crowded)

    def look_up(self, batch: Batch, enough: Enough = ALL_PAIRS) -> NearPairs:
        """Return the pairs of a batch with kept texts, of each key the newest ones, and of them those wanted."""
        every_text, widest = np.zeros((0, 0), np.int32), np.full(len(batch), self._widest, np.int32)
        starts, most = as_starts(batch.probes), self._index.max_bucket_size
        asked = Asked(batch.text_numbers, starts, every_text, widest, *enough, most)
        near = self._known.near(asked, self._rings, self._workers, self.report)
        return by_pair(near._replace(earlier=self._kept_at[near.earlier]))

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: which number from the newest the earlier text has in each group, 0 = none."""
        numbers, starts = self._text_numbers[earlier], as_starts(batch.probes)

        def find(first: int, last: int) -> Int64s:
            depths: Int64s = depths_in_rings(rows[first:last], numbers[first:last], starts, self._rings)
            return depths

        return find_depths(find, len(rows), starts.shape[1], self._workers)

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Take in the kept ones of a batch, and count the look-ups that met a crowded group."""
        probed = as_starts(batch.probes)
        own = probed if batch.probes is batch.keys else as_starts(batch.keys)
        numbers, most = batch.text_numbers, self._index.max_bucket_size
        n_crowded = add_kept(self._known.columns, numbers, is_kept, probed, own, self._rings, most)
        self._kept_at[numbers[is_kept]] = batch.positions[is_kept]
        self.report.hit("max_bucket_size", n_crowded)


def by_pair(near: NearPairs) -> NearPairs:
    """Return pairs by later text, then by earlier one. Those of a text that a copy was kept of may be out of order."""
    falls = np.flatnonzero((near.earlier[1:] < near.earlier[:-1]) & (near.later[1:] == near.later[:-1]))
    if not len(falls):
        return near
    is_mixed = np.zeros(near.later[-1] + 1, np.bool_)
    is_mixed[near.later[falls]] = True
    mixed, order = np.flatnonzero(is_mixed[near.later]), np.arange(len(near.later))
    order[mixed] = mixed[np.lexsort((near.earlier[mixed], near.later[mixed]))]
    return near.take(order)


def as_starts(keys: UInt64s) -> UInt32s:
    """Return the starts of rings, given the keys that they stand for."""
    return keys.astype(np.uint32)  # NO_KEY has the low bits of NO_GROUP
