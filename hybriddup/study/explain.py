"""Explains why two texts match or not: runs every step on both, and gives the verdict in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import CandidatePairs, text_lengths
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.recipe import LearnedRecipe
from hybriddup.run.result import Result
from hybriddup.steps.normalizers.wordless import without_repeats
from hybriddup.study.explanation import ExplainedText, Explanation, KnownRun
from hybriddup.study.known_runs import posts_of_run
from hybriddup.study.learned import NO_CAUTIONS, Cautions, cautions_of, learn_from
from hybriddup.study.shared_keys import SharedKeys, shared_keys

MAY_NOT_LOOK = " A run might not compare this pair."
NOT_VERIFIED = " The run kept both, so it did not verify this pair."
ALL_RARE = ", all taken as rare"
"""Addition to the description of the block keys if it is unknown which keys are common in the run."""
PASSED_OVER = (
    f"{NOT_VERIFIED} If very many posts share keys with a post, a run verifies only some of them (max_bucket_size, "
    "max_candidates)."
)
"""Sentences to append to the verdict if the run kept both posts although they match.

They name the limits on candidates as the cause. The only other possible cause is a different configuration of the run.
"""


def explain_texts(
    a: str,
    b: str,
    settings: Settings,
    registry: Registry,
    corpus: Corpus | Sequence[str] | None = None,
    *,
    recipe: LearnedRecipe | None = None,
    run: KnownRun | None = None,
) -> Explanation:
    """Return the result of every step for two texts, and the verdict, as if they were posts of a run.

    Parameters
    ----------
    corpus
        The posts of the run, to learn from them as the run did; or their unnormalized texts, in the order in which the
        run decided them.
    recipe
        Weights and keys learned by the run. If neither corpus nor recipe is given, all tokens and keys count as rare.
    run
        The run's decision about the two posts, if known.
    """
    components = Components.create(settings, registry, workers=1)
    if recipe is not None:
        components = components.with_learned(recipe, "it")
    # before learning: a weighter that was fitted, even to nothing, no longer reports that it needs fitting
    cautions = cautions_of(components) if corpus is None else NO_CAUTIONS
    if corpus is None:
        components.fingerprinter.fit([])
    elif components.learned is None:
        components = learn_from(components, corpus)
    return Explainer(components, (a, b), cautions, run).explain()


def explain_rows(a: object, b: object, result: Result) -> Explanation:
    """Explain a run's decision about two rows: return the result of every step, the verdict, and the decision."""
    text_a, text_b, run, origin = posts_of_run(result, a, b)
    return explain_texts(text_a, text_b, origin.settings, origin.registry, recipe=result.recipe, run=run)


class Explainer:
    """Runs the steps on two texts and keeps the result of each."""

    def __init__(
        self, components: Components, raw: tuple[str, str], cautions: Cautions, run: KnownRun | None = None
    ) -> None:
        """Run the steps on both texts; ``run`` is the decision of a run about the two, if known."""
        self.components, self.bands, self.run = components, components.bands, run
        self.was_compared = run is not None and run.outcome == "removed"
        self.raw = raw
        self.cautions = NO_CAUTIONS if self.was_compared else cautions
        self.keys_are_learned = not cautions.of_keys or not components.block_index.learns
        self.normalized = components.normalizer.normalize_batch(raw)
        self.compared = components.compared(self.normalized)
        self.lengths = text_lengths(self.compared)
        self.searched = components.searched(self.compared)
        maker = components.fingerprinter
        self.tokens = maker.tokenizer.tokenize_batch(self.searched)
        self.weights = maker.weighter.weigh_batch(self.tokens)
        self.simhashes = components.fingerprint(self.normalized, self.searched)
        self.band = int(self.bands.of_lengths(self.lengths.min(keepdims=True))[0])
        self.band_name = self.bands.names[self.band]
        self.limit = int(self.bands.max_hamming_distances[self.band])
        self.distance = int(np.bitwise_count(self.simhashes.bits[0] ^ self.simhashes.bits[1]).sum())
        if run is not None and run.hamming_distance is not None:
            self.distance = run.hamming_distance
        self.pair = CandidatePairs(np.array([0]), np.array([1]), np.array([self.distance], np.int32))
        self.guards = self.bands.guards.reasons(self.normalized[0], self.normalized[1], self.band)

    def explain(self) -> Explanation:
        """Return the results of all steps for the two texts, the comparison of the texts, and the verdict."""
        reason, verdict, caution = self.judge()
        verifier, score, threshold = self.evidence
        index = self.components.block_index
        return Explanation(
            a=self.text(0),
            b=self.text(1),
            matches=reason != "different",
            reason=reason,
            outcome=None if self.run is None else self.run.outcome,
            is_candidate=self.is_candidate,
            length_band=self.band_name,
            hamming_distance=self.distance,
            max_hamming_distance=self.limit if self.limit >= 0 else None,
            block_index=index.describe() + ("" if self.keys_are_learned else ALL_RARE),
            keys_in_common=self.shared.n_shared,
            n_keys=self.shared.n_keys,
            shared_keys=self.shared.parts,
            verifier=verifier,
            score=score,
            threshold=threshold,
            reasons=self.reasons,
            guards=self.guards,
            recipe_id=self.components.recipe_id(),
            is_certain=not caution,
            verdict=verdict + self.what_run_did(reason) + caution,
        )

    def text(self, which: int) -> ExplainedText:
        """Return the results of the steps for one text; ``which`` is 0 for the first, 1 for the second."""
        span = slice(int(self.tokens.offsets[which]), int(self.tokens.offsets[which + 1]))
        raw, normalized, compared = (texts[which] for texts in (self.raw, self.normalized, self.compared))
        tokens = list(zip(self.tokens.strings(which), map(float, self.weights[span]), strict=True))
        fingerprint = "".join(f"{word:016x}" for word in self.simhashes.bits[which].tolist())
        return ExplainedText(raw, normalized, int(self.lengths[which]), compared, tokens, fingerprint)

    @cached_property
    def shared(self) -> SharedKeys:
        """The block keys that the two texts share."""
        return shared_keys(self.components.block_index, self.searched, self.simhashes.bits)

    @property
    def is_candidate(self) -> bool | None:
        """Whether a run compares the two texts; None if this depends on the run's other posts."""
        if self.was_compared:
            return True
        if (self.run is not None and self.run.apart) or self.limit < 0 or not self.simhashes.is_comparable.all():
            return False
        if self.cautions.of_distance or self.cautions.of_keys:
            return None
        return self.shared.n_shared > 0 and self.distance <= self.limit

    @cached_property
    def evidence(self) -> tuple[str | None, float | None, float | None]:
        """The name of the deciding verifier, its score and its threshold; all None if the length band has no verifier.

        Also sets ``reasons``, the verifier's explanation of the score.
        """
        judge = self.bands.plan.judges[self.band]
        self.reasons: list[str] = []
        if judge is None:
            return None, None, None
        self.prepare_verifiers()
        judgement = judge.judge(self.pair)
        which, score = int(judgement.verifiers[0]), float(judgement.scores[0])
        if not judgement.accepted[0]:
            # the score of a rejected pair may be any number below the threshold; with a threshold of 0.0 it is exact
            score = float(self.bands.plan.verifiers[which].score_pairs(self.pair, np.zeros(1))[0])
        explain_pair = getattr(self.bands.plan.verifiers[which], "explain_pair", None)
        self.reasons = [] if explain_pair is None else explain_pair(0, 1)
        if self.run is not None and self.run.score is not None:
            score = self.run.score
        return self.bands.plan.names[which], score, float(judgement.thresholds[0])

    def prepare_verifiers(self) -> None:
        """Prepare the verifiers for the two texts."""
        context = self.components.verifier_context(self.normalized, self.compared, workers=1)
        self.bands.plan.prepare(context, is_learned=self.components.learned is not None)

    def judge(self) -> tuple[str, str, str]:
        """Return the reason (``exact``, ``near`` or ``different``), the verdict, and a caution, empty if certain."""
        if not any(self.normalized) and (without_text := self.components.settings.without_text) != "compare":
            done = {"keep": "kept", "drop": "left out"}[without_text]
            verdict = f"B does not repeat A: no text is left of them, and posts without text are all {done}."
            return "different", verdict, ""
        if self.run is not None and self.run.apart:
            return "different", f"B does not repeat A: {self.run.apart}.", ""
        # a text without tokens repeats only a text that was equal before normalizing
        sent = map(without_repeats, self.raw)
        if self.normalized[0] == self.normalized[1] and (self.simhashes.has_tokens[0] or next(sent) == next(sent)):
            return "exact", "B repeats A: the texts are equal after normalizing.", ""
        if (why := self.why_not()) is None:
            return "near", *self.near_verdict()
        return "different", *why

    def why_not(self) -> tuple[str, str] | None:
        """Return a sentence on the first step that rules out a near duplicate, and a caution; None for near duplicates.

        The caution is empty if the verdict is certain.
        """
        name = self.band_name
        no = "B does not repeat A: "
        if not self.simhashes.has_tokens.all():
            return f"{no}a text without words repeats only a text that was equal as written.", ""
        if not self.simhashes.is_comparable.all():
            return f"{no}a fingerprint without a single bit set is never compared.", ""
        if self.limit < 0:
            return f"{no}texts of length band {name} are compared for equality only, and these differ.", ""
        if not self.was_compared and (why := self.why_not_compared()):
            of_distance, of_keys, _ = self.cautions
            caution = of_distance if self.distance > self.limit else of_keys or of_distance
            return f"{no}{why}", self.with_second_look(caution)
        if not self.reaches_threshold:
            return f"{no}{self.score_sentence('is under')}.", self.cautions.of_score
        if not self.guards:
            return None
        score = self.score_sentence("reaches")
        apart = f"{no}kept apart: {'; '.join(self.guards)}. {score[0].upper()}{score[1:]}."
        return apart, self.cautions.of_score

    def why_not_compared(self) -> str:
        """Return a clause on why the two texts are not a candidate pair; empty if they are a candidate pair."""
        keys = "" if self.shared.n_shared else "they share none of the keys by which texts are found"
        if self.distance <= self.limit:
            return keys and f"{keys}, so they are never compared."
        return (
            f"{keys}{', and ' if keys else ''}their fingerprints differ in {self.distance} bits, more than the "
            f"{self.limit} that length band {self.band_name} allows, so the texts are not looked at."
        )

    def what_run_did(self, reason: str) -> str:
        """Return sentences on what the run did with the posts, to append to the verdict; empty if there is no run."""
        if self.run is None:
            return ""
        is_passed_over = self.run.outcome == "kept" and reason == "near" and not self.cautions.of_keys
        return self.run.note + (PASSED_OVER if is_passed_over else "")

    @property
    def reaches_threshold(self) -> bool:
        """Whether the score reaches the threshold; True if there is no verifier."""
        _, score, threshold = self.evidence
        return score is None or threshold is None or score >= threshold

    def score_sentence(self, relation: str) -> str:
        """Return a clause about score and threshold; ``relation`` is the verb between them, such as ``reaches``."""
        use, score, threshold = self.evidence
        return f"the {use} score {score:.4g} {relation} the threshold {threshold:g} of length band {self.band_name}"

    def with_second_look(self, caution: str) -> str:
        """Return a caution, with the sentence "If a run compares them, B repeats A" added if the pair is accepted.

        An empty caution is returned unchanged.
        """
        if not caution or not self.reaches_threshold or self.guards:
            return caution
        return f"{caution} If a run compares them, B repeats A: {self.score_sentence('reaches')}."

    def near_verdict(self) -> tuple[str, str]:
        """Return the verdict on a near duplicate, and a caution; the caution is empty if the verdict is certain."""
        condition, caution = "", self.cautions.of_score
        if self.cautions.of_keys:
            is_kept = self.run is not None and self.run.outcome == "kept"
            condition = " if a run compares the two"
            caution = (NOT_VERIFIED if is_kept else MAY_NOT_LOOK) + self.cautions.of_keys
        reaches = self.score_sentence("reaches")
        return f"B repeats A{condition}: {reaches}, and the fingerprints differ in {self.distance} bits.", caution
