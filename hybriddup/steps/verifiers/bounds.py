"""Helpers of the verifiers: text lengths and counts that a threshold requires, and batches of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s
from hybriddup.data.spread import slices_of_size

CHARACTERS_PER_BATCH = 2**22
"""Number of characters in a batch of pairs; comparing takes about 50 bytes of memory per character."""
MAX_SPARSITY = 128
"""Maximum range of the text numbers, divided by their count, for which a bitmap finds the distinct numbers; sparser
numbers are sorted."""


def unbounded(lengths: Int32s | Int64s) -> Int32s:
    """Return int32[n]: `NO_BOUND` for each length, because a partner of any length may match."""
    return np.full(len(lengths), NO_BOUND, np.int32)


def longest_partners(lengths: Int32s | Int64s, threshold: float) -> Int32s:
    """Return, for each length, the largest partner length with ``length / partner_length >= threshold``.

    ``lengths`` are the lengths of the shorter texts in code points; at threshold 0.0 there is no bound. The quotient
    is rounded exactly as a score is, so that no rounding error excludes a partner length.

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

    A caller that counts can stop as soon as its count can no longer reach this number.
    """
    counts = np.ceil(thresholds * totals) - 1.0
    for _ in range(2):
        counts += counts / totals.clip(1) < thresholds
    return counts.clip(0.0).astype(np.int64)


def texts_at(texts: Sequence[str], positions: Int64s) -> list[str]:
    """Return the texts at the indices ``positions``, in the given order."""
    if len(positions) < 2:
        return [texts[position] for position in positions.tolist()]
    return list(itemgetter(*positions.tolist())(texts))  # two thirds of the time of a loop


def batches_of(pairs: CandidatePairs, lengths: Int32s, n_characters: int) -> list[slice]:
    """Split pairs into slices whose texts have about ``n_characters`` in total, so that memory is bounded.

    ``lengths``: int32[n_texts], the lengths of all texts in code points. Without pairs, the only slice is empty.
    """
    return slices_of_size(lengths[pairs.earlier] + lengths[pairs.later], n_characters)


def positions_of(earlier: Int64s, later: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Renumber the texts of pairs as 0, 1, 2, ..., so that only the texts in use need to be loaded.

    Returns three arrays: the distinct old numbers, int64[n_texts], ascending; and the new numbers of ``earlier`` and
    of ``later``, int64[n_pairs] each, which are indices into the first array.
    """
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
