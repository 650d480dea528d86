"""The verifiers `edit` and `lcs`: the share of characters that two texts have in common, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from pydantic import Field
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s, encode_texts, text_lengths
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext, sections
from hybriddup.steps.verifiers.bounds import (
    CHARACTERS_PER_BATCH,
    batches_of,
    longest_partners,
    positions_of,
    smallest_counts,
    texts_at,
    unbounded,
)
from hybriddup.steps.verifiers.characters import lengths_in_common

SMALLEST_SLICE = 256
"""Minimum number of pairs per thread, because each thread builds its own tables."""


class CommonSubsequence:
    """Base class of `Edit` and `Lcs`, which count common characters in the same order, not necessarily adjacent.

    Two texts of more than 8,192 characters are compared in sections, and may get a lower score than the exact one; see
    `hybriddup.steps.verifiers.sections`.
    """

    _context: VerifierContext

    def prepare(self, context: VerifierContext) -> None:
        """Store the texts."""
        self._context = context

    def _shorter_and_longer(self, pairs: CandidatePairs) -> tuple[Int64s, Int64s]:
        """Return two arrays int64[n_pairs]: the length of each pair's shorter text, and of its longer text."""
        earlier, later = self._context.lengths[pairs.earlier], self._context.lengths[pairs.later]
        return np.minimum(earlier, later).astype(np.int64), np.maximum(earlier, later).astype(np.int64)

    def _in_common(self, pairs: CandidatePairs, needed: Int64s) -> Int64s:
        """Return int64[n_pairs]: the length of the longest common subsequence of each pair.

        If a length is below ``needed``, the result may be any number below ``needed``.
        """

        def measure_slice(first: int, last: int) -> Int64s:
            some, needed_of_some = pairs.take(slice(first, last)), needed[first:last]
            batches = batches_of(some, self._context.lengths, CHARACTERS_PER_BATCH)
            return np.concatenate([self._measure(some.take(batch), needed_of_some[batch]) for batch in batches])

        slices = map_slices(measure_slice, len(pairs), self._context.workers, SMALLEST_SLICE)
        return np.concatenate([np.zeros(0, np.int64), *slices])

    def _measure(self, pairs: CandidatePairs, needed: Int64s) -> Int64s:
        positions, earlier, later = positions_of(pairs.earlier, pairs.later)
        return lengths_in_common(encode_texts(texts_at(self._context.texts, positions)), earlier, later, needed)


class Edit(CommonSubsequence):
    """Scores a pair by its edit distance: 1.0 = same, 0.0 = no character in common; symmetric.

    ``indel`` counts insertions and deletions: ``2 * LCS / (length a + length b)``, where LCS is the length of the
    longest common subsequence. ``levenshtein`` also counts replacements: ``(longer - distance) / longer``. Each score
    is one division of integers, so that rounding never puts a score that equals the threshold below it. Two empty
    texts score 1.0.
    """

    class Options(ComponentOptions):
        """Which edits count."""

        distance: Literal["indel", "levenshtein"] = Field(
            "indel",
            description="indel: only insertions and deletions, so that a replacement counts as two edits; levenshtein: "
            "a replacement counts as one.",
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the scores; a score below its threshold may be any number below the threshold."""
        shorter, longer = self._shorter_and_longer(pairs)
        if self.options.distance == "levenshtein":
            return divide_or_one(self._unchanged(pairs, smallest_counts(thresholds, longer), longer), longer)
        totals = shorter + longer
        return divide_or_one(2 * self._in_common(pairs, (smallest_counts(thresholds, totals) + 1) // 2), totals)

    def _unchanged(self, pairs: CandidatePairs, needed: Int64s, longer: Int64s) -> Int64s:
        """Return int64[n_pairs]: the length of the longer text minus the edit distance, for each pair.

        If this is below ``needed``, the result may be any number below ``needed``. The result cannot be greater than
        the length of the longest common subsequence: if that is below ``needed``, the distance is not computed.
        """
        unchanged, texts = self._in_common(pairs, needed), self._context.texts
        is_open = np.flatnonzero(unchanged >= needed)
        earlier, later = texts_at(texts, pairs.earlier[is_open]), texts_at(texts, pairs.later[is_open])
        unchanged[is_open] = longer[is_open] - levenshtein_distances(earlier, later, self._context.workers)
        return unchanged

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return int32[n]: for each text length, the length of the longest text that can still reach ``threshold``."""
        if self.options.distance == "levenshtein":
            return longest_partners(lengths, threshold)
        if threshold <= 0.0:
            return unbounded(lengths)
        return longest_partners(2 * lengths.astype(np.int64), threshold) - lengths

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return the minimum number of common characters in a pair that reaches the threshold."""
        if self.options.distance == "levenshtein":
            return LeastInCommon(of_longer=threshold)
        return LeastInCommon(of_shorter=threshold / 2, of_longer=threshold / 2)


class Lcs(CommonSubsequence):
    """Scores a pair by the length of its longest common subsequence, divided by the length of one text; symmetric.

    1.0 = the subsequence is all of the longer text, or of the shorter one, depending on ``relative_to``; 0.0 = no
    character in common. Each score is one division of integers.
    """

    class Options(ComponentOptions):
        """The choice of the text, longer or shorter, by whose length the common characters are divided."""

        relative_to: Literal["longer", "shorter"] = Field(
            "longer",
            description="The text whose length the common characters are divided by; with `shorter`, a text that is "
            "contained in the other one scores 1.0.",
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the scores; a score below its threshold may be any number below the threshold."""
        shorter, longer = self._shorter_and_longer(pairs)
        totals = longer if self.options.relative_to == "longer" else shorter
        scores = divide_or_one(self._in_common(pairs, smallest_counts(thresholds, totals)), totals)
        # An empty text is contained in any other; only another empty text is the same.
        scores[(totals == 0) & (longer > 0)] = 0.0
        return scores

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return int32[n]: for each text length, the length of the longest text that can still reach ``threshold``."""
        return unbounded(lengths) if self.options.relative_to == "shorter" else longest_partners(lengths, threshold)

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return the minimum number of common characters: ``threshold`` times the length of the `relative_to` text."""
        if self.options.relative_to == "shorter":
            return LeastInCommon(of_shorter=threshold)
        return LeastInCommon(of_longer=threshold)


def levenshtein_distances(a: Sequence[str], b: Sequence[str], workers: int) -> Int64s:
    """Return int64[n_pairs]: the edit distance of ``a[i]`` and ``b[i]``.

    Two long texts are cut into sections. The sum of the sections' distances is at least the distance of the texts.
    """
    distances = np.zeros(len(a), np.int64)
    is_long = np.minimum(text_lengths(a), text_lengths(b)) > sections.LONGEST_EXACT
    short = np.flatnonzero(~is_long)
    distances[short] = cpdist(
        texts_at(a, short), texts_at(b, short), scorer=Levenshtein.distance, dtype=np.int64, workers=workers
    )
    for pair in np.flatnonzero(is_long).tolist():
        cuts = sections.cuts_of(encode_texts([a[pair]]).code_points, encode_texts([b[pair]]).code_points)
        distances[pair] = min(
            sum(map(Levenshtein.distance, parts_of(a[pair], cut.of_a), parts_of(b[pair], cut.of_b))) for cut in cuts
        )
    return distances


def parts_of(text: str, bounds: Int64s) -> Iterator[str]:
    """Yield the parts of a text between consecutive bounds."""
    return (text[first:last] for first, last in pairwise(bounds.tolist()))


def divide_or_one(counts: Int64s, totals: Int64s) -> Float64s:
    """Return ``counts / totals`` as float64, 1.0 if the total is 0: two empty texts are equal."""
    return np.divide(counts, totals, out=np.ones(len(counts)), where=totals > 0)
