"""The component: scores pairs of normalized posts by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s
from hybriddup.kernels.lcs import lcs_lengths
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.bounds import lengths_of, texts_at, unbounded
from hybriddup.steps.verifiers.characters import as_symbols
from hybriddup.steps.verifiers.post.features import pair_features
from hybriddup.steps.verifiers.post.model import PostModel, shipped_models

SMALLEST_SLICE = 2048
"""Pairs that are worth another thread."""
LEAST_CONTAINED = 0.6
"""Of the shorter text that is compared, at least so much stands in the other one, in order; else the score is 0. Of the
pairs that people called repeats, one in 200 has less."""


class Post:
    """Scores a pair by what the two posts say: 1.0 = whoever has read one does not need the other; symmetric.

    Hashtags, emoji, and words of those who are quoted stand beside what a post says itself; see
    `hybriddup.steps.verifiers.post.features`. Where less than `LEAST_CONTAINED` of the shorter text that is compared
    stands in the other one, the score is 0.0, so that most pairs need not be looked at. It expects posts whose quotes are marked, as by ``reposts: mask`` of the
    normalizer ``microblog``. The score of 0.5 is where the shipped models were fitted to be used.
    """

    class Options(ComponentOptions):
        """The model, and what hashtags are."""

        model: str | dict[str, Any] = Field(
            "weibo",
            description="Name of a model that comes with hybriddup, or a model: the intercept, and for each feature "
            "that counts the points [value, contribution] of its curve.",
        )
        hashtags: Literal["apart", "words"] = Field(
            "apart",
            description="apart: they say what a post is about, as in #topic# my comment; words: their words are words "
            "of the post, as in #boston is strong.",
        )

        @field_validator("model")
        @classmethod
        def check_model(cls, model: str | dict[str, Any]) -> str | dict[str, Any]:
            """Refuse what is no model."""
            if isinstance(model, str) and model not in shipped_models():
                raise ValueError(f"no model has the name {model!r}; allowed: {', '.join(sorted(shipped_models()))}")
            if not isinstance(model, str):
                PostModel.from_dict(model)
            return model

    def __init__(self, options: Options) -> None:
        self.options = options
        model = options.model
        self.model = shipped_models()[model] if isinstance(model, str) else PostModel.from_dict(model)

    _context: VerifierContext

    def recipe(self) -> dict[str, Any]:
        """Return the model, which may change from version to version under one name."""
        return {"model": self.model.to_dict()}

    def prepare(self, context: VerifierContext) -> None:
        """Note the texts."""
        self._context = context

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:  # noqa: ARG002  (all are exact)
        """Return float64[n_pairs]: the scores."""

        def score_slice(first: int, last: int) -> Float64s:
            return self._score(pairs.take(slice(first, last)))

        scores = map_slices(score_slice, len(pairs), self._context.workers, SMALLEST_SLICE)
        return np.concatenate([np.zeros(0), *scores])

    def _score(self, pairs: CandidatePairs) -> Float64s:
        """Return the scores of some pairs; of equal posts it is 1.0, whatever the model says."""
        positions, places = np.unique(np.concatenate([pairs.earlier, pairs.later]), return_inverse=True)
        earlier, later = places[: len(pairs)], places[len(pairs) :]
        texts, scores = texts_at(self._context.texts, positions), np.zeros(len(pairs))
        chosen = np.flatnonzero(contained(texts, earlier, later) >= LEAST_CONTAINED)
        if len(chosen):
            scores[chosen] = self._score_posts(positions, earlier[chosen], later[chosen])
        return scores

    def _score_posts(self, positions: Int64s, earlier: Int64s, later: Int64s) -> Float64s:
        needed, places = np.unique(np.concatenate([earlier, later]), return_inverse=True)
        posts = texts_at(self._context.posts, positions[needed])
        earlier, later = places[: len(earlier)], places[len(earlier) :]
        words_too = self.options.hashtags == "words"
        scores = self.model.scores(pair_features(posts, earlier, later, hashtags_are_words=words_too))
        equal = [posts[a] == posts[b] for a, b in zip(earlier.tolist(), later.tolist(), strict=True)]
        return np.where(equal, 1.0, scores)

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002
        """Return no bound: a post may be contained in one of any length."""
        return unbounded(lengths)

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return how much of the shorter text must stand in the other one."""
        return LeastInCommon(of_shorter=LEAST_CONTAINED if threshold > 0.0 else 0.0)


def contained(texts: Sequence[str], earlier: Int64s, later: Int64s) -> Float64s:
    """Return float64[n_pairs]: how much of the shorter text of each pair stands in the other, in order; 0.0 to 1.0."""
    lengths = lengths_of(texts)
    shorter = np.minimum(lengths[earlier], lengths[later])
    common = lcs_lengths(*as_symbols(texts), earlier, later)
    return np.asarray(np.where(shorter > 0, common / shorter.clip(1), 1.0))
