"""Comparing with peers: rounds, ratios and tables from small runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import peers
from tests.benchmarks.corpora import generate, read_texts, write_posts
from tests.benchmarks.peers import BASELINE, Measured, as_markdown, summarize
from tests.benchmarks.sampled_recall import sampled_score
from tests.benchmarks.tools import TOOLS

MODULES = {"rensa_rapidfuzz": "rensa", "simhash3": "simhash", "simhash6": "simhash"}


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """A small corpus."""
    path = tmp_path / "posts.jsonl"
    write_posts(generate("copies", 250, read_texts(), seed=9), path)
    return path


def measured(tool: str, seconds: list[float], n_posts: int = 1000, **more: Any) -> Measured:
    """A tool that was measured."""
    memory = {"peak_mb": [300.0], "over_texts_mb": [n_posts / 10]}
    return Measured(tool, "posts", n_posts, seconds, **(memory | {"recall": 0.99, "precision": 1.0} | more))


def test_ratio_is_the_median_of_ratios_within_rounds() -> None:
    rows = [measured("hybriddup", [1.0, 10.0, 2.0]), measured(BASELINE, [2.0, 20.0, 3.0])]
    for row in rows:
        summarize(row, rows)
    assert (rows[0].ratios, rows[0].ratio) == ([2.0, 2.0, 1.5], 2.0)
    assert rows[0].posts_per_s == 500
    assert rows[1].ratio == 1.0


def test_failed_tools_have_no_rate() -> None:
    rows = [measured("hybriddup", [1.0]), measured(BASELINE, [], failed="over 600 s")]
    for row in rows:
        summarize(row, rows)
    assert (rows[0].ratio, rows[1].posts_per_s) == (None, None)
    assert "| rensa + rapidfuzz | over 600 s |" in as_markdown(rows)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_finds_equal_posts_and_leaves_different_ones(tool: str) -> None:
    pytest.importorskip(MODULES.get(tool, tool), reason="peers need the extra bench")
    texts = [
        "the early train was late again",
        "what is for lunch today?",
        "the early train was late again",
        "春眠不觉晓处处闻啼鸟",
    ]
    assert TOOLS[tool](texts, "benchmark")[0].removed.tolist() == [False, False, True, False]


@pytest.mark.slow
def test_program_measures_in_processes_of_their_own(
    posts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "results.json"
    peers.main([str(posts), "--tools", "hybriddup", "--rounds", "2", "-o", str(output), "--names", "small posts"])
    (row,) = json.loads(output.read_text("utf-8"))["results"]
    texts = read_texts(posts)
    exact = sampled_score(texts, TOOLS["hybriddup"](texts, "benchmark")[0], sample=250)
    assert (row["n_posts"], len(row["seconds"]), row["recall_interval"]) == (250, 2, None)
    assert (row["recall"], row["precision"]) == pytest.approx((exact.recall.share, exact.precision.share), abs=1e-5)
    assert "small posts (250)" in capsys.readouterr().out
