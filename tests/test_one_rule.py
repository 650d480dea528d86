"""Runs and windows decide by one rule: with the same recipe, the same rows go, with the same keepers."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

import hybriddup
from tests.posts import load_sample

Decided = dict[int, tuple[int, str, int, float]]
"""By row: the keeper's row, the reason, the differing bits and the score."""

SAMPLES = ("posts.jsonl", "pairs.jsonl")
GUARDED = {"must_agree": [{"use": "numbers", "strict": True}, "emoji", {"words": ["the", "的"]}]}
CROWDED = {"blocks": {"max_bucket_size": 1, "max_candidates": 1, "common_in": 1000}}


def texts_of(sample: str) -> list[str]:
    """The posts of a sample file, pairs one after another."""
    records = load_sample(sample)
    if "text" in records[0]:
        return [record["text"] for record in records]
    return [text for record in records for text in (record["a"], record["b"])]


def by_run(posts: list[str], config: dict[str, Any]) -> tuple[Decided, dict[str, int]]:
    """What a run removes, and the limits that it hit."""
    result = hybriddup.dedupe(posts, config=config)
    removed = {post.row: (post.keeper_row, post.reason, post.hamming_distance, post.score) for post in result.removed}
    return removed, result.summary.blocks.limits_hit


def by_window(posts: list[str], config: dict[str, Any], batch: int) -> tuple[Decided, dict[str, int]]:
    """What a window removes of posts sent in batches, and the limits that it hit."""
    removed: Decided = {}
    with hybriddup.Window.open(None, config=config, horizon="9000d") as window:
        for first in range(0, len(posts), batch):
            sent = [{"id": row, "text": posts[row]} for row in range(first, min(first + batch, len(posts)))]
            for decision in window.add_many(sent):
                if (found := decision.evidence) is not None:
                    keeper = int(found.duplicate_of)
                    removed[int(decision.id)] = (keeper, found.reason, found.hamming_distance, found.score)
        return removed, window.stats().limits_hit


@pytest.mark.parametrize("settings", [{}, CROWDED, GUARDED], ids=["as shipped", "crowded", "guarded"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_a_run_and_a_window_remove_the_same_rows_with_the_same_keepers(
    sample: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    posts, path = texts_of(sample), tmp_path / "recipe.npz"
    hybriddup.learn(posts, path, config=settings)
    config = {**settings, "recipe": str(path)}
    removed, limits = by_run(posts, config)
    assert len(removed) > 20
    for batch in (1, 7, 256, 4096):
        assert by_window(posts, config, batch) == (removed, limits)
    assert (sum(limits.values()) > 0) == (settings is CROWDED)


def test_long_posts_that_only_repeat_exactly_take_room_in_buckets_of_both(tmp_path: Path) -> None:
    """Where a band of exact repeats follows one of near repeats, both engines count the same posts of a key."""
    random, path = Random(1), tmp_path / "recipe.npz"  # noqa: S311  posts, not secrets
    words = ["lamp", "river", "stone", "bread", "night", "cloud", "paper", "green", "house", "music"]
    posts = [" ".join(random.choices(words, k=random.randint(2, 9))) for _ in range(1500)]
    near = {"up_to": 28, "max_hamming_distance": 60, "verifier": {"use": "edit", "threshold": 0.7}}
    config = CROWDED | {"compare": "all", "must_agree": [], "lengths": [near, {"exact_only": True}]}
    hybriddup.learn(posts, path, config=config)
    learned = {**config, "recipe": str(path)}
    removed, limits = by_run(posts, learned)
    assert len(removed) > 300
    assert by_window(posts, learned, 256) == (removed, limits)
