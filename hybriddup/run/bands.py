"""Length bands at run time: the band of a pair, its judge, and the limits of each length."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hybriddup.config.settings import CombinedVerifier, Settings, SingleVerifier
from hybriddup.data.records import Bools, CandidatePairs, Float32s, Float64s, Int32s, Int64s, PairLimits, VerifiedPairs
from hybriddup.run.guarding import GuardPlan
from hybriddup.steps.verifiers import LeastInCommon, Verifier, VerifierContext, keeps_learning
from hybriddup.steps.verifiers.judges import AllOf, AnyOf, Judge, PairJudgement, SingleJudge

EXACT_ONLY = -1
"""The Hamming limit of bands that only remove exact repeats: no distance is within it."""


@dataclass(frozen=True)
class JudgePlan:
    """The judges of a run, one per length band, and their verifiers, one per distinct name and options."""

    judges: tuple[Judge | None, ...]
    """The judge of each length band; None = only exact repeats are removed."""
    names: tuple[str, ...]
    """The registered name of each verifier; a verifier with two sets of options occurs twice."""
    verifiers: tuple[Verifier, ...]
    keys: tuple[str, ...]
    """A key that identifies each verifier across runs: its name, and its options as JSON."""

    @cached_property
    def judges_of_bands(self) -> list[tuple[Judge, Bools]]:
        """Each judge with a mask of its bands, bool[n_bands]; bands with the same single verifier share one judge."""
        together: dict[tuple[str, int], tuple[Judge, Bools]] = {}
        for band, judge in enumerate(self.judges):
            if judge is not None:
                key = ("single", judge.index) if isinstance(judge, SingleJudge) else ("combined", band)
                together.setdefault(key, (judge, np.zeros(len(self.judges), np.bool_)))[1][band] = True
        return list(together.values())

    @cached_property
    def thresholds(self) -> Float64s:
        """float64[n_bands]: the threshold of each band with a single verifier, NaN for all other bands."""
        return np.array([judge.threshold if isinstance(judge, SingleJudge) else np.nan for judge in self.judges])

    def judge(self, pairs: CandidatePairs, bands: Int32s) -> PairJudgement:
        """Return the judgement of each pair by the judge of its length band; a band without a judge rejects all pairs.

        ``bands``: int32[n_pairs], the index of each pair's length band.
        """
        n = len(pairs)
        judged = PairJudgement(np.full(n, -1.0), np.ones(n), np.zeros(n, np.int32))
        for judge, of_bands in self.judges_of_bands:
            chosen = np.flatnonzero(of_bands[bands])
            if len(chosen):
                some, of_single = pairs.take(chosen), self.thresholds[bands[chosen]]
                found = judge.judge_by(some, of_single) if isinstance(judge, SingleJudge) else judge.judge(some)
                judged.scores[chosen], judged.thresholds[chosen], judged.verifiers[chosen] = found
        return judged

    def prepare(self, context: VerifierContext, *, is_learned: bool = False) -> None:
        """Prepare every verifier with the texts of the run; called once, before any pair is judged.

        If ``is_learned``, verifiers that can keep learned data use it, and do not learn from these texts.
        """
        for verifier in self.verifiers:
            if is_learned and keeps_learning(verifier):
                verifier.renew(context)
            else:
                verifier.prepare(context)

    def renew(self, context: VerifierContext) -> None:
        """Prepare every verifier for new texts; a verifier with learned data keeps that data."""
        for verifier in self.verifiers:
            getattr(verifier, "renew", verifier.prepare)(context)


def plan_judges(
    bands: Sequence[SingleVerifier | CombinedVerifier | None], create: Callable[[SingleVerifier], Verifier]
) -> JudgePlan:
    """Create the judge of each length band from the band's settings; None = the band removes only exact repeats.

    ``create`` makes a verifier from its settings.
    """
    verifiers: dict[tuple[str, str], tuple[int, Verifier]] = {}

    def single(settings: SingleVerifier) -> SingleJudge:
        key = (settings.use, json.dumps(settings.options, sort_keys=True, default=str))
        if key not in verifiers:
            verifiers[key] = (len(verifiers), create(settings))
        index, verifier = verifiers[key]
        return SingleJudge(verifier, index, settings.use, settings.threshold)

    def build(settings: SingleVerifier | CombinedVerifier) -> Judge:
        if isinstance(settings, SingleVerifier):
            return single(settings)
        members = tuple(map(build, settings.members))
        return AllOf(members) if settings.combine == "all" else AnyOf(members)

    judges = tuple(None if settings is None else build(settings) for settings in bands)
    return JudgePlan(
        judges,
        names=tuple(name for name, _ in verifiers),
        verifiers=tuple(verifier for _, verifier in verifiers.values()),
        keys=tuple(" ".join(key) for key in verifiers),
    )


@dataclass(frozen=True)
class Bands:
    """The length bands of the settings with their judges; band ``i`` ends at ``ends[i]``, inclusive."""

    ends: Int32s
    """int32[n_bands - 1], ascending: the largest length in each band except the last, which has no end."""
    max_hamming_distances: Int32s
    """int32[n_bands]: Hamming limit of each band, `EXACT_ONLY` if it has none."""
    names: tuple[str, ...]
    plan: JudgePlan
    guards: GuardPlan
    """The guards, which may refuse pairs that the judges accepted."""

    @classmethod
    def from_settings(cls, settings: Settings, plan: JudgePlan, guards: GuardPlan) -> Bands:
        """Return the length bands of the settings; ``plan`` must have one judge per band."""
        bands = list(settings.bands())
        ends = np.array([band.up_to for _, band in bands[:-1]], np.int32)
        limits = [EXACT_ONLY if band.max_hamming_distance is None else band.max_hamming_distance for _, band in bands]
        names = tuple(band.name(lower) for lower, band in bands)
        return cls(ends, np.array(limits, np.int32), names, plan, guards)

    def of_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: for each length, the index of its band."""
        return np.searchsorted(self.ends, lengths).astype(np.int32)

    def names_of(self, lengths: Int32s) -> list[str]:
        """Return, for each length, the name of its band."""
        return [self.names[band] for band in self.of_lengths(lengths).tolist()]

    def limits_of(self, lengths: Int32s) -> PairLimits:
        """Return, for each length, the limits of pairs whose shorter text has this length."""
        bands = self.of_lengths(lengths)
        partners = np.zeros(len(lengths), np.int32)
        for band, judge in enumerate(self.plan.judges):
            chosen = bands == band
            if judge is not None and chosen.any():
                partners[chosen] = judge.max_partner_lengths(lengths[chosen])
        of_shorter, of_longer = (share[bands] for share in self.least_in_common())
        return PairLimits(lengths, self.max_hamming_distances[bands], partners, of_shorter, of_longer)

    def limits_by_length(self, lengths: Int32s) -> tuple[PairLimits, Int64s]:
        """Return the limits of each distinct length, and int64[n_texts]: for each text, the index of its limits."""
        occurs = np.bincount(lengths) > 0
        return self.limits_of(np.flatnonzero(occurs).astype(np.int32)), (np.cumsum(occurs) - 1)[lengths]

    def may_be_near(self, lengths: Int32s) -> Bools:
        """Return bool[n]: whether a text of each length could be in a near pair with any other text.

        The shorter text of a pair selects the band, so the band of the text and all bands of shorter texts count. Texts
        that cannot be in a near pair may only be exact repeats, and are not added to the block index.
        """
        return np.maximum.accumulate(self.max_hamming_distances)[self.of_lengths(lengths)] > EXACT_ONLY

    def least_in_common(self) -> Float32s:
        """Return float32[2, n_bands]: each band's `LeastInCommon`: ``of_shorter`` in row 0, ``of_longer`` in row 1."""
        least = [LeastInCommon() if judge is None else judge.least_in_common() for judge in self.plan.judges]
        return np.array(least, np.float32).T

    def verify(self, pairs: CandidatePairs, context: VerifierContext) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs], whether each pair is accepted by its band's judge and guards, and the accepted pairs.

        The verifiers must be prepared with the same context.
        """
        lengths = context.lengths
        bands = self.of_lengths(np.minimum(lengths[pairs.earlier], lengths[pairs.later]))
        judgement = self.plan.judge(pairs, bands)
        accepted = judgement.accepted
        found = np.flatnonzero(accepted)
        of_found = pairs.earlier[found], pairs.later[found], bands[found]
        accepted[found] = ~self.guards.refuse(context.posts, *of_found, context.workers)
        verified = VerifiedPairs(pairs.earlier, pairs.later, pairs.hamming_distances, *judgement, bands)
        return accepted, verified.take(accepted)
