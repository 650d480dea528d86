"""Fields with a fallback, and several fields for `--per`, in every format and in Python."""

from pathlib import Path

import pytest

import hybriddup
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, read_objects, write_posts, write_table

RETWEETS = [
    {"id": 1, "full_text": REPEATED, "city": "x"},
    {"id": 2, "full_text": f"RT @ann: {REPEATED[:5]}…", "retweeted_status": {"full_text": NEARLY}, "city": "x"},
    {"id": 3, "text": NEARLY, "full_text": "", "city": "y"},
    {"id": 4, "text": OTHER, "full_text": None, "city": "x"},
    {"id": 5, "retweeted_status": None, "text": OTHER, "city": "y"},
]
FIELDS = "retweeted_status.full_text | full_text | text"


def test_the_first_field_with_a_text_counts(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *RETWEETS, {"id": 6, "body": OTHER})
    ran = run("dedupe", name, "--text-field", FIELDS)
    assert (ran.code, [post["id"] for post in read_objects(tmp_path / "posts.kept.jsonl")]) == (1, [1, 4])
    assert f"field '{FIELDS}' is missing (fields: 'id', 'body')" in ran.err
    result = hybriddup.dedupe(RETWEETS, text_field=FIELDS)
    assert (result.kept, result.removed[0].text) == ([0, 3], NEARLY)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_columns_that_are_not_there_are_no_alternatives(run: Run, tmp_path: Path, ending: str) -> None:
    posts = [{"long": a, "short": b, "user": u} for a, b, u in [(REPEATED, "x", 1), ("", NEARLY, 1), ("", OTHER, 2)]]
    name = write_table(tmp_path / f"posts.{ending}", posts)
    ran = run("dedupe", name, "--text-field", "absent | long | short", "--removed", "removed.jsonl")
    assert ran.code == 0, ran.err
    assert [post["row"] for post in read_objects(tmp_path / "removed.jsonl")] == [1]
    assert "--text-field" in failed(run, "dedupe", name, "--text-field", "absent | missing", "--force")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_have_alternatives_too(library: str) -> None:
    frames = pytest.importorskip(library)
    texts = {"long": [REPEATED, None, ""], "short": ["x", NEARLY, OTHER]}
    frame = frames.DataFrame({**texts, "a": [1, 1, 2], "b": [3, 3, 3]})
    assert hybriddup.dedupe(frame, text_field="absent | long | short").kept == [0, 2]
    assert hybriddup.dedupe(frame, text_field="long | short", per="a + b").kept == [0, 2]
    with pytest.raises(hybriddup.InputError, match="no column 'absent'"):
        hybriddup.dedupe(frame, text_field="absent | missing")


SCOPES = [
    {"text": REPEATED, "user": {"id": 1}, "city": "x"},
    {"text": NEARLY, "user": {"id": 1}, "city": "y"},
    {"text": NEARLY, "user": {"id": 2}, "city": "x"},
    {"text": NEARLY, "user": {"id": 1}, "city": "x"},
    {"text": OTHER, "user": {"id": 1}},
    {"text": OTHER, "user": {"id": 1}},
]


def test_posts_are_compared_within_the_same_values_of_several_fields(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *SCOPES)
    assert run("dedupe", name, "--per", "user.id + city", "--removed", "removed.jsonl").code == 0
    assert [post["row"] for post in read_objects(tmp_path / "removed.jsonl")] == [3, 5]
    assert hybriddup.dedupe(SCOPES, per="user.id + city").kept == [0, 1, 2, 4]
    said = failed(run, "dedupe", name, "--per", "user.id + town", "-f")
    assert "--per user.id + town needs posts with the field 'town'" in said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_have_scopes_of_several_columns(run: Run, tmp_path: Path, ending: str) -> None:
    posts = [{"text": post["text"], "user": post["user"]["id"], "city": post.get("city")} for post in SCOPES]
    name = write_table(tmp_path / f"posts.{ending}", posts)
    assert run("dedupe", name, "--per", "user + city", "--removed", "removed.jsonl").code == 0
    assert [post["row"] for post in read_objects(tmp_path / "removed.jsonl")] == [3, 5]
