"""What `explain` returns: the steps of two texts side by side, what a run did with the pair, and the verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from hybriddup.run.report.notebooks import pair_html

MOST_REASONS = 12
"""Lines about a score that people are shown; plain data has all of them."""

Outcome = Literal["removed", "kept", "other"]


@dataclass(frozen=True)
class KnownRun:
    """What a run is known to have done with two posts, A and B."""

    outcome: Outcome
    """``removed``: B as a repeat of A; ``kept``: neither; ``other``: it removed one of them as a repeat of a third."""
    hamming_distance: int | None = None
    """Bits that differed in the run, if a record has them."""
    score: float | None = None
    """The score in the run, if a record has it."""
    apart: str = ""
    """Why the run never compares the two, as a clause; empty if it may."""
    note: str = ""
    """What else is known, as a sentence that is added to the verdict."""


@dataclass(frozen=True)
class ExplainedText:
    """What the steps made of one text."""

    text: str
    normalized: str
    length: int
    """Code points of what is compared."""
    compared: str
    """The normalized text, or its body by the setting ``compare``."""
    tokens: list[tuple[str, float]]
    """Each token with its weight, in order."""
    fingerprint: str
    """Hexadecimal, word 0 first."""


@dataclass(frozen=True)
class Explanation:
    """The steps of two texts side by side, what was compared with what, and the verdict."""

    a: ExplainedText
    b: ExplainedText
    matches: bool
    reason: str
    """``exact``, ``near``, or ``different``."""
    outcome: Outcome | None
    """What the run did: ``removed`` B as a repeat of A, ``kept`` both, or ``other``: it removed one of them as a repeat
    of another post. None if the two are not posts of a known run."""
    is_candidate: bool | None
    """Whether a run compares the two: they share a key, and the distance is within the limit. None if that depends on
    what a run learns from its posts."""
    length_band: str
    """The band of the shorter text, which judges the pair."""
    hamming_distance: int
    """Bits that differ; for a removed post, those that differed in its run."""
    max_hamming_distance: int | None
    """None where the band removes exact repeats only."""
    block_index: str
    """Which keys texts have."""
    keys_in_common: int
    """Keys that the two share, of the ``n_keys`` by which B is looked up; without any they are never compared."""
    n_keys: int
    shared_keys: list[str]
    """The parts of the first 1,000 characters of A that are these keys; empty if keys are not parts of texts."""
    verifier: str | None
    """The verifier that decides; None where the band removes exact repeats only."""
    score: float | None
    threshold: float | None
    reasons: list[str]
    """What differs, and what raises and lowers the score, a line each; none where the verifier does not tell."""
    guards: list[str]
    """What keeps the two apart whatever the score, by each guard of the length band that does; see ``must_agree``."""
    recipe_id: str
    """What made the two fingerprints."""
    is_certain: bool
    """False if the verdict depends on weights or keys that a run would learn from its posts."""
    verdict: str
    """One sentence, and more if it is not certain."""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data that JSON can hold."""
        return asdict(self)

    def facts(self) -> list[tuple[str, str]]:
        """Return what people are shown of the two together: names and values."""
        limit = self.max_hamming_distance
        allowed = "exact repeats only" if limit is None else f"at most {limit} allowed"
        reasons = self.reasons[:MOST_REASONS]
        return [
            ("length band", f"{self.length_band}, of the shorter text"),
            ("distance", f"{self.hamming_distance} bits differ, {allowed}"),
            ("block keys", self._keys()),
            ("candidate", self._candidate()),
            ("second look", self._score()),
            *(("kept apart", reason) for reason in self.guards),
            *(("" if place else "because", reason) for place, reason in enumerate(reasons)),
        ]

    def _keys(self) -> str:
        """Return which keys the two share."""
        spelled = " | ".join(key.replace(" ", "␣") for key in self.shared_keys)
        shared = f"{self.keys_in_common} of {self.n_keys} in common ({self.block_index})"
        return f"{shared}: {spelled}" if spelled else shared

    def _candidate(self) -> str:
        """Return whether a run compares the two."""
        if self.reason == "exact":
            return "equal texts are found without keys"
        if self.outcome == "removed":
            return "yes, the run compared the two"
        if self.is_candidate is None:
            return "not known: a run may not look at this pair"
        if self.is_candidate:
            return "yes, they share a key and few enough bits differ"
        if not self.keys_in_common:
            return "no, they share no key"
        limit = self.max_hamming_distance
        is_far = limit is not None and self.hamming_distance > limit
        return "no, too many bits differ" if is_far else "no, a run never compares them"

    def _score(self) -> str:
        """Return what the verifier says."""
        if self.score is None or self.threshold is None:
            return "none"
        relation = "reaches" if self.score >= self.threshold else "is under"
        return f"{self.verifier} score {self.score:.4g} {relation} the threshold {self.threshold:g}"

    def _repr_html_(self) -> str:
        return pair_html(self.verdict, (self.a.text, self.b.text), self.facts())
