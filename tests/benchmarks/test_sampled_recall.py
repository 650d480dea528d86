"""What judges hybriddup is itself right: matches and samples equal a plain comparison of everything."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

import hybriddup
from tests.benchmarks import sampled_recall
from tests.benchmarks.corpora import generate, read_texts, write_posts
from tests.benchmarks.exhaustive import rows_with_match
from tests.benchmarks.sampled_recall import sampled_score, wilson
from tests.benchmarks.tools import NO_KEEPER, Decided

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
    decided = random_decisions(seed, named=named)
    recall, precision = brute_force(decided.removed, decided.keepers)
    found = sampled_score(TEXTS, decided, sample=300)
    assert found.recall == pytest.approx((recall, recall, recall))
    assert found.precision == pytest.approx((precision, precision, precision))
    assert 0 < recall < 1
    assert 0 < precision < 1


def test_intervals_hold_the_truth() -> None:
    decided = random_decisions(5, named=True)
    recall = brute_force(decided.removed, decided.keepers)[0]
    # the share of wrong ones is estimated as well, and is no part of recall's interval
    decided = Decided(decided.removed, None)
    found = [sampled_score(TEXTS, decided, sample=60, seed=seed).recall for seed in range(200)]
    assert sum(low <= recall + 0.02 and recall - 0.02 <= high for _, low, high in found) >= 180
    assert all(low <= share <= high for share, low, high in found)


@given(st.lists(st.text("abc好的", max_size=12), max_size=12), st.sampled_from([0.5, 0.7, 0.8, 1.0]), st.booleans())
def test_rows_with_a_match_equal_a_plain_comparison(texts: list[str], minimum: float, earlier_only: bool) -> None:
    rows = np.arange(len(texts))
    found = rows_with_match(texts, rows, rows, minimum, earlier_only=earlier_only)
    assert found.tolist() == [
        any(
            Indel.normalized_similarity(text, other) >= minimum
            for place, other in enumerate(texts)
            if place < row or (place > row and not earlier_only)
        )
        for row, text in enumerate(texts)
    ]


def test_wilson_interval_of_none_in_three_thousand() -> None:
    assert wilson(0, 3000, 10**6) == pytest.approx((0, 0, 0.00128), abs=1e-5)
    assert wilson(3, 10, 10) == (0.3, 0.3, 0.3)
    assert wilson(0, 0, 0) == (0, 0, 0)


def test_program_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("copies", 200, read_texts(), seed=8), posts)
    sampled_recall.main([str(posts), "--sample", "50"])
    assert "precision 1.00000" in capsys.readouterr().out
    assert len(hybriddup.dedupe(read_texts(posts), config="benchmark").removed) > 50
