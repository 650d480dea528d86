"""Each step of the pipeline as a job of its own: every built-in component, and the steps that are no components.

A new built-in component gets its job by being registered.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

import hybriddup
from hybriddup.audit import estimate_recall
from hybriddup.config.read import shipped_names
from hybriddup.exact import find_equal_texts
from hybriddup.parallel import available_workers
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.roles import RoleName
from hybriddup.records import CandidatePairs, Fingerprints, Tokens, VerifiedPairs
from hybriddup.result import Result
from hybriddup.steps.deciders import Decisions, decide
from hybriddup.steps.readers import Fields
from hybriddup.steps.readers.sources import open_source
from hybriddup.steps.writers import write_removed
from hybriddup.waiting import FingerprintQueue
from tests.benchmarks.stages import Stages, pair_keys

Job = Callable[[Stages], Any]
THRESHOLD = 0.8
EXACT_DISTANCES = {"blocks": 3, "probing": 6}
"""Hamming limits for the indexes that are made for narrow ones; the others take those of the configuration."""


class KnownPairs:
    """A block index that looks up pairs found before, so that deciding is measured by itself."""

    def __init__(self, pairs: CandidatePairs) -> None:
        self.pairs = pairs

    def add(self, prints: Fingerprints) -> None:
        """Nothing to add."""

    def candidates(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs of these texts with earlier ones."""
        return self.of(prints, within=False)

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs among these texts."""
        return self.of(prints, within=True)

    def of(self, prints: Fingerprints, *, within: bool) -> CandidatePairs:
        """Return the pairs whose later text is among these, and whose earlier one is, or is before them all."""
        if not len(prints):
            return self.pairs.take(slice(0, 0))
        first, last = np.searchsorted(self.pairs.later, [prints.positions[0], prints.positions[-1] + 1])
        pairs = self.pairs.take(slice(int(first), int(last)))
        return pairs.take((pairs.earlier >= prints.positions[0]) == within)


def jobs() -> dict[str, Job]:
    """Return every job, by step and component: ``tokenize char_ngrams``."""
    of_components = {
        f"{step} {name}": partial(job, name=name)
        for step, (role, job) in COMPONENT_JOBS.items()
        for name in create_plugin_manager(entry_points=False).registry.names(role)
    }
    whole = {f"all {name}": partial(dedupe, name=name) for name in shipped_names()}
    return {**of_components, **OTHER_JOBS, **whole}


def normalize(stages: Stages, name: str) -> list[str]:
    """Return the texts normalized."""
    return stages.component("normalizer", name).normalize_batch(stages.raw)


def tokenize(stages: Stages, name: str) -> Tokens:
    """Return the tokens of the distinct texts."""
    return stages.component("tokenizer", name).tokenize_batch(stages.texts)


def weigh(stages: Stages, name: str) -> Any:
    """Return the weights of tokens, learned from them where the weighter learns."""
    weighter = stages.component("weighter", name)
    if weighter.needs_fit:
        weighter.fit(stages.tokens)
    return weighter.weigh_batch(stages.tokens)


def hash_tokens(stages: Stages, name: str) -> Any:
    """Return 128 bits a token."""
    return stages.component("hasher", name).hash_batch(stages.tokens, 2)


def find_pairs(stages: Stages, name: str) -> CandidatePairs:
    """Return the pairs that an index finds: half the texts against the other half, and each half within itself."""
    prints = stages.prints_within(EXACT_DISTANCES.get(name))
    index, middle = stages.index(name, prints), len(prints) // 2
    first, second = prints.take(slice(0, middle)), prints.take(slice(middle, None))
    index.candidates_within(first)
    index.add(first)
    index.candidates_within(second)
    return index.candidates(second)


def score_pairs(stages: Stages, name: str) -> Any:
    """Return the scores of all candidate pairs, the verifier being new to the texts."""
    verifier = stages.registry.create_by_name("verifier", name)
    verifier.prepare(stages.context())
    return verifier.score_pairs(stages.candidates, np.full(len(stages.candidates), THRESHOLD))


def read_file(stages: Stages, name: str) -> int:
    """Return how many texts a reader finds in the corpus."""
    reader = stages.component("reader", name)
    with closing(open_source(str(stages.file(name)))) as source:
        return sum(len(batch.texts) for batch in reader.read(source, Fields()))


def write_file(stages: Stages, name: str) -> int:
    """Return how many bytes two thirds of the corpus take."""
    target = io.BytesIO()
    keep = np.arange(len(stages.posts)) % 3 > 0
    with closing(open_source(str(stages.file(name)))) as source:
        stages.component("writer", name).write([source], target, keep)
    return target.tell()


def write_removed_posts(stages: Stages) -> int:
    """Return how many bytes the removed posts take, with the reasons."""
    target = io.BytesIO()
    write_removed(target, stages.result.removed)
    return target.tell()


def dedupe(stages: Stages, name: str) -> Result:
    """Return the result of a whole run in a shipped configuration."""
    return hybriddup.dedupe(stages.raw, config=name)


def decide_known(stages: Stages) -> Decisions:
    """Return the decisions where pairs and scores are known."""
    verified, keys = stages.verified

    def look_up(pairs: CandidatePairs) -> VerifiedPairs:
        return verified.take(np.searchsorted(keys, pair_keys(pairs)))

    known = CandidatePairs(verified.earlier, verified.later, verified.hamming_distances)
    return decide(FingerprintQueue([stages.prints]), len(stages.texts), KnownPairs(known), look_up)


def audit(stages: Stages) -> Any:
    """Return the estimate of recall."""
    kept = stages.prints.take(stages.decisions.kept)
    return estimate_recall(kept, len(stages.prints) - len(kept), stages.verify, sample=256, workers=available_workers())


COMPONENT_JOBS: dict[str, tuple[RoleName, Callable[[Stages, str], Any]]] = {
    "read": ("reader", read_file),
    "normalize": ("normalizer", normalize),
    "tokenize": ("tokenizer", tokenize),
    "weight": ("weighter", weigh),
    "hash": ("hasher", hash_tokens),
    "block index": ("block_index", find_pairs),
    "verify": ("verifier", score_pairs),
    "write": ("writer", write_file),
}
"""The steps that are components, with their roles."""
OTHER_JOBS: dict[str, Job] = {
    "exact": lambda stages: find_equal_texts(stages.normalized, stages.raw),
    "fingerprint": lambda stages: stages.components.fingerprinter.fingerprint(stages.texts),
    "decide": decide_known,
    "audit": audit,
    "write removed": write_removed_posts,
}
"""The steps that are no components; the fingerprint step is tokenizing, weighing and hashing as well."""
