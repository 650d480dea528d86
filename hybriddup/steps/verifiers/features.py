"""Features of texts as sparse counts: what the `jaccard` and `cosine` verifiers compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array

from hybriddup.data.records import CandidatePairs, Float64s, Int64s, Tokens, encode_texts
from hybriddup.steps.options import Options
from hybriddup.steps.tokenizers import Tokenizer
from hybriddup.steps.tokenizers.processes import tokenize_in_processes
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import batches, positions_of, texts_at

SparseCounts = Any
"""scipy.sparse.csr_array[n_texts, n_features], indices sorted; scipy publishes no types."""

PACKED_LENGTH = 3
"""Tokens of up to this many code points, of 21 bits each, are told apart as one 64-bit number."""


class FeatureOptions(Options):
    """What of a text is compared."""

    features: Literal["tokens", "char_ngrams"] = Field(
        "tokens", description="`tokens`: those of the run's tokenizer; `char_ngrams`: overlapping pieces of the text."
    )
    size: int = Field(2, ge=1, le=16, description="Characters in a piece; only of meaning with `char_ngrams`.")


class TextPairs(NamedTuple):
    """Some candidate pairs with the features of their texts; a text of several pairs is split once."""

    counts: SparseCounts
    """How often each text holds each feature: int64 csr_array[n_texts, n_features]."""
    features: Tokens
    """The distinct features, one text of them, in the order of the columns."""
    earlier: Int64s
    """int64[n_pairs]: rows of ``counts``."""
    later: Int64s
    are_equal: Callable[[int], bool]
    """Whether the texts of a pair are the same string."""


@dataclass(frozen=True)
class FeatureSource:
    """Where the features of a run's texts come from."""

    texts: Sequence[str]
    tokenizer: Tokenizer
    options: FeatureOptions
    workers: int

    @classmethod
    def of_run(cls, context: VerifierContext, options: FeatureOptions) -> FeatureSource:
        """Return the source for the texts of a run."""
        return cls(context.texts, context.tokenizer, options, context.workers)

    def split(self, texts: Sequence[str]) -> Tokens:
        """Return the features of each text, in order, as often as they occur."""
        if self.options.features == "tokens":
            return self.tokenizer.tokenize_batch(texts)
        return char_ngrams(texts, self.options.size)

    def split_all(self, text_batches: Sequence[Sequence[str]]) -> Iterator[Tokens]:
        """Yield the features of each batch of texts, in several processes where splitting runs in the interpreter."""
        if self.options.features == "tokens" and self.tokenizer.holds_interpreter:
            return tokenize_in_processes(self.tokenizer, text_batches, self.workers)
        return map(self.split, text_batches)


def char_ngrams(texts: Sequence[str], size: int) -> Tokens:
    """Return the overlapping pieces of ``size`` code points; a shorter text is one piece, an empty one has none.

    Examples
    --------
    >>> char_ngrams(["abc", "a", ""], 2).strings(0)
    ['ab', 'bc']
    """
    encoded = encode_texts(texts)
    lengths = encoded.lengths
    n_pieces = np.where(lengths > 0, (lengths - size + 1).clip(1), 0)
    offsets = np.concatenate([[0], np.cumsum(n_pieces)])
    text_of_piece = np.repeat(np.arange(len(texts)), n_pieces)
    starts = np.arange(offsets[-1]) + (encoded.offsets[:-1] - offsets[:-1])[text_of_piece]
    return Tokens(encoded.code_points, starts, lengths.clip(max=size)[text_of_piece].astype(np.int32), offsets)


def number_tokens(tokens: Tokens) -> tuple[Int64s, Int64s]:
    """Return a number for each token, equal exactly where the tokens are, and for each number one of its tokens.

    Returns
    -------
    ids
        int64[n_tokens], 0 to n_distinct - 1. Their order depends on the tokens alone, not on which texts hold them.
    examples
        int64[n_distinct]: places in ``tokens.starts``.
    """
    ids = np.empty(len(tokens.starts), np.int64)
    examples: list[Int64s] = []
    n_distinct = 0
    for length in (0, *np.unique(tokens.lengths[tokens.lengths > PACKED_LENGTH]).tolist()):
        chosen = np.flatnonzero(tokens.lengths == length if length else tokens.lengths <= PACKED_LENGTH)
        keys = spell_tokens(tokens, chosen, length) if length else pack_tokens(tokens, chosen)
        _, firsts, numbers = np.unique(keys, return_index=True, return_inverse=True)
        ids[chosen] = numbers + n_distinct
        examples.append(chosen[firsts])
        n_distinct += len(firsts)
    return ids, np.concatenate(examples)


def pack_tokens(tokens: Tokens, chosen: Int64s) -> Any:
    """Return uint64[n]: tokens of up to `PACKED_LENGTH` code points as numbers; 21 zero bits are no code point."""
    packed = np.zeros(len(chosen), np.uint64)
    starts, lengths = tokens.starts[chosen], tokens.lengths[chosen]
    for place in range(PACKED_LENGTH):
        there = np.flatnonzero(lengths > place)
        code_points = tokens.code_points[starts[there] + place].astype(np.uint64) + np.uint64(1)
        packed[there] |= code_points << np.uint64(21 * place)
    return packed


def spell_tokens(tokens: Tokens, chosen: Int64s, length: int) -> Any:
    """Return str_[n]: tokens that all have ``length`` code points, as numpy strings.

    Numpy drops NUL at the end of strings; among strings of one length that cannot make two of them equal.
    """
    places = tokens.starts[chosen][:, None] + np.arange(length)
    return tokens.code_points[places].astype("<u4", copy=False).view(f"<U{length}").ravel()


def count_features(tokens: Tokens) -> tuple[SparseCounts, Tokens]:
    """Return how often each text holds each distinct token, and the distinct tokens in the order of the columns."""
    ids, examples = number_tokens(tokens)
    shape = (tokens.n_texts, len(examples))
    counts = csr_array((np.ones(len(ids), np.int64), ids, tokens.offsets.copy()), shape=shape)
    counts.sum_duplicates()
    one_text = np.array([0, len(examples)], np.int64)
    return counts, Tokens(tokens.code_points, tokens.starts[examples], tokens.lengths[examples], one_text)


def score_in_batches(pairs: CandidatePairs, source: FeatureSource, score: Callable[[TextPairs], Float64s]) -> Float64s:
    """Return float64[n_pairs]: ``score`` of the pairs, some at a time so that memory does not grow with them.

    A score depends on its pair alone: columns are in an order that does too, and rows are summed along them.
    """
    parts = [
        score(look_at_pairs(pairs.take(np.arange(first, last)), source)) for first, last in batches(source.texts, pairs)
    ]
    return np.concatenate([np.empty(0), *parts])


def look_at_pairs(pairs: CandidatePairs, source: FeatureSource) -> TextPairs:
    """Return the pairs with the features of their texts."""
    positions, earlier, later = positions_of(pairs.earlier, pairs.later)
    texts = texts_at(source.texts, positions)
    counts, features = count_features(source.split(texts))
    return TextPairs(counts, features, earlier, later, lambda pair: texts[earlier[pair]] == texts[later[pair]])


def settle_featureless(scores: Float64s, pairs: TextPairs, n_features: Int64s) -> Float64s:
    """Return the scores where a pair of texts without any feature scores 1.0 if they are equal and 0.0 if not.

    ``n_features`` int64[n_pairs] counts those of both texts. Nothing in common is no reason to match.
    """
    for pair in np.flatnonzero(n_features == 0).tolist():
        scores[pair] = float(pairs.are_equal(pair))
    return scores
