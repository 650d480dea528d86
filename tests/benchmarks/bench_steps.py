"""How long each step takes, component by component.

python -m pytest tests/benchmarks/bench_steps.py [-k 'tokenizer or hasher'] [--benchmark-json OUT.json]

Needs the extra ``bench``. Components that need only texts or tokens are called by themselves. Block indexes, verifiers
and guards are timed in whole runs, whose summary has the seconds of each step: these are saved with the time. The
corpus has 10,000 posts; ``HYBRIDDUP_BENCH_POSTS`` and ``HYBRIDDUP_BENCH_BASE`` in the environment choose another size,
and another base to generate it from.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.config.read import shipped_names
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.registry import Registry
from tests.benchmarks.corpora import SAMPLE_POSTS, generate, read_texts

ROUNDS = 3
EXACT = {"blocks": 3, "probing": 6}
"""Hamming limits for the indexes that are made for narrow ones; the others take those of the configuration."""


def bench_texts() -> list[str]:
    """Return the texts that benchmarks run over."""
    base = read_texts(Path(os.environ.get("HYBRIDDUP_BENCH_BASE", SAMPLE_POSTS)))
    # three passes over a base that is made as long as that needs, so that the share of repeats is that of larger runs
    posts = generate("copies", int(os.environ.get("HYBRIDDUP_BENCH_POSTS", "10000")), base, passes=3)
    return [post.text for post in posts]


@cache
def registry() -> Registry:
    """Return the built-in components."""
    return create_plugin_manager(entry_points=False).registry


class Inputs:
    """What components are called with."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts
        self.tokens = registry().create_by_name("tokenizer", "char_ngrams").tokenize_batch(texts)


def weigh(name: str, inputs: Inputs) -> Any:
    """Return the weights of tokens, learned from them where the weighter learns."""
    weighter = registry().create_by_name("weighter", name)
    if weighter.needs_fit:
        weighter.fit(inputs.tokens)
    return weighter.weigh_batch(inputs.tokens)


CALLS: dict[str, Callable[[str, Inputs], Any]] = {
    "normalizer": lambda name, inputs: registry().create_by_name("normalizer", name).normalize_batch(inputs.texts),
    "tokenizer": lambda name, inputs: registry().create_by_name("tokenizer", name).tokenize_batch(inputs.texts),
    "weighter": weigh,
    "hasher": lambda name, inputs: registry().create_by_name("hasher", name).hash_batch(inputs.tokens, 2),
}
"""A call of a component, by role."""


def one_band(verifier: str, distance: int) -> list[dict[str, Any]]:
    """Return length bands of which one is for all lengths."""
    return [{"max_hamming_distance": distance, "verifier": {"use": verifier, "threshold": 0.8}}]


def runs() -> dict[str, str | Mapping[str, Any]]:
    """Return the configurations of whole runs: those that are shipped, and one for each index, verifier and guard."""
    indexes = {
        f"block_index {name}": {"blocks": {"use": name}}
        | ({"lengths": one_band("edit", EXACT[name])} if name in EXACT else {})
        for name in registry().names("block_index")
    }
    verifiers = {f"verifier {name}": {"lengths": one_band(name, 40)} for name in registry().names("verifier")}
    guards = {
        f"guard {name}": {"must_agree": [{"words": ["buy", "sell"]} if name == "words" else name]}
        for name in registry().names("guard")
    }
    return {f"run {name}": name for name in shipped_names()} | indexes | verifiers | guards


def dedupe(config: str | Mapping[str, Any], inputs: Inputs) -> dict[str, float]:
    """Return the seconds of each step of a run."""
    result = hybriddup.dedupe(inputs.texts, config=config)
    return {timing.step: timing.seconds for timing in result.summary.timings}


def jobs() -> dict[str, Callable[[Inputs], Any]]:
    """Return every job, by role and component: ``tokenizer char_ngrams``."""
    calls = {f"{role} {name}": partial(call, name) for role, call in CALLS.items() for name in registry().names(role)}
    return calls | {name: partial(dedupe, config) for name, config in runs().items()}


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    """The corpus."""
    return Inputs(bench_texts())


@pytest.mark.parametrize("name", jobs())
def test_step(name: str, inputs: Inputs, benchmark: Any) -> None:
    """One component, or one run; a round before does not count."""
    benchmark.group = name.partition(" ")[0]
    found = benchmark.pedantic(jobs()[name], args=(inputs,), rounds=ROUNDS, warmup_rounds=1)
    benchmark.extra_info |= {"posts": len(inputs.texts)} | (found if name in runs() else {})
