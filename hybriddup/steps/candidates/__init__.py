"""Candidates: block keys -> candidate pairs. What holds the keys of the kept texts is an index: two are built in.

`run_index.RunIndex` knows all texts of a run beforehand and lays them out by key. That of a live window takes in and
forgets texts all the time. Both answer alike: which kept texts share a key with a text and are within its limits, and
how far from the newest each stands in the keys that they share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s, NearPairs, UInts
from hybriddup.kernels.search.group_search import Asked, search_rings
from hybriddup.kernels.search.pair_limits import LookUpCounts, TextColumns
from hybriddup.kernels.search.rings import Rings
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.parallel import map_slices

FEWEST_A_SLICE = 64
"""Texts to look up that are worth a thread."""
FEWEST_DEPTHS = 1024
"""Pairs whose depths are worth a thread."""


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
        """Return the pairs of a batch with kept texts, of each key the newest ``max_bucket_size``."""
        ...

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: which number the earlier text has in each key that the later is looked up by.

        ``rows`` rise. 1 is the newest; 0 where it is not among the newest ``max_bucket_size``. Seldom asked.
        """
        ...

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Take in the kept ones of a batch that was decided, and count the look-ups that met a crowded key."""
        ...


def join_near(parts: Sequence[NearPairs]) -> NearPairs:
    """Return the pairs of all parts, in order."""
    nothing = np.zeros(0, np.int64)
    none = NearPairs(nothing, nothing, np.zeros(0, np.int32), nothing)
    return NearPairs(*map(np.concatenate, zip(none, *parts, strict=True)))


def search_texts(columns: TextColumns, asked: Asked, rings: Rings, workers: int, report: BlockReport) -> NearPairs:
    """Return the pairs of texts with the texts of rings, and add the counts to the report.

    ``earlier`` is a row of the columns, ``later`` a row of ``asked``.
    """
    widest = columns.widest

    def search(first: int, last: int) -> tuple[NearPairs, LookUpCounts]:
        near: NearPairs
        near, counts = search_rings(columns, widest, asked.take(first, last), rings)
        return near._replace(later=near.later + first), counts

    parts = map_slices(search, len(asked.rows), workers, FEWEST_A_SLICE)
    for _, counts in parts:
        report.add(*counts)
    return join_near([near for near, _ in parts])


def find_depths(find: Callable[[int, int], Int64s], n_pairs: int, n_keys: int, workers: int) -> Int64s:
    """Return int64[n_pairs, n_keys]: the depths of pairs, given what finds those of a slice of them."""
    return np.concatenate([np.zeros((0, n_keys), np.int64), *map_slices(find, n_pairs, workers, FEWEST_DEPTHS)])
