"""Verifiers combined: `all` of several must accept a pair, or `any` of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int32s, Int64s
from hybriddup.steps.verifiers import LeastInCommon
from hybriddup.steps.verifiers.judges import Judge, PairJudgement


@dataclass(frozen=True)
class AllOf:
    """Accepts a pair that every member accepts.

    Members are asked in the order given, the cheapest belongs first: a pair that one refuses is not shown to the next.
    """

    members: Sequence[Judge]

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that refuses, or, of an accepted pair, the closest to refusing."""
        judgement = self.members[0].judge(pairs)
        for member in self.members[1:]:
            open_pairs = np.flatnonzero(judgement.accepted).astype(np.int64)
            opinion = member.judge(pairs.take(open_pairs))
            closer = ~opinion.accepted | (opinion.margins < judgement.margins[open_pairs])
            judgement = replace_some(judgement, open_pairs[closer], opinion, closer)
        return judgement

    def max_partner_lengths(self, lengths: Int32s) -> Int32s:
        """Return the smallest bound of the members: the pair must pass each."""
        return reduce(np.minimum, (member.max_partner_lengths(lengths) for member in self.members))

    def least_in_common(self) -> LeastInCommon:
        """Return what the member says that asks for most of two texts of one length: the pair must pass each."""
        return max((member.least_in_common() for member in self.members), key=sum)


@dataclass(frozen=True)
class AnyOf:
    """Accepts a pair that at least one member accepts.

    Members are asked in the order given, so the one that accepts most belongs first: an accepted pair is settled.
    """

    members: Sequence[Judge]

    def judge(self, pairs: CandidatePairs) -> PairJudgement:
        """Return the judgement of the first member that accepts, or, of a refused pair, the closest to accepting."""
        judgement = self.members[0].judge(pairs)
        for member in self.members[1:]:
            open_pairs = np.flatnonzero(~judgement.accepted).astype(np.int64)
            opinion = member.judge(pairs.take(open_pairs))
            better = opinion.accepted | (opinion.margins > judgement.margins[open_pairs])
            judgement = replace_some(judgement, open_pairs[better], opinion, better)
        return judgement

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
