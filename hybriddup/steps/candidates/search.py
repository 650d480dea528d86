"""Looking many texts up in rings, in several threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Int32s, Int64s, NearPairs, UInt64s
from hybriddup.kernels.group_search import Asked, SearchCounts, search_rings
from hybriddup.kernels.lengths import shortest_partners
from hybriddup.kernels.pair_limits import TextColumns
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import join_near
from hybriddup.steps.parallel import map_slices

FEWEST_A_SLICE = 64
"""Texts to look up that are worth a thread."""
FEWEST_DEPTHS = 1024
"""Pairs whose depths are worth a thread."""


@dataclass(frozen=True)
class SearchedTexts:
    """What a search goes by: of the texts that stand in rings, and of those that are looked up."""

    columns: TextColumns
    shortest: Int32s
    """int32[n]: no shorter text is within the limits of length of each; its own where that is the smallest."""

    @classmethod
    def of(cls, columns: TextColumns) -> SearchedTexts:
        """Return texts ready to be searched."""
        of_lengths = shortest_partners(columns.lengths, columns.max_partner_lengths, columns.lengths.max(initial=0))
        return cls(columns, of_lengths[columns.lengths])

    def near(self, asked: Asked, rings: UInt64s, workers: int, report: BlockReport) -> NearPairs:
        """Return the pairs of the texts asked about; ``earlier`` is a row of the columns, ``later`` a place in these.

        What that takes is added to the report.
        """

        def search(first: int, last: int) -> tuple[NearPairs, SearchCounts]:
            near: NearPairs
            near, counts = search_rings(self.columns, self.shortest, asked.take(first, last), rings)
            return near._replace(later=near.later + first), counts

        parts = map_slices(search, len(asked.rows), workers, FEWEST_A_SLICE)
        for _, counts in parts:
            report.add(*counts)
        return join_near([near for near, _ in parts])


def find_depths(find: Callable[[int, int], Int64s], n_pairs: int, n_keys: int, workers: int) -> Int64s:
    """Return int64[n_pairs, n_keys]: the depths of pairs, given what finds those of a slice of them."""
    return np.concatenate([np.zeros((0, n_keys), np.int64), *map_slices(find, n_pairs, workers, FEWEST_DEPTHS)])
