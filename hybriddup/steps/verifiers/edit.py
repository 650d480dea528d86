"""The `edit` verifier: how few characters must be inserted, deleted or replaced to turn one text into the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from pydantic import Field
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int32s, Int64s, encode_texts
from hybriddup.kernels.characters import lcs_upper_bounds
from hybriddup.kernels.lcs import lcs_lengths
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.bounds import lengths_of, longest_partners, smallest_counts, texts_at, unbounded
from hybriddup.steps.verifiers.characters import as_symbols
from hybriddup.steps.verifiers.lcs import common_length

LONGEST_BY_KERNEL = 8192
"""Code points: the compiled kernel keeps a table of the later text by symbol, which grows with its length; longer
texts go to rapidfuzz, whose tables stay small and which cuts off early."""

SMALLEST_SLICE = 512
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
    _lengths: Int64s

    def prepare(self, context: VerifierContext) -> None:
        """Note the texts."""
        self._context = context
        self._lengths = lengths_of(context.texts)

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the score, or a bound where that is below the threshold already."""
        lengths, bounds = self._lengths, self._upper_bounds(pairs)
        if self.options.distance == "indel":
            return self._score_indel(pairs, thresholds, bounds, lengths[pairs.earlier] + lengths[pairs.later])
        return self._score_levenshtein(
            pairs, thresholds, bounds, np.maximum(lengths[pairs.earlier], lengths[pairs.later])
        )

    def _upper_bounds(self, pairs: CandidatePairs) -> Int64s:
        """Return int64[n_pairs]: the characters in common, whatever their order."""
        counts = self._context.characters.counts  # here, in several threads, and not by each slice for itself

        def bound_slice(first: int, last: int) -> Int64s:
            chosen = pairs.take(slice(first, last))
            bounds: Int64s = lcs_upper_bounds(counts, self._lengths, chosen.earlier, chosen.later)
            return bounds

        return join_slices(bound_slice, len(pairs), self._context.workers)

    def _score_indel(self, pairs: CandidatePairs, thresholds: Float64s, common: Int64s, totals: Int64s) -> Float64s:
        wanted = divide_or_one(2 * common, totals) >= thresholds
        is_long = self._lengths[pairs.later] > LONGEST_BY_KERNEL
        short = wanted & ~is_long
        common = np.where(short, self._lcs_lengths(pairs, short), common)
        long = np.flatnonzero(wanted & is_long)
        needed = (smallest_counts(thresholds[long], totals[long]) + 1) // 2
        texts = self._context.texts
        earlier, later = texts_at(texts, pairs.earlier[long]), texts_at(texts, pairs.later[long])
        common[long] = [common_length(a, b, n) for a, b, n in zip(earlier, later, needed.tolist(), strict=True)]
        return divide_or_one(2 * common, totals)

    def _lcs_lengths(self, pairs: CandidatePairs, wanted: Bools) -> Int64s:
        """Return int64[n_pairs]: the longest common subsequence of each wanted pair, 0 for the others."""
        lengths = np.zeros(len(pairs), np.int64)
        chosen = np.flatnonzero(wanted)
        open_pairs = pairs.take(chosen)

        def score_slice(first: int, last: int) -> Int64s:
            some = open_pairs.take(slice(first, last))
            positions, places = np.unique(np.concatenate([some.earlier, some.later]), return_inverse=True)
            texts = as_symbols(encode_texts(texts_at(self._context.texts, positions)))
            return np.asarray(lcs_lengths(*texts, places[: len(some)], places[len(some) :]), np.int64)

        lengths[chosen] = join_slices(score_slice, len(open_pairs), self._context.workers)
        return lengths

    def _score_levenshtein(
        self, pairs: CandidatePairs, thresholds: Float64s, common: Int64s, longer: Int64s
    ) -> Float64s:
        # every character of the longer text that is not in the common subsequence costs at least one edit
        wanted = np.flatnonzero(divide_or_one(common, longer) >= thresholds)
        distances = cpdist(
            texts_at(self._context.texts, pairs.earlier[wanted]),
            texts_at(self._context.texts, pairs.later[wanted]),
            scorer=Levenshtein.distance,
            dtype=np.int64,
            workers=self._context.workers,
        )
        unchanged = common.copy()
        unchanged[wanted] = longer[wanted] - distances
        return divide_or_one(unchanged, longer)

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


def join_slices(function: Callable[[int, int], Int64s], n: int, workers: int) -> Int64s:
    """Return int64[n]: what the function returns for slices that cover ``range(n)``, put together."""
    return np.concatenate([np.zeros(0, np.int64), *map_slices(function, n, workers, SMALLEST_SLICE)])


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
