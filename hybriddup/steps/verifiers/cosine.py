"""The `cosine` verifier: the angle between two texts' TF-IDF vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hybriddup.data.limits import round_onto
from hybriddup.data.records import CandidatePairs, Float64s, Int32s
from hybriddup.data.spread import spread_rows
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import texts_at, unbounded
from hybriddup.steps.verifiers.document_frequencies import InverseDocumentFrequencies
from hybriddup.steps.verifiers.features import (
    FeatureOptions,
    FeatureSource,
    TextPairs,
    score_in_batches,
    settle_featureless,
)

TEXTS_A_BATCH = 1024
"""Texts split at a time while learning."""


class Cosine:
    """Scores a pair by the cosine of its TF-IDF vectors: 1.0 = same direction, 0.0 = no feature shared; symmetric.

    TF is how often a text holds a feature, IDF is scikit-learn's smoothed one, learned from the texts of the run.
    """

    class Options(FeatureOptions):
        """Which features the vectors count, and how they are weighted."""

        idf: bool = Field(
            True, description="Weigh features by how few of the run's texts hold them; with false, all weigh the same."
        )
        idf_sample: int = Field(
            100_000,
            ge=0,
            description="Texts that IDF is learned from, spread evenly over the run and split once more; 0 = all.",
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    _source: FeatureSource
    _frequencies: InverseDocumentFrequencies

    def prepare(self, context: VerifierContext) -> None:
        """Learn IDF from the texts of the run."""
        self._source = FeatureSource.of_run(context, self.options)
        self._frequencies = InverseDocumentFrequencies()
        if self.options.idf:
            sample = self._sample(context.texts)
            batches = [sample[first : first + TEXTS_A_BATCH] for first in range(0, len(sample), TEXTS_A_BATCH)]
            self._frequencies.learn(self._source.split_all(batches))

    def renew(self, context: VerifierContext) -> None:
        """Look at other texts, and keep the IDF."""
        self._source = FeatureSource.of_run(context, self.options)

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return the counts behind the IDF."""
        return self._frequencies.arrays()

    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:
        """Score by the IDF that `learned` returned elsewhere."""
        self._frequencies = InverseDocumentFrequencies.from_arrays(learned)

    def _sample(self, texts: Sequence[str]) -> Sequence[str]:
        n = self.options.idf_sample
        return texts_at(texts, spread_rows(len(texts), n)) if n else texts

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs], rounded so that a pair exactly on its threshold is on it."""
        return round_onto(score_in_batches(pairs, self._source, self._cosines), thresholds)

    def _cosines(self, pairs: TextPairs) -> Float64s:
        vectors = pairs.counts.astype(np.float64)
        if self.options.idf:
            vectors.data *= self._frequencies.look_up(pairs.features)[vectors.indices]
        squares = vectors.multiply(vectors).sum(axis=1)
        products = vectors[pairs.earlier].multiply(vectors[pairs.later]).sum(axis=1)
        # The square root of the product, not the product of square roots: of whole numbers it is often exact.
        norms = np.sqrt(squares[pairs.earlier] * squares[pairs.later])
        cosines = np.divide(products, norms, out=np.zeros(len(norms)), where=norms > 0)
        sizes = np.diff(pairs.counts.indptr)
        return settle_featureless(cosines, pairs, sizes[pairs.earlier] + sizes[pairs.later])

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - of no consequence here
        """Return no bound: a text said twice has the same direction as said once."""
        return unbounded(lengths)
