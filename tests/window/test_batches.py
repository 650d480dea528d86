"""A window decides alike however posts are cut into batches, whatever its limits cut short."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import chain, count
from random import Random
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.errors import PluginError
from hybriddup.steps.blocks import BlockIndex
from hybriddup.window import Decision, Post, Window
from tests.window.plugins import plugin
from tests.window.reference_window import CONFIG
from tests.window.stores import FILE

CUTS = (1, 7, 256, 4096)
N_POSTS = [300, pytest.param(1000, marks=pytest.mark.slow)]
ALPHABET = [chr(0x4E00 + 17 * place) for place in range(300)]
RARE = 10**6
"""So that no shingle counts as common: a run learns that from its own texts, and a window from its first posts."""
EDIT = {"use": "edit", "threshold": 0.8}
SHINGLES = {
    "normalizer": {"use": "none"},
    "weighter": {"use": "tf"},
    "blocks": {"use": "shingles", "common_in": RARE},
    "lengths": [{"up_to": 4, "exact_only": True}, {"max_hamming_distance": 50, "verifier": EDIT}],
}


def crowded_texts(n: int, seed: int = 2) -> list[str]:
    """Texts of a few templates, of which some are copies, some match others, and most have keys in common."""
    random = Random(seed)  # noqa: S311
    templates = ["".join(random.choices(ALPHABET, k=24)) for _ in range(4)]
    texts = list[str]()
    while len(texts) < n:
        if texts and random.random() < 0.2:
            texts.append(random.choice(texts[-60:]))
            continue
        letters = list(random.choice(templates))
        for _ in range(random.choice([1, 3, 6, 9, 12])):
            letters[random.randrange(len(letters))] = random.choice(ALPHABET)
        texts.append("".join(letters))
    return texts


def limited(**limits: int) -> dict[str, Any]:
    return SHINGLES | {"blocks": {"use": "shingles", "common_in": RARE, **limits}}


CONFIGS: list[Any] = [
    pytest.param(CONFIG, set(), id="scan"),
    pytest.param(SHINGLES, set(), id="shingles"),
    pytest.param(limited(max_bucket_size=3), {"max_bucket_size"}, id="crowded keys"),
    pytest.param(limited(max_candidates=2), {"max_candidates"}, id="many candidates"),
    pytest.param(
        limited(max_bucket_size=5, max_candidates=1, n_shingles=6), {"max_bucket_size", "max_candidates"}, id="both"
    ),
    pytest.param(
        SHINGLES
        | {
            "blocks": {"use": "probing", "n_blocks": 8, "max_bucket_size": 2},
            "lengths": [{"max_hamming_distance": 15, "verifier": EDIT}],
        },
        {"max_bucket_size"},
        id="crowded probes",
    ),
]


def decide(posts: Sequence[Any], cut: int, config: Any, **options: Any) -> tuple[list[Decision], dict[str, int]]:
    """The decisions about posts that are sent so many at a time, and the limits that were hit."""
    with Window.open(None, config, **options) as window:
        decisions = [
            each for first in range(0, len(posts), cut) for each in window.add_many(posts[first : first + cut])
        ]
        return decisions, window.stats().limits_hit


@pytest.mark.parametrize("n", N_POSTS)
@pytest.mark.parametrize(("config", "limits"), CONFIGS)
def test_decisions_do_not_depend_on_the_batches(config: Any, limits: set[str], n: int) -> None:
    texts = crowded_texts(n)
    answers = [decide(texts, cut, config) for cut in CUTS]
    decided = answers[0][0]
    assert all(decisions == decided for decisions, _ in answers)
    assert limits <= set(answers[0][1])
    assert {each.evidence.reason for each in decided if each.evidence} == {"exact", "near"}
    run = hybriddup.dedupe(texts, config=config)
    assert run.kept == [each.position for each in decided if each.kept]


@pytest.mark.parametrize("n", N_POSTS)
@pytest.mark.parametrize(
    ("config", "limits"),
    [*CONFIGS[1::2], *(pytest.param(*each.values, id=each.id, marks=pytest.mark.slow) for each in CONFIGS[::2])],
)
def test_a_horizon_may_pass_inside_a_batch(config: Any, limits: set[str], n: int) -> None:
    random, posts, moment = Random(5), list[Post](), 1000.0  # noqa: S311
    for place, text in enumerate(crowded_texts(n, seed=3)):
        moment += random.choice([0.0, 0.1, 0.5])
        posts.append(Post(text, place, moment - random.choice([0.0, 0.0, 3.0, 15.0, 60.0])))
    answers = [decide(posts, cut, config, time="event", horizon=40) for cut in CUTS]
    assert all(decisions == answers[0][0] for decisions, _ in answers)
    assert limits <= set(answers[0][1])
    kept_twice = {each.id for each in answers[0][0] if each.kept}
    texts = [post.text for post in posts if post.id in kept_twice]
    assert len(set(texts)) < len(texts)


def test_arrival_does_not_depend_on_the_batches_of_one_moment() -> None:
    texts = crowded_texts(600, seed=4)
    answers = []
    for cut in (10, 100):
        moments = chain([0.0], (10.0 * (place // (100 // cut)) for place in count()))  # the first for opening
        answers.append(decide(texts, cut, limited(max_bucket_size=3), horizon=25, clock=lambda m=moments: next(m))[0])
    assert answers[0] == answers[1]


def words_as_keys(text: str) -> list[int]:
    return [int.from_bytes(text[first : first + 8].encode(), "little") % 2**61 for first in range(0, len(text), 8)]


class Thirds(BlockIndex):
    """The same as a class, of which only the newest texts of a key are looked at."""

    n_keys = 3
    max_bucket_size = 4

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002
        keys = np.full((len(texts), 3), NO_KEY, np.uint64)
        for row, text in enumerate(texts):
            own = list(dict.fromkeys(words_as_keys(text)))[:3]
            keys[row, : len(own)] = own
        return keys


class FewColumns(Thirds):
    """Returns no more columns than the texts at hand need."""

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        return np.ascontiguousarray(super().keys(texts, bits)[:, :2])


OWN = SHINGLES | {"blocks": {"use": "own"}}


@pytest.mark.parametrize("component", [words_as_keys, Thirds, FewColumns])
def test_block_indexes_of_plugins_decide_alike_in_any_batches(component: Any) -> None:
    texts = crowded_texts(300)
    answers = [decide(texts, cut, OWN, plugins=[plugin(component)])[0] for cut in CUTS]
    assert all(decisions == answers[0] for decisions in answers)
    run = hybriddup.dedupe(texts, config=OWN, plugins=[plugin(component)])
    assert run.kept == [each.position for each in answers[0] if each.kept]
    assert sum(each.evidence is not None and each.evidence.reason == "near" for each in answers[0]) > 50


@pytest.mark.parametrize(("component", "has_records"), [(words_as_keys, False), (Thirds, True), (FewColumns, True)])
def test_windows_with_keys_of_plugins_are_opened_again(component: Any, has_records: bool, tmp_path: Any) -> None:
    texts, decisions = crowded_texts(400), list[Decision]()
    for first in range(0, len(texts), 50):
        with Window.open(tmp_path, OWN, plugins=[plugin(component)]) as window:
            decisions += window.add_many(texts[first : first + 50])
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        n_records = connection.execute("SELECT count(records) FROM batches").fetchone()[0]
    assert bool(n_records) == has_records
    assert decisions == decide(texts, 50, OWN, plugins=[plugin(component)])[0]


@pytest.mark.parametrize(
    ("promise", "message"),
    [({"n_keys": 2}, "at most 2 keys of a text"), ({"key_bits": 32}, r"keys below 2\*\*32")],
)
def test_keys_that_are_not_as_they_were_said_to_be_are_an_error(
    promise: dict[str, int], message: str, tmp_path: Any
) -> None:
    with Window.open(tmp_path, OWN, plugins=[plugin(type("Own", (Thirds,), promise))]) as window:
        with pytest.raises(PluginError, match=message):
            window.add(crowded_texts(1)[0])
        assert window.stats().n_posts == 0
