"""From the verifier settings of the length bands to judges: what scores pairs, and against which threshold."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from hybriddup.config.settings import CombinedVerifier, SingleVerifier
from hybriddup.errors import PluginError
from hybriddup.records import Bools, CandidatePairs, Float64s, Int32s
from hybriddup.steps.verifiers import Verifier, VerifierContext


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
        thresholds = np.full(len(pairs), self.threshold, np.float64)
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


@dataclass(frozen=True)
class JudgePlan:
    """The judges of a run, one a length band, and the verifiers behind them, one instance a choice of options."""

    judges: tuple[Judge | None, ...]
    """By length band; None where only exact repeats are removed."""
    names: tuple[str, ...]
    """The registered name of each verifier; a name stands twice where it is used with two sets of options."""
    verifiers: tuple[Verifier, ...]

    def prepare(self, context: VerifierContext) -> None:
        """Let every verifier look at the texts of the run; called once, before any pair is judged."""
        for verifier in self.verifiers:
            verifier.prepare(context)


def plan_judges(
    bands: Sequence[SingleVerifier | CombinedVerifier | None], create: Callable[[str, Mapping[str, Any]], Verifier]
) -> JudgePlan:
    """Return the judges for the verifier settings of the length bands.

    Parameters
    ----------
    bands
        One a length band, None where only exact repeats are removed.
    create
        Makes a verifier of its name and options: the registry's.
    """
    from hybriddup.steps.verifiers.combined import AllOf, AnyOf

    verifiers: dict[tuple[str, str], tuple[int, Verifier]] = {}

    def single(settings: SingleVerifier) -> SingleJudge:
        key = (settings.use, json.dumps(settings.options, sort_keys=True, default=str))
        if key not in verifiers:
            verifiers[key] = (len(verifiers), create(settings.use, settings.options))
        index, verifier = verifiers[key]
        return SingleJudge(verifier, index, settings.use, settings.threshold)

    def build(settings: SingleVerifier | CombinedVerifier | None) -> Judge | None:
        if not isinstance(settings, CombinedVerifier):
            return None if settings is None else single(settings)
        members = tuple(map(single, settings.members))
        return AllOf(members) if settings.combine == "all" else AnyOf(members)

    judges = tuple(map(build, bands))
    return JudgePlan(
        judges, tuple(name for name, _ in verifiers), tuple(verifier for _, verifier in verifiers.values())
    )
