"""Candidates of a batch, of what the buckets of a shared store hold: as a live index would find them in memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import ALL_PAIRS, NO_KEY, Bools, Enough, Int64s, NearPairs, PairLimits, UInt64s
from hybriddup.kernels.pair_limits import TextColumns, distances_within
from hybriddup.run.bands import Bands
from hybriddup.window.index import LiveTexts
from hybriddup.window.shared.store import EntryArray

NO_SKETCHES = np.zeros((0, 2), np.uint64)


class Meetings(NamedTuple):
    """Posts that stand in a bucket by which a text of a batch looks for others; one row for each text and bucket."""

    later: Int64s
    """int64[n], rising: rows of the batch."""
    key: Int64s
    """int64[n]: which key of the text it is."""
    entries: EntryArray
    """entry_type[n]: the other post."""

    def take(self, chosen: Int64s | Bools) -> Meetings:
        """Return some of the meetings."""
        return Meetings._make(column[chosen] for column in self)


def meetings_of(probes: UInt64s, counts: Int64s, entries: EntryArray) -> Meetings:
    """Return the meetings of texts.

    Parameters
    ----------
    probes
        uint64[n_texts, n_keys].
    counts, entries
        What the buckets of all these keys but `NO_KEY` hold, in the order of the rows.
    """
    rows, keys = np.nonzero(probes != NO_KEY)
    return Meetings(np.repeat(rows, counts), np.repeat(keys, counts), entries)


def numbers_in_buckets(met: Meetings) -> Int64s:
    """Return int64[n]: which number from the newest each meeting has in its bucket, 1 being the newest."""
    n, positions = len(met.later), met.entries["position"].astype(np.int64)
    ends = np.ones(n, np.bool_)
    ends[:-1] = (met.later[1:] != met.later[:-1]) | (met.key[1:] != met.key[:-1])
    bucket: Int64s = np.cumsum(ends) - ends
    numbers = np.flatnonzero(ends)[bucket] - np.arange(n) + 1
    if (ends[:-1] | (positions[1:] >= positions[:-1])).all():  # as good as always
        return numbers
    order = np.lexsort((positions, bucket))
    sorted_numbers, numbers = numbers, np.empty(n, np.int64)
    numbers[order] = sorted_numbers
    return numbers


def newest(met: Meetings, most: int) -> tuple[Meetings, Int64s]:
    """Return the meetings with the newest posts of each bucket, 0 = all, and their numbers in it."""
    numbers = numbers_in_buckets(met)
    chosen = numbers <= most if most else np.ones(len(numbers), np.bool_)
    return met.take(chosen), numbers[chosen]


def near_pairs(texts: LiveTexts, met: Meetings, numbers: Int64s, bands: Bands) -> NearPairs:
    """Return the meetings that are within the limits, each pair once, by text and then by position.

    Parameters
    ----------
    texts
        Those whose rows are ``met.later``.
    numbers
        int64[n]: as `numbers_in_buckets` returns them.

    Returns
    -------
    NearPairs
        ``earlier`` are positions.
    """
    distances = distances_of(texts, met, bands)
    within = np.flatnonzero(distances >= 0)
    positions, later = met.entries["position"][within].astype(np.int64), met.later[within]
    order = np.lexsort((numbers[within], positions, later))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(later[order]) != 0) | (np.diff(positions[order]) != 0)
    chosen = order[is_first]
    pairs = within[chosen]
    return NearPairs(positions[chosen], later[chosen], distances[pairs].astype(np.int32), numbers[pairs])


def distances_of(texts: LiveTexts, met: Meetings, bands: Bands) -> Int64s:
    """Return int64[n]: the differing bits of meetings, -1 where limits rule the pair out."""
    prints, n = texts.prints, len(texts.prints)
    of_entries = bands.limits_of(met.entries["length"].astype(np.int32))
    limits = PairLimits._make(np.concatenate(pair) for pair in zip(prints.limits, of_entries, strict=True))
    bits = np.concatenate([prints.bits, met.entries["bits"].reshape(-1, prints.bits.shape[1])])
    both = TextColumns(bits, *limits, NO_SKETCHES)
    found: Int64s = distances_within(both, met.later, np.arange(n, n + len(met.later)))
    return found


def nearest(near: NearPairs, most: Int64s) -> Bools:
    """Return bool[n]: which pairs are among the nearest ``most`` int64[n_texts] of their text."""
    order = np.lexsort((near.earlier, near.distances, near.later))
    later = near.later[order]
    chosen = np.zeros(len(later), np.bool_)
    chosen[order] = np.arange(len(later)) - np.searchsorted(later, later) < most[later]
    return chosen


def depths_of(near: NearPairs, met: Meetings, numbers: Int64s, n_keys: int) -> Int64s:
    """Return int64[n_pairs, n_keys]: which number from the newest the earlier post has in each key, 0 = none."""
    depths = np.zeros((len(near.later), n_keys), np.int64)
    codes, asked = codes_of(near.later, near.earlier), codes_of(met.later, met.entries["position"].astype(np.int64))
    places = np.searchsorted(codes, asked)
    known = (
        np.flatnonzero((places < len(codes)) & (codes[np.minimum(places, len(codes) - 1)] == asked))
        if len(codes)
        else places[:0]
    )
    depths[places[known], met.key[known]] = numbers[known]
    return depths


def codes_of(later: Int64s, positions: Int64s) -> NDArray[np.void]:
    """Return numbers for pairs, in the order of later texts and then of positions."""
    codes = np.empty(len(later), [("later", ">u4"), ("position", ">u8")])
    codes["later"], codes["position"] = later, positions
    return codes.view("V12")


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
