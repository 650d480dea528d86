"""Why two texts match or do not: every step of both, and the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import NO_KEY, CandidatePairs, text_lengths
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.pipeline import take_texts
from hybriddup.run.recipe import LearnedRecipe
from hybriddup.run.report.notebooks import pair_html
from hybriddup.steps.blocks import count_shared
from hybriddup.steps.exact import find_equal_texts
from hybriddup.steps.normalizers.wordless import without_repeats

UNLEARNED = (
    " Without a corpus or a recipe, all tokens and keys count as rare. A run learns which are common, so that its "
    "distances and keys can differ from these; name its posts (--input) or its recipe (--recipe) to know."
)
"""Added to a verdict that depends on what a run learns."""
MOST_REASONS = 8
"""Lines of what makes a score that people are shown; plain data has all of them."""


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
    length_band: str
    """The band of the shorter text, which judges the pair."""
    hamming_distance: int
    max_hamming_distance: int | None
    """None where the band removes exact repeats only."""
    block_index: str
    """Which keys texts have."""
    keys_in_common: int
    """Keys that the two share, of the ``n_keys`` by which B is looked up; without any they are never compared."""
    n_keys: int
    verifier: str | None
    """The verifier that decides; None where the band removes exact repeats only."""
    score: float | None
    threshold: float | None
    reasons: list[str]
    """What makes the score, a line each, the strongest first; none where the verifier does not tell."""
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

    def _repr_html_(self) -> str:
        bits = f"{self.hamming_distance} bits differ"
        limit = "exact repeats only" if self.max_hamming_distance is None else f"at most {self.max_hamming_distance}"
        facts = [("distance", f"{bits}, {limit}"), ("length band", self.length_band)]
        if self.score is not None:
            facts.append(("second look", f"{self.verifier} score {self.score:.4g}, threshold {self.threshold:g}"))
        facts += [("kept apart", reason) for reason in self.guards]
        facts += [("because", reason) for reason in self.reasons[:MOST_REASONS]]
        return pair_html(self.verdict, (self.a.text, self.b.text), facts)


def explain_texts(
    a: str,
    b: str,
    settings: Settings,
    registry: Registry,
    corpus: Corpus | Sequence[str] | None = None,
    *,
    recipe: LearnedRecipe | None = None,
    was_compared: bool = False,
) -> Explanation:
    """Return each step for two texts and the verdict, as if they were two posts of a run.

    Parameters
    ----------
    corpus
        The posts of the run, or their texts in the order of deciding, as they were read, to learn from as it did.
    recipe
        What the run learned. Without corpus and recipe all tokens and keys count as rare.
    was_compared
        Whether a run is known to have compared the two, so that its keys do not matter.
    """
    components = Components.create(settings, registry, workers=1)
    if recipe is not None:
        components = components.with_learned(recipe, "it")
    is_known = corpus is not None or components.learned is not None
    # asked before learning: a weighter that has learned, from nothing too, does not need it any more
    weights_differ = not is_known and components.fingerprinter.weighter.needs_fit
    keys_differ = weights_differ or (not is_known and components.block_index.learns)
    learn_from(components, corpus)
    cautions = (UNLEARNED if differ else "" for differ in (weights_differ, keys_differ and not was_compared))
    return Explainer(components, (a, b), *cautions).explain()


def learn_from(components: Components, corpus: Corpus | Sequence[str] | None) -> None:
    """Let the weighter and the block index learn as in a run over the corpus, or from nothing where there is none."""
    maker = components.fingerprinter
    if corpus is None:
        maker.fit([])
        return
    raw: Sequence[str] = corpus.texts if isinstance(corpus, Corpus) else corpus
    normalized: Sequence[str] = components.normalizer.normalize_batch(raw)
    order = components.deciding_order(corpus, normalized) if isinstance(corpus, Corpus) else None
    raw, normalized = take_texts(raw, order), take_texts(normalized, order)
    looked_at = components.looked_at(normalized)
    raw, normalized = take_texts(raw, looked_at), take_texts(normalized, looked_at)
    equal = find_equal_texts(normalized, raw, without_text=components.settings.without_text)
    distinct = take_texts(normalized, equal.distinct)
    compared = components.compared(distinct)
    maker.fit(compared)
    components.learn_blocks(compared)


class Explainer:
    """Runs the steps on two texts and keeps what each gave."""

    def __init__(
        self, components: Components, raw: tuple[str, str], caution_of_distance: str = "", caution_of_keys: str = ""
    ) -> None:
        """Run the steps; what is added to a verdict by distance or by keys is empty if these are those of the run."""
        self.components, self.bands = components, components.bands
        self.raw = raw
        self.caution_of_distance, self.caution_of_keys = caution_of_distance, caution_of_keys
        self.normalized = components.normalizer.normalize_batch(raw)
        self.compared = components.compared(self.normalized)
        self.lengths = text_lengths(self.compared)
        maker = components.fingerprinter
        self.tokens = maker.tokenizer.tokenize_batch(self.compared)
        self.weights = maker.weighter.weigh_batch(self.tokens)
        self.simhashes = components.fingerprint(self.normalized, self.compared)
        self.band = int(self.bands.of_lengths(self.lengths.min(keepdims=True))[0])
        self.band_name = self.bands.names[self.band]
        self.limit = int(self.bands.max_hamming_distances[self.band])
        self.distance = int(np.bitwise_count(self.simhashes.bits[0] ^ self.simhashes.bits[1]).sum())
        self.pair = CandidatePairs(np.array([0]), np.array([1]), np.array([self.distance], np.int32))
        self.guards = self.bands.guards.reasons(self.normalized[0], self.normalized[1], self.band)

    def explain(self) -> Explanation:
        """Return the explanation."""
        self.n_shared, n_keys = self.count_keys()
        reason, verdict, caution = self.judge()
        verifier, score, threshold = self.evidence
        return Explanation(
            a=self.text(0),
            b=self.text(1),
            matches=reason != "different",
            reason=reason,
            length_band=self.band_name,
            hamming_distance=self.distance,
            max_hamming_distance=self.limit if self.limit >= 0 else None,
            block_index=self.components.block_index.describe(),
            keys_in_common=self.n_shared,
            n_keys=n_keys,
            verifier=verifier,
            score=score,
            threshold=threshold,
            reasons=self.reasons,
            guards=self.guards,
            recipe_id=self.components.recipe_id(),
            is_certain=not caution,
            verdict=verdict + caution,
        )

    def text(self, which: int) -> ExplainedText:
        """Return what the steps made of the first or the second text."""
        span = slice(int(self.tokens.offsets[which]), int(self.tokens.offsets[which + 1]))
        return ExplainedText(
            self.raw[which],
            self.normalized[which],
            int(self.lengths[which]),
            self.compared[which],
            list(zip(self.tokens.strings(which), map(float, self.weights[span]), strict=True)),
            "".join(f"{word:016x}" for word in self.simhashes.bits[which].tolist()),
        )

    def count_keys(self) -> tuple[int, int]:
        """Return how many keys the two share, and by how many B is looked up."""
        index, bits = self.components.block_index, self.simhashes.bits
        keys = index.keys(self.compared, bits)
        probes = index.probes(keys, bits) if index.probes_others else keys
        return count_shared(keys[0], probes[1]), int((probes[1] != np.uint64(NO_KEY)).sum())

    @cached_property
    def evidence(self) -> tuple[str | None, float | None, float | None]:
        """The deciding verifier, its exact score and its threshold."""
        judge = self.bands.plan.judges[self.band]
        self.reasons: list[str] = []
        if judge is None:
            return None, None, None
        self.prepare_verifiers()
        judgement = judge.judge(self.pair)
        which, score = int(judgement.verifiers[0]), float(judgement.scores[0])
        if not judgement.accepted[0]:
            # of a refused pair that is any number under the threshold; asked with 0.0, a verifier gives the score
            score = float(self.bands.plan.verifiers[which].score_pairs(self.pair, np.zeros(1))[0])
        tell = getattr(self.bands.plan.verifiers[which], "explain_pair", None)
        self.reasons = [] if tell is None else tell(0, 1)
        return self.bands.plan.names[which], score, float(judgement.thresholds[0])

    def prepare_verifiers(self) -> None:
        """Let the verifiers look at the two texts."""
        self.bands.plan.prepare(self.components.verifier_context(self.normalized, self.compared, workers=1))

    def judge(self) -> tuple[str, str, str]:
        """Return the reason, the verdict, and what to add to it if it is not certain."""
        if not any(self.normalized) and (without_text := self.components.settings.without_text) != "compare":
            done = {"keep": "kept", "drop": "left out"}[without_text]
            verdict = f"B does not repeat A: no text is left of them, and posts without text are all {done}."
            return "different", verdict, ""
        # without words or tokens, a text equals only what is equal before normalizing
        sent = map(without_repeats, self.raw)
        if self.normalized[0] == self.normalized[1] and (self.simhashes.has_tokens[0] or next(sent) == next(sent)):
            return "exact", "B repeats A: the texts are equal after normalizing.", ""
        if (why := self.why_not()) is None:
            return "near", self.near_verdict(), self.caution_of_keys
        return "different", *why

    def why_not(self) -> tuple[str, str] | None:
        """Return the first step at which the two part, as a sentence, and a caution; None for near duplicates."""
        name = self.band_name
        no = "B does not repeat A: "
        if not self.simhashes.has_tokens.all():
            return f"{no}a text without words repeats only a text that was equal as written.", ""
        if not self.simhashes.is_comparable.all():
            return f"{no}a fingerprint without a single bit set is never compared.", ""
        if self.limit < 0:
            return f"{no}texts of length band {name} are compared for equality only, and these differ.", ""
        if self.distance > self.limit:
            why = (
                f"{no}their fingerprints differ in {self.distance} bits, more than the {self.limit} that length band "
                f"{name} allows, so the texts are not looked at."
            )
            return why, self.with_second_look(self.caution_of_distance)
        if self.n_shared == 0:
            why = f"{no}they share none of the keys by which texts are found, so they are never compared."
            return why, self.with_second_look(self.caution_of_keys or self.caution_of_distance)
        if not self.reaches_threshold:
            return f"{no}{self.score_sentence('is under')}.", ""
        return (f"{no}kept apart: {'; '.join(self.guards)}. {self.score_of_apart()}", "") if self.guards else None

    @property
    def reaches_threshold(self) -> bool:
        """Whether the score does."""
        _, score, threshold = self.evidence
        return score is None or threshold is None or score >= threshold

    @property
    def is_accepted(self) -> bool:
        """Whether the verifier accepts the two and no guard keeps them apart."""
        return self.reaches_threshold and not self.guards

    def score_of_apart(self) -> str:
        """Return what the verifier makes of two posts that a guard keeps apart."""
        sentence = self.score_sentence("reaches")
        return f"{sentence[0].upper()}{sentence[1:]}."

    def score_sentence(self, relation: str) -> str:
        """Return the score and the threshold in words."""
        use, score, threshold = self.evidence
        return f"the {use} score {score:.4g} {relation} the threshold {threshold:g} of length band {self.band_name}"

    def with_second_look(self, caution: str) -> str:
        """Return a caution, and what the verifier says of the two if a run compares them after all."""
        if not caution or not self.is_accepted:
            return caution
        return f"{caution} If a run compares them, B repeats A: {self.score_sentence('reaches')}."

    def near_verdict(self) -> str:
        """Return the verdict on a near duplicate."""
        condition = " if a run compares the two" if self.caution_of_keys else ""
        reaches = self.score_sentence("reaches")
        return f"B repeats A{condition}: {reaches}, and the fingerprints differ in {self.distance} bits."
