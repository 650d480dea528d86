"""The base class of the verifiers `jaccard` and `cosine`, which compare the features of texts; and `jaccard` itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array

from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s, Tokens, UInt64s, encode_texts
from hybriddup.steps.options import Options
from hybriddup.steps.tokenizers.processes import tokenize_in_processes
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import batches_of, positions_of, texts_at, unbounded
from hybriddup.steps.weighters import token_keys

SparseCounts = Any
"""Type of a `scipy.sparse.csr_array` [n_texts, n_features] with sorted indices; scipy publishes no types."""

CODE_POINTS_PER_BATCH = 2**18
"""Number of code points in a batch of pairs; comparing the batch then takes about ten megabytes of memory."""


class FeatureOptions(Options):
    """Options for how a verifier splits a text into the features that it compares."""

    features: Literal["tokens", "char_ngrams"] = Field(
        "tokens", description="`tokens`: the tokens of the configured tokenizer; `char_ngrams`: character n-grams."
    )
    size: int = Field(2, ge=1, le=16, description="Length of an n-gram; used only with `char_ngrams`.")


class TextPairs(NamedTuple):
    """Candidate pairs and the features of their texts; a text in several pairs is stored only once."""

    counts: SparseCounts
    """int64 csr_array[n_texts, n_features]: occurrences of each feature in each text."""
    keys: UInt64s
    """uint64[n_features]: hash of each column's feature, from `hybriddup.steps.weighters.token_keys`."""
    earlier: Int64s
    """int64[n_pairs]: row in ``counts`` of the earlier text of each pair."""
    later: Int64s
    are_equal: Callable[[int], bool]
    """Function that returns whether the two texts of a pair are equal, given the index of the pair."""


class FeatureVerifier(ABC):
    """Base class of verifiers that compare features of texts.

    A pair gets the same score, to the last bit, in any batch: features are sorted by hash before they are summed.
    """

    options: FeatureOptions
    _context: VerifierContext

    def __init__(self, options: FeatureOptions) -> None:
        self.options = options

    @abstractmethod
    def score_features(self, pairs: TextPairs) -> Float64s:
        """Return float64[n_pairs]: the scores of a batch of pairs."""

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:  # noqa: ARG002 - no cheaper bound
        """Return float64[n_pairs]: the scores, computed in batches so that memory use does not grow with the pairs."""
        batches = batches_of(pairs, self._context.lengths, CODE_POINTS_PER_BATCH)
        return np.concatenate([self.score_features(self._look_at(pairs.take(batch))) for batch in batches])

    def _look_at(self, pairs: CandidatePairs) -> TextPairs:
        """Count the features of the texts in these pairs."""
        positions, earlier, later = positions_of(pairs.earlier, pairs.later)
        texts = texts_at(self._context.texts, positions)
        counts, keys = count_features(self._split(texts))
        return TextPairs(counts, keys, earlier, later, lambda pair: texts[earlier[pair]] == texts[later[pair]])

    def _split(self, texts: Sequence[str]) -> Tokens:
        """Split each text into its features, in order and with repetitions."""
        if self.options.features == "tokens":
            return self._context.tokenizer.tokenize_batch(texts)
        return char_ngrams(texts, self.options.size)

    def _split_all(self, text_batches: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        """Yield the features of each batch of texts; tokenizers written in Python run in several processes."""
        if self.options.features == "tokens":
            return tokenize_in_processes(self._context.tokenizer, text_batches, self._context.workers)
        return map(self._split, text_batches)

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - of no consequence here
        """Return unlimited lengths: repeating a text makes it longer, but keeps its features and their proportions."""
        return unbounded(lengths)


class Jaccard(FeatureVerifier):
    """Scores a pair by shared features divided by distinct features: 1.0 = same set, 0.0 = none shared; symmetric.

    The number and the order of the occurrences of a feature do not matter.
    """

    class Options(FeatureOptions):
        """Options for how a text is split into its set of features."""

    def prepare(self, context: VerifierContext) -> None:
        """Store the texts and the tokenizer of the run."""
        self._context = context

    def score_features(self, pairs: TextPairs) -> Float64s:
        """Return float64[n_pairs]: the number of features in both texts, divided by the number in at least one text."""
        in_both = pairs.counts[pairs.earlier].multiply(pairs.counts[pairs.later]).tocsr()
        sizes = np.diff(pairs.counts.indptr).astype(np.int64)
        n_shared = np.diff(in_both.indptr).astype(np.int64)
        n_either = sizes[pairs.earlier] + sizes[pairs.later] - n_shared
        return settle_featureless(n_shared / n_either.clip(1), pairs, n_either)


def char_ngrams(texts: Sequence[str], size: int) -> Tokens:
    """Return all n-grams of ``size`` code points in each text; a shorter text is one n-gram, an empty text has none."""
    encoded = encode_texts(texts)
    lengths = encoded.lengths
    n_pieces = np.where(lengths > 0, (lengths - size + 1).clip(1), 0)
    offsets = np.concatenate([[0], np.cumsum(n_pieces)])
    text_of_piece = np.repeat(np.arange(len(texts)), n_pieces)
    starts = np.arange(offsets[-1]) + (encoded.offsets[:-1] - offsets[:-1])[text_of_piece]
    return Tokens(encoded.code_points, starts, lengths.clip(max=size)[text_of_piece].astype(np.int32), offsets)


def count_features(tokens: Tokens) -> tuple[SparseCounts, UInt64s]:
    """Count each distinct token in each text; return the counts, and the token hash of each column, ascending.

    Tokens are identified by their 64-bit hash alone: fewer than one batch in a hundred million has a collision.
    """
    keys, columns = np.unique(token_keys(tokens), return_inverse=True)
    shape = (tokens.n_texts, len(keys))
    counts = csr_array((np.ones(len(columns), np.int64), columns, tokens.offsets.copy()), shape=shape)
    counts.sum_duplicates()
    return counts, keys


def settle_featureless(scores: Float64s, pairs: TextPairs, n_features: Int64s) -> Float64s:
    """Set the scores of pairs without any features to 1.0 for equal texts, else to 0.0, in place; return all scores.

    ``n_features``: int64[n_pairs], 0 if neither text has a feature. Two texts do not match merely because both have no
    features.
    """
    for pair in np.flatnonzero(n_features == 0).tolist():
        scores[pair] = float(pairs.are_equal(pair))
    return scores
