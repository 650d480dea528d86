"""From the verifier settings of the length bands to the judges of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hybriddup.config.settings import CombinedVerifier, SingleVerifier
from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int32s
from hybriddup.steps.verifiers import Verifier, VerifierContext, keeps_learning
from hybriddup.steps.verifiers.combined import AllOf, AnyOf
from hybriddup.steps.verifiers.judges import Judge, PairJudgement, SingleJudge


@dataclass(frozen=True)
class JudgePlan:
    """The judges of a run, one a length band, and the verifiers behind them, one instance a choice of options."""

    judges: tuple[Judge | None, ...]
    """By length band; None where only exact repeats are removed."""
    names: tuple[str, ...]
    """The registered name of each verifier; a name stands twice where it is used with two sets of options."""
    verifiers: tuple[Verifier, ...]
    keys: tuple[str, ...]
    """What tells each verifier from the others, in any run: its name and its options as JSON."""

    @cached_property
    def judges_of_bands(self) -> list[tuple[Judge, Bools]]:
        """Each judge and bool[n_bands], its bands; those of one verifier have one, whatever their thresholds."""
        together: dict[tuple[str, int], tuple[Judge, Bools]] = {}
        for band, judge in enumerate(self.judges):
            if judge is not None:
                key = ("single", judge.index) if isinstance(judge, SingleJudge) else ("combined", band)
                together.setdefault(key, (judge, np.zeros(len(self.judges), np.bool_)))[1][band] = True
        return list(together.values())

    @cached_property
    def thresholds(self) -> Float64s:
        """float64[n_bands]: of the bands with a verifier by itself, NaN for the others."""
        return np.array([judge.threshold if isinstance(judge, SingleJudge) else np.nan for judge in self.judges])

    def judge(self, pairs: CandidatePairs, bands: Int32s) -> PairJudgement:
        """Return what the judges of their bands, int32[n_pairs], say of pairs; those that have none are refused."""
        n = len(pairs)
        judged = PairJudgement(np.full(n, -1.0), np.ones(n), np.zeros(n, np.int32))
        for judge, of_bands in self.judges_of_bands:
            chosen = np.flatnonzero(of_bands[bands])
            if len(chosen):
                says = self._ask(judge, pairs.take(chosen), bands[chosen])
                judged.scores[chosen], judged.thresholds[chosen], judged.verifiers[chosen] = says
        return judged

    def _ask(self, judge: Judge, pairs: CandidatePairs, bands: Int32s) -> PairJudgement:
        if isinstance(judge, SingleJudge):
            return judge.judge_by(pairs, self.thresholds[bands])
        return judge.judge(pairs)

    def prepare(self, context: VerifierContext, *, is_learned: bool = False) -> None:
        """Let every verifier look at the texts of the run; called once, before any pair is judged.

        Where ``is_learned``, those that keep what they learn have learned it before.
        """
        for verifier in self.verifiers:
            if is_learned and keeps_learning(verifier):
                verifier.renew(context)
            else:
                verifier.prepare(context)

    def renew(self, context: VerifierContext) -> None:
        """Let every verifier look at other texts, keeping what it learned of those that it was prepared with."""
        for verifier in self.verifiers:
            getattr(verifier, "renew", verifier.prepare)(context)


def plan_judges(
    bands: Sequence[SingleVerifier | CombinedVerifier | None], create: Callable[[str, Mapping[str, Any]], Verifier]
) -> JudgePlan:
    """Return the judges for the verifier settings of the length bands, None where only exact repeats are removed.

    ``create`` makes a verifier of its name and options.
    """
    verifiers: dict[tuple[str, str], tuple[int, Verifier]] = {}

    def single(settings: SingleVerifier) -> SingleJudge:
        key = (settings.use, json.dumps(settings.options, sort_keys=True, default=str))
        if key not in verifiers:
            verifiers[key] = (len(verifiers), create(settings.use, settings.options))
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
