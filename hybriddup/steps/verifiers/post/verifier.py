"""The component: scores pairs of normalized posts by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int32s, Int64s, encode_texts
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.bounds import CHARACTERS_PER_BATCH, batches_of, positions_of, texts_at, unbounded
from hybriddup.steps.verifiers.characters import lengths_in_common
from hybriddup.steps.verifiers.post.features import NAMES, pair_features
from hybriddup.steps.verifiers.post.model import PostModel, shipped_models

BY_SCRIPT = "by_script"
SCRIPTS = ("han", "others")
SMALLEST_SLICE = 2048
"""Pairs that are worth another thread: with fewer, each thread reads nearly all of the posts."""
LEAST_CONTAINED = 0.75
"""Of the shorter text that is compared, at least so much stands in the other one, in order; else the score is 0. Of the
pairs that people called repeats and the models find, one in 600 has less; of those that stage 1 finds, two thirds."""


class Post:
    """Scores a pair by what the two posts say: 1.0 = whoever has read one does not need the other; symmetric.

    Hashtags, emoji, and words of those who are quoted stand beside what a post says itself; see
    `hybriddup.steps.verifiers.post.features`. Where less than `LEAST_CONTAINED` of the shorter text that is compared
    stands in the other one, the score is 0.0, so that most pairs need not be looked at; where a post says next to
    nothing and the hashtags are others, or nothing and the emoji are; and where each post has a number that the other
    lacks, those left aside that only count posts. It is 1.0 where only marks and links differ. It expects posts whose
    quotes are marked, as by ``reposts: mask`` of the normalizer ``microblog``. The score of 0.5 is where the shipped
    models were fitted to be used.
    """

    class Options(ComponentOptions):
        """The model."""

        model: str | dict[str, Any] = Field(
            BY_SCRIPT,
            description="by_script: weibo where one of the two posts has a Han character, twitter for other pairs; or "
            "the name of a model that comes with hybriddup; or two names, {han: NAME, others: NAME}; or a model: the "
            "intercept, and for each feature that counts the points [value, contribution] of its curve.",
        )

        @field_validator("model")
        @classmethod
        def check_model(cls, model: str | dict[str, Any]) -> str | dict[str, Any]:
            """Refuse what is no model."""
            if isinstance(model, str):
                check_name(model, [BY_SCRIPT, *sorted(shipped_models())])
            if isinstance(model, dict) and set(model) == set(SCRIPTS):
                for name in model.values():
                    check_name(name, sorted(shipped_models()))
            elif isinstance(model, dict):
                PostModel.from_dict(model)
            return model

    def __init__(self, options: Options) -> None:
        self.options = options
        self.models = models_of(options.model)

    _context: VerifierContext

    def recipe(self) -> dict[str, Any]:
        """Return the model, which may change from version to version under one name."""
        return {"model": {script: model.to_dict() for script, model in zip(SCRIPTS, self.models, strict=True)}}

    def prepare(self, context: VerifierContext) -> None:
        """Note the texts."""
        self._context = context

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:  # noqa: ARG002  (all are exact)
        """Return float64[n_pairs]: the scores."""

        def score_slice(first: int, last: int) -> Float64s:
            some = pairs.take(slice(first, last))
            batches = batches_of(some, self._context.lengths, CHARACTERS_PER_BATCH)
            return np.concatenate([self._score(some.take(batch)) for batch in batches])

        scores = map_slices(score_slice, len(pairs), self._context.workers, SMALLEST_SLICE)
        return np.concatenate([np.zeros(0), *scores])

    def _score(self, pairs: CandidatePairs) -> Float64s:
        """Return the scores of some pairs; of equal posts it is 1.0, whatever the model says."""
        positions, earlier, later = positions_of(pairs.earlier, pairs.later)
        texts, scores = texts_at(self._context.texts, positions), np.zeros(len(pairs))
        chosen = np.flatnonzero(contained(texts, earlier, later, LEAST_CONTAINED) >= LEAST_CONTAINED)
        if len(chosen):
            scores[chosen] = self._score_posts(positions, earlier[chosen], later[chosen])
        return scores

    def explain_pair(self, earlier: int, later: int) -> list[str]:
        """Return what makes the score of a pair, a line each: a rule that decides it, or what each feature adds."""
        positions, one, other = np.array([earlier, later]), np.array([0]), np.array([1])
        share = float(contained(texts_at(self._context.texts, positions), one, other, 0.0)[0])
        if share < LEAST_CONTAINED:
            return [f"{share:.2f} of the shorter text stands in the other one, less than {LEAST_CONTAINED}: 0"]
        features, is_han = pair_features(texts_at(self._context.posts, positions), one, other)
        if says_the_same(features)[0]:
            return ["only marks and links differ: 1"]
        if differs_beside(features)[0]:
            return ["next to nothing is said, and the hashtags or emoji beside it are others: 0"]
        if have_other_numbers(features)[0]:
            return ["each has a number that the other lacks: 0"]
        return self.models[0 if is_han[0] else 1].explain(features[0])

    def _score_posts(self, positions: Int64s, earlier: Int64s, later: Int64s) -> Float64s:
        needed, earlier, later = positions_of(earlier, later)
        posts = texts_at(self._context.posts, positions[needed])
        features, is_han = pair_features(posts, earlier, later)
        scores = score_by_script(self.models, features, is_han)
        scores[differs_beside(features) | have_other_numbers(features)] = 0.0
        scores[are_equal(features) | says_the_same(features)] = 1.0
        return scores

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002
        """Return no bound: a post may be contained in one of any length."""
        return unbounded(lengths)

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return how much of the shorter text must stand in the other one."""
        return LeastInCommon(of_shorter=LEAST_CONTAINED if threshold > 0.0 else 0.0)


def check_name(name: object, allowed: Sequence[str]) -> None:
    """Refuse the name of a model that is none."""
    if name not in allowed:
        raise ValueError(f"no model has the name {name!r}; allowed: {', '.join(allowed)}")


def models_of(model: str | dict[str, Any]) -> tuple[PostModel, PostModel]:
    """Return the model of pairs with a Han character, and that of others."""
    if isinstance(model, dict) and set(model) != set(SCRIPTS):
        own = PostModel.from_dict(model)
        return own, own
    if isinstance(model, str):
        model = {"han": "weibo", "others": "twitter"} if model == BY_SCRIPT else dict.fromkeys(SCRIPTS, model)
    shipped = shipped_models()
    return shipped[model["han"]], shipped[model["others"]]


def score_by_script(models: tuple[PostModel, PostModel], features: Float64s, is_han: Bools) -> Float64s:
    """Return float64[n_pairs]: the scores, of pairs with a Han character by the first model."""
    of_han, of_others = models
    if of_han is of_others or is_han.all():
        return of_han.scores(features)
    scores = of_others.scores(features)
    scores[is_han] = of_han.scores(features[is_han])
    return scores


def are_equal(features: Float64s) -> Bools:
    """Return bool[n_pairs]: where the posts are equal: all of their characters are in common and in order."""
    return np.asarray(features[:, NAMES.index("similar_as_sent")] == 1.0)


def says_the_same(features: Float64s) -> Bools:
    """Return bool[n_pairs]: where all words are the same, and hashtags and emoji are no others."""
    similar, *others = (
        features[:, NAMES.index(name)] for name in ("similar", "hashtags_differ", "hashtags_of_one", "emoji_differ")
    )
    return np.asarray((similar == 1.0) & (np.add.reduce(others) == 0.0))


def differs_beside(features: Float64s) -> Bools:
    """Return bool[n_pairs]: where a post says next to nothing, and what stands beside that is other than in the other.

    That is, each has a hashtag that the other lacks; or there is not a word, and the emoji differ.
    """
    little, hashtags, emoji = (
        features[:, NAMES.index(name)] == 1.0 for name in ("little_said", "hashtags_differ", "emoji_differ")
    )
    without_words = features[:, NAMES.index("length")] == 0.0
    return np.asarray((little & hashtags) | (without_words & emoji))


def have_other_numbers(features: Float64s) -> Bools:
    """Return bool[n_pairs]: where each post has a number that the other lacks: another day, or another count.

    Of 194 such pairs that people judged, 193 are two posts; the other one tells the same by two numbers that add up.
    """
    return np.asarray(features[:, NAMES.index("numbers_differ")] == 1.0)


def contained(texts: Sequence[str], earlier: Int64s, later: Int64s, least: float) -> Float64s:
    """Return float64[n_pairs]: how much of the shorter text of each pair stands in the other, in order; 0.0 to 1.0.

    Where that is less than ``least``, it may be any number from there up to ``least``.
    """
    encoded = encode_texts(texts)
    lengths = encoded.lengths
    shorter = np.minimum(lengths[earlier], lengths[later])
    needed = np.ceil(least * shorter).astype(np.int64)
    common = lengths_in_common(encoded, earlier, later, needed)
    return np.asarray(np.where(shorter > 0, common / shorter.clip(1), 1.0))
