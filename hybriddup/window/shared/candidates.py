"""Candidates of a batch, of what the buckets of a shared store hold: as a live index would find them in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import (
    ALL_PAIRS,
    NO_KEY,
    Bools,
    Enough,
    Float64s,
    Int32s,
    Int64s,
    NearPairs,
    PairLimits,
    UInt64s,
)
from hybriddup.kernels.bucket_entries import near_entries, numbers_in_buckets
from hybriddup.kernels.pair_limits import distances_within, text_columns
from hybriddup.run.bands import Bands
from hybriddup.window.event_time import PostTimes
from hybriddup.window.index import LiveTexts
from hybriddup.window.shared.store import Entries, EntryArray


class Buckets(NamedTuple):
    """What the buckets hold into which texts of a batch look."""

    later: Int64s
    """int64[n], rising: the row of the text that looks into each."""
    key: Int64s
    """int64[n]: which key of the text it is."""
    begins: Int64s
    ends: Int64s
    """int64[n]: where the entries of each begin, and end."""
    positions: Int64s
    """int64[n_entries]: -1 = a text of the batch."""
    entries: EntryArray

    def others_by(self, key: int) -> tuple[Int64s, Int64s]:
        """Return the others in the buckets of one key: rows of the batch, and the positions of the others."""
        is_of_key = np.repeat(self.key == key, self.ends - self.begins)
        later = np.repeat(self.later, self.ends - self.begins)[is_of_key]
        positions = self.positions[is_of_key]
        return later[positions >= 0], positions[positions >= 0]


class NearMeetings(NamedTuple):
    """Others that are near a text of the batch, a row for each bucket in which they stand."""

    later: Int64s
    """int64[n]: rows of the texts."""
    key: Int64s
    """int64[n]: which key of the text it is."""
    positions: Int64s
    """int64[n]: of the others."""
    numbers: Int64s
    """int64[n]: which number from the newest the other has in the bucket, 1 being the newest."""
    distances: Int32s
    """int32[n]: differing bits."""

    def take(self, chosen: Int64s | Bools) -> NearMeetings:
        """Return some of the meetings."""
        return NearMeetings._make(column[chosen] for column in self)


def buckets_of(probes: UInt64s, found: Entries, own: Int64s) -> Buckets:
    """Return the buckets of texts at the positions ``own`` int64[n], which look by ``probes`` uint64[n, n_keys].

    ``found`` is what the buckets of all these keys but `NO_KEY` hold, in the order of the rows.
    """
    rows, keys = np.nonzero(probes != NO_KEY)
    positions = found.entries["position"].astype(np.int64)
    later = np.flatnonzero(positions >= own.min(initial=2**63 - 1))
    positions[later[np.isin(positions[later], own)]] = -1
    ends = np.cumsum(found.counts)
    return Buckets(rows, keys, ends - found.counts, ends, positions, found.entries)


def near_meetings(texts: LiveTexts, rows: Int64s, met: Buckets, bands: Bands, most: int) -> NearMeetings:
    """Return the meetings of those that are within the limits, and among the newest ``most`` of their bucket, 0 = all.

    ``rows`` int64[n] has the row among ``texts``, those that could be near, of each that looks into buckets.
    """
    asked = np.flatnonzero(met.key < texts.probes.shape[1])
    of_rows, bits = rows[met.later[asked]], met.entries["bits"].copy()
    most_bits = int(bands.max_hamming_distances.max())
    chosen, of_asked = near_entries(met.begins[asked], met.ends[asked], of_rows, texts.prints.bits, bits, most_bits)
    is_other = met.positions[chosen] >= 0
    chosen, bucket, later = chosen[is_other], asked[of_asked[is_other]], of_rows[of_asked[is_other]]
    distances = distances_of(texts, later, met.entries[chosen], bands)
    numbers = numbers_in_buckets(met.positions, met.begins[bucket], met.ends[bucket], chosen)
    found = NearMeetings(later, met.key[bucket], met.positions[chosen], numbers, distances.astype(np.int32))
    return found.take((distances >= 0) & (numbers <= most) if most else distances >= 0)


def distances_of(texts: LiveTexts, later: Int64s, entries: EntryArray, bands: Bands) -> Int64s:
    """Return int64[n]: the differing bits of texts and others, -1 where limits rule the pair out."""
    prints, n = texts.prints, len(texts.prints)
    of_entries = bands.limits_of(entries["length"].astype(np.int32))
    limits = PairLimits._make(np.concatenate(pair) for pair in zip(prints.limits, of_entries, strict=True))
    bits = np.concatenate([prints.bits, entries["bits"].reshape(-1, prints.bits.shape[1])])
    found: Int64s = distances_within(text_columns(bits, limits), later, np.arange(n, n + len(later)))
    return found


def near_pairs(met: NearMeetings) -> tuple[NearPairs, Int64s]:
    """Return the pairs that meet, each once, by text and then by position, and int64[n_met]: the pair of each meeting.

    ``earlier`` are positions.
    """
    order = np.lexsort((met.numbers, met.positions, met.later))
    met_in_order = met.take(order)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(met_in_order.later) != 0) | (np.diff(met_in_order.positions) != 0)
    pair_of = np.empty(len(order), np.int64)
    pair_of[order] = np.cumsum(is_first) - 1
    first = met_in_order.take(is_first)
    return NearPairs(first.positions, first.later, first.distances, first.numbers), pair_of


def depths_of(met: NearMeetings, pair_of: Int64s, n_pairs: int, n_keys: int) -> Int64s:
    """Return int64[n_pairs, n_keys]: which number from the newest the other has in each key of the text, 0 = none."""
    depths = np.zeros((n_pairs, n_keys), np.int64)
    depths[pair_of, met.key] = met.numbers
    return depths


def nearest(near: NearPairs, most: Int64s) -> Bools:
    """Return bool[n]: which pairs are among the nearest ``most`` int64[n_texts] of their text."""
    order = np.lexsort((near.earlier, near.distances, near.later))
    later = near.later[order]
    chosen = np.zeros(len(later), np.bool_)
    chosen[order] = np.arange(len(later)) - np.searchsorted(later, later) < most[later]
    return chosen


class MetIndex:
    """The kept posts that the texts of a batch met, as the index by which the batch is decided.

    ``near`` are pairs by row with kept posts as the batch is to know them, ``depths`` those of `depths_of`.
    """

    def __init__(self, positions: Int64s, near: NearPairs, depths: Int64s) -> None:
        self._positions, self._near, self._depths = positions, near, depths

    def look_up(self, texts: LiveTexts, enough: Enough = ALL_PAIRS) -> NearPairs:  # noqa: ARG002
        """Return the pairs of these texts."""
        row_of = np.full(len(self._positions), -1, np.int64)
        row_of[self._rows(texts)] = np.arange(len(texts.prints))
        near = self._near.take(row_of[self._near.later] >= 0)
        return near._replace(later=row_of[near.later])

    def depths(self, texts: LiveTexts, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return which number from the newest an earlier text has in each key of a later one."""
        place_of = {pair: place for place, pair in enumerate(pairs_of(self._near.later, self._near.earlier))}
        return self._depths[[place_of[pair] for pair in pairs_of(self._rows(texts)[rows], earlier)]]

    def _rows(self, texts: LiveTexts) -> Int64s:
        return np.searchsorted(self._positions, texts.prints.positions)


@dataclass(frozen=True)
class MetPosts:
    """Kept posts that a batch met, by their number, in the order of their positions."""

    index: MetIndex
    times: Float64s
    """float64[n]."""
    horizon: float

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon when posts of the batch are decided."""
        return np.asarray(self.times[earlier] > times.edges(self.horizon)[places])


def pairs_of(later: Int64s, earlier: Int64s) -> list[tuple[int, int]]:
    """Return pairs as tuples."""
    return list(zip(later.tolist(), earlier.tolist(), strict=True))
