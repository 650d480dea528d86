"""Candidates: block keys -> candidate pairs, by an index of the kept texts. There are two indexes.

`run_index.RunIndex` knows all texts of a run in advance and lays them out by key. The index of a live window adds and
forgets texts all the time. Both find the kept texts that share a key with a text and are within its limits, and the
depth of each in the shared keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s, NearPairs, UInts
from hybriddup.kernels.search.group_search import Queries, search_rings
from hybriddup.kernels.search.pair_limits import LookUpCounts, TextColumns
from hybriddup.kernels.search.rings import Rings
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.parallel import map_slices

FEWEST_PER_SLICE = 64
"""Smallest number of texts to look up in a thread of their own."""
FEWEST_DEPTHS = 1024
"""Smallest number of pairs whose depths are found in a thread of their own."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts in order, with their keys: they are looked up in an index, decided together, or added to an index."""

    positions: Int64s
    """int64[n], rising: positions in the order of deciding."""
    keys: UInts
    probes: UInts
    """uint64[n, n_keys], uint64[n, n_probes]: as returned by a `hybriddup.steps.blocks.BlockIndex`. In a run uint32,
    the groups of the keys, with `hybriddup.kernels.search.key_groups.NO_GROUP` instead of `NO_KEY`."""
    columns: TextColumns
    text_numbers: Int64s
    """int64[n]: equal for equal texts; in a run, the rows of the texts among all distinct texts."""
    times: Float64s | None = None
    oldest: Float64s | None = None
    """float64[n]: a text matches earlier texts whose time is after its own oldest; None = whatever their times."""
    may_be_crowded: Bools | None = None
    """bool[n]: whether one of the probes may belong to more than ``max_bucket_size`` texts by then; None = all may."""

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.positions)

    def take(self, chosen: Int64s | slice) -> Batch:
        """Return the chosen texts, in the order given."""
        keys = self.keys[chosen]
        return Batch(
            self.positions[chosen],
            keys,
            keys if self.probes is self.keys else self.probes[chosen],
            self.columns.take(chosen),
            self.text_numbers[chosen],
            None if self.times is None else self.times[chosen],
            None if self.oldest is None else self.oldest[chosen],
            None if self.may_be_crowded is None else self.may_be_crowded[chosen],
        )


class Index(Protocol):
    """The kept texts of a run or a window, by key."""

    def look_up(self, batch: Batch) -> NearPairs:
        """Return the pairs of a batch with kept texts, among the newest ``max_bucket_size`` of each key."""
        ...

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: the depth of the earlier text in each probe of the later one. Rarely called.

        ``rows`` rise. 1 is the newest; 0 = not among the newest ``max_bucket_size``.
        """
        ...

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Add the kept texts of a decided batch, and count the look-ups of crowded keys."""
        ...


def join_near(parts: Sequence[NearPairs]) -> NearPairs:
    """Return the pairs of all parts, in order."""
    nothing = np.zeros(0, np.int64)
    none = NearPairs(nothing, nothing, np.zeros(0, np.int32), nothing)
    return NearPairs(*map(np.concatenate, zip(none, *parts, strict=True)))


def search_texts(columns: TextColumns, queries: Queries, rings: Rings, workers: int, report: BlockReport) -> NearPairs:
    """Return the pairs of texts with the texts of rings, and add the counts to the report.

    ``earlier`` is a row of the columns, ``later`` a row of the queries.
    """
    widest = columns.widest

    def search(first: int, last: int) -> tuple[NearPairs, LookUpCounts]:
        near: NearPairs
        near, counts = search_rings(columns, widest, queries.take(first, last), rings)
        return near._replace(later=near.later + first), counts

    parts = map_slices(search, len(queries.rows), workers, FEWEST_PER_SLICE)
    for _, counts in parts:
        report.add(*counts)
    return join_near([near for near, _ in parts])


def find_depths(find: Callable[[int, int], Int64s], n_pairs: int, n_keys: int, workers: int) -> Int64s:
    """Return int64[n_pairs, n_keys]: the depths of pairs, by a function that finds those of a slice."""
    return np.concatenate([np.zeros((0, n_keys), np.int64), *map_slices(find, n_pairs, workers, FEWEST_DEPTHS)])
