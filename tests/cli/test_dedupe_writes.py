"""What `hybriddup dedupe` writes: marks, counts, removed posts as tables, clusters; and what repeats other files."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

import hybriddup
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, jsonl, read_objects, write_posts, write_table

POSTS = [
    {"id": "a", "text": REPEATED},
    {"id": "b", "text": OTHER},
    {"id": "c", "text": NEARLY},
    {"id": "d", "text": "good morning, everybody"},
    {"id": "e", "text": OTHER},
]
OF = {"a": (None, 1), "b": (None, 2), "c": ("a", 1), "d": (None, None), "e": ("b", 2)}
"""Whose duplicate each is, and in which cluster."""


def read_table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, those of CSV with numbers read as such and empty fields as None."""
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
        return rows
    if path.suffix == ".jsonl":
        return read_objects(path)
    text = path.read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ","))
    return [{name: _read_cell(cell) for name, cell in row.items()} for row in rows]


def _read_cell(cell: str) -> Any:
    if cell == "":
        return None
    try:
        return json.loads(cell)
    except ValueError:
        return cell


FORMATS = ["jsonl", "csv", "tsv", "parquet"]


# Marks


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_marks_are_in_the_encoding_and_with_the_delimiter_of_the_posts(run: Run, tmp_path: Path, ending: str) -> None:
    posts = [{"id": f"帖{post['id']}", "text": post["text"]} for post in POSTS]
    rows = "".join(f"{post['id']};{post['text']}\n" for post in posts)
    content = "id;text\n" + rows if ending == "csv" else jsonl(*posts)
    (tmp_path / f"posts.{ending}").write_bytes(content.encode("gb18030"))
    options = ["--delimiter", ";"] if ending == "csv" else []
    ran = run("dedupe", f"posts.{ending}", "--mark", "--encoding", "gb18030", *options)
    assert ran.code == 0, ran.err
    text = (tmp_path / f"posts.marked.{ending}").read_bytes().decode("gb18030")
    lines = text.splitlines()
    marked = list(csv.DictReader(lines, delimiter=";")) if ending == "csv" else list(map(json.loads, lines))
    assert [post["duplicate_of"] or None for post in marked] == [None, None, "帖a", None, "帖b"]


def test_posts_repeat_those_of_other_files_only_within_their_group(run: Run, tmp_path: Path) -> None:
    old = [{"id": name, "text": OTHER, "user": user} for name, user in (("o", "ann"), ("p", "bo"))]
    write_posts(tmp_path / "old.jsonl", *old)
    new = [{"id": name, "text": OTHER, "user": name} for name in ("ann", "bo", "cy")]
    write_posts(tmp_path / "new.jsonl", *new)
    ran = run("dedupe", "new.jsonl", "--against", "old.jsonl", "--per", "user", "--removed", "removed.jsonl")
    assert ran.code == 0, ran.err
    removed = [(post["id"], post["duplicate_of"]) for post in read_objects(tmp_path / "removed.jsonl")]
    assert removed == [("ann", "o"), ("bo", "p")]


@pytest.mark.parametrize("ending", FORMATS)
def test_marked_posts_are_all_there_with_their_keeper_score_and_cluster(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_table(tmp_path / f"posts.{ending}", POSTS)
    ran = run("dedupe", name, "--mark")
    assert ran.code == 0, ran.err
    marked = read_table(tmp_path / f"posts.marked.{ending}")
    assert [{"id": post["id"], "text": post["text"]} for post in marked] == POSTS
    assert [list(post) for post in marked] == [["id", "text", "duplicate_of", "score", "cluster", "n_copies"]] * 5
    assert {post["id"]: (post["duplicate_of"], post["cluster"]) for post in marked} == OF
    assert [post["score"] for post in marked if post["duplicate_of"] is None] == [None] * 3
    assert 0.5 < marked[2]["score"] < marked[4]["score"] == 1.0
    assert f"Marked 2 of 5 (40.0 %): 1 exact, 1 near. Wrote all 5 in posts.marked.{ending}." in ran.err


def test_marks_leave_the_bytes_of_a_json_line_as_they_are(run: Run, tmp_path: Path) -> None:
    line = '{ "n":1.0, "text" : "\\u4f60\\u597d", "id": "a}", "user": {"score": 1} }'
    (tmp_path / "posts.jsonl").write_text(f'{line}\r\n\n{{"text": "你好", "id": 7}}', "utf-8")
    assert run("dedupe", "posts.jsonl", "--mark", "-o", "-", "-q").out == (
        f'{line[:-1]},"duplicate_of":null,"score":null,"cluster":1,"n_copies":1}}\n'
        '{"text": "你好", "id": 7,"duplicate_of":"a}","score":1.0,"cluster":1,"n_copies":null}\n'
    )


def test_marks_of_rows_that_span_lines_stand_behind_them(run: Run, tmp_path: Path) -> None:
    """Line ends of the table stay; several files go under one header; bad rows are left out."""
    (tmp_path / "a.csv").write_bytes(f'id,text\r\n"x,1","{REPEATED}\n"\r\nbad\r\n2,{OTHER}'.encode())
    (tmp_path / "b.csv").write_bytes(f"id,text\n3,{NEARLY}\n".encode())
    run("dedupe", "a.csv", "b.csv", "--mark", "-o", "all.csv")
    content = (tmp_path / "all.csv").read_bytes().decode()
    head, rest = content.split("\r\n", 1)
    assert head == "id,text,duplicate_of,score,cluster,n_copies"
    assert rest.startswith(f'"x,1","{REPEATED}\n",,,1,1\r\n2,{OTHER},,,,0\n3,{NEARLY},"x,1",')


@pytest.mark.parametrize("ending", FORMATS)
def test_posts_that_have_a_field_of_the_marks_are_not_marked(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_table(tmp_path / f"posts.{ending}", [{**post, "score": 3} for post in POSTS])
    said = failed(run, "dedupe", name, "--mark")
    assert f"error: {name}: posts have a field 'score' already, which --mark or --counts would write" in said


def test_a_field_of_the_marks_far_down_is_found_too(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS, {"text": "x", "cluster": 1})
    assert "posts have a field 'cluster' already" in failed(run, "dedupe", name, "--mark")


def test_posts_left_out_for_having_no_text_are_marked_as_duplicates_of_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "drop.yaml").write_text("without_text: drop\n")
    name = write_posts(tmp_path / "posts.jsonl", "", "http://example.com/1", OTHER)
    ran = run("dedupe", name, "--mark", "-c", "drop.yaml", "-o", "-")
    assert [post["duplicate_of"] for post in map(json.loads, ran.out.splitlines())] == [None] * 3


# Removed posts and clusters as tables


@pytest.mark.parametrize("ending", FORMATS)
def test_removed_posts_are_a_table_of_the_format_that_the_name_says(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    run("dedupe", name, "-o", "-", "--removed", f"removed.{ending}")
    run("dedupe", name, "-o", "-", "--removed", "expected.json")
    removed = read_table(tmp_path / f"removed.{ending}")
    assert removed == read_objects(tmp_path / "expected.json")
    assert [(post["row"], post["duplicate_of"]) for post in removed] == [(2, "a"), (4, "b")]


@pytest.mark.parametrize("ending", FORMATS)
def test_clusters_hold_the_posts_that_belong_together(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    run("dedupe", name, "-o", "-", "--clusters", f"clusters.{ending}")
    clusters = read_table(tmp_path / f"clusters.{ending}")
    assert [tuple(post.values()) for post in clusters] == [
        (1, 0, "a", True), (1, 2, "c", False), (2, 1, "b", True), (2, 4, "e", False),
    ]  # fmt: skip
    assert list(clusters[0]) == ["cluster", "row", "id", "keeper"]


def test_tables_are_compressed_as_their_names_say(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    run("dedupe", name, "-o", "-", "--clusters", "clusters.csv.gz")
    content = gzip.decompress((tmp_path / "clusters.csv.gz").read_bytes()).decode()
    assert content.splitlines()[:2] == ["cluster,row,id,keeper", "1,0,a,true"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_ids_of_several_kinds_are_text_in_a_table(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_posts(tmp_path / "posts.jsonl", {"id": "a", "text": OTHER}, {"id": ["b"], "text": OTHER})
    (tmp_path / "more.jsonl").write_text(json.dumps({"id": "\ud83d", "text": OTHER}) + "\n", "utf-8")
    run("dedupe", name, "more.jsonl", "-o", "-", "--clusters", f"clusters.{ending}")
    ids = [post["id"] for post in read_table(tmp_path / f"clusters.{ending}")]
    assert ids == ["a", ["b"] if ending == "csv" else "['b']", "\\ud83d"]
    name = write_posts(tmp_path / "numbers.jsonl", {"id": 7, "text": OTHER}, {"id": 2**40, "text": OTHER})
    run("dedupe", name, "-o", "-", "--clusters", f"numbers.{ending}")
    assert [post["id"] for post in read_table(tmp_path / f"numbers.{ending}")] == [7, 2**40]


# Against other files


def test_what_repeats_a_post_of_another_file_goes(run: Run, tmp_path: Path) -> None:
    old = write_table(tmp_path / "old.csv", [{"id": "x", "text": "today"}, {"id": "y", "text": REPEATED}] * 2)
    before = (tmp_path / "old.csv").read_bytes()
    new = write_posts(tmp_path / "new.jsonl", *POSTS)
    run_of = ("dedupe", new, "--against", old, "--removed", "removed.jsonl", "--clusters", "clusters.jsonl")
    ran = run(*run_of, "--summary", "summary.json")
    assert (ran.code, (tmp_path / "old.csv").read_bytes()) == (0, before)
    assert [post["id"] for post in read_objects(tmp_path / "new.kept.jsonl")] == ["b", "d"]
    removed = read_objects(tmp_path / "removed.jsonl")
    named = ("keeper_source", "keeper_row", "duplicate_of", "keeper_text")
    keepers = [[post[name] for name in named] for post in removed]
    assert keepers == [["old.csv", 1, "y", REPEATED], ["old.csv", 1, "y", REPEATED], [None, 1, "b", OTHER]]
    assert [tuple(post.values()) for post in read_objects(tmp_path / "clusters.jsonl")] == [
        (1, 1, "y", True, "old.csv"), (1, 0, "a", False, None), (1, 2, "c", False, None),
        (2, 1, "b", True, None), (2, 4, "e", False, None),
    ]  # fmt: skip
    assert "Removed 3 of 5 (60.0 %): 2 exact, 1 near; 2 of them repeat old.csv. Kept 2 in new.kept.jsonl." in ran.err
    summary = json.loads((tmp_path / "summary.json").read_bytes())
    assert (summary["n_read"], summary["n_against"], summary["n_removed_against"]) == (5, 4, 2)
    assert (summary["inputs"], summary["against"]) == ([new], [old])


def test_the_command_and_python_agree_on_what_repeats_other_posts(run: Run, tmp_path: Path) -> None:
    first = write_posts(tmp_path / "first.jsonl", {"id": "x", "text": OTHER})
    second = write_posts(tmp_path / "second.jsonl", {"id": "y", "text": REPEATED}, {"id": "z", "text": OTHER})
    name = write_posts(tmp_path / "posts.jsonl", *POSTS)
    ran = run("dedupe", name, "--against", first, "--against", second, "--mark", "-o", "-", "-q")
    marked = [json.loads(line) for line in ran.out.splitlines()]
    assert {post["id"]: (post["duplicate_of"], post["cluster"]) for post in marked} == {
        "a": ("y", 2), "b": ("x", 1), "c": ("y", 2), "d": (None, None), "e": ("x", 1),
    }  # fmt: skip
    old = [*read_objects(tmp_path / "first.jsonl"), *read_objects(tmp_path / "second.jsonl")]
    result = hybriddup.dedupe(POSTS, against=old)
    assert [post.duplicate_of for post in result.removed] == ["y", "x", "y", "x"]


def test_bad_lines_of_other_files_are_noted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text(jsonl(REPEATED) + "broken\n", "utf-8")
    name = write_posts(tmp_path / "new.jsonl", NEARLY)
    ran = run("dedupe", name, "--against", "old.jsonl")
    assert ran.code == 0
    assert "note: old.jsonl has 1 bad line, skipped in the comparison; the first is 2: not valid JSON" in ran.err
    assert run("dedupe", name, "--against", "old.jsonl", "--strict", "-f").code == 2


SIGNED: list[dict[str, Any]] = [
    {"id": "a", "text": REPEATED, "at": "2026-01-07T13:00:00+08:00", "user": "ann"},
    {"id": "b", "text": OTHER, "at": "", "user": ""},
    {"id": "c", "text": NEARLY, "at": "1767762060", "user": "bo"},
    {"id": "d", "text": REPEATED, "at": "2026-01-06T05:00:00Z", "user": "ann"},
]
SEEN = {"n_copies": 2, "first_seen": "2026-01-06T05:00:00Z", "last_seen": "2026-01-07T05:01:00Z"}
UNSEEN = {"n_copies": 0, "first_seen": None, "last_seen": None}


def test_kept_posts_say_how_often_when_and_by_whom(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *SIGNED)
    assert run("dedupe", name, "--authors", "user", "--time-field", "at").code == 0
    kept = [SIGNED[0] | SEEN | {"authors": ["ann", "bo"]}, SIGNED[1] | UNSEEN | {"authors": []}]
    assert read_objects(tmp_path / "posts.kept.jsonl") == kept
    assert run("dedupe", name, "--counts", "-f").code == 0
    assert read_objects(tmp_path / "posts.kept.jsonl") == [SIGNED[0] | {"n_copies": 2}, SIGNED[1] | {"n_copies": 0}]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_marked_posts_have_the_counts_too(run: Run, tmp_path: Path, ending: str) -> None:
    name = write_table(tmp_path / f"posts.{ending}", SIGNED)
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


def test_older_posts_are_no_copies(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", *SIGNED)
    old = write_posts(tmp_path / "old.jsonl", SIGNED[0])
    assert run("dedupe", name, "--against", old, "--counts", "--time-field", "at").code == 0
    assert read_objects(tmp_path / "posts.kept.jsonl") == [SIGNED[1] | UNSEEN]


def test_python_has_the_counts_of_kept_posts() -> None:
    result = hybriddup.dedupe([REPEATED, OTHER, NEARLY, REPEATED])
    assert result.n_copies.tolist() == [2, 0]
    assert hybriddup.dedupe([REPEATED, NEARLY, OTHER], against=[REPEATED]).n_copies.tolist() == [0]


def test_counts_are_of_the_right_posts_after_one_that_is_dropped(run: Run, tmp_path: Path) -> None:
    (tmp_path / "drop.yaml").write_text("without_text: drop\n")
    name = write_posts(tmp_path / "posts.jsonl", SIGNED[0] | {"text": "", "user": "cy"}, *SIGNED)
    assert run("dedupe", name, "-c", "drop.yaml", "--authors", "user", "--time-field", "at").code == 0
    kept = [SIGNED[0] | SEEN | {"authors": ["ann", "bo"]}, SIGNED[1] | UNSEEN | {"authors": []}]
    assert read_objects(tmp_path / "posts.kept.jsonl") == kept
