"""Learns from a corpus as a run does; without a corpus, determines which parts of an explanation are uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hybriddup.data.corpus import Corpus
from hybriddup.run.components import Components
from hybriddup.run.pipeline import take_texts
from hybriddup.steps.exact import find_equal_texts

UNLEARNED = (
    " A run learns from its posts which tokens and keys are common; without them, all count as rare here, so that "
    "{} can differ. To know, give the posts of the run (--input; in Python corpus or run) or its recipe (--recipe)."
)
"""Caution for a verdict that depends on the other posts of a run; the placeholder is for the uncertain parts."""


class Cautions(NamedTuple):
    """Sentences to append to a verdict that depends on the other posts of a run, by the uncertain part.

    A sentence is empty if its part does not depend on other posts.
    """

    of_distance: str = ""
    of_keys: str = ""
    of_score: str = ""


NO_CAUTIONS = Cautions()


def cautions_of(components: Components) -> Cautions:
    """Return the cautions for explanations with these components; call it before they learn."""
    if components.learned is not None:
        return NO_CAUTIONS
    weights_differ = components.fingerprinter.weighter.needs_fit
    keys_differ = weights_differ or components.block_index.learns
    scores_differ = any(components.learning_verifiers())
    caution = UNLEARNED.format("distance, keys and score" if scores_differ else "distance and keys")
    differ = (weights_differ, keys_differ, scores_differ)
    return Cautions(*(caution if differs else "" for differs in differ))


def learn_from(components: Components, corpus: Corpus | Sequence[str]) -> Components:
    """Let the components learn from a corpus, in place, as a run would; return a copy that has the learned recipe."""
    raw: Sequence[str] = corpus.texts if isinstance(corpus, Corpus) else corpus
    normalized: Sequence[str] = components.normalizer.normalize_batch(raw)
    order = components.deciding_order(corpus, normalized) if isinstance(corpus, Corpus) else None
    raw, normalized = take_texts(raw, order), take_texts(normalized, order)
    looked_at = components.looked_at(normalized)
    raw, normalized = take_texts(raw, looked_at), take_texts(normalized, looked_at)
    equal = find_equal_texts(normalized, raw, without_text=components.settings.without_text)
    distinct = take_texts(normalized, equal.distinct)
    compared = components.compared(distinct)
    components.fingerprinter.fit(compared)
    components.learn_blocks(compared)
    components.plan.prepare(components.verifier_context(distinct, compared, workers=1))
    return replace(components, learned=components.learned_recipe())
