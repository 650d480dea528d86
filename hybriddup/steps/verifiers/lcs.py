"""The `lcs` verifier: how much of a text stands, in order, in the other one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.bounds import lengths_of, longest_partners, smallest_counts, texts_at, unbounded

LONG_PAIR = 2**24
"""Product of two lengths from which a pair is worth a cheaper look first: 4,096 code points each."""


class Lcs:
    """Scores a pair by its longest common subsequence: characters, not necessarily adjacent, in the same order.

    1.0 = all of the longer text (or of the shorter, by ``relative_to``), 0.0 = no character in common; symmetric.
    """

    class Options(ComponentOptions):
        """What the common characters are a share of."""

        relative_to: Literal["longer", "shorter"] = Field(
            "longer",
            description="The text whose length the common characters are divided by; with `shorter`, a text that is "
            "contained in the other one scores 1.0.",
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    _texts: Sequence[str]
    _workers: int

    def prepare(self, context: VerifierContext) -> None:
        """Note the texts."""
        self._texts = context.texts
        self._workers = context.workers

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: one division of whole numbers, or a bound where that is below the threshold."""
        earlier, later = texts_at(self._texts, pairs.earlier), texts_at(self._texts, pairs.later)
        lengths = np.stack([lengths_of(earlier), lengths_of(later)])
        totals = lengths.max(axis=0) if self.options.relative_to == "longer" else lengths.min(axis=0)
        common = lengths.min(axis=0)
        worth_it = np.flatnonzero(divide(common, totals) >= thresholds)
        is_long = lengths.prod(axis=0)[worth_it] >= LONG_PAIR
        short, long = worth_it[~is_long], worth_it[is_long]
        common[short] = cpdist(
            texts_at(earlier, short),
            texts_at(later, short),
            scorer=LCSseq.similarity,
            dtype=np.int64,
            workers=self._workers,
        )
        needed = smallest_counts(thresholds[long], totals[long])
        common[long] = [
            common_length(a, b, count)
            for a, b, count in zip(texts_at(earlier, long), texts_at(later, long), needed.tolist(), strict=True)
        ]
        scores = divide(common, totals)
        # An empty text is contained in any other; only another empty text is the same.
        scores[(totals == 0) & (lengths.max(axis=0) == 0)] = 1.0
        return scores

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return the longest partner: all of the shorter text in common is the best that a pair can do."""
        if self.options.relative_to == "shorter":
            return unbounded(lengths)
        return longest_partners(lengths, threshold)

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return the threshold, as a share of the text that the common characters are divided by."""
        if self.options.relative_to == "shorter":
            return LeastInCommon(of_shorter=threshold)
        return LeastInCommon(of_longer=threshold)


def common_length(a: str, b: str, needed: int) -> int:
    """Return the length of the longest common subsequence, or any smaller number than ``needed`` where it is smaller.

    The characters in common, whatever their order, bound it from above and take linear time.
    """
    if (Counter(a) & Counter(b)).total() < needed:
        return 0
    return int(LCSseq.similarity(a, b, score_cutoff=needed))


def divide(counts: Int64s, totals: Int64s) -> Float64s:
    """Return ``counts / totals``, 0.0 where the total is 0."""
    return np.divide(counts, totals, out=np.zeros(len(counts)), where=totals > 0)
