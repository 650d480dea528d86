"""Fitted weights that are saved, loaded, and named in the recipe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hybriddup
from hybriddup.errors import ConfigError
from tests.posts import load_sample

POSTS = [post["text"] for post in load_sample("posts.jsonl")]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "weights.npz"
    hybriddup.fit_weights(POSTS, path)
    return path


def frozen(table: Path, use: str = "tfidf") -> dict[str, object]:
    return {"weighter": {"use": use, "table": str(table)}}


@pytest.mark.parametrize("use", ["tfidf", "levels"])
def test_saved_weights_give_the_fingerprints_of_the_corpus_they_were_fitted_on(use: str, tmp_path: Path) -> None:
    """Also for a part of the corpus, on which weights fitted anew would differ."""
    path = tmp_path / "weights.npz"
    config = {"weighter": {"use": use}}
    hybriddup.fit_weights(POSTS, path, config=config)

    whole = hybriddup.fingerprint(POSTS, config=config)

    assert np.array_equal(hybriddup.fingerprint(POSTS, config=frozen(path, use)), whole)
    assert np.array_equal(hybriddup.fingerprint(POSTS[:20], config=frozen(path, use)), whole[:20])


def test_recipe_id_follows_the_weights_not_the_file(table: Path, tmp_path: Path) -> None:
    """A copy of the table is the same recipe, other weights are another."""
    copy, other = tmp_path / "copy.npz", tmp_path / "other.npz"
    copy.write_bytes(table.read_bytes())
    hybriddup.fit_weights(POSTS[::2], other)

    ids = [hybriddup.dedupe(POSTS, config=frozen(path)).summary.recipe_id for path in (table, copy, other)]

    assert ids[0] == ids[1] != ids[2]


def test_a_table_appears_whole_or_not_at_all(table: Path) -> None:
    """Nothing unfinished stays beside it."""
    assert list(table.parent.iterdir()) == [table]


@pytest.mark.parametrize("content", [None, b"", b"not a table", b"PK\x03\x04 cut short"])
def test_a_file_that_is_no_table_is_an_error_that_says_what_to_do(content: bytes | None, tmp_path: Path) -> None:
    """Missing, empty, foreign or damaged: named with the option, and fit_weights as the remedy."""
    path = tmp_path / "wrong.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"weighter\.table: .*wrong\.npz.*hybriddup\.fit_weights"):
        hybriddup.dedupe(POSTS[:3], config=frozen(path))


@pytest.mark.parametrize("weighter", [{"use": "tf"}, {"use": "uniform"}])
def test_a_weighter_without_a_table_has_nothing_to_fit(weighter: dict[str, str], tmp_path: Path) -> None:
    """The message names those that have one."""
    with pytest.raises(ConfigError, match="needs `tfidf` or `levels`"):
        hybriddup.fit_weights(POSTS, tmp_path / "weights.npz", config={"weighter": weighter})
