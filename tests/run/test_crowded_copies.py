"""A run over texts that come several times decides by the rule, though it compares most copies only once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config import load_settings
from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.pipeline import run
from hybriddup.steps.blocks import BlockIndex
from tests import reference
from tests.builders import examples, numbers_of

LIMIT = 60


def own_keys(text: str) -> list[int]:
    """A key for each letter up to the space; every text has the same letters after it."""
    return sorted({ord(letter) for letter in text.split()[0]})


def probed_keys(text: str) -> list[int]:
    """The keys of the next letters."""
    return [key + 1 for key in own_keys(text)]


def as_rows(lists: list[list[int]]) -> UInt64s:
    rows = np.full((len(lists), 8), NO_KEY, np.uint64)
    for row, keys in zip(rows, lists, strict=True):
        row[: len(keys)] = keys
    return rows


class Letters(BlockIndex):
    """Keys by letter, with limits that the tests set."""

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002
        return as_rows(list(map(own_keys, texts)))


class NextLetters(Letters):
    """Looks texts up by other keys than their own."""

    probes_others = True

    def probes(self, keys: UInt64s, bits: UInt64s) -> UInt64s:  # noqa: ARG002
        return as_rows([[int(key) + 1 for key in row if key != NO_KEY] for row in keys])


def agrees(a: str, b: str) -> float:
    """Symmetric, and nothing to do with the keys."""
    return float((sum(map(ord, a)) + sum(map(ord, b))) % 3 == 0)


def prepared(index: type[BlockIndex]) -> tuple[Settings, Registry]:
    """The settings of a run with this index."""
    manager = create_plugin_manager(entry_points=False)
    manager.registry.add_block_index("letters", index)
    manager.registry.add_verifier("agrees", agrees)
    band = {"max_hamming_distance": LIMIT, "verifier": {"use": "agrees", "threshold": 0.5}}
    config = {
        "normalizer": {"use": "none"},
        "compare": "all",
        "weighter": {"use": "uniform"},
        "blocks": {"use": "letters"},
        "must_agree": [],
        "lengths": [band],
        "audit": {"sample": 0},
    }
    return load_settings(config, manager), manager.registry


def expected_outcome(posts: list[str], index: type[BlockIndex], session: tuple[Settings, Registry]) -> list[object]:
    """What the rule says: kept posts, and the keeper of each removed one."""
    maker = Components.create(*session, workers=1).fingerprinter
    maker.fit(posts)
    numbers = numbers_of(maker.fingerprint(posts, lambda _: None).bits)

    def distance_of(earlier: int, later: int) -> int:
        return reference.hamming_distance(numbers[earlier], numbers[later])

    outcome = reference.decide_by_rule(
        posts,
        list(map(own_keys, posts)),
        list(map(probed_keys if index.probes_others else own_keys, posts)),
        distance_of,
        lambda earlier, later: distance_of(earlier, later) <= LIMIT,
        lambda earlier, later: agrees(posts[earlier], posts[later]) > 0.5,
        max_bucket_size=index.max_bucket_size,
        most_pairs=[index.max_candidates or len(posts)] * len(posts),
    )
    return [outcome.kept, sorted((outcome.exact | outcome.near).items()), outcome.n_crowded]


@pytest.mark.parametrize("base", [Letters, NextLetters])
@examples(40)
@given(seed=st.integers(0, 2**32), most=st.sampled_from([(1, 0), (3, 0), (0, 1), (0, 2), (2, 2), (0, 0)]))
def test_run_decides_copies_by_the_rule(base: type[BlockIndex], seed: int, most: tuple[int, int]) -> None:
    rng = np.random.default_rng(seed)
    index = type("Limited", (base,), {"max_bucket_size": most[0], "max_candidates": most[1]})
    distinct = ["".join(rng.choice(list("acegik"), 3)) + " 今天天气真好" + str(place) for place in range(14)]
    distinct += ["".join(rng.choice(list("bdfhjl"), 3)) + " 今天天气真好" + str(place) for place in range(14)]
    posts = [distinct[place] for place in rng.integers(0, len(distinct), 60)]
    session = prepared(index)
    result = run(Corpus(posts, range(len(posts)), np.arange(len(posts))), *session, workers=1)
    keepers = [(post.row, post.keeper_row) for post in result.removed]
    n_crowded = result.summary.blocks.limits_hit.get("max_bucket_size", 0)
    assert [result.kept, keepers, n_crowded] == expected_outcome(posts, index, session)
