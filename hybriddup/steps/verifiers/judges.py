"""Judges decide the pairs in one range of text lengths (a length band), by one or more verifiers with thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, Protocol

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int32s, Int64s
from hybriddup.errors import PluginError
from hybriddup.steps.verifiers import LeastInCommon, Verifier


class PairJudgement(NamedTuple):
    """For each pair, the verifier that decided it, with its score and threshold."""

    scores: Float64s
    """float64[n_pairs]: 0.0 to 1.0, 1.0 = same; for a refused pair, any number below its threshold."""
    thresholds: Float64s
    """float64[n_pairs]: threshold of the deciding verifier, inclusive."""
    verifiers: Int32s
    """int32[n_pairs]: index of the deciding verifier in `JudgePlan.names`."""

    @property
    def accepted(self) -> Bools:
        """bool[n_pairs]: whether the score of each pair reaches its threshold."""
        return self.scores >= self.thresholds

    @property
    def margins(self) -> Float64s:
        """float64[n_pairs]: score minus threshold."""
        return self.scores - self.thresholds


class Judge(Protocol):
    """Decides which pairs in one range of text lengths (a length band) are accepted."""

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Score the pairs; return each score with the threshold and the verifier that decided the pair."""
        ...

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: for each text length, the largest length of the other text in an accepted pair."""
        ...

    def least_in_common(self) -> LeastInCommon:
        """Return the minimum number of common characters that a pair needs to be accepted."""
        ...


@dataclass(frozen=True)
class SingleJudge:
    """Accepts a pair if one verifier's score reaches one threshold."""

    verifier: Verifier
    index: int
    """Index of the verifier among the verifiers of the run (`JudgePlan.names`)."""
    name: str
    threshold: float

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Score the pairs with the verifier, with `threshold` for all pairs."""
        return self.judge_by(pairs, np.full(len(pairs), self.threshold, np.float64))

    def judge_by(self, pairs: CandidatePairs, thresholds: Float64s) -> PairJudgement:
        """Score the pairs with the verifier, with a threshold for each pair; ``thresholds``: float64[n_pairs]."""
        scores = np.asarray(self.verifier.score_pairs(pairs, thresholds), np.float64)
        if scores.shape != thresholds.shape:
            raise PluginError(
                f"verifier {self.name!r} must return one score per pair: float64[{len(pairs)}]; "
                f"it returned an array of shape {list(scores.shape)}."
            )
        return PairJudgement(scores, thresholds, np.full(len(pairs), self.index, np.int32))

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: for each text length, the largest length of another text that can reach `threshold`."""
        return self.verifier.max_partner_lengths(lengths, self.threshold)

    def least_in_common(self) -> LeastInCommon:
        """Return the verifier's minimum number of common characters for `threshold`; 0 if it defines no minimum."""
        method = getattr(self.verifier, "least_in_common", None)
        return LeastInCommon() if method is None else LeastInCommon(*method(self.threshold))


@dataclass(frozen=True)
class _Combined:
    """Base class of `AllOf` and `AnyOf`, which combine several judges, their members."""

    members: Sequence[Judge]

    def _judge(self, pairs: CandidatePairs, *, open_verdict: bool) -> PairJudgement:
        """Return the judgement of each pair by the member that decides it.

        Each further member judges only the pairs whose verdict so far is ``open_verdict`` (True = accepted).
        """
        judgement = self.members[0].judge(pairs)
        for member in self.members[1:]:
            open_pairs = np.flatnonzero(judgement.accepted == open_verdict).astype(np.int64)
            opinion = member.judge(pairs.take(open_pairs))
            before = judgement.margins[open_pairs]
            is_closer = opinion.margins < before if open_verdict else opinion.margins > before
            chosen = (opinion.accepted != open_verdict) | is_closer
            judgement = replace_some(judgement, open_pairs[chosen], opinion, chosen)
        return judgement


class AllOf(_Combined):
    """Accepts a pair that every member accepts.

    Members score pairs in the given order, and a refused pair is not scored again: put the cheapest member first.
    """

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that rejects the pair, else of the member closest to rejecting."""
        return self._judge(pairs, open_verdict=True)

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: for each text length, the smallest of the members' maximum lengths of the other text.

        The smallest one applies because each member must accept the pair.
        """
        return reduce(np.minimum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return the requirement of the strictest member, which each pair must meet to be accepted by all members.

        The strictest member is the one with the largest minimum for two texts of equal length.
        """
        return max((member.least_in_common() for member in self.members), key=sum)


class AnyOf(_Combined):
    """Accepts a pair that at least one member accepts.

    Members score pairs in the given order, and an accepted pair is not scored again: begin with the member that
    accepts the most pairs.
    """

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that accepts the pair, else of the member closest to accepting."""
        return self._judge(pairs, open_verdict=False)

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: for each text length, the largest of the members' maximum lengths of the other text.

        The largest one applies because one accepting member is enough.
        """
        return reduce(np.maximum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return, for the shorter and for the longer text, the smallest share that any member requires.

        A pair with fewer common characters is accepted by no member.
        """
        return LeastInCommon(*map(min, zip(*(member.least_in_common() for member in self.members), strict=True)))


def replace_some(judgement: PairJudgement, places: Int64s, other: PairJudgement, chosen: Bools) -> PairJudgement:
    """Return a copy of ``judgement``; the pairs at ``places`` get the results of the ``chosen`` pairs of ``other``.

    ``places``: int64[n], indices of pairs. ``chosen``: a mask that selects ``n`` pairs, in the same order.
    """
    replaced = PairJudgement(judgement.scores.copy(), judgement.thresholds.copy(), judgement.verifiers.copy())
    replaced.scores[places] = other.scores[chosen]
    replaced.thresholds[places] = other.thresholds[chosen]
    replaced.verifiers[places] = other.verifiers[chosen]
    return replaced
