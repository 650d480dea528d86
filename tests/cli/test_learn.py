"""`hybriddup learn`: a file that runs and windows share."""

import json
from pathlib import Path

from hybriddup.run.recipe import load_recipe
from tests.cli.support import Run

POSTS = Path("tests/samples/posts.jsonl").resolve()


def test_a_run_goes_by_what_was_learned(run: Run, tmp_path: Path) -> None:
    recipe, saved, kept = tmp_path / "recipe.npz", tmp_path / "saved.npz", tmp_path / "kept.jsonl"
    learned = run("learn", str(POSTS), "-o", str(recipe))
    config = tmp_path / "mine.yaml"
    config.write_text(f"recipe: {recipe}\n")
    ran = run("dedupe", str(POSTS), "-o", str(kept), "--config", str(config), "--save-recipe", str(saved), "--quiet")
    assert (learned.code, ran.code) == (0, 0)
    assert f"recipe {load_recipe(recipe).id} in {recipe}" in learned.err
    assert load_recipe(saved).id == load_recipe(recipe).id
    assert 0 < len(kept.read_text("utf-8").splitlines()) < len(POSTS.read_text("utf-8").splitlines())


def test_bad_lines_are_named_and_not_learned_from(run: Run, tmp_path: Path) -> None:
    posts, recipe = tmp_path / "posts.jsonl", tmp_path / "recipe.npz"
    posts.write_text("\n".join([json.dumps({"body": "good morning"}), "broken", json.dumps({"body": "good night"})]))
    ran = run("learn", str(posts), "-o", str(recipe), "--text-field", "body")
    assert ran.code == 1
    assert "posts.jsonl:2" in ran.err
    assert recipe.exists()


def test_a_recipe_that_exists_is_replaced_with_force(run: Run, tmp_path: Path) -> None:
    (tmp_path / "recipe.npz").write_bytes(b"mine")
    assert run("learn", str(POSTS), "-o", "recipe.npz", "--force").code == 0
    assert load_recipe(tmp_path / "recipe.npz").id
