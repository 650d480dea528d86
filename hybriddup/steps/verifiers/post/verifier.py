"""The `post` verifier: scores pairs of normalized posts by rules and a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field, field_validator

from hybriddup.data.records import Bools, CandidatePairs, EncodedTexts, Float64s, Int32s, Int64s, UInt8s, encode_texts
from hybriddup.kernels.posts.features import differ_in_numbers
from hybriddup.kernels.posts.letter_pairs import N_BUCKETS, letter_pairs_of
from hybriddup.kernels.posts.rules import find_rules
from hybriddup.kernels.text.lcs import symbols_in_common
from hybriddup.steps.options import Options as ComponentOptions
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.posts.characters import load_characters
from hybriddup.steps.posts.parts import parse
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.bounds import batches_of, positions_of, texts_at, unbounded
from hybriddup.steps.verifiers.characters import characters_in_common
from hybriddup.steps.verifiers.phrases import first_of
from hybriddup.steps.verifiers.post.features import describe_differences, pair_features
from hybriddup.steps.verifiers.post.model import PostModel, shipped_models

DEFAULT_MODEL, FORMER_DEFAULT = "posts", "by_script"
SMALLEST_SLICE = 1024
"""Smallest number of pairs per thread. Each slice parses its posts again: parsing all posts first would save that time,
but cost as much, because they no longer fit into the CPU cache when they are compared."""
CHARACTERS_TOGETHER = 2**18
"""Pairs are compared in batches of about this many characters, so that the parsed posts fit into the CPU cache."""
LEAST_CONTAINED = 0.7
"""Minimum share of the shorter text's characters that the other text must have, in any order. Below it the score is 0,
which excludes most pairs early."""
MOST_UNPAIRED = 1 / 3
"""Maximum number of letter bigrams (adjacent letters) that the text with fewer bigrams may have and the other one lack,
per character of the shorter text; above it, the score is 0. Among 30,000 tweets, this excludes three quarters of the
refused pairs that have enough letters in common, and 53 pairs that the model accepts, most of them wrongly."""
COMMENT = 5.0
"""Minimum weight of a comment on a quote for the post not to repeat the quoted post. A Han character weighs 1, a word
up to 2."""
LITTLE = 10.0
"""Minimum weight of the shorter post's words for posts to match despite different links, mentions, flags or names of
news sources, as in ``BREAKING: ...`` and ``... | Daily Post``."""
CUT_OFF = 3.0
"""Minimum weight of the words of a post that is cut off, for it to match any post that begins with these words."""
RULES = (
    (np.nan, ""),
    (1.0, "only marks and spelling differ"),
    (1.0, "one post is cut off, and is the beginning of the other or has it as its heading"),
    (0.0, "one post adds a comment to the text of the other"),
    (0.0, "each post has a number that the other lacks"),
    (0.0, "the posts have little text, and their links, names or sources differ"),
    (0.0, "there are no words, and the hashtags or emoji differ"),
)
"""The score and the reason of each rule, by its number in `hybriddup.kernels.posts.rules`; number 0 is no rule. In a
labelled sample, 264 of 279 pairs with different numbers are different posts; serial numbers do not count."""
RULE_SCORES = np.array([score for score, _ in RULES])


class Post:
    """Scores a pair by the content of the posts: 1.0 = a reader of one does not need the other; symmetric.

    The score is 0.0 if less than `LEAST_CONTAINED` of the shorter text is in the other one, or if the texts have too
    few pairs of adjacent letters in common (`MOST_UNPAIRED`). Otherwise one of the `RULES` decides, or, if none of them
    applies, a model scores the differences; `hybriddup.steps.verifiers.post.features` explains its features. Quotes
    must be marked, as ``reposts: mask`` of the normalizer ``microblog`` does. The shipped models were fitted for a
    threshold of 0.5.
    """

    class Options(ComponentOptions):
        """The model."""

        model: str | dict[str, Any] = Field(
            DEFAULT_MODEL,
            description="The name of a model that comes with hybriddup (posts, twitter, sms, titles), or a model: the "
            "intercept, and for each feature that counts the points [value, contribution] of its curve.",
        )

        @field_validator("model")
        @classmethod
        def check_model(cls, model: str | dict[str, Any]) -> str | dict[str, Any]:
            """Return the model, by its present name if it has a former one; raise ValueError if it is invalid."""
            if model == FORMER_DEFAULT:
                return DEFAULT_MODEL
            if isinstance(model, str) and model not in shipped_models():
                raise ValueError(f"no model has the name {model!r}; allowed: {', '.join(sorted(shipped_models()))}")
            if isinstance(model, dict):
                PostModel.from_dict(model)
            return model

    def __init__(self, options: Options) -> None:
        self.options = options
        model = options.model
        self.model = shipped_models()[model] if isinstance(model, str) else PostModel.from_dict(model)

    _context: VerifierContext

    def recipe(self) -> dict[str, Any]:
        """Return the model itself, because a shipped model may change between versions without changing its name."""
        return {"model": self.model.to_dict()}

    def prepare(self, context: VerifierContext) -> None:
        """Store the context, which has the texts of all pairs to score."""
        self._context = context

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the scores; a score below its threshold may be any number below the threshold."""

        def score_slice(first: int, last: int) -> Float64s:
            some, of_some = pairs.take(slice(first, last)), thresholds[first:last]
            batches = batches_of(some, self._context.lengths, CHARACTERS_TOGETHER)
            return np.concatenate([self._score(some.take(batch), of_some[batch]) for batch in batches])

        slices = map_slices(score_slice, len(pairs), self._context.workers, SMALLEST_SLICE)
        return np.concatenate([np.zeros(0), *slices])

    def _score(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return the scores of a batch of pairs."""
        positions, earlier, later = positions_of(pairs.earlier, pairs.later)
        context, scores = self._context, np.zeros(len(pairs))
        texts = encode_texts(texts_at(context.texts, positions), context.lengths[positions])
        chosen = np.flatnonzero(contained(texts, earlier, later) >= LEAST_CONTAINED)
        chosen = chosen[are_paired(texts, earlier[chosen], later[chosen])]
        if len(chosen):
            needed, one, other = positions_of(earlier[chosen], later[chosen])
            posts = parse(encode_texts(texts_at(self._context.posts, positions[needed])))
            is_open = ~differ_in_numbers(posts, one, other)
            chosen, one, other = chosen[is_open], one[is_open], other[is_open]
            features = pair_features(posts, one, other, self.model.bound(thresholds[chosen]))
            scores[chosen] = by_rules(self.model.scores(features), features)
        return scores

    def explain_pair(self, earlier: int, later: int) -> list[str]:
        """Return lines that describe the differences of a pair, and the rule or features that determine its score."""
        one, other = np.array([0]), np.array([1])
        texts = encode_texts([self._context.texts[earlier], self._context.texts[later]])
        share = float(contained(texts, one, other)[0])
        if share < LEAST_CONTAINED:
            lack = f"{share:.2f} of the characters of the shorter text are in the other, under {LEAST_CONTAINED}"
            return [f"the score is 0: {lack}"]
        if not are_paired(texts, one, other)[0]:
            return ["the score is 0: too few pairs of adjacent letters of the shorter text are in the other"]
        posts = [self._context.posts[earlier], self._context.posts[later]]
        features = pair_features(posts, one, other)
        score, rule = RULES[rules_of(features)[0]]
        reasons = [f"the score is {score:g}: {rule}"] if rule else self.model.explain(features[0])
        return [*first_of(describe_differences(*posts) or ["no word differs"]), *reasons]

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002
        """Return `NO_BOUND` for each length, because a post of any length may contain a shorter one."""
        return unbounded(lengths)

    def least_in_common(self, threshold: float) -> LeastInCommon:
        """Return the minimum number of common characters: `LEAST_CONTAINED` of the shorter text."""
        return LeastInCommon(of_shorter=LEAST_CONTAINED if threshold > 0.0 else 0.0)


def rules_of(features: Float64s) -> UInt8s:
    """Return uint8[n_pairs]: the number in `RULES` of the first rule that applies to each pair; 0 = none."""
    return np.asarray(find_rules(features, np.log1p(CUT_OFF), np.log1p(COMMENT), np.log1p(LITTLE)))


def by_rules(scores: Float64s, features: Float64s) -> Float64s:
    """Return the scores, float64[n_pairs]: the model's ``scores``, except for pairs that a rule decides."""
    of_rules = RULE_SCORES[rules_of(features)]
    return np.where(np.isnan(of_rules), scores, of_rules)


def contained(texts: EncodedTexts, earlier: Int64s, later: Int64s) -> Float64s:
    """Return float64[n_pairs]: the share of the shorter text's characters that the other text has, in any order.

    If it is below `LEAST_CONTAINED`, the result may be any number below `LEAST_CONTAINED`.
    """
    lengths = texts.lengths
    shorter = np.minimum(lengths[earlier], lengths[later])
    needed = np.ceil(LEAST_CONTAINED * shorter).astype(np.int64)
    common = characters_in_common(texts, earlier, later, needed)
    return np.asarray(np.where(shorter > 0, common / shorter.clip(1), 1.0))


def are_paired(texts: EncodedTexts, earlier: Int64s, later: Int64s) -> Bools:
    """Return bool[n_pairs]: whether the two texts have enough letter bigrams in common; see `MOST_UNPAIRED`."""
    hashes, offsets = letter_pairs_of(*texts, load_characters().kinds)
    n_pairs, lengths = np.diff(offsets), texts.lengths
    may_lack = MOST_UNPAIRED * np.minimum(lengths[earlier], lengths[later])
    needed = np.minimum(n_pairs[earlier], n_pairs[later]) - may_lack.astype(np.int64)
    return np.asarray(symbols_in_common(hashes, offsets, N_BUCKETS, earlier, later, needed) >= needed)
