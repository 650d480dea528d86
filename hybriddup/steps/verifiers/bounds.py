"""Shared by the verifiers: bounds of scores from lengths alone, and batches of pairs with their texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s

CHARACTERS_PER_BATCH = 2**22
"""Characters of the texts of a batch of pairs; comparing takes about 50 bytes of memory per character."""
MAX_SPARSITY = 128
"""Positions of the texts of pairs are marked in an array, and not sorted, if they span at most this many times their
number."""


def unbounded(lengths: Int32s | Int64s) -> Int32s:
    """Return `NO_BOUND` for each length."""
    return np.full(len(lengths), NO_BOUND, np.int32)


def longest_partners(lengths: Int32s | Int64s, threshold: float) -> Int32s:
    """Return the largest partner length, inclusive, for which ``length / partner_length`` reaches the threshold.

    ``lengths`` are the lengths of the shorter texts in code points; at threshold 0.0 there is no bound. The quotient is
    rounded, as a score is (12 x 0.8 / 1.2 is 8.000000000000002), so the result is verified and not only computed. One
    division is off by less than one length, so verifying two lengths is enough.

    Examples
    --------
    >>> longest_partners(np.array([4, 8], np.int32), 0.8).tolist()
    [5, 10]
    """
    if threshold <= 0.0:
        return unbounded(lengths)
    shorter = lengths.astype(np.float64)
    partners = np.floor(shorter / threshold) + 1.0
    for _ in range(2):
        partners -= shorter / partners.clip(1.0) < threshold
    return partners.clip(0.0, NO_BOUND).astype(np.int32)


def smallest_counts(thresholds: Float64s, totals: Int64s) -> Int64s:
    """Return int64[n]: the smallest integer ``count`` for which ``count / total >= threshold``.

    The counterpart of `longest_partners`, for ending a computation early.
    """
    counts = np.ceil(thresholds * totals) - 1.0
    for _ in range(2):
        counts += counts / totals.clip(1) < thresholds
    return counts.clip(0.0).astype(np.int64)


def texts_at(texts: Sequence[str], positions: Int64s) -> list[str]:
    """Return the texts at these positions, in the order given."""
    if len(positions) < 2:
        return [texts[position] for position in positions.tolist()]
    return list(itemgetter(*positions.tolist())(texts))  # two thirds of the time of a loop


def batches_of(pairs: CandidatePairs, lengths: Int32s, n_characters: int) -> list[slice]:
    """Return slices of the pairs whose texts have about ``n_characters``, so that memory does not grow with the pairs.

    ``lengths`` int32[n_texts] are the lengths of all texts in code points. The only batch of no pairs is empty.
    """
    batch_of_pair = np.cumsum(lengths[pairs.earlier] + lengths[pairs.later], dtype=np.int64) // n_characters
    bounds = [0, *(np.flatnonzero(np.diff(batch_of_pair)) + 1).tolist(), len(pairs)]
    return [slice(first, last) for first, last in pairwise(bounds)]


def positions_of(earlier: Int64s, later: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return the distinct texts of pairs, int64[n_texts], rising, and their indices by pair, twice int64[n_pairs]."""
    both = np.concatenate([earlier, later])
    least = int(both.min()) if len(both) else 0
    n = int(both.max(initial=-1)) - least + 1
    if n > MAX_SPARSITY * len(both):
        positions, places = np.unique(both, return_inverse=True)
        return positions, places[: len(earlier)], places[len(earlier) :]
    is_there = np.zeros(n, np.bool_)
    is_there[both - least] = True
    positions, places = np.flatnonzero(is_there), np.empty(n, np.int64)
    places[positions] = np.arange(len(positions))
    return positions + least, places[earlier - least], places[later - least]
