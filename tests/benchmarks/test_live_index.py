"""What measures the live index finds what it plants, and says how much."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks.live_index import main


@pytest.mark.parametrize(("setting", "posts", "least"), [("exact", 20_000, 1.0), ("short", 40_000, 0.98)])
def test_the_index_finds_what_is_planted(setting: str, posts: int, least: float) -> None:
    """In a small window that went around once, which stays full."""
    lines: list[str] = []
    main([setting, "--posts", str(posts), "--windows", "2.2", "--measured", "96"], lines.append)
    printed = "\n".join(lines)
    found = re.search(r"found +([0-9.]+)", printed)

    assert found
    assert float(found[1]) >= least
    assert f"texts       {posts:,}" in printed
