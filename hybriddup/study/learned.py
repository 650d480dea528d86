"""Learns from a corpus as a run does; without a corpus, determines which parts of an explanation are uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hybriddup.data.corpus import Corpus
from hybriddup.run.components import Components
from hybriddup.run.pipeline import Run
from hybriddup.run.progress import Clock

UNLEARNED = (
    " A run learns from its posts which tokens and keys are common; without them, all count as rare here, so that "
    "{} can differ. To know, give the posts of the run (--input; in Python corpus or run) or its recipe (--recipe)."
)
"""Caution for a verdict that depends on the other posts of a run; the placeholder is for the uncertain parts."""


class Cautions(NamedTuple):
    """Sentences to append to a verdict, one each if the distance, the keys or the score is uncertain.

    A sentence is empty if its value does not depend on the other posts of a run.
    """

    of_distance: str = ""
    of_keys: str = ""
    of_score: str = ""


NO_CAUTIONS = Cautions()


def cautions_of(components: Components) -> Cautions:
    """Return the cautions for explanations by components that have not learned from the posts of a run.

    Call this before the components learn, because afterwards they no longer show whether they needed to.
    """
    if components.learned is not None:
        return NO_CAUTIONS
    weights_differ = components.fingerprinter.weighter.needs_fit
    keys_differ = weights_differ or components.block_index.learns
    scores_differ = any(components.learning_verifiers())
    caution = UNLEARNED.format("distance, keys and score" if scores_differ else "distance and keys")
    differ = (weights_differ, keys_differ, scores_differ)
    return Cautions(*(caution if differs else "" for differs in differ))


def learn_from(components: Components, corpus: Corpus | Sequence[str]) -> Components:
    """Let the components learn from a corpus as a run would; return a copy of them with ``learned`` set."""
    is_unordered = isinstance(corpus, Corpus)
    posts = corpus if isinstance(corpus, Corpus) else Corpus(list(corpus), range(len(corpus)), np.arange(len(corpus)))
    return replace(components, learned=Run(components, 1, Clock()).learn(posts, as_decided=is_unordered))
