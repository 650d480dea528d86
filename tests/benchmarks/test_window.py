"""The measurements of the live window, of its index alone, and of the service over it work from end to end."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import live_index, service_load, window
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
    first = measured(posts, "--store", str(tmp_path / "window"), "--from-posts")
    second = measured(posts, "--store", str(tmp_path / "window"))
    assert (first["opened"]["kept"], second["opened"]["kept"]) == (0, first["window"]["kept"])
    assert first["filled"]["posts"] == 600
    assert second["filled"] is None
    assert first["opened_from_posts_after_s"] > 0
    assert second["opened_again_after_s"] > 0


def test_a_store_of_other_posts_is_not_measured(posts: Path, tmp_path: Path) -> None:
    measured(posts, "--store", str(tmp_path / "window"))
    write_posts(generate("templates", 10_000, TEXTS, seed=13), posts)
    with pytest.raises(SystemExit, match="filled from another file"):
        measured(posts, "--store", str(tmp_path / "window"))


@pytest.mark.parametrize(("setting", "posts", "least"), [("exact", 20_000, 1.0), ("short", 40_000, 0.98)])
def test_the_index_finds_what_is_planted(setting: str, posts: int, least: float) -> None:
    lines: list[str] = []
    live_index.main([setting, "--posts", str(posts), "--windows", "2.2", "--measured", "96"], lines.append)
    printed = "\n".join(lines)
    found = re.search(r"found +([0-9.]+)", printed)
    assert found
    assert float(found[1]) >= least
    assert f"texts       {posts:,}" in printed


@pytest.mark.slow
def test_both_parts_are_measured_also_on_a_store_that_is_there(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("stream", 700, TEXTS, seed=14), posts)
    files = ["--corpus", str(posts), "--store", str(tmp_path / "window"), "--window", "600"]
    briefly = ["--seconds", "0.2", "--warm-up", "0.1", "--connections", "8", "--batch", "16"]
    service_load.main([*files, *briefly])
    service_load.main([*files, *briefly])
    filled, several, again, last = map(json.loads, capfd.readouterr().out.splitlines())
    assert (filled["posts_a_request"], several["posts_a_request"]) == (1, 16)
    assert several["posts_per_second"] > 0
    assert filled["kept_in_window"] <= 600
    assert again["kept_in_window"] > filled["kept_in_window"]
    assert [part["errors"] for part in (filled, several, again, last)] == [0] * 4
