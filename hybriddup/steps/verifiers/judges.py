"""Judges: what scores the pairs of a length band, and against which threshold."""

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
    """What a judge says of pairs, with the evidence of the verifier that decided each."""

    scores: Float64s
    """float64[n_pairs]: 0.0 to 1.0, 1.0 = same; of a refused pair, some number below its threshold."""
    thresholds: Float64s
    """float64[n_pairs]: those of the deciding verifiers, inclusive."""
    verifiers: Int32s
    """int32[n_pairs]: the deciding verifier, an index into `JudgePlan.names`."""

    @property
    def accepted(self) -> Bools:
        """bool[n_pairs]: whether the pair is verified."""
        return self.scores >= self.thresholds

    @property
    def margins(self) -> Float64s:
        """float64[n_pairs]: how far the score is above the threshold, below 0.0 where it is under it."""
        return self.scores - self.thresholds


class Judge(Protocol):
    """Says which pairs of one length band are verified."""

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the scores of the pairs and what they are compared with."""
        ...

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return, for texts of these lengths, the longest text that could still be accepted with each, inclusive."""
        ...

    def least_in_common(self) -> LeastInCommon:
        """Return how many characters an accepted pair has in common at least."""
        ...


@dataclass(frozen=True)
class SingleJudge:
    """One verifier with one threshold."""

    verifier: Verifier
    index: int
    """Place of the verifier in `JudgePlan.names`."""
    name: str
    threshold: float

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the verifier's scores against its threshold."""
        return self.judge_by(pairs, np.full(len(pairs), self.threshold, np.float64))

    def judge_by(self, pairs: CandidatePairs, thresholds: Float64s) -> PairJudgement:
        """Return the verifier's scores against a threshold for each pair, float64[n_pairs]."""
        scores = np.asarray(self.verifier.score_pairs(pairs, thresholds), np.float64)
        if scores.shape != thresholds.shape:
            raise PluginError(
                f"verifier {self.name!r} must return one score a pair: float64[{len(pairs)}]; "
                f"it returned an array of shape {list(scores.shape)}."
            )
        return PairJudgement(scores, thresholds, np.full(len(pairs), self.index, np.int32))

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return the verifier's own bound for its threshold."""
        return self.verifier.max_partner_lengths(lengths, self.threshold)

    def least_in_common(self) -> LeastInCommon:
        """Return what the verifier says of its threshold; nothing where it does not tell."""
        tell = getattr(self.verifier, "least_in_common", None)
        return LeastInCommon() if tell is None else LeastInCommon(*tell(self.threshold))


@dataclass(frozen=True)
class _Combined:
    """Several judges of which some or all must accept a pair."""

    members: Sequence[Judge]

    def _judge(self, pairs: CandidatePairs, *, asks_on: bool) -> PairJudgement:
        """Return the judgement of the member that decided; the next one is asked about pairs that were so judged."""
        judgement = self.members[0].judge(pairs)
        for member in self.members[1:]:
            open_pairs = np.flatnonzero(judgement.accepted == asks_on).astype(np.int64)
            opinion = member.judge(pairs.take(open_pairs))
            before = judgement.margins[open_pairs]
            is_closer = opinion.margins < before if asks_on else opinion.margins > before
            chosen = (opinion.accepted != asks_on) | is_closer
            judgement = replace_some(judgement, open_pairs[chosen], opinion, chosen)
        return judgement


class AllOf(_Combined):
    """Accepts a pair that every member accepts.

    Members are asked in the order given, the cheapest belongs first: a pair that one refuses is not shown to the next.
    """

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that refuses, or, of an accepted pair, the closest to refusing."""
        return self._judge(pairs, asks_on=True)

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return the smallest bound of the members: the pair must pass each."""
        return reduce(np.minimum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return what the member says that asks for most of two texts of one length: the pair must pass each."""
        return max((member.least_in_common() for member in self.members), key=sum)


class AnyOf(_Combined):
    """Accepts a pair that at least one member accepts.

    Members are asked in the order given, so the one that accepts most belongs first: an accepted pair is settled.
    """

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that accepts, or, of a refused pair, the closest to accepting."""
        return self._judge(pairs, asks_on=False)

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return the largest bound of the members: the pair needs to pass only one."""
        return reduce(np.maximum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return what every member asks for: the pair needs to pass only one."""
        return LeastInCommon(*map(min, zip(*(member.least_in_common() for member in self.members), strict=True)))


def replace_some(judgement: PairJudgement, places: Int64s, other: PairJudgement, chosen: Bools) -> PairJudgement:
    """Return the judgement with ``other``'s chosen rows in these places."""
    replaced = PairJudgement(judgement.scores.copy(), judgement.thresholds.copy(), judgement.verifiers.copy())
    replaced.scores[places] = other.scores[chosen]
    replaced.thresholds[places] = other.thresholds[chosen]
    replaced.verifiers[places] = other.verifiers[chosen]
    return replaced
