"""The result of `explain`: the results of every step for two texts, the run's decision about them, and the verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from hybriddup.run.report.notebooks import pair_html

MOST_REASONS = 12
"""Largest number of reasons that are displayed; `Explanation.to_dict` has all of them."""

Outcome = Literal["removed", "kept", "other"]


@dataclass(frozen=True)
class KnownRun:
    """What a run did with two posts, A and B."""

    outcome: Outcome
    """``removed``: the run removed B as a repeat of A; ``kept``: it kept both; ``other``: it removed one of them as a
    repeat of a third post."""
    hamming_distance: int | None = None
    """Number of differing fingerprint bits, if the run recorded it."""
    score: float | None = None
    """Score of the pair, if the run recorded it."""
    apart: str = ""
    """Reason, as a clause, why the run never compares the two posts; empty if the run may compare the posts."""
    note: str = ""
    """Sentence about what the run did with B, to append to the verdict; empty if ``outcome`` is enough."""


@dataclass(frozen=True)
class ExplainedText:
    """The results of the steps for one text."""

    text: str
    normalized: str
    length: int
    """Length of ``compared`` in code points."""
    compared: str
    """The normalized text, or its body, depending on the setting ``compare``."""
    tokens: list[tuple[str, float]]
    """Tokens with their weights, in order."""
    fingerprint: str
    """Fingerprint in hexadecimal, 16 digits for each of its 64-bit words, in order."""


@dataclass(frozen=True)
class Explanation:
    """The results of every step for two texts, the comparison of the two, and the verdict."""

    a: ExplainedText
    b: ExplainedText
    matches: bool
    reason: str
    """Kind of match: ``exact`` or ``near`` repeat, or ``different``."""
    outcome: Outcome | None
    """What the run did: ``removed`` B as a repeat of A, ``kept`` both, or ``other``: it removed one of them as a repeat
    of another post. None if the two are not posts of a known run."""
    is_candidate: bool | None
    """Whether a run compares the two, because they share a key and the distance is within the limit. None if this
    depends on the other posts of the run."""
    length_band: str
    """Length band of the shorter text, whose limits and verifier apply to the pair."""
    hamming_distance: int
    """Number of differing fingerprint bits, as recorded by the run if it removed B as a repeat of A."""
    max_hamming_distance: int | None
    """Hamming limit, inclusive; None if the band removes exact repeats only."""
    block_index: str
    """Description of the block index, which derives keys from texts."""
    keys_in_common: int
    """Number of B's lookup keys that A also has; if 0, the two are never compared."""
    n_keys: int
    """Number of keys by which B is looked up."""
    shared_keys: list[str]
    """Parts of the first 1,000 characters of A that are shared keys; empty if keys are not parts of texts."""
    verifier: str | None
    """Name of the deciding verifier; None if the band removes exact repeats only."""
    score: float | None
    threshold: float | None
    reasons: list[str]
    """Differences between the texts, and factors that raise or lower the score; empty if the verifier gives none."""
    guards: list[str]
    """Reasons why guards reject the pair, regardless of the score; the setting ``must_agree`` lists the guards."""
    recipe_id: str
    """Recipe id: a hash of the components with which the two fingerprints were made."""
    is_certain: bool
    """False if the verdict depends on weights or keys that a run would learn from its posts."""
    verdict: str
    """The verdict in one sentence, followed by cautions if it is uncertain."""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data for JSON."""
        return asdict(self)

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts about the pair for display, as names and values."""
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
        """Return, for display, how many keys the two texts share, and the parts of A that are shared keys."""
        spelled = " | ".join(key.replace(" ", "␣") for key in self.shared_keys)
        shared = f"{self.keys_in_common} of {self.n_keys} in common ({self.block_index})"
        return f"{shared}: {spelled}" if spelled else shared

    def _candidate(self) -> str:
        """Describe whether a run compares the two, for display."""
        if self.reason == "exact":
            return "equal texts are found without keys"
        if self.outcome == "removed":
            return "yes, the run compared the two"
        if self.is_candidate is None:
            return "not known: a run might not compare this pair"
        if self.is_candidate:
            return "yes, they share a key and few enough bits differ"
        if not self.keys_in_common:
            return "no, they share no key"
        limit = self.max_hamming_distance
        is_far = limit is not None and self.hamming_distance > limit
        return "no, too many bits differ" if is_far else "no, a run never compares them"

    def _score(self) -> str:
        """Return the score and how it relates to the threshold, for display."""
        if self.score is None or self.threshold is None:
            return "none"
        relation = "reaches" if self.score >= self.threshold else "is under"
        return f"{self.verifier} score {self.score:.4g} {relation} the threshold {self.threshold:g}"

    def _repr_html_(self) -> str:
        return pair_html(self.verdict, (self.a.text, self.b.text), self.facts())
