"""Floods: a text that is posted again and again, each time with an end of its own. What is common is what repeats."""

import random
from typing import Any

import pytest

import hybriddup
from tests.posts import generated_posts, load_sample

BODY = "we have finally painted the old boat, it took three weekends and two arguments"
WORDS = [
    "copper", "violin", "pepper", "marble", "timber", "velvet", "window", "market", "tunnel", "ribbon", "anchor",
    "candle", "rocket", "lantern",
]  # fmt: skip
EDIT = {"verifier": {"use": "edit", "threshold": 0.7}, "max_hamming_distance": 48}
BY_TEXT: dict[str, Any] = {"normalizer": {"use": "none"}, "compare": "all", "must_agree": [], "lengths": [EDIT]}
"""One rule about the whole text, so that its ends are not left out beforehand."""
OTHERS = 4000


def flood(n: int, seed: int) -> list[str]:
    """The text ``n`` times, with three words and a number after it."""
    chosen = random.Random(seed)  # noqa: S311
    return [f"{BODY} {' '.join(chosen.sample(WORDS, 3))} {number}" for number in range(n)]


def mixed(posts: list[Any], others: list[Any]) -> list[Any]:
    """The posts among the others, in an order that is the same each time."""
    return random.Random(len(posts)).sample(posts + others, len(posts) + len(others))  # noqa: S311


@pytest.mark.parametrize("n_others", [0, OTHERS])
@pytest.mark.parametrize("n", [9, 20, 50, 100, 200])
def test_one_post_of_a_flood_stays(n: int, n_others: int) -> None:
    posts = mixed(flood(n, n), generated_posts(n, n_others))
    kept = hybriddup.dedupe(posts, config=BY_TEXT).kept
    assert sum(posts[row].startswith(BODY) for row in kept) == 1


@pytest.mark.parametrize("n_others", [0, OTHERS])
def test_each_user_posts_a_viral_text_once(n_others: int) -> None:
    ends = flood(30, 0)
    viral = [{"user": user, "text": text} for user in range(30) for text in (BODY, ends[user])]
    others = [{"user": f"other {row}", "text": text} for row, text in enumerate(generated_posts(1, n_others))]
    posts = mixed(viral, others)
    kept = hybriddup.dedupe(posts, config=BY_TEXT, per="user").kept
    assert sorted(posts[row]["user"] for row in kept if posts[row]["text"].startswith(BODY)) == list(range(30))


def test_a_text_of_one_repeated_word_is_found() -> None:
    ends = generated_posts(3, 400)
    posts = [f"USER {end}" for end in ends] + ["USER USER USER " + end for end in ends[:200]]
    last = ["USER " * 30 + "we met them at the harbor", "USER " * 30 + "nobody saw it coming, did you"]
    kept = hybriddup.dedupe(posts + last, config=BY_TEXT).kept
    assert len(posts) in kept
    assert len(posts) + 1 not in kept


def test_a_second_run_removes_nothing_more() -> None:
    """What one run keeps, another one keeps too, though other shingles are common then."""
    sample = [record["text"] for record in load_sample("posts.jsonl")]
    posts = mixed(flood(20, 0) + [f"{text} {end}" for text in sample[:40] for end in flood(20, 1)], sample)
    kept = [posts[row] for row in hybriddup.dedupe(posts, config=BY_TEXT).kept]
    assert hybriddup.dedupe(kept, config=BY_TEXT).removed == []
