"""`hybriddup dedupe`: from files to files."""

import gzip
import json
import os
import re
from pathlib import Path

import pytest

import hybriddup
from hybriddup.errors import InputError
from hybriddup.run.over_files import default_output
from tests.cli import support
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, jsonl, names, read_objects, write_posts

FIELDS_OF_REMOVED = [
    "row", "id", "text", "keeper_row", "duplicate_of", "keeper_text", "reason",
    "hamming_distance", "verifier", "score", "threshold", "length_band", "config", "recipe_id",
]  # fmt: skip


# What is written

CSV = f'id,body\n1,"{REPEATED}"\n2,{NEARLY}\n3,"{OTHER}\n"\n'
HELLO = b'{ "n":1.0, "text" : "\\u4f60\\u597d", "more": [1,  2]}\r\n'
HALVES = b'{"text": "half an emoji \\ud83d"}\n'


@pytest.mark.parametrize(
    ("name", "content", "kept"),
    [
        ("posts.jsonl", jsonl(REPEATED, OTHER, NEARLY).encode(), jsonl(REPEATED, OTHER).encode()),
        ("posts.jsonl", HELLO + '{"text": "你好"}\n'.encode(), HELLO),
        ("posts.jsonl", HALVES * 2 + b'{"text": "nul \\u0000 nul"}\n', HALVES + b'{"text": "nul \\u0000 nul"}\n'),
        ("posts.txt", f"{REPEATED}\n{OTHER}\n{NEARLY}\n".encode(), f"{REPEATED}\n{OTHER}\n".encode()),
        ("posts.csv", CSV.encode(), CSV.replace(f"2,{NEARLY}\n", "").encode()),
    ],
    ids=["objects", "spelling", "lone surrogates and NUL", "lines", "a table"],
)
def test_kept_posts_are_written_beside_the_input_byte_for_byte(
    run: Run, tmp_path: Path, name: str, content: bytes, kept: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert run("dedupe", name, *["--text-field", "body"] * name.endswith("csv")).code == 0
    output = tmp_path / name.replace("posts", "posts.kept")
    assert (output.read_bytes(), names(tmp_path)) == (kept, sorted([name, output.name]))


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("posts.jsonl", "posts.kept.jsonl"),
        ("a/posts.jsonl.gz", "a/posts.kept.jsonl.gz"),
        ("/data/week.1.csv.zst", "/data/week.1.kept.csv.zst"),
        ("posts", "posts.kept"),
        ("-", "-"),
        (os.devnull, "-"),
    ],
)
def test_the_default_output_keeps_the_endings_of_the_input(name: str, kept: str) -> None:
    assert default_output(name) == kept


def test_removed_posts_name_the_kept_post_and_the_evidence(run: Run, tmp_path: Path) -> None:
    posts = [{"id": "a", "text": REPEATED}, {"id": "b", "text": OTHER}, {"id": "c", "text": NEARLY}]
    name = write_posts(tmp_path / "posts.jsonl", *posts, {"id": "d", "text": OTHER})
    run("dedupe", name, "--removed", "removed.jsonl")
    near, exact = read_objects(tmp_path / "removed.jsonl")
    assert list(near) == FIELDS_OF_REMOVED
    found = (near["row"], near["id"], near["keeper_row"], near["duplicate_of"], near["reason"])
    assert found == (2, "c", 0, "a", "near")
    assert near["score"] >= near["threshold"]
    assert (exact["row"], exact["duplicate_of"], exact["reason"]) == (3, "b", "exact")
    assert (near["keeper_text"], exact["keeper_text"]) == (REPEATED, OTHER)
    assert (near["config"], exact["config"]) == ("posts", "posts")


def test_several_files_are_one_corpus_with_rows_over_all(run: Run, tmp_path: Path) -> None:
    """The kept posts of all go to one output, which must be named: ``*.jsonl`` would take another for an input."""
    first = write_posts(tmp_path / "monday.jsonl", REPEATED, OTHER)
    second = write_posts(tmp_path / "tuesday.jsonl", "今天的股票又跌了，大家怎么看这件事", NEARLY)
    run("dedupe", first, second, "-o", "week.jsonl", "--removed", "removed.jsonl")
    (removed,) = read_objects(tmp_path / "removed.jsonl")
    assert (removed["row"], removed["id"], removed["keeper_row"]) == (3, 3, 0)
    assert len(read_objects(tmp_path / "week.jsonl")) == 3


def test_the_format_can_be_named(run: Run) -> None:
    ran = run("dedupe", "-", "--format", "lines", stdin=f"{REPEATED}\n{NEARLY}\n".encode())
    assert ran.out == f"{REPEATED}\n"


def test_an_output_may_have_any_name_where_the_format_is_named(run: Run, tmp_path: Path) -> None:
    """Otherwise its name must not be that of another format than the input's, in which it is written."""
    ran = run("dedupe", write_posts(tmp_path / "posts.csv", OTHER), "-o", "kept.csv", "--format", "jsonl")
    assert ran.code == 0
    assert (tmp_path / "kept.csv").read_text("utf-8") == jsonl(OTHER)


EMPTY = {
    "posts.jsonl": b"",
    "posts.csv": b"",
    "posts.tsv": b"id\ttext\n",
    "posts.txt": b"",
    "posts.json": b"[]\n",
    "posts.jsonl.gz": b"",
    "blank.jsonl": b"\n \n\n",
}
"""Files without posts, by their names."""


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_file_gives_an_empty_output_and_a_note(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(EMPTY[name])
    ran = run("dedupe", name, "-o", "kept", "--removed", "removed.jsonl", "--summary", "summary.json")
    assert ran.code == 0
    assert (tmp_path / "kept").read_bytes() == EMPTY[name].replace(EMPTY["blank.jsonl"], b"")
    assert (tmp_path / "removed.jsonl").read_bytes() == b""
    assert json.loads((tmp_path / "summary.json").read_bytes())["n_read"] == 0
    assert f"note: no posts in {name}.\n" in ran.err


def test_empty_files_among_others_are_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "feed").mkdir()
    for name in ("monday", "tuesday"):
        (tmp_path / "feed" / f"{name}.jsonl").touch()
    write_posts(tmp_path / "feed" / "wednesday.jsonl", REPEATED)
    (tmp_path / "old.csv").write_text("id,text\n")
    ran = run("dedupe", "feed", "-o", "-", "--against", "old.csv")
    assert (ran.code, ran.out) == (0, jsonl(REPEATED))
    assert "note: no posts in feed/monday.jsonl, feed/tuesday.jsonl.\n" in ran.err
    assert "note: --against old.csv has no posts, so nothing was compared with it.\n" in ran.err
    assert "note: no posts in standard input.\n" in run("dedupe", "-", stdin=b"").err


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_is_learned_from_an_empty_file(run: Run, tmp_path: Path, name: str) -> None:
    """A recipe of no posts would weigh every word alike."""
    (tmp_path / name).write_bytes(EMPTY[name])
    said = failed(run, "learn", name, "-o", "recipe.npz")
    assert said == f"error: no posts in {name}; there is nothing to learn from.\n"
    with pytest.raises(InputError, match="posts is empty; there is nothing to learn from"):
        hybriddup.learn([])


def test_the_field_of_keep_highest_is_read(run: Run, tmp_path: Path) -> None:
    """The post with the most likes stays, though it came later."""
    (tmp_path / "liked.yaml").write_text("keep: {highest: likes}\n", "utf-8")
    posts = [{"text": REPEATED, "likes": 9}, {"text": NEARLY, "likes": 10}, {"text": OTHER}]
    ran = run("dedupe", write_posts(tmp_path / "posts.jsonl", *posts), "--config", "liked.yaml")
    assert (tmp_path / "posts.kept.jsonl").read_text("utf-8") == jsonl(*posts[1:])
    assert "1 post has no 'likes'; any post that has one is kept first." in ran.err


def test_a_run_goes_by_the_threshold(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", REPEATED, OTHER, NEARLY)
    strict = run("dedupe", name, "--threshold", "0.999", "-o", "-")
    assert (strict.code, strict.out.count("\n")) == (0, 3)
    bands = "".join(f"up to {length} characters: post 0.999; " for length in (4, 15, 40)) + "longer: post 0.999"
    assert f"note: --threshold: {bands}.\n" in strict.err
    run("dedupe", name, "--threshold", "0.3", "-o", "-", "--removed", "removed.jsonl", "--summary", "summary.json")
    (removed,) = read_objects(tmp_path / "removed.jsonl")
    assert removed["threshold"] == 0.3
    summary = json.loads((tmp_path / "summary.json").read_bytes())
    assert summary["settings"]["lengths"][1]["verifier"]["threshold"] == 0.3
    explained = json.loads(run("explain", "--file", "removed.jsonl", "--row", "2", "--json").out)
    assert explained["threshold"] == 0.3


# What is said

FAULTS = jsonl({"id": "a", "text": REPEATED}, NEARLY, OTHER, OTHER) + "broken\n"
ONE_BAD = (
    "1 bad line: neither kept nor removed; save them with --bad FILE\n"
    "  posts.jsonl:5: not valid JSON (Expecting value at character 1)\n"
)
KEPT = "Removed 2 of 4 (50.0 %): 1 exact, 1 near. Kept 2 in posts.kept.jsonl.\n"
NO_IDS = "note: 3 posts have no 'id'; the row serves as id.\n"
DRY = ["--dry-run", "--removed", "removed.jsonl", "--bad", "bad.jsonl"]
WOULD = "Would remove 1 of 2 (50.0 %): 0 exact, 1 near. Would keep 1. Dry run: nothing was written.\n"
NO_TEXT = "Removed none of 2. Kept 1 in posts.kept.jsonl. Left out 1 without text.\n"


@pytest.mark.parametrize(
    ("posts", "options", "said"),
    [
        (FAULTS, [], f"{KEPT}{ONE_BAD}{NO_IDS}"),
        (jsonl(OTHER, ""), ["-c", "drop.yaml"], NO_TEXT),
        (jsonl(REPEATED, NEARLY), DRY, WOULD),
        (FAULTS, ["--quiet"], ONE_BAD),
    ],
)
def test_the_last_lines_say_what_became_of_the_posts(
    run: Run, tmp_path: Path, posts: str, options: list[str], said: str
) -> None:
    (tmp_path / "drop.yaml").write_text("without_text: drop\n")
    (tmp_path / "posts.jsonl").write_text(posts, "utf-8")
    ran = run("dedupe", "posts.jsonl", *options)
    assert (ran.out, ran.err) == ("", said)
    kept = [] if "--dry-run" in options else ["posts.kept.jsonl"]
    assert names(tmp_path) == ["drop.yaml", "posts.jsonl", *kept]


def test_limits_that_were_hit_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "narrow.yaml").write_text("blocks: {use: shingles, max_bucket_size: 1}\nkeep: first\n")
    texts = [f"the weather in this town today is number {word}" for word in support.distinct_texts(40)]
    ran = run("dedupe", write_posts(tmp_path / "posts.jsonl", *texts), "-c", "narrow.yaml")
    assert re.search(r"^Limits hit, so that repeats may have been missed: max_bucket_size \d+ times\.$", ran.err, re.M)


def test_a_verbose_run_shows_tables_of_counts_steps_and_settings(run: Run, tmp_path: Path) -> None:
    """As plain lines away from a terminal, before the outcome."""
    ran = run("dedupe", write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER, OTHER), "-v")
    labels = ["read", "exact repeats", "near repeats", "kept", "bad lines", "candidate pairs", "verified pairs"]
    labels += ["largest bucket", "limits hit", "stage-1 recall", "recipe id", "config", "fingerprint", "write"]
    assert [label for label in labels if f"\n{label}  " not in f"\n{ran.err}"] == []
    assert ran.err.splitlines()[-1].startswith("Removed 2 of 4")
    assert "\x1b" not in ran.err


def test_the_summary_for_machines_has_counts_settings_and_bad_records(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text(jsonl(REPEATED, NEARLY) + "broken\n", "utf-8")
    run("dedupe", "posts.jsonl", "--summary", "summary.json")
    summary = json.loads((tmp_path / "summary.json").read_bytes())
    assert (summary["n_read"], summary["n_near"], summary["n_kept"], summary["n_bad_lines"]) == (2, 1, 1, 1)
    assert summary["config"] == "posts"
    assert summary["settings"]["fingerprint"] == {"bits": 128}
    assert summary["bad_records"][0]["line"] == 3
    steps = [timing["step"] for timing in summary["timings"]]
    assert (steps[0], steps[-1]) == ("read", "write")


def test_the_summary_for_machines_can_go_to_standard_output(run: Run, tmp_path: Path) -> None:
    ran = run("dedupe", write_posts(tmp_path / "posts.jsonl", OTHER), "--summary", "-", "--quiet")
    assert json.loads(ran.out)["n_kept"] == 1


def test_a_file_name_that_is_not_utf8_goes_into_the_summary_for_machines(run: Run, tmp_path: Path) -> None:
    """As Python spells such names; bad records name the file as well."""
    name = os.fsdecode(b"posts\xff.jsonl")
    (tmp_path / name).write_text(jsonl(OTHER) + "broken\n", "utf-8")
    assert run("dedupe", name, "-o", "kept.jsonl", "--summary", "summary.json", "--quiet").code == 1
    summary = json.loads((tmp_path / "summary.json").read_bytes())
    assert (summary["inputs"], summary["bad_records"][0]["source"]) == ([name], name)


# Bad lines


def test_bad_lines_are_counted_and_shown_and_the_run_goes_on(run: Run, tmp_path: Path) -> None:
    lines = [jsonl(REPEATED), "broken\n", jsonl({"id": 1}), jsonl({"text": 5}), jsonl(NEARLY), jsonl(OTHER)]
    (tmp_path / "posts.jsonl").write_text("".join(lines), "utf-8")
    ran = run("dedupe", "posts.jsonl", "--quiet")
    assert ran.code == 1
    assert ran.err.splitlines() == [
        "3 bad lines: neither kept nor removed; save them with --bad FILE",
        "  posts.jsonl:2: not valid JSON (Expecting value at character 1)",
        "  posts.jsonl:3: field 'text' is missing (fields: 'id')",
        "  posts.jsonl:4: field 'text' is not a string but a number",
    ]
    assert (tmp_path / "posts.kept.jsonl").read_text("utf-8") == jsonl(REPEATED, OTHER)


def test_only_the_first_bad_lines_are_shown(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text("broken\n" * 1000 + jsonl(OTHER), "utf-8")
    ran = run("dedupe", "posts.jsonl", "--quiet")
    assert len(ran.err.splitlines()) == 7
    assert "and 995 more" in ran.err


def test_bad_lines_can_be_saved_as_they_are(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_bytes(jsonl(REPEATED).encode() + b'{"text": "\xff"}\r\nbroken')
    ran = run("dedupe", "posts.jsonl", "--bad", "bad.jsonl")
    assert (tmp_path / "bad.jsonl").read_bytes() == b'{"text": "\xff"}\r\nbroken'
    assert "2 bad lines: saved in bad.jsonl" in ran.err


@pytest.mark.parametrize("strict", [False, True])
def test_a_line_has_a_limit(run: Run, tmp_path: Path, strict: bool) -> None:
    content = jsonl(OTHER, "x" * 3000, REPEATED).encode()
    (tmp_path / "posts.jsonl.gz").write_bytes(gzip.compress(content))
    ran = run("dedupe", "posts.jsonl.gz", "-o", "kept.jsonl", "-q", "--max-line", "2 KB", *["--strict"] * strict)
    assert "posts.jsonl.gz:2: longer than 2,000 bytes, the limit that --max-line sets" in ran.err
    assert ran.code == (2 if strict else 1)
    assert names(tmp_path) == (["posts.jsonl.gz"] if strict else ["kept.jsonl", "posts.jsonl.gz"])
