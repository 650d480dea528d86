"""Candidates of a batch, of what the buckets of a shared store hold: as a live index would find them in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import (
    ALL_PAIRS,
    NO_KEY,
    NO_SKETCHES,
    Bools,
    Enough,
    Int32s,
    Int64s,
    NearPairs,
    PairLimits,
    UInt64s,
)
from hybriddup.kernels.numbers_in_buckets import numbers_in_buckets
from hybriddup.kernels.pair_limits import TextColumns, distances_within
from hybriddup.run.bands import Bands
from hybriddup.window.index import LiveTexts
from hybriddup.window.shared.store import Entries, EntryArray


class Meetings(NamedTuple):
    """Others that stand in a bucket by which a text of a batch looks for others, a row for each text and bucket."""

    later: Int64s
    """int64[n], rising: rows of the batch."""
    key: Int64s
    """int64[n]: which key of the text it is."""
    positions: Int64s
    """int64[n]: of the others; -1 = a text of the batch."""
    bucket: Int64s
    """int64[n], rising: the number of the bucket."""

    def take(self, chosen: Int64s | Bools) -> Meetings:
        """Return some of the meetings."""
        return Meetings._make(column[chosen] for column in self)


class NearMeetings(NamedTuple):
    """Meetings of those that are within the limits of a pair."""

    later: Int64s
    key: Int64s
    positions: Int64s
    """int64[n]: as `Meetings` has them."""
    numbers: Int64s
    """int64[n]: which number from the newest the other has in the bucket, 1 being the newest."""
    distances: Int32s
    """int32[n]: differing bits."""

    def take(self, chosen: Int64s | Bools) -> NearMeetings:
        """Return some of the meetings."""
        return NearMeetings._make(column[chosen] for column in self)


def meetings_of(probes: UInt64s, found: Entries, own: Int64s) -> Meetings:
    """Return the meetings of texts.

    Parameters
    ----------
    probes
        uint64[n_texts, n_keys].
    found
        What the buckets of all these keys but `NO_KEY` hold, in the order of the rows.
    own
        int64[n]: the positions of the texts.
    """
    rows, keys = np.nonzero(probes != NO_KEY)
    positions = found.entries["position"].astype(np.int64)
    later = np.flatnonzero(positions >= own.min(initial=2**63 - 1))
    positions[later[np.isin(positions[later], own)]] = -1
    bucket = np.repeat(np.arange(len(rows)), found.counts)
    return Meetings(rows[bucket], keys[bucket], positions, bucket)


def near_meetings(texts: LiveTexts, met: Meetings, entries: EntryArray, bands: Bands, most: int) -> NearMeetings:
    """Return the meetings of those that are within the limits, and among the newest of their bucket.

    Parameters
    ----------
    texts
        Those whose rows are ``met.later``.
    entries
        entry_type[n]: of the others.
    most
        So many of a bucket are looked at; 0 = all.
    """
    distances = distances_of(texts, met.later, entries, bands)
    near = np.flatnonzero((distances >= 0) & (met.positions >= 0))
    begins, ends = (np.searchsorted(met.bucket, met.bucket[near], side) for side in ("left", "right"))
    numbers = numbers_in_buckets(met.positions, begins, ends, near)
    found = NearMeetings(*met.take(near)[:3], numbers, distances[near].astype(np.int32))
    return found.take(numbers <= most) if most else found


def distances_of(texts: LiveTexts, later: Int64s, entries: EntryArray, bands: Bands) -> Int64s:
    """Return int64[n]: the differing bits of texts and others, -1 where limits rule the pair out."""
    prints, n = texts.prints, len(texts.prints)
    of_entries = bands.limits_of(entries["length"].astype(np.int32))
    limits = PairLimits._make(np.concatenate(pair) for pair in zip(prints.limits, of_entries, strict=True))
    bits = np.concatenate([prints.bits, entries["bits"].reshape(-1, prints.bits.shape[1])])
    both = TextColumns(bits, *limits, NO_SKETCHES)
    found: Int64s = distances_within(both, later, np.arange(n, n + len(later)))
    return found


def near_pairs(met: NearMeetings) -> tuple[NearPairs, Int64s]:
    """Return the pairs that meet, each once, by text and then by position; and where the others stand in the keys.

    Returns
    -------
    tuple[NearPairs, Int64s]
        ``earlier`` are positions. int64[n_met]: the pair of each meeting.
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

    Parameters
    ----------
    positions
        int64[n]: of the texts, rising.
    near
        Their pairs by row; ``earlier`` as the batch is to know the kept posts.
    depths
        int64[n_pairs, n_keys]: as `depths_of` returns them.
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


def pairs_of(later: Int64s, earlier: Int64s) -> list[tuple[int, int]]:
    """Return pairs as tuples."""
    return list(zip(later.tolist(), earlier.tolist(), strict=True))
