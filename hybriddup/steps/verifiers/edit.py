"""The `edit` verifier: how few characters must be inserted, deleted or replaced to turn one text into the other."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s, encode_texts
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.bounds import (
    longest_partners,
    positions_of,
    smallest_counts,
    texts_at,
    unbounded,
)
from hybriddup.steps.verifiers.characters import as_symbols, lengths_in_common
from hybriddup.steps.verifiers.lcs import common_length

LONGEST_BY_KERNEL = 8192
"""Code points: the compiled kernel keeps a table of the later text by symbol, which grows with its length; longer
texts go to rapidfuzz, whose tables stay small and which cuts off early."""

SMALLEST_SLICE = 256
"""Pairs that are worth another thread: each makes tables of its own."""


class Edit:
    """Scores a pair by its edit distance: 1.0 = same, 0.0 = no character in common; symmetric.

    ``indel`` counts insertions and deletions: ``2 * LCS / (length a + length b)``. ``levenshtein`` counts
    replacements too: ``(longer - distance) / longer``. Each is one division of whole numbers, so that a pair exactly
    on the threshold is on it. Two empty texts score 1.0.
    """

    class Options(ComponentOptions):
        """Which edits count."""

        distance: Literal["indel", "levenshtein"] = Field(
            "indel",
            description="indel: insertions and deletions, a replacement being one of each; levenshtein: replacements "
            "count once.",
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    _context: VerifierContext

    def prepare(self, context: VerifierContext) -> None:
        """Note the texts."""
        self._context = context

    def _lengths(self, texts: Int64s) -> Int64s:
        return self._context.lengths[texts].astype(np.int64)

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the score, or a bound where that is below the threshold already."""
        if self.options.distance == "indel":
            return self._score_indel(pairs, thresholds)
        return self._score_levenshtein(pairs, thresholds)

    def _score_indel(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        totals = self._lengths(pairs.earlier) + self._lengths(pairs.later)
        common = self._in_common(pairs, (smallest_counts(thresholds, totals) + 1) // 2)
        return divide_or_one(2 * common, totals)

    def _score_levenshtein(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        # every character of the longer text that is not in the common subsequence costs at least one edit
        longer = np.maximum(self._lengths(pairs.earlier), self._lengths(pairs.later))
        needed = smallest_counts(thresholds, longer)
        unchanged = self._in_common(pairs, needed)
        is_open = np.flatnonzero(unchanged >= needed)
        distances = cpdist(
            texts_at(self._context.texts, pairs.earlier[is_open]),
            texts_at(self._context.texts, pairs.later[is_open]),
            scorer=Levenshtein.distance,
            dtype=np.int64,
            workers=self._context.workers,
        )
        unchanged[is_open] = longer[is_open] - distances
        return divide_or_one(unchanged, longer)

    def _in_common(self, pairs: CandidatePairs, needed: Int64s) -> Int64s:
        """Return int64[n_pairs]: the longest common subsequence, or any smaller number than ``needed`` where it is."""
        is_long = self._context.lengths[pairs.later] > LONGEST_BY_KERNEL
        if not is_long.any():
            return self._common_lengths(pairs, needed)
        common, long = np.zeros(len(pairs), np.int64), np.flatnonzero(is_long)
        common[~is_long] = self._common_lengths(pairs.take(~is_long), needed[~is_long])
        texts = self._context.texts
        earlier, later = texts_at(texts, pairs.earlier[long]), texts_at(texts, pairs.later[long])
        common[long] = list(map(common_length, earlier, later, needed[long].tolist()))
        return common

    def _common_lengths(self, pairs: CandidatePairs, needed: Int64s) -> Int64s:
        """Return the same for texts that are not too long for the kernel."""

        def measure_slice(first: int, last: int) -> Int64s:
            positions, earlier, later = positions_of(pairs.earlier[first:last], pairs.later[first:last])
            texts = as_symbols(encode_texts(texts_at(self._context.texts, positions)))
            return lengths_in_common(texts, earlier, later, needed[first:last])

        slices = map_slices(measure_slice, len(pairs), self._context.workers, SMALLEST_SLICE)
        return np.concatenate([np.zeros(0, np.int64), *slices])

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return the longest partner: all of the shorter text in common is the best that a pair can do."""
        if self.options.distance == "levenshtein":
            return longest_partners(lengths, threshold)
        return longest_indel_partners(lengths, threshold)

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return what the definition of the score asks for when the common characters were all in order."""
        if self.options.distance == "levenshtein":
            return LeastInCommon(of_longer=threshold)
        return LeastInCommon(of_shorter=threshold / 2, of_longer=threshold / 2)


def longest_indel_partners(lengths: Int32s, threshold: float) -> Int32s:
    """Return the longest partner, inclusive, with which ``2 * length / (length + partner)`` reaches the threshold.

    The quotient is tried as the score computes it, because 12 x 0.8 / 1.2 is 8.000000000000002 in floating point.

    Examples
    --------
    >>> longest_indel_partners(np.array([8, 10], np.int32), 0.8).tolist()
    [12, 15]
    """
    if threshold <= 0.0:
        return unbounded(lengths)
    shorter = lengths.astype(np.float64)
    partners = np.floor(shorter * (2.0 - threshold) / threshold) + 1.0
    for _ in range(2):
        partners -= 2.0 * shorter / (shorter + partners).clip(1.0) < threshold
    return partners.clip(0.0, NO_BOUND).astype(np.int32)


def divide_or_one(counts: Int64s, totals: Int64s) -> Float64s:
    """Return ``counts / totals`` as float64, 1.0 where the total is 0: two empty texts are the same."""
    return np.divide(counts, totals, out=np.ones(len(counts)), where=totals > 0)
