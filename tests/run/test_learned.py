"""The learned recipe: one file by which runs and windows learn nothing anew."""

from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.errors import ConfigError, WindowError
from hybriddup.run.recipe import load_recipe
from tests.posts import load_sample

POSTS = [post["text"] for post in load_sample("posts.jsonl")]
COSINE = [{"max_hamming_distance": 44, "verifier": {"use": "cosine", "threshold": 0.8}}]


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.npz"
    hybriddup.learn(POSTS, path)
    return path


def removals(posts: list[str], config: Any) -> list[tuple[int, int, int, float]]:
    """What a run removes: row, keeper, distance and score."""
    removed = hybriddup.dedupe(posts, config=config).removed
    return [(post.row, post.keeper_row, post.hamming_distance, post.score) for post in removed]


@pytest.mark.parametrize("config", [{}, {"weighter": {"use": "levels"}}, {"lengths": COSINE}], ids=str)
def test_a_run_with_the_recipe_of_its_posts_is_the_run_that_learns_from_them(
    config: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "recipe.npz"
    learned = hybriddup.learn(POSTS, path, config=config)
    assert removals(POSTS, {**config, "recipe": str(path)}) == removals(POSTS, config)
    assert hybriddup.dedupe(POSTS, config=config).recipe.id == learned.id == load_recipe(path).id  # type: ignore[union-attr]


def test_a_part_of_the_corpus_gets_the_fingerprints_of_the_whole(recipe: Path) -> None:
    """Weights fitted anew on the part would differ."""
    config = {"recipe": str(recipe)}
    whole = hybriddup.fingerprint(POSTS, config=config)
    assert (hybriddup.fingerprint(POSTS[:20], config=config) == whole[:20]).all()
    assert (hybriddup.fingerprint(POSTS[:20]) != whole[:20]).any()


def test_the_id_follows_what_was_learned_not_the_file(recipe: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.npz"
    copy.write_bytes(recipe.read_bytes())
    same, other = load_recipe(copy).id, hybriddup.learn(POSTS[::2]).id
    narrow = hybriddup.learn(POSTS, config={"blocks": {"n_shingles": 8}}).id
    assert load_recipe(recipe).id == same
    assert len({same, other, narrow}) == 3


def test_the_recipe_of_a_run_can_be_kept(recipe: Path, tmp_path: Path) -> None:
    result, path = hybriddup.dedupe(POSTS), tmp_path / "of_run.npz"
    result.recipe.save(path)
    assert load_recipe(path).id == load_recipe(recipe).id
    assert sorted(tmp_path.iterdir()) == [path, recipe]


@pytest.mark.parametrize("content", [None, b"", b"not a recipe", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_recipe_is_an_error_that_says_what_to_do(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "wrong.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"recipe: .*wrong\.npz.*hybriddup learn"):
        hybriddup.dedupe(POSTS[:3], config={"recipe": str(path)})


@pytest.mark.parametrize(
    ("config", "named"),
    [({"hasher": {"seed": 7}}, r"hasher\.seed is 7 here and 0 there"), ({"blocks": {"n_shingles": 8}}, "n_shingles")],
)
def test_a_recipe_of_another_configuration_is_refused(recipe: Path, config: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        hybriddup.dedupe(POSTS[:3], config={**config, "recipe": str(recipe)})


def test_nothing_is_learned_for_a_configuration_that_has_a_recipe(recipe: Path) -> None:
    """It would be learned by what was learned before."""
    with pytest.raises(ConfigError, match="recipe must not be in a configuration for learning"):
        hybriddup.learn(POSTS, config={"recipe": str(recipe)})


def test_a_window_keeps_the_recipe_in_its_store(recipe: Path, tmp_path: Path) -> None:
    store, other = tmp_path / "store", tmp_path / "other.npz"
    hybriddup.learn(POSTS[::2], other)
    compare = {"without_text": "compare"}
    with hybriddup.Window.open(store, config={"recipe": str(recipe), **compare}) as window:
        first = window.add_many(POSTS[:100])
        recipe_id = window.stats().recipe_id
    with hybriddup.Window.open(store, config=compare) as window:
        assert window.stats().recipe_id == recipe_id
        assert [decision.decision for decision in window.add_many(POSTS[:100])] == ["duplicate"] * len(first)
    with pytest.raises(WindowError, match="recipe"):
        hybriddup.Window.open(store, config={"recipe": str(other)})
