"""Rounds remove the same posts for the same keepers as a run on one machine, in whatever rounds they go."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hybriddup_spark import bins, meeting, slicing
from hybriddup_spark.making import Maker
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_frames import Groups, decide_plainly

import hybriddup
from hybriddup.config import load_settings, open_session
from hybriddup.data.records import CandidatePairs
from hybriddup.errors import HybriddupError
from hybriddup.run.bands import Bands
from hybriddup.run.recipe import LearnedRecipe
from hybriddup.steps.verifiers import VerifierContext

PLUGINS = ("marked",)
EDIT = {"verifier": {"use": "edit", "threshold": 0.8}}
LIMITS: list[dict[str, Any]] = [
    {"config": "weibo"},
    {"config": "benchmark"},
    {"lengths": [{"max_hamming_distance": 40, **EDIT}], "blocks": {"use": "shingles", "max_bucket_size": 2}},
    {"lengths": [{"max_hamming_distance": 60, **EDIT}], "blocks": {"use": "shingles", "max_candidates": 1}},
    {
        "lengths": [{"max_hamming_distance": 60, **EDIT}],
        "blocks": {"use": "shingles", "max_bucket_size": 3, "max_candidates": 2},
    },
    {"lengths": [{"max_hamming_distance": 6, **EDIT}], "blocks": {"use": "probing", "n_blocks": 4}},
    {
        "lengths": [{"max_hamming_distance": 6, **EDIT}],
        "blocks": {"use": "probing", "n_blocks": 4, "max_bucket_size": 2},
    },
    {"fingerprint": {"bits": 64}, "lengths": [{"max_hamming_distance": 3, **EDIT}], "blocks": {"use": "blocks"}},
    {"lengths": [{"max_hamming_distance": 40, **EDIT}], "blocks": {"use": "scan"}},
    {"fingerprint": {"bits": 256}, "lengths": [{"max_hamming_distance": 80, **EDIT}], "blocks": {"use": "shingles"}},
    {"lengths": [{"up_to": 9, "exact_only": True}, {"max_hamming_distance": 40, **EDIT}]},
    {
        "lengths": [
            {"up_to": 20, "must_agree": [{"words": ["cat", "雨"]}], **EDIT},
            {"max_hamming_distance": 40, **EDIT},
        ],
        "must_agree": [{"use": "numbers", "strict": True}],
    },
]
PARTS = ["good morning ", "明天下雨吗", "回家吃饭哦，", "the cat sat on the mat ", "1", "2", " ", "，", "😀"]


def check_against_a_run(
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    texts: list[str],
    rounds: tuple[int, int],
    n_given: int = 0,
    sample: int = 0,
) -> int:
    """Check that rounds decide as a run does, against the first ``n_given`` texts, and estimate the same recall, if
    there is a ``sample``; return how many posts were decided together.
    """
    config = changes.get("config", changes)
    chosen = open_session(config, PLUGINS)[0].to_dict()
    learned = hybriddup.learn(texts, config=config, plugins=PLUGINS) if texts else LearnedRecipe({}, {})
    maker = Maker.of({**chosen, "audit": {"sample": sample}}, PLUGINS, learned, "the recipe")
    removed, decided = decide_plainly(monkeypatch, maker, texts, *rounds, n_given)
    names = maker.components().bands
    got = {
        row["position"] - n_given: (
            (row["keeper"] - (0 if row["keeper"] < n_given else n_given), row["keeper"] < n_given),
            row["is_exact"],
            row["distance"],
            "equal" if row["is_exact"] else names.plan.names[row["verifier"]],
            row["score"],
            row["threshold"],
            names.names[row["band"]],
        )
        for row in removed.to_pylist()
    }
    run = hybriddup.dedupe(
        texts[n_given:],
        config={**chosen, "audit": {"sample": sample}},
        against=texts[:n_given] if n_given else None,
        plugins=PLUGINS,
    )
    assert got == {
        one.row: (
            (one.keeper_row, one.keeper_source == "against"),
            one.reason == "exact",
            one.hamming_distance,
            one.verifier,
            one.score,
            one.threshold,
            one.length_band,
        )
        for one in run.removed
    }
    assert len(removed) == len(got)
    recall = run.summary.estimated_stage1_recall, run.summary.estimated_stage1_recall_margin
    assert (decided.recall or (None, None)) == recall
    return decided.together


@pytest.mark.parametrize("changes", LIMITS, ids=str)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(PARTS), max_size=7).map("".join), min_size=1, max_size=60),
    rounds=st.tuples(st.integers(1, 20), st.integers(1, 30)),
)
def test_rounds_decide_as_a_run(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], texts: list[str], rounds: tuple[int, int]
) -> None:
    """Corpora of many equal and near texts, in rounds of any size."""
    check_against_a_run(monkeypatch, changes, texts, rounds)


@pytest.mark.parametrize("changes", LIMITS, ids=str)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.lists(st.sampled_from(PARTS), max_size=7).map("".join), min_size=2, max_size=60),
    rounds=st.tuples(st.integers(1, 20), st.integers(1, 30)),
    share=st.floats(0.1, 0.9),
)
def test_posts_are_compared_with_other_posts_as_in_a_run(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], texts: list[str], rounds: tuple[int, int], share: float
) -> None:
    """Other posts equal each other, or match, and are kept all the same."""
    check_against_a_run(monkeypatch, changes, texts, rounds, max(int(share * len(texts)), 1))


@pytest.mark.parametrize("changes", [*LIMITS, {"config": "headlines"}], ids=str)
@pytest.mark.parametrize("n_given", [0, 300])
def test_the_recall_is_estimated_as_in_a_run(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], n_given: int
) -> None:
    """From a sample, part of which has common keys, and from all posts."""
    chance = random.Random(6)
    texts = edits_of_templates(chance, 500, 11)
    texts += ["".join(chance.choices(LETTERS + "abcdefg ", k=chance.randint(4, 40))) for _ in range(200)]
    for sample in (50, 5000):
        some = chance.sample(texts + texts[::3], len(texts))
        check_against_a_run(monkeypatch, changes, some, (200, 500), n_given, sample)


@pytest.mark.parametrize("changes", [LIMITS[0], LIMITS[2], LIMITS[4]], ids=str)
def test_crowds_are_compared_with_other_posts_as_in_a_run(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """Copies of templates on both sides, more than are looked at under one key."""
    texts = edits_of_templates(random.Random(9), CROWD, 8)
    check_against_a_run(monkeypatch, changes, texts + texts[::3], (300, 500), 400)


@pytest.mark.parametrize("bits", [64, 128])
def test_long_texts_are_decided_as_in_a_run(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Articles of thousands of characters, some of which differ in a sentence."""
    chance = random.Random(3)
    articles = ["".join(chance.choices(PARTS, k=600)) for _ in range(20)]
    texts = [article.replace("1", chance.choice(["1", "2"]), 3) for article in articles for _ in range(5)]
    changes = {**load_settings("articles").to_dict(), "fingerprint": {"bits": bits}}
    check_against_a_run(monkeypatch, changes, chance.sample(texts, len(texts)), (30, 40))


CROWD = 768
LETTERS = "的一是在不了有和人这中大为上个国我以要他"


def edits_of_templates(chance: random.Random, n: int, most_edits: int) -> list[str]:
    """Return texts that are made of three templates by up to so many edits."""
    templates = ["".join(chance.choices(LETTERS, k=30)) for _ in range(3)]

    def edited(text: str) -> str:
        for _ in range(chance.randrange(most_edits + 1)):
            place = chance.randrange(len(text))
            text = text[:place] + chance.choice(LETTERS) + text[place + chance.randrange(2) :]
        return text

    return [edited(chance.choice(templates)) for _ in range(n)]


@pytest.mark.parametrize("changes", LIMITS, ids=str)
def test_copies_of_templates_are_decided_as_in_a_run(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> None:
    """So many that keys are crowded, and that what is looked at depends on what was kept just before."""
    texts = edits_of_templates(random.Random(7), CROWD, 8)
    together = check_against_a_run(monkeypatch, changes, texts + texts[::3], (100, 500))
    assert together > 0 or changes.get("blocks", {}).get("use") in {"blocks", "probing"}


@pytest.fixture
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide bins of more than 20 places."""
    sizes = {"FIRST_SLICE": 20, "LARGEST_SLICE": 100, "VERIFIED_TOGETHER": 12}
    for name, size in sizes.items():
        monkeypatch.setattr(slicing, name, size)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("changes", LIMITS, ids=str)
def test_slices_of_crowds_are_decided_as_in_a_run(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> None:
    """With copies in the same and in later slices, of kept and of removed texts, in one round and in several."""
    chance = random.Random(8)
    texts = edits_of_templates(chance, 512, 8)
    texts = chance.sample(texts + texts[::2] + texts[::3], len(texts) + len(texts[::2]) + len(texts[::3]))
    for rounds in ((2000, 2000), (400, 500)):
        check_against_a_run(monkeypatch, changes, texts, rounds)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("seed", range(12))
def test_slices_of_whatever_shares_keys_are_decided_as_in_a_run(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Copies between, under keys of which few texts are looked at, with few candidates or all."""
    chance = random.Random(100 + seed)
    config = marked_config(chance.choice([1, 1, 2, 3]), chance.choice([0, 0, 1, 2]))
    monkeypatch.setattr(meeting, "FEWEST_CROWDED", chance.randint(1, 4))
    monkeypatch.setattr(meeting, "MOST_NEAR", chance.choice([0, 1]))
    for _ in range(4):
        texts = marked_texts(chance, chance.randint(50, 150))
        check_against_a_run(monkeypatch, config, texts, (chance.randint(60, 300), chance.randint(60, 300)))


@pytest.mark.usefixtures("small_slices")
def test_the_task_that_decides_a_crowd_looks_most_verdicts_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tasks have verified most pairs."""
    n_verified: Counter[str] = Counter()
    running = ["other"]
    verify = Bands.verify

    def counted(self: Bands, pairs: CandidatePairs, context: VerifierContext) -> Any:
        n_verified[running[-1]] += len(pairs)
        return verify(self, pairs, context)

    def named(name: str) -> Any:
        original = getattr(bins, name)

        def task(*given: Any) -> pa.Table:
            running.append(name)
            made = original(*given)
            running.pop()
            return made

        return task

    monkeypatch.setattr(Bands, "verify", counted)
    monkeypatch.setattr(slicing, "FIRST_SLICE", 100)
    for name in ("decide_together", "verify_ahead"):
        monkeypatch.setattr(bins, name, named(name))
    check_against_a_run(monkeypatch, {"config": "weibo"}, edits_of_templates(random.Random(7), 1500, 3), (2000, 2000))
    assert n_verified["verify_ahead"] > 2 * n_verified["decide_together"] > 0


def marked_texts(chance: random.Random, n: int) -> list[str]:
    """Return texts, some of which come again, with a few keys and matches, as the plugin `marked` reads them."""
    keys, marks = "ABCDEFGH"[: chance.randint(2, 8)], "abcdefghijkl"[: chance.randint(2, 12)]

    def letters(of: str, most: int) -> str:
        return "".join(sorted(chance.sample(of, min(chance.randint(1, most), len(of)))))

    texts = [f"{letters(keys, 3)} {letters(marks, 2)} {number}" for number in range(n)]
    return chance.choices(texts, k=chance.randint(n, 2 * n))


def marked_config(bucket: int, candidates: int) -> dict[str, Any]:
    """Return a configuration for texts that the plugin `marked` reads, with limits; 0 = none."""
    blocks = {"use": "capitals", "max_bucket_size": bucket, "max_candidates": candidates}
    band = {"max_hamming_distance": 127, "verifier": {"use": "small_letters", "threshold": 1.0}}
    return {"normalizer": {"use": "same"}, "lengths": [band], "blocks": blocks, "must_agree": []}


@pytest.mark.parametrize("seed", range(30))
def test_whatever_shares_keys_and_matches_is_decided_as_in_a_run(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Copies between, under keys of which few texts are looked at, with few candidates or all."""
    chance = random.Random(seed)
    config = marked_config(chance.choice([0, 1, 1, 2, 3]), chance.choice([0, 0, 1, 2]))
    if seed % 2:  # keys of few texts are crowded, too
        monkeypatch.setattr(meeting, "FEWEST_CROWDED", chance.randint(1, 4))
        monkeypatch.setattr(meeting, "MOST_NEAR", chance.choice([0, 1, 3]))
    for _ in range(8):
        texts = marked_texts(chance, chance.randint(3, 25))
        check_against_a_run(monkeypatch, config, texts, (chance.randint(1, 30), chance.randint(1, 30)))


@pytest.mark.parametrize(
    "texts",
    [
        # the second goes for the first; its copy meets neither that nor the third, and stays
        ["B a 1", "AB ac 2", "A c 3", "A x 4", "B y 5", "AB ac 2"],
        # the copy stays, so that the last does not meet the third
        ["B a 1", "AB a 2", "A e 3", "B y 4", "AB a 2", "A e 5"],
    ],
)
def test_copies_are_looked_up_where_they_stand(monkeypatch: pytest.MonkeyPatch, texts: list[str]) -> None:
    """Though the first of them goes."""
    config = marked_config(1, 0)
    check_against_a_run(monkeypatch, config, texts, (100, 100))
    kept = hybriddup.dedupe(texts, config=config, plugins=PLUGINS).kept
    assert any(texts[row] in texts[:row] for row in kept)


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_copies_that_stay_are_met_by_later_rounds(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """What removed the first of them was not looked at any more when they came."""
    chance = random.Random(seed)
    texts = edits_of_templates(chance, 300, 11)
    texts = chance.sample(texts + texts[::2], 450)
    later = [f"{text[:5]}，{text[6:]}" for text in chance.sample(texts, len(texts))]
    crowded = {"use": "shingles", "n_shingles": 2, "n_dense_shingles": 2, "max_bucket_size": 1}
    changes = {"lengths": [{"max_hamming_distance": 60, **EDIT}], "blocks": crowded}
    check_against_a_run(monkeypatch, changes, texts + later, (len(texts), len(texts)))
    kept = hybriddup.dedupe(texts, config=changes).kept
    assert any(texts[row] in texts[:row] for row in kept)


def test_a_part_that_several_tasks_have_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each some rows of it, as a fault of Spark in uniting tables would have it."""
    texts = edits_of_templates(random.Random(1), 40, 3)
    learned = hybriddup.learn(texts, config="weibo")
    maker = Maker.of(load_settings("weibo").to_dict(), (), learned, "the recipe")
    monkeypatch.setattr(Groups, "n_tasks_a_part", 2)
    with pytest.raises(HybriddupError, match="unionOutputPartitioning"):
        decide_plainly(monkeypatch, maker, texts, 100, 100)
