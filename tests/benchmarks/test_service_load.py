"""The measurement of the service works from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.corpora import generate, read_texts, write_posts
from tests.benchmarks.service_load import main


def test_both_parts_are_measured_without_errors(capfd: pytest.CaptureFixture[str]) -> None:
    """One post a request, and several; on a small window and for a moment."""
    main(["--window", "300", "--seconds", "0.3", "--connections", "8", "--batch", "16"])

    single, several = map(json.loads, capfd.readouterr().out.splitlines())
    assert (single["errors"], several["errors"]) == (0, 0)
    assert (single["posts_a_request"], several["posts_a_request"]) == (1, 16)
    assert several["posts_per_second"] > 0


def test_a_store_that_is_there_is_served_as_it_is(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The second run sends the posts after those that it was told the store has, and fills nothing."""
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("stream", 700, read_texts(), seed=14), posts)
    command = ["--corpus", str(posts), "--store", str(tmp_path / "window"), "--seconds", "0.2", "--connections", "2"]
    main([*command, "--window", "600"])
    main([*command, "--window", "600"])

    filled, _, again, last = map(json.loads, capfd.readouterr().out.splitlines())
    assert filled["kept_in_window"] <= 600
    assert again["kept_in_window"] > filled["kept_in_window"]
    assert (again["errors"], last["errors"]) == (0, 0)


def test_posts_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    """The message says how many posts were left out."""
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("stream", 60, read_texts(), seed=15), posts)

    with pytest.raises(SystemExit, match="no posts after the first 60"):
        main(["--corpus", str(posts), "--window", "60"])
