"""Candidates: block keys -> candidate pairs, by an index of the kept texts. There are two kinds of index.

`run_index.RunIndex` knows all texts of a run in advance and lays out its memory by key. The index of a live window adds
and deletes texts all the time. Both find the kept texts that share a key with a given text, if the pair is within its
limits of Hamming distance and length. They also return the *depth* of each kept text: its recency rank among the kept
texts with the shared key, 1 = the newest.
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
"""Minimum number of texts that one thread looks up."""
FEWEST_DEPTHS = 1024
"""Minimum number of pairs per thread when several threads find depths (recency ranks)."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts and their keys, in the order of deciding; an index looks up and adds a batch as a whole."""

    positions: Int64s
    """int64[n], ascending: position of each text in the order of deciding."""
    keys: UInts
    """uint64[n, n_keys]: the keys of each text, padded with `NO_KEY`. In a run, uint32[n, n_keys]: the offset of each
    key's ring buffer, padded with `hybriddup.kernels.search.key_groups.NO_GROUP`."""
    probes: UInts
    """Array like ``keys``, [n, n_probes]: the keys by which each text is looked up."""
    columns: TextColumns
    text_numbers: Int64s
    """int64[n]: number of each text, the same for equal texts; in a run, the index of the distinct text."""
    times: Float64s | None = None
    """float64[n]: time of each text; None = there is no time limit."""
    oldest: Float64s | None = None
    """float64[n]: cutoff time of each text, None = no cutoff; an earlier text can match only if its time is after the
    cutoff."""
    may_be_crowded: Bools | None = None
    """bool[n]: whether any key by which a text is looked up may get more than ``max_bucket_size`` texts; None = assume
    so for all texts."""

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
    """Maps each block key to the kept texts with this key, in a run or a window."""

    def look_up(self, batch: Batch) -> NearPairs:
        """Return the candidate pairs of each text with the newest ``max_bucket_size`` kept texts of each shared key."""
        ...

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n_pairs, n_probes]: the earlier text's depth for each key by which the later text is looked up.

        The depth is a recency rank: 1 = the newest, 0 = not among the newest ``max_bucket_size``. Each pair is given by
        the later text's row in the batch (``rows``, ascending) and the earlier text's position (``earlier``). Rarely
        called.
        """
        ...

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Add the kept texts of a decided batch.

        Also count the batch's look-ups of keys that have more than ``max_bucket_size`` kept texts.
        """
        ...


def join_near(parts: Sequence[NearPairs]) -> NearPairs:
    """Concatenate ``parts``, in order; the result is empty if there are none."""
    nothing = np.zeros(0, np.int64)
    none = NearPairs(nothing, nothing, np.zeros(0, np.int32), nothing)
    return NearPairs(*map(np.concatenate, zip(none, *parts, strict=True)))


def search_texts(columns: TextColumns, queries: Queries, rings: Rings, workers: int, report: BlockReport) -> NearPairs:
    """Find the candidate pairs of the queried texts with texts in ring buffers, in several threads.

    In the result, ``earlier`` is a row of ``columns``, and ``later`` is the index of a query. The counts of the search
    are added to ``report``.
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
    """Return int64[n_pairs, n_keys]: the depth (recency rank) of each pair's earlier text, for each look-up key.

    ``find(first, last)`` returns the rows of pairs ``first`` to ``last - 1``; up to ``workers`` threads call it.
    """
    return np.concatenate([np.zeros((0, n_keys), np.int64), *map_slices(find, n_pairs, workers, FEWEST_DEPTHS)])
