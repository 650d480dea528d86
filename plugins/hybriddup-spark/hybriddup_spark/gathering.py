"""Group the open posts of a round into bins that are decided together, with the kept texts that they need.

Open posts depend on each other if they may match, or if keeping one can push another text out of the newest of a key.
Independent posts go into different bins.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hybriddup.data.records import Bools, Int8s, Int32s, Int64s
from hybriddup_spark.columns import bools, distinct, ints, key_lists, longs, packed_lists, table_of
from hybriddup_spark.contest import GONE, OPEN
from hybriddup_spark.picking import is_among
from hybriddup_spark.schemas import WANTED


class Keyed(NamedTuple):
    """Posts and their keys, one row per post and key."""

    positions: Int64s
    keys: Int64s

    def take(self, chosen: Bools) -> Keyed:
        """Return the chosen rows."""
        return Keyed(self.positions[chosen], self.keys[chosen])


class Places(NamedTuple):
    """Positions at which open texts are decided: a text's first position, and the positions of its copies."""

    texts: Int64s
    """int64[n]: position of the first post with the text."""
    positions: Int64s
    bins: Int64s
    lengths: Int32s
    """int32[n]: length of the text, 0 for first posts."""

    def take(self, chosen: Int64s | Bools) -> Places:
        """Return the chosen places."""
        return Places(self.texts[chosen], self.positions[chosen], self.bins[chosen], self.lengths[chosen])


@dataclass(frozen=True)
class OpenLinks:
    """Links of open posts, one row per shared key."""

    later: Int64s
    earlier: Int64s
    """int64[n], int64[n]: positions."""
    keys: Int64s
    is_unsure: Bools
    """bool[n]: whether other posts determine if the pair is compared."""

    @property
    def unsure(self) -> Keyed:
        """Later posts and shared keys of the unsure rows."""
        return Keyed(self.later, self.keys).take(self.is_unsure)


@dataclass(frozen=True)
class OpenPosts:
    """The open posts of a round, and their dependencies."""

    first: int
    """Position of the first post of the round."""
    status: Int8s
    """int8[n]: status of each post of the round."""
    links: OpenLinks
    crowded: Keyed
    """Posts with crowded keys, whose pairs are not listed."""

    @classmethod
    def of(cls, first: int, status: Int8s, links: pa.Table, crowded: Keyed) -> OpenPosts:
        """Build from the `LINKS` and the crowded keys of the round."""
        links = links.take(np.flatnonzero(status[longs(links, "later") - first] == OPEN))
        keys, n_keys = key_lists(links)
        rows = np.repeat(np.arange(len(links)), n_keys)
        unsure = ~bools(links, "is_sure")[rows]
        of_keys = OpenLinks(longs(links, "later")[rows], longs(links, "earlier")[rows], keys.view(np.int64), unsure)
        return cls(first, status, of_keys, crowded)

    @property
    def positions(self) -> Int64s:
        """int64[n]: positions of the open posts, ascending."""
        return self.first + np.flatnonzero(self.status == OPEN)

    @cached_property
    def decisive_keys(self) -> Int64s:
        """Keys whose kept texts influence open posts, ascending."""
        return distinct(np.concatenate([self.links.unsure.keys, self.crowded.keys]))

    def status_at(self, positions: Int64s) -> Int8s:
        """Return int8[n]: the status of posts of the round; -1 for earlier posts."""
        in_round = positions >= self.first
        return np.where(in_round, self.status[np.where(in_round, positions - self.first, 0)], np.int8(-1))

    def gathered(self, members: Keyed, copies: pa.Table, n_bins: int) -> tuple[Places, pa.Table]:
        """Divide open posts and their copies into bins; return their places, and each bin's kept texts as `WANTED`.

        Parameters
        ----------
        members
            Open and kept texts with the decisive keys.
        copies
            `COPIES` of the round.
        """
        is_open = self.status_at(members.positions) == OPEN
        coupled = [self.links.unsure, self.crowded, members.take(is_open)]
        bins, key_bins = self.bins(Keyed(*map(np.concatenate, zip(*coupled, strict=True))), n_bins)
        others = members.take(~is_open)
        known = self.status_at(self.links.earlier)
        is_other = (known != OPEN) & (known != GONE)
        is_met = is_among(others.keys, distinct(self.crowded.keys))  # of other keys, the pairs are listed
        return self.places(bins, copies), wanted_others(
            np.concatenate([self.links.earlier[is_other], others.positions]),
            np.concatenate([bins[self.rows(self.links.later[is_other])], key_bins.of(others.keys)]),
            np.concatenate([self.links.keys[is_other], others.keys]),
            np.concatenate([np.ones(int(is_other.sum()), np.bool_), is_met]),
        )

    def places(self, bins: Int64s, copies: pa.Table) -> Places:
        """Return the places of the open posts and their copies, given int64[n_open], the bin of each open post."""
        texts = self.positions
        copies = copies.filter(pa.array(is_among(longs(copies, "first"), texts)))
        firsts, n = longs(copies, "first"), len(texts)
        lengths = np.concatenate([np.zeros(n, np.int32), ints(copies, "length")])
        places = Places(
            np.concatenate([texts, firsts]),
            np.concatenate([texts, longs(copies, "position")]),
            np.concatenate([bins, bins[self.rows(firsts)]]),
            lengths,
        )
        return places.take(np.lexsort((places.positions, places.bins)))

    def rows(self, positions: Int64s) -> Int64s:
        """Return int64[n]: the rank, among the open posts, of the post at each position."""
        return self._row_of[positions - self.first]

    @cached_property
    def _row_of(self) -> Int64s:
        """int64[n]: rank of each post of the round among the open posts; meaningless for other posts."""
        return np.cumsum(self.status == OPEN) - 1

    def bins(self, coupled: Keyed, n_bins: int) -> tuple[Int64s, KeyBins]:
        """Assign dependent posts to the same bin; return int64[n_open], the bin of each open post, and of each key.

        ``coupled`` has the open posts and their decisive keys: posts that share one depend on each other.
        """
        keys = self.decisive_keys
        numbers = np.searchsorted(keys, coupled.keys)
        both = self.status_at(self.links.earlier) == OPEN
        n_open = len(self.positions)
        a = np.concatenate([self.rows(coupled.positions), self.rows(self.links.later[both])])
        b = np.concatenate([n_open + numbers, self.rows(self.links.earlier[both])])
        edges = coo_array((np.ones(len(a), np.bool_), (a, b)), shape=(n_open + len(keys),) * 2)
        _, component = connected_components(edges, directed=False)
        of_component = pack(np.bincount(component[:n_open], minlength=int(component.max()) + 1), n_bins)
        return of_component[component[:n_open]], KeyBins(keys, of_component[component[n_open:]])


class KeyBins(NamedTuple):
    """Maps keys, which are in ascending order, to bins."""

    keys: Int64s
    bins: Int64s

    def of(self, keys: Int64s) -> Int64s:
        """Return int64[n]: the bins of keys, all of which must be known."""
        return self.bins[np.searchsorted(self.keys, keys)]


def pack(sizes: Int64s, n_bins: int) -> Int64s:
    """Assign items of the given sizes to bins: the largest first, each to the bin with the smallest sum of sizes.

    Examples
    --------
    >>> pack(np.array([1, 5, 3, 1]), 2).tolist()
    [1, 0, 1, 1]
    """
    bins, filled = np.zeros(len(sizes), np.int64), [(0, number) for number in range(n_bins)]
    for thing in np.argsort(-sizes, kind="stable").tolist():
        size, number = filled[0]
        bins[thing] = number
        heapq.heapreplace(filled, (size + int(sizes[thing]), number))
    return bins


def wanted_others(positions: Int64s, bins: Int64s, keys: Int64s, is_met: Bools) -> pa.Table:
    """Merge rows of texts that are not open, one per text, bin and key, to one per text and bin, as `WANTED`."""
    order = np.lexsort((keys, bins, positions))
    positions, bins, keys, is_met = positions[order], bins[order], keys[order], is_met[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(positions) != 0) | (np.diff(bins) != 0)
    is_other_key = is_first.copy()
    is_other_key[1:] |= np.diff(keys) != 0
    firsts = np.flatnonzero(is_first)
    n_keys = np.bincount(np.cumsum(is_first)[is_other_key] - 1)
    return table_of(
        WANTED,
        position=positions[firsts],
        bin=bins[firsts],
        is_open=np.zeros(len(firsts), np.bool_),
        is_met=np.logical_or.reduceat(is_met, firsts) if len(firsts) else is_met,
        keys=packed_lists(keys[is_other_key], n_keys),
        places=packed_lists(positions[firsts], np.ones(len(firsts), np.int64)),
    )
