"""Errors of the command line: one message, exit code 2, nothing written, no traceback unless asked for."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, distinct_texts, failed, jsonl, write_posts


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.jsonl"], "error: absent.jsonl cannot be read: No such file or directory."),
        ([".", "-o", "kept.csv"], "several inputs must have the same format"),
        (["posts.jsonl", "posts.txt", "-o", "kept.txt"], "several inputs must have the same format"),
        (["posts.jsonl", "posts.jsonl"], "2 inputs, and no -o: name one file for all kept posts, with -o KEPT."),
        (["empty", "--format", "xml"], "reader 'xml' is not known"),
        (["empty"], "empty holds no file of posts (known: .csv, "),
        (
            ["posts.jsonl", "-o", "kept.csv"],
            "-o kept.csv: posts keep the format of the input, jsonl, and are not written as .csv; name a",
        ),
        (
            ["posts.jsonl", "--id-field", "mid"],
            "posts.jsonl:1: field 'mid' is missing (fields: 'text'); not one record",
        ),
        (["posts.csv", "--text-field", "body", "--id-field", "mid"], "posts.csv:1: no column is called 'mid'; the col"),
        (
            ["posts.jsonl", "--text-field", "text + more"],
            "posts.jsonl:1: field 'more' is missing (fields: 'text'); not",
        ),
        (["posts.csv", "--text-field", "body + more"], "no column is called 'more'"),
        (["posts.jsonl", "--encoding", "gbk18030"], "encoding 'gbk18030' cannot be read: it is not known, or"),
        (["posts.jsonl", "--encoding", "utf-16"], "encoding 'utf-16' cannot be read"),
        (["posts.jsonl", "--delimiter", "tab"], "--delimiter is for csv and tsv, but the inputs are jsonl"),
        (["posts.csv", "--delimiter", "--"], "--delimiter must be one character"),
        (["mine.yaml"], "mine.yaml: cannot infer the format from the file name (known: .csv, "),
        (["-", "-"], "standard input can be read once only"),
        (["posts.jsonl", "--format", "xml"], "reader 'xml' is not known"),
        (["posts.jsonl", "--config", "wiebo"], "Did you mean 'weibo'?"),
        (["posts.jsonl", "--plugin", "absent_module"], "absent_module"),
        (["posts.jsonl", "-o", "posts.jsonl", "--force"], "-o posts.jsonl is also an input"),
        (["posts.jsonl", "-o", "posts.txt"], "posts.txt exists already; replace it with --force"),
        (["posts.jsonl", "--removed", "posts.kept.jsonl"], "-o and --removed both write to posts.kept.jsonl"),
        (["posts.jsonl", "--dry-run", "--summary", "summary.json"], "use --summary - to print it"),
        (["posts.csv"], "posts.csv:1: no column is called 'text'; the columns are 'id', 'body'"),
        (["posts.csv", "other.csv", "-o", "c.csv"], "other.csv has other columns than posts.csv"),
        (["quote.csv", "--bad", "bad.csv"], "quote.csv:3: lines 3 to 4: an opened quote"),
        (["short.jsonl.gz"], "short.jsonl.gz ends in the middle of its gz data"),
        (["posts.jsonl", "--dry-run", "--report", "r.html"], "--report r.html is a file, but --dry-run writes none"),
        (["posts.jsonl", "--report", "posts.txt"], "posts.txt exists already; replace it with --force"),
        (
            ["posts.jsonl", "--max-line", "much"],
            "--max-line must be a number of bytes of at least 1, such as 1500000000, 1.5GB or 512MiB; got 'much'.",
        ),
        (["posts.jsonl", "--workers", "0"], "--workers"),
        ([], "Missing argument"),
    ],
)
def test_an_error_is_one_message_and_nothing_is_written(
    run: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    write_posts(tmp_path / "posts.jsonl", OTHER)
    (tmp_path / "posts.txt").write_text(OTHER, "utf-8")
    (tmp_path / "posts.csv").write_text("id,body\n1,a\n", "utf-8")
    (tmp_path / "other.csv").write_text("text\na\n", "utf-8")
    (tmp_path / "quote.csv").write_text('text\na\n"b\nc\n', "utf-8")
    (tmp_path / "short.jsonl.gz").write_bytes(bytes.fromhex("1f8b0800"))
    (tmp_path / "mine.yaml").touch()
    (tmp_path / "empty").mkdir()
    assert message in failed(run, "dedupe", *arguments)


def test_outputs_are_checked_before_anything_is_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "posts.kept.jsonl").touch()
    assert "exists already" in failed(run, "dedupe", "posts.jsonl")


@pytest.mark.parametrize("arguments", [[], ["--dry-run"]])
def test_a_text_field_that_no_record_has_is_an_error_that_names_the_fields(
    run: Run, tmp_path: Path, arguments: list[str]
) -> None:
    """An empty output would look like a success."""
    (tmp_path / "posts.jsonl").write_text('broken\n{"id": 1, "body": "a"}\n{"id": 2, "body": "b"}\n', "utf-8")
    message = failed(run, "dedupe", "posts.jsonl", *arguments)
    assert "posts.jsonl:2: field 'text' is missing (fields: 'id', 'body'); not one record is a post." in message
    assert "--text-field" in message


def test_a_record_without_the_text_field_is_a_bad_line_where_others_have_it(run: Run, tmp_path: Path) -> None:
    write_posts(tmp_path / "a.jsonl", {"body": "a"})
    write_posts(tmp_path / "b.jsonl", OTHER)
    assert run("dedupe", "a.jsonl", "b.jsonl", "--quiet", "-o", "c.jsonl").code == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("posts.jsonl", '{"text": "a", "likes": 1}\n{"text": "b", "likes": 2}\n'),
        ("posts.csv", "text,likes\na,1\nb,2\n"),
        ("posts.txt", "a\nb\n"),
    ],
)
def test_a_field_of_keep_highest_that_no_post_has_is_an_error(
    run: Run, tmp_path: Path, name: str, content: str
) -> None:
    """Which post is kept would be another than asked for."""
    (tmp_path / name).write_text(content, "utf-8")
    (tmp_path / "liked.yaml").write_text("keep: {highest: likess}\n", "utf-8")
    message = failed(run, "dedupe", name, "--config", "liked.yaml")
    assert "keep: {highest: likess} needs posts with the field 'likess', but not one of 2 has it" in message


def test_a_full_disk_is_an_error_that_leaves_outputs_as_they_were(run: Run, tmp_path: Path) -> None:
    """A limit on file sizes plays the full disk."""
    name = write_posts(tmp_path / "posts.jsonl", *distinct_texts(5000))
    (tmp_path / "kept.jsonl").write_bytes(b"before")
    run("dedupe", write_posts(tmp_path / "few.jsonl", REPEATED, NEARLY), "--dry-run")  # compiles and caches kernels
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        message = failed(run, "dedupe", name, "-o", "kept.jsonl", "--force", "--quiet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert message.startswith("error: kept.jsonl could not be written: File too large.")
    assert (tmp_path / "kept.jsonl").read_bytes() == b"before"


def test_debug_shows_the_traceback_of_an_error(run: Run) -> None:
    for arguments in (["--debug", "dedupe", "absent.jsonl"], ["dedupe", "absent.jsonl", "--debug"]):
        ran = run(*arguments)
        assert ran.code == 2
        assert "Traceback" in ran.err


def test_an_unexpected_error_is_one_message_too(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how to get what a bug report needs."""

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr("hybriddup.run.over_files.run", fail)
    message = failed(run, "dedupe", write_posts(tmp_path / "posts.jsonl", OTHER), "--quiet")
    assert message.splitlines()[0] == "error: unexpected ZeroDivisionError: division by zero"
    assert "--debug" in message


def test_an_input_that_changes_during_the_run_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write_posts(tmp_path / "posts.jsonl", OTHER)
    from hybriddup.run import over_files

    read = over_files.read_posts

    def read_while_another_program_appends(*arguments: Any, **options: Any) -> object:
        found = read(*arguments, **options)
        with (tmp_path / name).open("a") as posts:
            posts.write(jsonl(OTHER))
        return found

    monkeypatch.setattr(over_files, "read_posts", read_while_another_program_appends)
    assert "posts.jsonl changed while it was being deduplicated" in failed(run, "dedupe", name, "--quiet")
