"""``per``: a post repeats only posts with the same value of a field, as if those of each value were all."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hybriddup
from hybriddup.errors import InputError
from tests.posts import generated_posts, load_sample

Decided = dict[int, tuple[int, str, int, float]]
"""By row: the keeper's row, the reason, the differing bits and the score."""

CONFIGS: dict[str, dict[str, Any]] = {
    "as shipped": {},
    "crowded": {"blocks": {"max_bucket_size": 2, "max_candidates": 2, "common_in": 1000}},
    "last": {"keep": "last"},
    "highest": {"keep": [{"highest": "likes"}, "longest"]},
    "bodies": {"compare": "body", "without_text": "compare"},
    "scan": {"blocks": {"use": "scan"}},
    "probing": {
        "blocks": {"use": "probing", "n_blocks": 8},
        "lengths": [{"max_hamming_distance": 12, "verifier": {"use": "edit", "threshold": 0.8}}],
    },
}
USERS = [{"id": "ann"}, {"id": "bo"}, {"id": 7}, {"id": "7"}, {"id": None}, {}]


def some_posts(seed: int) -> list[dict[str, Any]]:
    """Posts of a few users, some of no user, many repeating one of the same or another user."""
    chosen = random.Random(seed)  # noqa: S311
    sample = [record["text"] for record in load_sample("posts.jsonl")]
    texts = [*generated_posts(seed, 500), *sample, *[" ", "@a", "@b"] * 9]
    return [{"text": text, "user": chosen.choice(USERS), "likes": chosen.randrange(5)} for text in texts]


def decided(posts: list[dict[str, Any]], config: dict[str, Any], per: str | None = None) -> Decided:
    """What is removed of posts, whose ids are their rows."""
    result = hybriddup.dedupe(posts, config=config, id_field="row", per=per)
    return {post.id: (post.duplicate_of, post.reason, post.hamming_distance, post.score) for post in result.removed}


@pytest.mark.parametrize("name", CONFIGS)
def test_each_value_is_decided_as_if_by_itself(tmp_path: Path, name: str) -> None:
    posts = [post | {"row": row} for row, post in enumerate(some_posts(1))]
    hybriddup.learn(posts, tmp_path / "recipe.npz", config=CONFIGS[name])
    config = {**CONFIGS[name], "recipe": str(tmp_path / "recipe.npz")}
    alone: Decided = {}
    for user in ["ann", "bo", 7, "7", None]:
        alone |= decided([post for post in posts if post["user"].get("id") == user], config)
    together = decided(posts, config, "user.id")
    assert len(together) > 40
    assert together == alone
    assert len(decided(posts, config)) > len(together)


def test_the_recipe_does_not_depend_on_it() -> None:
    """What a run learns of its posts is the same, so that fingerprints of both can be compared."""
    posts = some_posts(2)
    recipes = [hybriddup.dedupe(posts, per=per).summary.recipe_id for per in (None, "user.id")]
    assert recipes[0] == recipes[1]


def test_the_summary_says_within_what_repeats_are_looked_for() -> None:
    posts = [{"text": "a", "by": "ann"}, {"text": "a", "by": "bo"}, {"text": "a"}, {"text": "a", "by": ""}]
    result = hybriddup.dedupe(posts, per="by")
    assert result.kept == [0, 1, 2]
    note = "repeats are looked for within each of the 2 values of 'by'; the 2 posts without one are looked at together."
    assert note in result.summary.notes


@pytest.mark.parametrize(
    ("x", "y"), [("x", "y"), (1, True), (["x", "z"], ["y", "z"]), (np.arange(2000), np.arange(2000) % 1900)]
)
def test_data_frames_have_the_field_as_a_column(x: Any, y: Any) -> None:
    frame = pd.DataFrame({"text": ["a"] * 5, "by": [x, y, None, float("nan"), x]})
    assert hybriddup.dedupe(frame, per="by").kept == [0, 1, 2]


@pytest.mark.parametrize(
    ("posts", "message"),
    [
        (["a"], "per='by' needs posts with fields, such as dicts; posts\\[0\\] is str 'a'"),
        ([{"text": "a"}], "posts\\[0\\] has no field 'by' \\(fields: 'text'\\); name the right one with per"),
        (pd.DataFrame({"text": ["a"]}), "no column 'by' \\(columns: 'text'\\); name the right one with per"),
    ],
)
def test_a_field_that_no_post_has_is_refused(posts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hybriddup.dedupe(posts, per="by")


@pytest.mark.parametrize("posts", [[], pd.DataFrame({"text": [], "by": []})])
def test_no_posts_have_no_scopes(posts: Any) -> None:
    assert hybriddup.dedupe(posts, per="by").kept == []


def test_arrays_are_values_like_lists() -> None:
    texts = ["see you tomorrow at noon"] * 3
    frame = pd.DataFrame({"text": texts, "tags": [np.array([1, 2]), np.array([1, 2]), np.array([1, 3])]})
    assert [(post.row, post.keeper_row) for post in hybriddup.dedupe(frame, per="tags").removed] == [(1, 0)]
