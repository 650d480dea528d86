"""The measurement of the service works from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.corpora import generate, read_texts, write_posts
from tests.benchmarks.service_load import main


@pytest.mark.slow
def test_both_parts_are_measured_also_on_a_store_that_is_there(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One post a request, and several. The second run fills nothing and sends the posts that the store has not."""
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("stream", 700, read_texts(), seed=14), posts)
    files = ["--corpus", str(posts), "--store", str(tmp_path / "window"), "--window", "600"]
    briefly = ["--seconds", "0.2", "--warm-up", "0.1", "--connections", "8", "--batch", "16"]
    main([*files, *briefly])
    main([*files, *briefly])

    filled, several, again, last = map(json.loads, capfd.readouterr().out.splitlines())
    assert (filled["posts_a_request"], several["posts_a_request"]) == (1, 16)
    assert several["posts_per_second"] > 0
    assert filled["kept_in_window"] <= 600
    assert again["kept_in_window"] > filled["kept_in_window"]
    assert [part["errors"] for part in (filled, several, again, last)] == [0] * 4


@pytest.mark.slow
def test_clients_that_do_not_wait_are_measured(capfd: pytest.CaptureFixture[str]) -> None:
    """So many connections, and posts a request, as are asked for."""
    main(["--window", "50", "--seconds", "0.2", "--warm-up", "0.1", "--eager", "4x8,2x16"])
    parts = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(part["connections"], part["posts_a_request"]) for part in parts] == [(4, 8), (2, 16)]
    assert all(part["posts_per_second"] > 0 for part in parts)


def test_posts_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    """The message says how many posts were left out."""
    posts = tmp_path / "posts.jsonl"
    write_posts(generate("stream", 60, read_texts(), seed=15), posts)

    with pytest.raises(SystemExit, match="no posts after the first 60"):
        main(["--corpus", str(posts), "--window", "60"])
