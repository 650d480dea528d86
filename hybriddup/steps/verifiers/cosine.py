"""The `cosine` verifier: the cosine of the angle between the TF-IDF vectors of two texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hybriddup.data.limits import round_onto
from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s, Tokens, UInt64s
from hybriddup.data.spread import spread_rows
from hybriddup.kernels.text.token_table import count_documents
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import texts_at
from hybriddup.steps.verifiers.features import FeatureOptions, FeatureVerifier, TextPairs, settle_featureless
from hybriddup.steps.weighters import token_keys

TEXTS_PER_BATCH = 1024
"""Number of texts per batch while learning."""


class Cosine(FeatureVerifier):
    """Scores a pair by the cosine of its TF-IDF vectors: 1.0 = same direction, 0.0 = no feature shared; symmetric.

    TF is the number of occurrences of a feature in a text. IDF is learned from the texts of the run, with the smoothing
    of scikit-learn.
    """

    class Options(FeatureOptions):
        """Which features the vectors count, and how the features are weighted."""

        idf: bool = Field(
            True, description="Whether to weight features by inverse document frequency (IDF) among the run's texts."
        )
        idf_sample: int = Field(
            100_000,
            ge=0,
            description="Number of texts from which IDF is learned, spread evenly over the run; they are tokenized "
            "twice. 0 = all.",
        )

    options: Options
    _frequencies: InverseDocumentFrequencies

    def prepare(self, context: VerifierContext) -> None:
        """Learn IDF from the texts of the run."""
        self._context = context
        self._frequencies = InverseDocumentFrequencies()
        if self.options.idf:
            n, texts = self.options.idf_sample, context.texts
            sample = texts_at(texts, spread_rows(len(texts), n)) if n else texts
            batches = [sample[first : first + TEXTS_PER_BATCH] for first in range(0, len(sample), TEXTS_PER_BATCH)]
            self._frequencies.learn(self._split_all(batches))

    def renew(self, context: VerifierContext) -> None:
        """Replace the texts to score, and keep the IDF."""
        self._context = context

    def learned(self) -> dict[str, NDArray[Any]]:
        """Return, as named arrays, the counts that determine IDF: of all texts, and of the texts with each feature."""
        return self._frequencies.arrays()

    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:
        """Use the counts that `learned` of another instance returned."""
        self._frequencies = InverseDocumentFrequencies.from_arrays(learned)

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the scores, rounded so that no rounding error puts one just below its threshold."""
        return round_onto(super().score_pairs(pairs, thresholds), thresholds)

    def score_features(self, pairs: TextPairs) -> Float64s:
        """Return float64[n_pairs]: the cosine of the TF-IDF vectors of each pair, not rounded."""
        vectors = pairs.counts.astype(np.float64)
        if self.options.idf:
            vectors.data *= self._frequencies.look_up(pairs.keys)[vectors.indices]
        squares = vectors.multiply(vectors).sum(axis=1)
        products = vectors[pairs.earlier].multiply(vectors[pairs.later]).sum(axis=1)
        # The square root of the product, not the product of square roots: for integers it is often exact.
        norms = np.sqrt(squares[pairs.earlier] * squares[pairs.later])
        cosines = np.divide(products, norms, out=np.zeros(len(norms)), where=norms > 0)
        sizes = np.diff(pairs.counts.indptr)
        return settle_featureless(cosines, pairs, sizes[pairs.earlier] + sizes[pairs.later])


@dataclass
class InverseDocumentFrequencies:
    """Inverse document frequencies, ``ln((1 + n_texts) / (1 + n_texts_with_feature)) + 1``, by feature.

    Notes
    -----
    scikit-learn's ``TfidfTransformer(smooth_idf=True)`` uses the same formula; for an unknown feature, the number of
    texts is 0. Features are stored as their 64-bit XXH3: among ten million, the probability of any collision is about
    one in 400,000, and two features would then share a frequency.
    """

    n_texts: int = 0
    keys: UInt64s = field(default_factory=lambda: np.empty(0, np.uint64))
    """uint64[n], ascending: hashes of the features."""
    n_with: Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    """int64[n]: number of texts with each feature."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Build an instance from the result of `arrays`."""
        return cls(int(arrays["n_texts"]), arrays["keys"].astype(np.uint64), arrays["n_with"].astype(np.int64))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the content as named arrays, for `from_arrays`."""
        return {"n_texts": np.array(self.n_texts), "keys": self.keys, "n_with": self.n_with}

    def learn(self, batches: Iterable[Tokens]) -> None:
        """Count in how many texts each feature occurs; each item of ``batches`` contains the features of some texts."""
        waiting: list[tuple[UInt64s, Int32s]] = []
        for tokens in batches:
            waiting.append(count_documents(token_keys(tokens), tokens.offsets))
            self.n_texts += tokens.n_texts
            # Merging only when the waiting entries outnumber the merged ones keeps the cost linear, up to a logarithm.
            if sum(len(some) for some, _ in waiting) > len(self.keys):
                self._merge(waiting)
                waiting = []
        self._merge(waiting)

    def look_up(self, keys: UInt64s) -> Float64s:
        """Return float64[n_features]: the inverse document frequency of each feature; 1.0 if every text has it."""
        places = np.searchsorted(self.keys, keys).clip(max=max(len(self.keys) - 1, 0))
        n_with = np.zeros(len(keys), np.int64)
        if len(self.keys):
            n_with = np.where(self.keys[places] == keys, self.n_with[places], 0)
        return np.asarray(np.log((1 + self.n_texts) / (1 + n_with)) + 1.0)

    def _merge(self, waiting: list[tuple[UInt64s, Int32s]]) -> None:
        keys = np.concatenate([self.keys, *(some for some, _ in waiting)])
        n_with = np.concatenate([self.n_with, *(counts for _, counts in waiting)])
        self.keys, places = np.unique(keys, return_inverse=True)
        self.n_with = np.zeros(len(self.keys), np.int64)
        np.add.at(self.n_with, places, n_with)
