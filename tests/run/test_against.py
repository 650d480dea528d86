"""Posts that are deduplicated against another corpus: its posts are keepers, and never removed."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

import hybriddup
from tests.builders import examples

EDIT = {
    "normalizer": {"use": "none"},
    "compare": "all",
    "without_text": "compare",
    "blocks": {"use": "scan"},
    "audit": {"sample": 0},
    "lengths": [{"max_hamming_distance": 127, "verifier": {"use": "edit", "threshold": 0.8}}],
}
"""Every pair is compared."""

short_texts = st.text("abc", min_size=1, max_size=9)


def letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=n))


def edited(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    return text[:place] + letters(rng, rng.randrange(3)) + text[place + 1 :]


def old_and_new(seed: int) -> tuple[list[str], list[str]]:
    """Return posts without repeats, and others that repeat them and each other."""
    rng = random.Random(seed)  # noqa: S311  texts, not secrets
    old = [letters(rng, 40) for _ in range(200)]
    new: list[str] = []
    for _ in range(400):
        source = rng.choice([old, new or old, []])
        new.append(edited(rng, rng.choice(source)) if source else letters(rng, 40))
    return old, [*new, *old[:5]]


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
@pytest.mark.parametrize("blocks", ["shingles", "scan"])
def test_the_new_posts_of_a_run_over_both_are_decided_alike(blocks: str, keep: str) -> None:
    old, new = old_and_new(7)
    config = {"blocks": {"use": blocks}, "keep": keep}
    keys = {"first": lambda row: row, "last": lambda row: -row, "longest": lambda row: -len(new[row])}
    order = sorted(range(len(new)), key=keys[keep])
    both = hybriddup.dedupe([*old, *(new[row] for row in order)], config={**config, "keep": "first"})
    assert both.kept[: len(old)] == list(range(len(old)))
    result = hybriddup.dedupe(new, config=config, against=old)
    assert result.kept == sorted(order[row - len(old)] for row in both.kept[len(old) :])
    evidence = {order[post.row - len(old)]: (post.keeper_text, post.score, post.reason) for post in both.removed}
    assert {post.row: (post.keeper_text, post.score, post.reason) for post in result.removed} == evidence
    assert (result.summary.n_read, result.summary.n_against) == (len(new), len(old))
    assert result.summary.blocks.n_look_ups <= both.summary.blocks.n_look_ups


@examples(60)
@given(st.lists(short_texts, max_size=8), st.lists(short_texts, max_size=8))
def test_every_old_post_is_a_keeper(old: list[str], new: list[str]) -> None:
    keepers, kept = list(old), []
    for row, text in enumerate(new):
        if all(Indel.normalized_similarity(text, keeper) < 0.8 for keeper in keepers):
            keepers.append(text)
            kept.append(row)
    result = hybriddup.dedupe(new, config=EDIT, against=old, workers=1)
    assert result.kept == kept
    for post in result.removed:
        assert post.keeper_text == (old if post.keeper_source else new)[post.keeper_row]


def posts(*texts: str) -> list[dict[str, Any]]:
    return [{"id": f"{text[:3]}{place}", "text": text, "likes": place} for place, text in enumerate(texts)]


def test_counts_and_clusters_are_those_of_the_new_posts() -> None:
    old = posts("good morning everybody out there", "good morning, everybody out there")
    new = posts("good morning everybody out there", "", "what is for lunch today?", "what is for lunch today")
    result = hybriddup.dedupe(new, config={"without_text": "drop", "keep": {"highest": "likes"}}, against=old)
    assert (result.kept, result.dropped, result.n_rows) == ([3], [1], 4)
    first, second = result.removed
    assert (first.row, first.keeper_source, first.keeper_row, first.duplicate_of) == (0, "against", 0, "goo0")
    assert (second.row, second.keeper_source, second.keeper_row) == (2, None, 3)
    assert result.clusters() == result.clusters(connected=True) == [[3, 2]]
    counts = result.summary
    assert (counts.n_read, counts.n_exact, counts.n_near, counts.n_kept) == (4, 1, 1, 1)
    assert (counts.n_without_text, counts.n_against) == (1, 2)


def test_the_audit_looks_at_new_posts_only() -> None:
    old = ["good morning everybody out there", "good morning, everybody out there"] * 20
    result = hybriddup.dedupe(["what is for lunch today", "what is for lunch today?"], against=old)
    assert result.summary.estimated_stage1_recall == 1.0


def test_against_nothing_is_a_run_by_itself() -> None:
    old, new = old_and_new(3)
    alone, against = hybriddup.dedupe(new), hybriddup.dedupe(new, against=[])
    assert (alone.kept, list(alone.removed)) == (against.kept, list(against.removed))
    assert np.array_equal(alone.verified_rows, against.verified_rows)
    assert hybriddup.dedupe([], against=old).summary.n_kept == 0


def test_what_a_result_tells_is_of_the_new_posts_alone(tmp_path: Path) -> None:
    nearly = "what is for lunch today, my dear friends of the club?"
    new = [
        {"text": "good morning, everybody", "user": "ann"},
        {"text": "what is for lunch today, my dear friends of the pub?", "user": "ann"},
        {"text": nearly, "user": "bo"},
        {"text": nearly, "user": "ann"},
        {"text": nearly, "user": "bo"},
    ]
    old = [{"text": f"nothing like it, {row}", "user": "ann"} for row in range(7)] + [new[0]]
    config = {"lengths": [{"verifier": {"use": "edit", "threshold": 0.98}}]}
    result = hybriddup.dedupe(new, config=config, against=old, per="user")
    assert result.labels.tolist() == [-1, 1, 2, 3, 2]
    assert [(miss.earlier_row, miss.row) for miss in result.near_misses()] == [(1, 3)]
    result.report(tmp_path / "report.html")
    assert "good morning, everybody" in (tmp_path / "report.html").read_text("utf-8")
