"""Judges decide the pairs of a length band, using one or more verifiers with thresholds."""

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
    """The scores and thresholds of pairs, each from the verifier that decided the pair."""

    scores: Float64s
    """float64[n_pairs]: 0.0 to 1.0, 1.0 = same; for a refused pair, any number below its threshold."""
    thresholds: Float64s
    """float64[n_pairs]: thresholds of the deciding verifiers, inclusive."""
    verifiers: Int32s
    """int32[n_pairs]: the deciding verifier, an index into `JudgePlan.names`."""

    @property
    def accepted(self) -> Bools:
        """bool[n_pairs]: whether the score of each pair reaches its threshold."""
        return self.scores >= self.thresholds

    @property
    def margins(self) -> Float64s:
        """float64[n_pairs]: score minus threshold."""
        return self.scores - self.thresholds


class Judge(Protocol):
    """Decides which pairs of a length band are accepted."""

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Score the pairs; return each score with the threshold and the verifier that decided the pair."""
        ...

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: for each text length, the length of the longest other text in an accepted pair."""
        ...

    def least_in_common(self) -> LeastInCommon:
        """Return the minimum number of common characters in an accepted pair."""
        ...


@dataclass(frozen=True)
class SingleJudge:
    """One verifier with one threshold."""

    verifier: Verifier
    index: int
    """Index of the verifier in `JudgePlan.names`."""
    name: str
    threshold: float

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the verifier's scores, and its threshold for each pair."""
        return self.judge_by(pairs, np.full(len(pairs), self.threshold, np.float64))

    def judge_by(self, pairs: CandidatePairs, thresholds: Float64s) -> PairJudgement:
        """Return the verifier's scores, and the given threshold of each pair, float64[n_pairs]."""
        scores = np.asarray(self.verifier.score_pairs(pairs, thresholds), np.float64)
        if scores.shape != thresholds.shape:
            raise PluginError(
                f"verifier {self.name!r} must return one score per pair: float64[{len(pairs)}]; "
                f"it returned an array of shape {list(scores.shape)}."
            )
        return PairJudgement(scores, thresholds, np.full(len(pairs), self.index, np.int32))

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return the largest partner lengths that the verifier computes for its threshold."""
        return self.verifier.max_partner_lengths(lengths, self.threshold)

    def least_in_common(self) -> LeastInCommon:
        """Return the verifier's minimum number of common characters for its threshold; 0 if it computes no minimum."""
        method = getattr(self.verifier, "least_in_common", None)
        return LeastInCommon() if method is None else LeastInCommon(*method(self.threshold))


@dataclass(frozen=True)
class _Combined:
    """Several judges; any or all of them must accept a pair."""

    members: Sequence[Judge]

    def _judge(self, pairs: CandidatePairs, *, open_verdict: bool) -> PairJudgement:
        """Return the judgement of each pair by the member that decides it.

        A pair with the verdict ``open_verdict`` is passed on to the next member.
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
        """Return the smallest bound of the members, because each must accept the pair."""
        return reduce(np.minimum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return the strictest minimum of the members, judged for texts of equal length: each must accept the pair."""
        return max((member.least_in_common() for member in self.members), key=sum)


class AnyOf(_Combined):
    """Accepts a pair that at least one member accepts.

    Members score pairs in the given order, and an accepted pair is not scored again: put the member that accepts most
    first.
    """

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that accepts the pair, else of the member closest to accepting."""
        return self._judge(pairs, open_verdict=False)

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return the largest bound of the members, because one accepting member is enough."""
        return reduce(np.maximum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return the smallest shares of the members, because one accepting member is enough."""
        return LeastInCommon(*map(min, zip(*(member.least_in_common() for member in self.members), strict=True)))


def replace_some(judgement: PairJudgement, places: Int64s, other: PairJudgement, chosen: Bools) -> PairJudgement:
    """Return a copy of ``judgement`` with its rows ``places`` replaced by the ``chosen`` rows of ``other``."""
    replaced = PairJudgement(judgement.scores.copy(), judgement.thresholds.copy(), judgement.verifiers.copy())
    replaced.scores[places] = other.scores[chosen]
    replaced.thresholds[places] = other.thresholds[chosen]
    replaced.verifiers[places] = other.verifiers[chosen]
    return replaced
