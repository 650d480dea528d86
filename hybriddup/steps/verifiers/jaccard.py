"""The `jaccard` verifier: how many features two texts share of all that either has."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import CandidatePairs, Float64s, Int32s
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import unbounded
from hybriddup.steps.verifiers.features import (
    FeatureOptions,
    FeatureSource,
    TextPairs,
    score_in_batches,
    settle_featureless,
)


class Jaccard:
    """Scores a pair by shared over all distinct features: 1.0 = same set, 0.0 = nothing in common; symmetric.

    How often a text repeats a feature, and in which order, does not count.
    """

    class Options(FeatureOptions):
        """Which features the sets are made of."""

    def __init__(self, options: Options) -> None:
        self.options = options

    _source: FeatureSource

    def prepare(self, context: VerifierContext) -> None:
        """Note the texts and how the run splits them."""
        self._source = FeatureSource.of_run(context, self.options)

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:  # noqa: ARG002 - no cheaper bound
        """Return float64[n_pairs]: one division of whole numbers."""
        return score_in_batches(pairs, self._source, share_of_union)

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - of no consequence here
        """Return no bound: a text said twice has the same set as said once."""
        return unbounded(lengths)


def share_of_union(pairs: TextPairs) -> Float64s:
    """Return float64[n_pairs]: features in both texts over features in either."""
    in_both = pairs.counts[pairs.earlier].multiply(pairs.counts[pairs.later]).tocsr()
    sizes = np.diff(pairs.counts.indptr).astype(np.int64)
    n_shared = np.diff(in_both.indptr).astype(np.int64)
    n_either = sizes[pairs.earlier] + sizes[pairs.later] - n_shared
    return settle_featureless(n_shared / n_either.clip(1), pairs, n_either)
