"""What is kept of several repeats: no post, some copies, or one within a time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybriddup
from tests.posts import load_sample

A, NEAR_A, B, C = (
    "你妈妈喊你回家吃饭哦，回家罗回家罗",
    "你妈妈叫你回家吃饭啦，回家罗回家罗",
    "明天下雨吗，要不要带伞出门",
    "just finished the last chapter and I am not okay",
)
DAY = 86400


def rows(result: hybriddup.Result) -> tuple[list[int], list[int]]:
    return result.kept, [post.row for post in result.removed]


def test_originals_go_with_their_copies() -> None:
    result = hybriddup.dedupe([A, B, NEAR_A, C, B], config={"keep": "none"})
    assert (*rows(result), list(result.originals)) == ([3], [2, 4], [0, 1])
    assert (result.summary.n_kept, result.summary.n_originals) == (1, 2)
    assert result.filter([A, B, NEAR_A, C, B]) == [C]


def test_the_third_copy_is_the_first_to_go() -> None:
    posts = [A, NEAR_A, B, A, A, B, NEAR_A]
    assert rows(hybriddup.dedupe(posts, config={"max_copies": 2})) == ([0, 1, 2, 3, 5], [4, 6])
    last = hybriddup.dedupe(posts, config={"max_copies": 2, "keep": "last"})
    assert rows(last) == ([2, 3, 4, 5, 6], [0, 1])
    both = hybriddup.dedupe(posts, config={"max_copies": 2, "keep": "none"})
    assert (*rows(both), list(both.originals)) == ([1, 2, 3, 5], [4, 6], [0])


def timed(*posts: tuple[str, float]) -> list[dict[str, Any]]:
    """Posts with times in days."""
    return [{"text": text, "created_at": 1_767_000_000 + days * DAY} for text, days in posts]


def test_posts_repeat_each_other_only_within_a_time() -> None:
    """Of the kept post, not of its copies; the end does not count. The file need not be sorted."""
    posts = timed((A, 9), (A, 0), (NEAR_A, 1), (A, 1.999), (A, 2), (B, 0), (B, 5), (NEAR_A, 4))
    result = hybriddup.dedupe(posts, config={"within": "2d"})
    assert rows(result) == ([0, 1, 4, 5, 6, 7], [2, 3])
    assert [post.keeper_row for post in result.removed] == [1, 1]
    assert hybriddup.dedupe(posts).kept == [0, 5]
    assert "their times are 2d or more apart" in str(hybriddup.explain(1, 0, run=result).verdict)


def test_other_posts_are_repeated_within_the_time_too() -> None:
    config = {"within": "2d"}
    old, new = timed((A, 0)), timed((A, 1), (A, 3), (NEAR_A, 4))
    assert rows(hybriddup.dedupe(new, against=old, config=config)) == ([1], [0, 2])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
@pytest.mark.parametrize("per", [None, "user"])
def test_a_run_within_a_time_decides_as_a_window_with_that_horizon(seed: int, per: str | None, tmp_path: Path) -> None:
    rng, path = np.random.default_rng(seed), tmp_path / "recipe.npz"
    texts = [post["text"] for post in load_sample("posts.jsonl")][:120]
    often = [*texts, *texts[:8] * 12]
    posts = [
        {"id": n, "text": str(rng.choice(often)), "created_at": at, "user": str(rng.choice(["a", "b"]))}
        for n, at in enumerate(sorted(rng.integers(400, size=500).tolist()))
    ]
    hybriddup.learn(texts, path)
    config = {"recipe": str(path), "audit": {"sample": 0}}
    result = hybriddup.dedupe(posts, config=config | {"within": "60s"}, per=per)
    found = {post.id: (post.duplicate_of, post.reason, post.score) for post in result.removed}
    expected = {}
    for user in "ab" if per else [""]:
        some = [post for post in posts if user in post["user"]]
        with hybriddup.Window.open(None, config, horizon=60, time="event", max_step=1000) as window:
            for one in map(window.add, some):
                if one.evidence is not None:
                    expected[one.id] = (one.duplicate_of, one.evidence.reason, one.evidence.score)
    assert len(found) > 50
    assert found == expected


def test_any_number_of_workers_keeps_the_same_within_a_time() -> None:
    rng = np.random.default_rng(5)
    posts = timed(*((str(rng.choice([A, NEAR_A, B, C])), float(rng.random()) * 20) for _ in range(300)))
    results = [hybriddup.dedupe(posts, config={"within": "3d"}, workers=workers) for workers in (1, 2, 3)]
    assert [rows(result) for result in results] == [rows(results[0])] * 3


@pytest.mark.parametrize(
    ("config", "posts", "message"),
    [
        ({"within": "7d"}, [{"text": A}], "in the field 'created_at' of every post; 1 have none, first row 0"),
        ({"within": "7d"}, [A], "needs a time"),
        ({"within": "7 weeks"}, [A], "within must"),
        ({"within": "7d", "keep": "last"}, [A], "within needs keep: first"),
        ({"max_copies": -1}, [A], "max_copies must"),
        ({"keep": ["none", "longest"]}, [A], r"keep\[0\]"),
    ],
)
def test_what_cannot_be_kept_is_refused(config: dict[str, Any], posts: Any, message: str) -> None:
    with pytest.raises(hybriddup.HybriddupError, match=message):
        hybriddup.dedupe(posts, config=config)


@pytest.mark.parametrize("config", [{"keep": "none"}, {"max_copies": 1}, {"within": "1d"}])
def test_a_window_refuses_what_only_runs_keep(config: dict[str, Any]) -> None:
    with pytest.raises(hybriddup.ConfigError, match="a window cannot keep"):
        hybriddup.Window.open(None, config)
