"""The measurement of the live window works from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import window
from tests.benchmarks.corpora import generate, read_texts, write_posts

TEXTS = read_texts()


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """A small corpus."""
    path = tmp_path / "posts.jsonl"
    write_posts(generate("stream", 10_000, TEXTS, seed=12), path)
    return path


def measured(posts: Path, *more: str) -> dict[str, Any]:
    """What the command writes about a window of some hundred posts."""
    output = posts.with_name("report.json")
    window.main([str(posts), "--posts", "600", "--measured", "64", "--batch", "32", *more, "-o", str(output)])
    return dict(json.loads(output.read_text("utf-8")))


def test_a_window_that_is_full_stays_full_while_it_is_measured(posts: Path) -> None:
    """As many posts leave it as come, and what was asked for is measured."""
    report = measured(posts, "--store", "memory")

    assert report["measured"]["posts"] == 64
    assert sum(report["measured"][name] for name in ("kept", "exact", "near")) == 64
    assert report["measured"]["expired"] > 0
    assert 200 < report["window"]["kept"] <= 600
    assert report["opened_again_after_s"] is None


def test_a_store_that_is_full_is_measured_at_once(posts: Path, tmp_path: Path) -> None:
    """The second run finds the window of the first, whatever it was opened from, and fills nothing."""
    first = measured(posts, "--store", str(tmp_path / "window"), "--without-log")
    second = measured(posts, "--store", str(tmp_path / "window"))

    assert (first["opened"]["kept"], second["opened"]["kept"]) == (0, first["window"]["kept"])
    assert first["filled"]["posts"] == 600
    assert second["filled"] is None
    assert first["opened_without_log_s"] > 0
    assert second["opened_again_after_s"] > 0


def test_a_store_of_other_posts_is_not_measured(posts: Path, tmp_path: Path) -> None:
    """The message says that the file is another."""
    measured(posts, "--store", str(tmp_path / "window"))
    write_posts(generate("templates", 10_000, TEXTS, seed=13), posts)

    with pytest.raises(SystemExit, match="filled from another file"):
        measured(posts, "--store", str(tmp_path / "window"))


def test_a_file_that_is_too_short_is_an_error(posts: Path) -> None:
    """The message says how many posts there are."""
    with pytest.raises(SystemExit, match="ends after 8,192 posts"):
        window.main([str(posts), "--posts", "12000", "--store", "memory"])
