"""Candidates: block keys -> candidate pairs, by an index of the kept texts. There are two kinds of index.

`run_index.RunIndex` knows all texts of a run in advance and lays out its memory by key. The index of a live window adds
and forgets texts all the time. Both find the kept texts that share a key with a text and are within the limits of
pairs. They also return the *depth* of each: its recency rank among the kept texts with that key, 1 = the newest.
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
"""Minimum number of texts that justifies a separate thread to look them up."""
FEWEST_DEPTHS = 1024
"""Minimum number of pairs that justifies a separate thread to find their depths."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts in order, with their keys, that are looked up in an index, decided together, and added to the index."""

    positions: Int64s
    """int64[n], ascending: positions in the order in which texts are decided."""
    keys: UInts
    probes: UInts
    """uint64[n, n_keys], uint64[n, n_probes]: the keys of each text, and the keys by which it is looked up, from a
    `hybriddup.steps.blocks.BlockIndex`. In a run, the start of its ring replaces each key: both arrays are uint32,
    padded with `hybriddup.kernels.search.key_groups.NO_GROUP` instead of `NO_KEY`."""
    columns: TextColumns
    text_numbers: Int64s
    """int64[n]: number of each text, the same for equal texts; in a run, its row among all distinct texts."""
    times: Float64s | None = None
    oldest: Float64s | None = None
    """float64[n], float64[n]: the time of each text, and its cutoff: earlier texts match only if their time is after
    it; None = no limit."""
    may_be_crowded: Bools | None = None
    """bool[n]: whether any of a text's probes may become the key of more than ``max_bucket_size`` texts; None = all
    True."""

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
    """An index that maps each key to the kept texts of a run or a window that have it."""

    def look_up(self, batch: Batch) -> NearPairs:
        """Pair each text with the newest ``max_bucket_size`` kept texts of each probe; return pairs within limits."""
        ...

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n_pairs, n_probes]: the depth of each earlier text under each probe of its later text.

        1 = the newest, 0 = not among the newest ``max_bucket_size``. Each pair is given by the later text's row in the
        batch (``rows``, ascending) and the earlier text's position (``earlier``). Rarely called.
        """
        ...

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Add the kept texts of a decided batch; count its look-ups of keys with over ``max_bucket_size`` texts."""
        ...


def join_near(parts: Sequence[NearPairs]) -> NearPairs:
    """Concatenate ``parts``, in order; the result is empty if there are none."""
    nothing = np.zeros(0, np.int64)
    none = NearPairs(nothing, nothing, np.zeros(0, np.int32), nothing)
    return NearPairs(*map(np.concatenate, zip(none, *parts, strict=True)))


def search_texts(columns: TextColumns, queries: Queries, rings: Rings, workers: int, report: BlockReport) -> NearPairs:
    """Find the texts in rings that pair with the queried texts, in several threads; add the counts to ``report``.

    In the result, ``earlier`` is a row of ``columns``, and ``later`` the index of a query.
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
    """Call ``find(first, last)`` for slices of the pairs, in threads; return int64[n_pairs, n_keys]: all depths."""
    return np.concatenate([np.zeros((0, n_keys), np.int64), *map_slices(find, n_pairs, workers, FEWEST_DEPTHS)])
