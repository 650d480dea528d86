"""From the verifier settings of the length bands to the judges of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hybriddup.config.settings import CombinedVerifier, SingleVerifier
from hybriddup.steps.verifiers import Verifier, VerifierContext
from hybriddup.steps.verifiers.combined import AllOf, AnyOf
from hybriddup.steps.verifiers.judges import Judge, SingleJudge


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

    def prepare(self, context: VerifierContext) -> None:
        """Let every verifier look at the texts of the run; called once, before any pair is judged."""
        for verifier in self.verifiers:
            verifier.prepare(context)

    def renew(self, context: VerifierContext) -> None:
        """Let every verifier look at other texts, keeping what it learned of those that it was prepared with."""
        for verifier in self.verifiers:
            getattr(verifier, "renew", verifier.prepare)(context)


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
        judges,
        names=tuple(name for name, _ in verifiers),
        verifiers=tuple(verifier for _, verifier in verifiers.values()),
        keys=tuple(" ".join(key) for key in verifiers),
    )
