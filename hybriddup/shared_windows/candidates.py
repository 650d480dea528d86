"""Finds candidates in the buckets of a shared store, by the same rules as a live index in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, Int32s, Int64s, NearPairs
from hybriddup.kernels.live.bucket_entries import near_entries
from hybriddup.kernels.search.pair_limits import distances_within, text_columns
from hybriddup.run.bands import Bands
from hybriddup.shared_windows.store import Block, Entries, EntryArray
from hybriddup.steps.candidates import Batch

LAST = 2**63 - 1
"""A number larger than every position."""


class NearMeetings(NamedTuple):
    """Pairs of a text of the batch and a stored post with a similar fingerprint; one row for each bucket they share."""

    later: Int64s
    """int64[n]: index of the text in the batch."""
    key: Int64s
    """int64[n]: index of the bucket's key among the keys of the text."""
    positions: Int64s
    """int64[n]: position of the post in the store."""
    numbers: Int64s
    """int64[n]: number of the post in the bucket, counted from the newest, which is 1."""
    distances: Int32s
    """int32[n]: Hamming distance of the fingerprints."""

    def take(self, chosen: Int64s | Bools) -> NearMeetings:
        """Return the chosen rows, given by indices or as a mask."""
        return NearMeetings._make(column[chosen] for column in self)


def may_be_undecided(positions: Int64s, unfinished: Sequence[Block]) -> Bools:
    """Return bool[n]: whether the post at each position may be undecided.

    It may if its position is in the block of an unfinished batch, or after the last such block. An undecided post may
    become a duplicate or be abandoned, and is then removed from its buckets. So it must not displace a kept post from
    the newest entries of a bucket or from the nearest candidates.
    """
    if not unfinished:
        return np.zeros(len(positions), np.bool_)
    blocks = np.array(sorted(unfinished), np.int64)
    ends = blocks.sum(axis=1)
    ends[-1] = LAST  # blocks taken later are not known yet
    block = np.searchsorted(blocks[:, 0], positions, "right") - 1
    return np.asarray((block >= 0) & (positions < ends[block]))


def ranks_from_newest(counts: Int64s, positions: Int64s) -> Int64s:
    """Return int64[n_entries]: the rank of each entry in its bucket, 1 = the largest position.

    Parameters
    ----------
    counts
        int64[n_buckets]: number of entries in each bucket.
    positions
        int64[n_entries]: the position of each entry, bucket by bucket; -1 = an entry that gets rank 1, and is left out
        when the other entries are ranked.
    """
    bucket = np.repeat(np.arange(len(counts)), counts)
    order = np.argsort(-positions)
    order = order[stable_order(bucket[order], len(counts))]
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - (np.cumsum(counts) - counts)[bucket] + 1
    ranks[positions < 0] = 1
    return ranks


def stable_order(numbers: Int64s, n: int) -> Int64s:
    """Return int64[n_numbers]: the indices that sort ``numbers``, stably; all numbers are from 0 to ``n`` - 1.

    If all numbers fit into 16 bits, they are converted first: NumPy sorts 16-bit integers by radix sort, in a fifth of
    the time that it needs for 64-bit integers.
    """
    return np.argsort(numbers.astype(np.uint16) if n <= 2**16 else numbers, kind="stable")


def near_meetings(
    texts: Batch, found: Entries, bands: Bands, most: int, unfinished: Sequence[Block] = ()
) -> NearMeetings:
    """Find, for each text of a batch, the posts in its buckets that are near, and among the newest of a bucket.

    Near posts are within the limits of ``bands`` for distance and length. The entries of the texts themselves are left
    out.

    Parameters
    ----------
    texts
        The texts, with the keys of their buckets in ``probes``; `NO_KEY` = none.
    found
        The contents of the buckets of the distinct keys, in ascending order of the keys.
    most
        Number of newest posts to use from each bucket; 0 = all.
    unfinished
        The ranges of positions that may have undecided posts; see `may_be_undecided`.
    """
    rows, keys = map(np.ascontiguousarray, np.nonzero(texts.probes != NO_KEY))  # kernels are compiled for one layout
    _, bucket = np.unique(texts.probes[rows, keys], return_inverse=True)
    ends, bits = np.cumsum(found.counts), found.entries["bits"].copy()
    begins, most_bits = ends - found.counts, int(bands.max_hamming_distances.max())
    chosen, looks = near_entries(begins[bucket], ends[bucket], rows, texts.columns.bits, bits, most_bits)
    positions = found.entries["position"][chosen].astype(np.int64)
    is_other = ~np.isin(positions, texts.positions)
    chosen, looks, positions = chosen[is_other], looks[is_other], positions[is_other]
    distances = distances_of(texts, rows[looks], found.entries[chosen], bands)
    numbers = ranks_of(found, chosen, unfinished)
    met = NearMeetings(rows[looks], keys[looks], positions, numbers, distances.astype(np.int32))
    return met.take((distances >= 0) & (numbers <= most) if most else distances >= 0)


def ranks_of(found: Entries, chosen: Int64s, unfinished: Sequence[Block]) -> Int64s:
    """Return int64[n]: the rank of each chosen entry in its bucket, 1 = newest; undecided posts are not counted."""
    is_needed = np.zeros(len(found.counts), np.bool_)
    is_needed[np.searchsorted(np.cumsum(found.counts), chosen, "right")] = True
    needed = np.flatnonzero(np.repeat(is_needed, found.counts))
    positions = found.entries["position"][needed].astype(np.int64)
    counted = np.where(may_be_undecided(positions, unfinished), -1, positions)
    return ranks_from_newest(found.counts[is_needed], counted)[np.searchsorted(needed, chosen)]


def distances_of(texts: Batch, later: Int64s, entries: EntryArray, bands: Bands) -> Int64s:
    """Return int64[n]: the Hamming distance of each pair of a text and an entry; -1 = the pair is not near.

    ``later``, int64[n], has the index of each pair's text in ``texts``, and ``entries`` has the pair's entry. Near
    pairs are within the limits of ``bands`` for distance and length.
    """
    bits, n = texts.columns.bits, len(texts)
    lengths = np.concatenate([texts.columns.lengths, entries["length"].astype(np.int32)])
    limits, kinds = bands.limits_by_length(lengths)
    bits = np.concatenate([bits, entries["bits"].reshape(-1, bits.shape[1])])
    both = text_columns(bits, limits, kinds=kinds)
    return distances_within(both, later, np.arange(n, n + len(later)))


def near_pairs(met: NearMeetings) -> tuple[NearPairs, Int64s]:
    """Return the distinct pairs, sorted by text and position; and int64[n_met]: the pair's index by row of ``met``.

    In the pairs, ``later`` is the index of the text in the batch, and ``earlier`` the position of the stored post.
    """
    order = np.lexsort((met.numbers, met.positions, met.later))
    met_in_order = met.take(order)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(met_in_order.later) != 0) | (np.diff(met_in_order.positions) != 0)
    pair_of = np.empty(len(order), np.int64)
    pair_of[order] = np.cumsum(is_first) - 1
    first = met_in_order.take(is_first)
    return NearPairs(first.positions, first.later, first.distances, first.numbers), pair_of
