"""Near misses: what lower thresholds would have removed, nearest first."""

from io import BytesIO
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Indel

import hybriddup
from hybriddup.errors import HybriddupError, InputError
from hybriddup.run.result import Result
from hybriddup.run.summary import Summary
from tests.posts import load_sample

POSTS = load_sample("posts.jsonl")
EDIT = {"use": "edit", "threshold": 0.8}


def plain(verifier: Any = EDIT, **more: Any) -> dict[str, Any]:
    """A configuration that compares raw texts, all with all, so that scores are easily computed."""
    band = {"max_hamming_distance": 127, "verifier": verifier}
    plain_steps = {"normalizer": {"use": "none"}, "compare": "all", "must_agree": [], "blocks": {"use": "scan"}}
    return {**plain_steps, "lengths": [band], **more}


def test_near_misses_are_the_kept_pairs_with_the_best_scores_under_the_threshold() -> None:
    texts = [post["text"] for post in POSTS if len(post["text"]) > 5]
    result = hybriddup.dedupe(texts, config=plain())
    scores = {(a, b): Indel.normalized_similarity(texts[a], texts[b]) for a, b in combinations(result.kept, 2)}
    expected = sorted((pair for pair, score in scores.items() if 0.7 <= score < 0.8), key=lambda pair: -scores[pair])
    found = result.near_misses(1000)
    assert {(miss.earlier_row, miss.row) for miss in found} == set(expected)
    assert len(found) == len(expected) > 5
    assert [miss.score for miss in found] == pytest.approx([scores[pair] for pair in expected])
    assert {(miss.threshold, miss.verifier, miss.length_band) for miss in found} == {(0.8, "edit", "0-")}
    assert result.near_misses(3) == found[:3]


def test_near_misses_have_the_posts_as_they_were_read() -> None:
    """With their ids, though nothing was removed between them."""
    result = hybriddup.dedupe(POSTS, config=plain())
    miss = result.near_misses(1)[0]
    assert (POSTS[miss.row]["id"], POSTS[miss.row]["text"]) == (miss.id, miss.text)
    assert (POSTS[miss.earlier_row]["id"], POSTS[miss.earlier_row]["text"]) == (miss.earlier_id, miss.earlier_text)
    assert miss.earlier_row < miss.row
    assert {miss.row, miss.earlier_row} <= set(result.kept)
    assert 0 < miss.threshold - miss.score <= 0.1


def test_combined_verifiers_miss_by_the_one_that_refuses_most() -> None:
    texts = ["abcdefghijklmnopqrst", "abcdefghijklmnopXYZW"]
    both = {"all": [{"use": "edit", "threshold": 0.85}, {"use": "lcs", "threshold": 0.82}]}
    (miss,) = hybriddup.dedupe(texts, config=plain(both)).near_misses()
    assert (miss.verifier, miss.score, miss.threshold) == ("edit", 0.8, 0.85)


def test_scores_under_a_threshold_below_a_tenth_end_at_zero() -> None:
    texts = ["abcdefgh", "ijklmnop", "abqrstuv"]
    (miss,) = hybriddup.dedupe(texts, config=plain({"use": "edit", "threshold": 0.05})).near_misses()
    assert (miss.earlier_row, miss.row, miss.score, miss.threshold) == (0, 1, 0, 0.05)


def test_near_misses_are_judged_by_what_the_run_learned() -> None:
    """Not by what the kept posts alone would teach: the score of `cosine` is that of the whole corpus."""
    texts = [post["text"] for post in POSTS]
    config = plain({"use": "cosine", "threshold": 0.6})
    first = hybriddup.dedupe(texts, config=config)
    misses = first.near_misses(5)
    lowered = plain({"use": "cosine", "threshold": 0.5})
    scores = {(post.keeper_row, post.row): post.score for post in hybriddup.dedupe(texts, config=lowered).removed}
    common = [(miss.score, scores[pair]) for miss in misses if (pair := (miss.earlier_row, miss.row)) in scores]
    assert common
    assert all(mine == pytest.approx(theirs) for mine, theirs in common)


def test_nothing_near_is_no_near_miss() -> None:
    for texts in ([], ["good morning, everybody"], ["good morning, everybody", "明天下雨吗，要不要带伞出门"]):
        assert hybriddup.dedupe(texts).near_misses() == []


def test_results_without_posts_say_so() -> None:
    by_hand = Result(np.zeros(0, np.int64), [], Summary(), 0, np.empty((0, 2), np.int64))
    for ask in (by_hand.near_misses, lambda: by_hand.report(BytesIO())):
        with pytest.raises(HybriddupError, match="not made by a run"):
            ask()


def test_fewer_than_one_near_miss_is_refused() -> None:
    with pytest.raises(InputError, match="n must be 1 or more; got 0"):
        hybriddup.dedupe(["a"]).near_misses(0)
