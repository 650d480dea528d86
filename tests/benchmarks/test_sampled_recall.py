"""What judges hybriddup is itself right: pairs, samples and scores equal a plain comparison of everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

import hybriddup
from tests.benchmarks import sampled_recall, truth
from tests.benchmarks.corpora import generate, read_texts, write_posts
from tests.benchmarks.exhaustive import matching_pairs, rows_with_match
from tests.benchmarks.sampled_recall import sampled_score, wilson
from tests.benchmarks.tools import NO_KEEPER, TOOLS, Decided
from tests.benchmarks.truth import Truth, find_truth, load_truth, score

TEXTS = [post.text for post in generate("copies", 300, read_texts(), seed=7)]
SIMILAR = np.array([[Indel.normalized_similarity(a, b) for b in TEXTS] for a in TEXTS])


def brute_force(removed: np.ndarray, keepers: np.ndarray | None) -> tuple[float, float]:
    """Recall and precision by the rule of README.md, from every pair."""
    match = (SIMILAR >= 0.8) & ~np.eye(300, dtype=bool)
    kept = ~removed
    missed = sum(bool((match[row, :row] & kept[:row]).any()) for row in np.flatnonzero(kept))
    if keepers is None:
        right = sum(bool((match[row] & kept).any()) for row in np.flatnonzero(removed))
    else:
        right = sum(bool(match[row, keepers[row]] and kept[keepers[row]]) for row in np.flatnonzero(removed))
    return right / max(right + missed, 1), right / max(removed.sum(), 1)


def random_decisions(seed: int, *, named: bool) -> Decided:
    """Decisions that are right in part: some true repeats are removed, and some posts for no reason."""
    rng = np.random.default_rng(seed)
    keepers = np.full(300, NO_KEEPER, np.int64)
    for row in range(1, 300):
        earlier = np.flatnonzero((SIMILAR[row, :row] >= 0.8) & (keepers[:row] == NO_KEEPER))
        if len(earlier) and rng.random() < 0.7:
            keepers[row] = earlier[0]
        elif rng.random() < 0.2:
            keepers[row] = rng.integers(row)
    return Decided(keepers != NO_KEEPER, keepers if named else None)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_sample_of_everything_equals_brute_force(seed: int, named: bool) -> None:
    """With every post in the sample there is nothing to estimate, and the interval has no width."""
    decided = random_decisions(seed, named=named)
    recall, precision = brute_force(decided.removed, decided.keepers)

    found = sampled_score(TEXTS, decided, sample=300)

    assert found.recall == pytest.approx((recall, recall, recall))
    assert found.precision == pytest.approx((precision, precision, precision))
    assert 0 < recall < 1
    assert 0 < precision < 1


def test_intervals_hold_the_truth() -> None:
    """Of 200 samples of 60 posts, at least nine in ten intervals hold the true recall."""
    decided = random_decisions(5, named=True)
    recall = brute_force(decided.removed, decided.keepers)[0]
    # the share of wrong ones is estimated as well, and is no part of recall's interval
    decided = Decided(decided.removed, None)
    found = [sampled_score(TEXTS, decided, sample=60, seed=seed).recall for seed in range(200)]

    assert sum(low <= recall + 0.02 and recall - 0.02 <= high for _, low, high in found) >= 180
    assert all(low <= share <= high for share, low, high in found)


def test_hybriddup_names_keepers_that_match() -> None:
    """The named keepers of a run under the measured rule are right, every one."""
    decided, seconds = TOOLS["hybriddup"](TEXTS, "benchmark")
    recall, precision = brute_force(decided.removed, decided.keepers)

    assert sampled_score(TEXTS, decided, sample=300).precision.share == precision == 1.0
    assert recall > 0.9
    assert seconds > 0


@given(st.lists(st.text("abc好的", max_size=12), max_size=12), st.sampled_from([0.5, 0.7, 0.8, 1.0]))
def test_matching_pairs_are_those_of_a_plain_comparison(texts: list[str], minimum: float) -> None:
    """Pairs exactly at the minimum are among them, and bounds rule out none."""
    rows = np.arange(len(texts))
    found = {
        (int(a), int(b))
        for pairs in matching_pairs(texts, rows, rows, minimum)
        for a, b in zip(pairs.a, pairs.b, strict=True)
    }

    assert found == {
        (a, b)
        for a in range(len(texts))
        for b in range(len(texts))
        if a != b and Indel.normalized_similarity(texts[a], texts[b]) >= minimum
    }


def test_texts_beyond_the_counters_are_compared() -> None:
    """A text of more than 65,535 equal characters matches one that is a little longer."""
    texts = ["啊" * 70_000, "啊" * 80_000, "啊" * 30_000]

    assert rows_with_match(texts, np.arange(3), np.arange(3), 0.8).tolist() == [True, True, False]


def test_only_earlier_posts_count_where_asked() -> None:
    """The first of two equal posts has no earlier match."""
    texts = ["good morning", "good morning"]

    assert rows_with_match(texts, np.arange(2), np.arange(2), 0.8, earlier_only=True).tolist() == [False, True]


def test_wilson_interval_of_none_in_three_thousand() -> None:
    """Nothing found in 3,000 still leaves 0.13 % possible."""
    assert wilson(0, 3000, 10**6) == pytest.approx((0, 0, 0.00128), abs=1e-5)
    assert wilson(3, 10, 10) == (0.3, 0.3, 0.3)
    assert wilson(0, 0, 0) == (0, 0, 0)


def test_truth_holds_every_pair_once() -> None:
    """Rows are zero-based with the earlier first."""
    found = find_truth(TEXTS, 0.7)
    expected = {(a, b) for b in range(300) for a in range(b) if SIMILAR[a, b] >= 0.7}

    assert {tuple(pair) for pair in found.rows.tolist()} == expected
    assert len(found.rows) == len(expected)
    assert found.sim == pytest.approx(SIMILAR[found.rows[:, 0], found.rows[:, 1]], abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_score_by_the_truth_equals_brute_force(seed: int) -> None:
    """Recall and precision are those of every pair compared, for tools that name no keeper."""
    decided = random_decisions(seed, named=False)
    found = score(find_truth(TEXTS), decided.removed)

    assert (found.recall, found.precision) == pytest.approx(brute_force(decided.removed, None))


def test_score_of_a_small_case_by_hand() -> None:
    """Posts 0, 1 and 2 are alike, 3 is like 4 below the threshold; 1, 3 and 4 are removed."""
    rows = np.array([[0, 1], [0, 2], [1, 2], [3, 4]], np.int32)
    sim = np.array([0.9, 0.8, 0.8, 0.79], np.float32)
    found = score(Truth(rows, sim), np.array([False, True, False, True, True]))

    assert (found.recall, found.precision) == (0.5, pytest.approx(1 / 3))


def test_programs_print_and_save(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both commands run on a file; a truth that was saved is the same when loaded."""
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("copies", 200, read_texts(), seed=8), posts)

    truth.main([str(posts), "-o", str(tmp_path / "truth.npz"), "--rows", "100"])
    sampled_recall.main([str(posts), "--sample", "50"])
    printed = capsys.readouterr().out

    assert np.array_equal(load_truth(tmp_path / "truth.npz").rows, find_truth(read_texts(posts, 100)).rows)
    assert "precision 1.00000" in printed
    assert len(hybriddup.dedupe(read_texts(posts), config="benchmark").removed) > 50
