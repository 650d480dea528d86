"""The measurements of the live window, alone and beside its peer, work from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.benchmarks import window, window_peers
from tests.benchmarks.corpora import generate, read_texts, write_posts
from tests.benchmarks.redis_server import server_version
from tests.benchmarks.window_peers import ENTRIES, Outcome, ratios
from tests.benchmarks.window_peers import main as compare

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
    write_posts(generate("tiny", 10_000, TEXTS, seed=13), posts)

    with pytest.raises(SystemExit, match="filled from another file"):
        measured(posts, "--store", str(tmp_path / "window"))


def test_a_file_that_is_too_short_is_an_error(posts: Path) -> None:
    """The message says how many posts there are."""
    with pytest.raises(SystemExit, match="ends after 8,192 posts"):
        window.main([str(posts), "--posts", "12000", "--store", "memory"])


def test_ratios_are_of_the_window_on_disk() -> None:
    """A peer of half the rate and thrice the memory is at 2 and 3."""
    ours = Outcome(window_peers.WINDOW, 1000, 800, 1.0, 500.0)
    peer = Outcome("datasketch, batches, synced", 1000, 800, 2.0, 1500.0)

    assert ratios([ours, peer]) == {peer.entry: {"rate": 2.0, "memory": 3.0}}
    assert ratios([peer]) == {}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_keeps_one_of_equal_posts(entry: str) -> None:
    """Posts that have nothing in common are kept, and of equal ones that are not sent together the first."""
    if entry.startswith("datasketch"):
        pytest.importorskip("datasketch", reason="peers need the extra bench")
        pytest.importorskip("redis", reason="peers need the extra bench")
        if server_version() is None:
            pytest.skip("the peer needs a redis-server; in Debian it is the package of this name")
    random = Random(11)  # noqa: S311
    texts = ["".join(map(chr, random.choices(range(0x4E00, 0x9000), k=30))) for _ in range(300)]

    outcome = ENTRIES[entry](texts + texts, "benchmark", 60.0)

    assert (outcome.posts, outcome.kept) == (600, 300)


def test_comparison_writes_what_it_measured(posts: Path) -> None:
    """From end to end, with the entries that need nothing else."""
    output = posts.with_name("report.json")
    chosen = [entry for entry in ENTRIES if "batches" in entry and entry.startswith("hybriddup")]
    compare([str(posts), "--rows", "300", "--entries", *chosen, "-o", str(output)])
    report = json.loads(output.read_text("utf-8"))

    assert [entry["entry"] for entry in report["entries"]] == chosen
    assert set(report["times_the_window"]) == set(chosen) - {window_peers.WINDOW}
