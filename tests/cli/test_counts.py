"""How often, when and by whom: the fields that `--counts`, `--authors` and `--mark` add."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import hybriddup
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, read_objects, write_posts, write_table

POSTS: list[dict[str, Any]] = [
    {"id": "a", "text": REPEATED, "at": "2026-01-07T13:00:00+08:00", "user": "ann"},
    {"id": "b", "text": OTHER, "at": "", "user": ""},
    {"id": "c", "text": NEARLY, "at": "1767762060", "user": "bo"},
    {"id": "d", "text": REPEATED, "at": "2026-01-06T05:00:00Z", "user": "ann"},
]
SEEN = {"n_copies": 2, "first_seen": "2026-01-06T05:00:00Z", "last_seen": "2026-01-07T05:01:00Z"}
UNSEEN = {"n_copies": 0, "first_seen": None, "last_seen": None}


def test_kept_posts_say_how_often_when_and_by_whom(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    assert run("dedupe", name, "--authors", "user", "--time-field", "at").code == 0
    assert read_objects(tmp_path / "posts.kept.jsonl") == [
        POSTS[0] | SEEN | {"authors": ["ann", "bo"]},
        POSTS[1] | UNSEEN | {"authors": []},
    ]
    assert run("dedupe", name, "--counts", "-f").code == 0
    assert read_objects(tmp_path / "posts.kept.jsonl") == [POSTS[0] | {"n_copies": 2}, POSTS[1] | {"n_copies": 0}]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_marked_posts_have_the_counts_too(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_table(tmp_path / f"posts.{ending}", POSTS)
    ran = run("dedupe", name, "--mark", "--authors", "user", "--time-field", "at", "-o", f"marked.{ending}")
    assert ran.code == 0, ran.err
    if ending == "csv":
        with (tmp_path / "marked.csv").open(encoding="utf-8", newline="") as stream:
            marked: list[dict[str, Any]] = list(csv.DictReader(stream))
        assert [row["n_copies"] for row in marked] == ["2", "0", "", ""]
        assert json.loads(marked[0]["authors"]) == ["ann", "bo"]
    else:
        marked = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "marked.parquet").to_pylist()
        assert [row["n_copies"] for row in marked] == [2, 0, None, None]
        assert marked[0]["authors"] == ["ann", "bo"]
    assert [row["duplicate_of"] or None for row in marked] == [None, None, "a", "a"]
    assert marked[0]["first_seen"] == SEEN["first_seen"]


def test_posts_with_a_field_of_that_name_are_refused(run: Run, tmp_path: Path) -> None:
    """It would be there twice. Formats without fields have no room."""
    name = write_table(tmp_path / "posts.csv", [post | {"n_copies": 1} for post in POSTS])
    assert "posts have a field 'n_copies' already" in failed(run, "dedupe", name, "--counts")
    (tmp_path / "posts.txt").write_text(f"{REPEATED}\n{NEARLY}\n", "utf-8")
    assert "--counts writes fields into each post" in failed(run, "dedupe", "posts.txt", "--counts")
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    assert "--authors nobody: not one post has this field" in failed(run, "dedupe", name, "--authors", "nobody")


def test_older_posts_are_no_copies(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    old = write_posts(tmp_path / "old.jsonl", POSTS[0])
    assert run("dedupe", name, "--against", old, "--counts", "--time-field", "at").code == 0
    assert read_objects(tmp_path / "posts.kept.jsonl") == [POSTS[1] | UNSEEN]


def test_python_has_the_counts_of_kept_posts() -> None:
    result = hybriddup.dedupe([REPEATED, OTHER, NEARLY, REPEATED])
    assert result.n_copies.tolist() == [2, 0]
    assert hybriddup.dedupe([REPEATED, NEARLY, OTHER], against=[REPEATED]).n_copies.tolist() == [0]


def test_counts_are_of_the_right_posts_after_one_that_is_dropped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "drop.yaml").write_text("without_text: drop\n")
    name = write_posts(tmp_path / "posts.jsonl", POSTS[0] | {"text": "", "user": "cy"}, *POSTS)
    assert run("dedupe", name, "-c", "drop.yaml", "--authors", "user", "--time-field", "at").code == 0
    assert read_objects(tmp_path / "posts.kept.jsonl") == [
        POSTS[0] | SEEN | {"authors": ["ann", "bo"]},
        POSTS[1] | UNSEEN | {"authors": []},
    ]
