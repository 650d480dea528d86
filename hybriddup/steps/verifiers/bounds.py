"""Bounds of a pair's score by length alone, and the texts of pairs, batch by batch; shared by the verifiers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter

import numpy as np

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s

CHARACTERS_PER_BATCH = 2**22
"""Of the texts of pairs whose characters are compared: they need some 50 bytes each meanwhile."""
CLOSE_TOGETHER = 128
"""Among so many times as many texts as pairs have, marking theirs takes less time than sorting them."""


def unbounded(lengths: Int32s | Int64s) -> Int32s:
    """Return `NO_BOUND` for each length."""
    return np.full(len(lengths), NO_BOUND, np.int32)


def longest_partners(lengths: Int32s | Int64s, threshold: float) -> Int32s:
    """Return the longest partner, inclusive, with which ``length / partner_length`` still reaches the threshold.

    ``lengths`` are the code points of the shorter texts; there is no bound at the threshold 0.0. The quotient is
    floating point, as a score is: that 12 x 0.8 / 1.2 is 8.000000000000002 there is why the answer is tried, not
    computed. One division is off by less than one partner length, so the next two below are enough to try.

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
    """Return int64[n]: the smallest whole ``count`` for which ``count / total >= threshold``.

    The counterpart of `longest_partners`, for cutting a computation short in whole numbers.
    """
    counts = np.ceil(thresholds * totals) - 1.0
    for _ in range(2):
        counts += counts / totals.clip(1) < thresholds
    return counts.clip(0.0).astype(np.int64)


def texts_at(texts: Sequence[str], positions: Int64s) -> list[str]:
    """Return the texts at these positions, in the order given."""
    if len(positions) < 2:
        return [texts[position] for position in positions.tolist()]
    return list(itemgetter(*positions.tolist())(texts))  # two thirds of the time that asking for one by one takes


def batches_of(pairs: CandidatePairs, lengths: Int32s, n_characters: int) -> list[slice]:
    """Return the pairs in batches whose texts have about ``n_characters``, so that memory does not grow with the pairs.

    ``lengths`` int32[n_texts] are the code points of all texts. There is at least one batch, which may be empty.
    """
    batch_of_pair = np.cumsum(lengths[pairs.earlier] + lengths[pairs.later], dtype=np.int64) // n_characters
    bounds = [0, *(np.flatnonzero(np.diff(batch_of_pair)) + 1).tolist(), len(pairs)]
    return [slice(first, last) for first, last in pairwise(bounds)]


def positions_of(earlier: Int64s, later: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return the texts of pairs, int64[n_texts], rising, and by place among them the two of each, int64[n_pairs]."""
    both = np.concatenate([earlier, later])
    least = int(both.min()) if len(both) else 0
    n = int(both.max(initial=-1)) - least + 1
    if n > CLOSE_TOGETHER * len(both):
        positions, places = np.unique(both, return_inverse=True)
        return positions, places[: len(earlier)], places[len(earlier) :]
    is_there = np.zeros(n, np.bool_)
    is_there[both - least] = True
    positions, places = np.flatnonzero(is_there), np.empty(n, np.int64)
    places[positions] = np.arange(len(positions))
    return positions + least, places[earlier - least], places[later - least]
