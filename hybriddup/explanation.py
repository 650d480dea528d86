"""Why two texts match or do not: every step of both, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hybriddup.bands import Bands
from hybriddup.components import Components
from hybriddup.config.settings import Settings
from hybriddup.exact import find_equal_texts
from hybriddup.number_guard import number_keys
from hybriddup.pilot import N_PILOT_PAIRS, make_pilot
from hybriddup.plugin.registry import Registry
from hybriddup.records import CandidatePairs, Fingerprints, text_lengths
from hybriddup.steps.blocks import Expectation, KeysInCommon
from hybriddup.steps.verifiers import VerifierContext

CORPUS_SIZE = 1_000_000
"""Texts of the corpus for which the block index is shaped here: with two it would simply compare them."""


@dataclass(frozen=True)
class ExplainedText:
    """What the steps made of one text."""

    text: str
    normalized: str
    length: int
    """Code points after normalizing."""
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
    length_band: str
    """The band of the shorter text, which judges the pair."""
    hamming_distance: int
    max_hamming_distance: int | None
    """None where the band removes exact repeats only."""
    block_index: str
    """The shape of the block index for a large corpus of such texts; in a window, of its own index."""
    keys_in_common: int | None
    """Tables in which the two would meet, out of ``n_keys``; None where the block index does not tell."""
    n_keys: int | None
    numbers_match: bool
    verifier: str | None
    """The verifier that decides; None where the band removes exact repeats only."""
    score: float | None
    threshold: float | None
    verdict: str
    """One sentence."""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data that JSON can hold."""
        return asdict(self)


def explain_texts(
    a: str, b: str, settings: Settings, registry: Registry, corpus: Sequence[str] | None = None
) -> Explanation:
    """Return each step for two texts and the verdict, as if they were two posts of a run.

    Parameters
    ----------
    corpus
        The texts of the run, as they were read; a weighter that learns learns from them as it did there. Without them
        every token weighs what a rare one does, so that the Hamming distance can differ by some bits from a run's.
    """
    components = Components.create(settings, registry, workers=1)
    fit_weighter(components, corpus)
    return Explainer(components, (a, b), is_fitted=corpus is not None).explain()


def fit_weighter(components: Components, corpus: Sequence[str] | None) -> None:
    """Fit the weighter as a run over the corpus does, or on nothing where there is none."""
    maker = components.fingerprinter
    if corpus is None and maker.weighter.needs_fit:
        maker.weighter.fit(maker.tokenizer.tokenize_batch([]))
    elif corpus is not None:
        normalized = components.normalizer.normalize_batch(corpus)
        maker.fit([normalized[place] for place in find_equal_texts(normalized, corpus).distinct.tolist()])


class Explainer:
    """Runs the steps on two texts and keeps what each gave."""

    def __init__(self, components: Components, raw: tuple[str, str], *, is_fitted: bool) -> None:
        self.components = components
        self.raw = raw
        self.is_fitted = is_fitted or not hasattr(components.fingerprinter.weighter, "recipe")
        self.normalized = components.normalizer.normalize_batch(raw)
        self.lengths = text_lengths(self.normalized)
        maker = components.fingerprinter
        self.tokens = maker.tokenizer.tokenize_batch(self.normalized)
        self.weights = maker.weighter.weigh_batch(self.tokens)
        self.simhashes = maker.fingerprint(self.normalized)
        self.prints = Fingerprints(
            np.arange(2), self.simhashes.bits, self.simhashes.strengths, components.bands.limits_of(self.lengths)
        )
        distance = int(np.bitwise_count(self.simhashes.bits[0] ^ self.simhashes.bits[1]).sum())
        self.pair = CandidatePairs(np.array([0]), np.array([1]), np.array([distance], np.int32))

    def explain(self) -> Explanation:
        """Return the explanation."""
        shorter = int(self.lengths.argmin())
        limit = int(self.prints.limits.max_hamming_distances[shorter])
        reason, verdict = self.judge(limit)
        keys = self.keys_in_common()
        verifier, score, threshold = self.evidence
        return Explanation(
            a=self.text(0),
            b=self.text(1),
            matches=reason != "different",
            reason=reason,
            length_band=self.band_name,
            hamming_distance=self.distance,
            max_hamming_distance=limit if limit >= 0 else None,
            block_index=self.block_index(),
            keys_in_common=keys.n_in_common if keys else None,
            n_keys=keys.n_keys if keys else None,
            numbers_match=self.numbers_match(),
            verifier=verifier,
            score=score,
            threshold=threshold,
            verdict=verdict,
        )

    @property
    def bands(self) -> Bands:
        """The length bands of the run."""
        return self.components.bands

    @cached_property
    def band(self) -> int:
        """The band of the shorter text, which judges the pair."""
        return int(self.bands.of_lengths(self.lengths.min(keepdims=True))[0])

    @property
    def band_name(self) -> str:
        """Its name."""
        return self.bands.names[self.band]

    @property
    def distance(self) -> int:
        """Hamming distance of the two fingerprints."""
        return int(self.pair.hamming_distances[0])

    def text(self, which: int) -> ExplainedText:
        """Return what the steps made of the first or the second text."""
        span = slice(int(self.tokens.offsets[which]), int(self.tokens.offsets[which + 1]))
        return ExplainedText(
            self.raw[which],
            self.normalized[which],
            int(self.lengths[which]),
            list(zip(self.tokens.strings(which), map(float, self.weights[span]), strict=True)),
            "".join(f"{word:016x}" for word in self.simhashes.bits[which].tolist()),
        )

    def numbers_match(self) -> bool:
        """Return whether both texts have the same runs of digits."""
        keys = number_keys(self.normalized)
        return bool(keys[0] == keys[1])

    def keys_in_common(self) -> KeysInCommon | None:
        """Return in how many tables of a large corpus the two would meet, if the block index tells."""
        index, maker = self.components.index, self.components.fingerprinter
        texts = [text for text in self.normalized if text] * (N_PILOT_PAIRS // 2)
        index.prepare(
            Expectation(
                n_texts=CORPUS_SIZE,
                workers=1,
                bits=maker.n_bits,
                max_hamming_distance=self.components.settings.max_hamming_distance,
                pilot=lambda: make_pilot(texts, self.components),
            )
        )
        count = getattr(index, "keys_in_common", None)
        counted: KeysInCommon | None = (
            count(self.prints.take(np.array([0])), self.prints.take(np.array([1]))) if count else None
        )
        return counted

    def block_index(self) -> str:
        """Return the shape of the block index in which `keys_in_common` counted."""
        return self.components.index.report().shape

    @cached_property
    def evidence(self) -> tuple[str | None, float | None, float | None]:
        """The deciding verifier, its exact score and its threshold."""
        judge = self.bands.plan.judges[self.band]
        if judge is None:
            return None, None, None
        self.prepare_verifiers()
        judgement = judge.judge(self.pair)
        which, score = int(judgement.verifiers[0]), float(judgement.scores[0])
        if not judgement.accepted[0]:
            # of a refused pair that is any number under the threshold; asked with 0.0, a verifier gives the score
            score = float(self.bands.plan.verifiers[which].score_pairs(self.pair, np.zeros(1))[0])
        return self.bands.plan.names[which], score, float(judgement.thresholds[0])

    def prepare_verifiers(self) -> None:
        """Let the verifiers look at the two texts."""
        maker = self.components.fingerprinter
        self.bands.plan.prepare(VerifierContext(self.normalized, maker.tokenizer, maker.n_bits, workers=1))

    def judge(self, limit: int) -> tuple[str, str]:
        """Return the reason and the verdict."""
        if self.normalized[0] == self.normalized[1] and (self.raw[0] == self.raw[1] or self.says_something()):
            return "exact", "B repeats A: the texts are equal after normalizing."
        return ("near", self.near_verdict()) if (why := self.why_not(limit)) is None else ("different", why)

    def says_something(self) -> bool:
        """Return whether the first text has tokens; without any it equals only what is equal before normalizing."""
        return bool(self.simhashes.has_tokens[0])

    def why_not(self, limit: int) -> str | None:
        """Return the first step at which the two part, as a sentence; None where they are near duplicates."""
        name = self.band_name
        no = "B does not repeat A: "
        if not self.simhashes.has_tokens.all():
            return f"{no}a text without tokens repeats only what is equal before normalizing."
        if not self.simhashes.say_something.all():
            return f"{no}a fingerprint without a single bit set is never compared."
        if limit < 0:
            return f"{no}texts of length band {name} are compared for equality only, and these differ."
        if self.distance > limit:
            return (
                f"{no}their fingerprints differ in {self.distance} bits, more than the {limit} that length band "
                f"{name} allows, so the texts are not looked at.{self.caution()}"
            )
        if self.components.settings.numbers_must_match and not self.numbers_match():
            return f"{no}their numbers differ, and numbers_must_match is set."
        verifier, score, threshold = self.evidence
        if score is not None and threshold is not None and score < threshold:
            return f"{no}the {verifier} score {score:.4g} is under the threshold {threshold:g} of length band {name}."
        return None

    def caution(self) -> str:
        """Return what to add to a verdict that rests on the Hamming distance."""
        if self.is_fitted:
            return ""
        return " Weights are those of rare tokens, for want of a corpus; in a run the distance can differ by some bits."

    def near_verdict(self) -> str:
        """Return the verdict on a near duplicate."""
        verifier, score, threshold = self.evidence
        return (
            f"B repeats A: the {verifier} score {score:.4g} reaches the threshold {threshold:g} of length band "
            f"{self.band_name}, and the fingerprints differ in {self.distance} bits."
        )
