"""Errors of the command line: one message, exit code 2, nothing written, no traceback unless asked for."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import NEARLY, OTHER, Run, failed, jsonl, names, write_posts

FILES: dict[str, str | bytes] = {
    "posts.jsonl": jsonl(OTHER),
    "new.jsonl": jsonl(NEARLY),
    "body.jsonl": 'broken\n{"id": 1, "body": "a"}\n{"id": 2, "body": "b"}\n',
    "liked.jsonl": '{"text": "a", "likes": 1}\n{"text": "b", "likes": 2}\n',
    "array.jsonl": json.dumps([{"text": OTHER}]),
    "page.json": '{"data": [{"id": "1", "text": "a',
    "broken.jsonl": jsonl(OTHER) + "broken\n",
    "posts.txt": OTHER,
    "two.txt": "a\nb\n",
    "posts.csv": "id,body\n1,a\n",
    "other.csv": "text\na\n",
    "comma.csv": "id,text\n1,a\n",
    "semicolon.csv": "id;text\n1;a\n",
    "counted.csv": "text,n_copies\na,1\n",
    "liked.csv": "text,likes\na,1\nb,2\n",
    "quote.csv": 'text\na\n"b\nc\n',
    "old_mac.csv": b"text\rhello\r",
    "short.jsonl.gz": bytes.fromhex("1f8b0800"),
    "mine.yaml": "",
    "liked.yaml": "keep: {highest: likess}\n",
    "pairs.jsonl": jsonl({"a": "p", "b": "q", "label": 0}),
    "answers.jsonl": jsonl({"a": "x", "b": "y", "label": 1}, {"text": "mine"}),
    "apart.jsonl": jsonl("今天天气真好啊", "a quite different matter"),
    "recipe.npz": "mine",
    "empty/": "",
}
NO_BODY = "body.jsonl:2: field 'text' is missing (fields: 'id', 'body'); not one record is a post."
KEEPS_FORMAT = "posts keep the format of the input, jsonl, and are not written as .csv; name a"
NOT_LIKED = "keep: {highest: likess} needs posts with the field 'likess', but not one of 2 has it"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("dedupe absent.jsonl", "error: absent.jsonl cannot be read: No such file or directory."),
        ("dedupe . -o kept.csv", "several inputs must have the same format"),
        ("dedupe posts.jsonl posts.txt -o kept.txt", "several inputs must have the same format"),
        ("dedupe posts.jsonl posts.jsonl", "2 inputs, and no -o: name one file for all kept posts, with -o KEPT."),
        ("dedupe empty --format xml", "reader 'xml' is not known"),
        ("dedupe empty", "empty holds no file of posts (known: .csv, "),
        ("dedupe '' -o kept.jsonl", "an input is empty text"),
        ("dedupe posts.jsonl -o kept.csv", f"-o kept.csv: {KEEPS_FORMAT}"),
        ("dedupe posts.jsonl --id-field mid", "posts.jsonl:1: field 'mid' is missing (fields: 'text'); not one record"),
        ("dedupe posts.csv --text-field body --id-field mid", "posts.csv:1: no column is called 'mid'; the col"),
        (
            "dedupe posts.jsonl --text-field 'text + more'",
            "posts.jsonl:1: field 'more' is missing (fields: 'text'); not",
        ),
        ("dedupe posts.csv --text-field 'body + more'", "no column is called 'more'"),
        ("dedupe posts.jsonl --encoding gbk18030", "encoding 'gbk18030' cannot be read: it is not known, or"),
        ("dedupe posts.jsonl --encoding utf-16", "encoding 'utf-16' cannot be read"),
        ("dedupe posts.jsonl --delimiter tab", "--delimiter is for csv and tsv, but the inputs are jsonl"),
        ("dedupe posts.csv --delimiter=--", "--delimiter must be one character"),
        ("dedupe mine.yaml", "mine.yaml: cannot infer the format from the file name (known: .csv, "),
        ("dedupe - -", "standard input can be read once only"),
        ("dedupe posts.jsonl --format xml", "reader 'xml' is not known"),
        ("dedupe posts.jsonl --config wiebo", "Did you mean 'weibo'?"),
        ("dedupe posts.jsonl --plugin absent_module", "absent_module"),
        ("dedupe posts.jsonl -o posts.jsonl --force", "-o posts.jsonl is also an input"),
        ("dedupe posts.jsonl -o posts.txt", "posts.txt exists already; replace it with --force"),
        ("dedupe absent.jsonl -o posts.txt", "posts.txt exists already"),  # before anything is read
        ("dedupe posts.jsonl --removed posts.kept.jsonl", "-o and --removed both write to posts.kept.jsonl"),
        ("dedupe posts.jsonl --dry-run --summary summary.json", "use --summary - to print it"),
        ("dedupe posts.csv", "posts.csv:1: no column is called 'text'; the columns are 'id', 'body'"),
        ("dedupe body.jsonl", f"{NO_BODY} Name the field with the posts with --text-field"),
        ("dedupe body.jsonl --dry-run", f"{NO_BODY} Name the field with the posts with --text-field"),
        ("dedupe other.csv comma.csv -o c.csv", "comma.csv has other columns than other.csv"),
        ("dedupe comma.csv semicolon.csv -o all.csv", "must have the same delimiter"),
        ("dedupe posts.jsonl array.jsonl -o all.jsonl", "got posts.jsonl (lines), array.jsonl (array)"),
        ("dedupe array.jsonl --encoding gb18030", "but the inputs are json. Convert them to UTF-8"),
        ("dedupe page.json", "page.json:1: not valid JSON"),
        ("dedupe page.json", "Is the file complete?"),
        ("dedupe broken.jsonl --strict --quiet", "error: broken.jsonl:2: not valid JSON"),
        ("dedupe quote.csv --bad bad.csv", "quote.csv:3: lines 3 to 4: an opened quote"),
        ("dedupe old_mac.csv", "its lines end with CR; save it with LF line ends."),
        ("dedupe short.jsonl.gz", "short.jsonl.gz ends in the middle of its gz data"),
        ("dedupe posts.jsonl --dry-run --report r.html", "--report r.html is a file, but --dry-run writes none"),
        ("dedupe posts.jsonl --report posts.txt", "posts.txt exists already; replace it with --force"),
        (
            "dedupe posts.jsonl --max-line much",
            "--max-line must be a number of bytes of at least 1, such as 1500000000, 1.5GB or 512MiB; got 'much'.",
        ),
        ("dedupe posts.jsonl --workers 0", "--workers"),
        ("dedupe", "Missing argument"),
        ("dedupe posts.txt --mark", "the format 'lines' has no room; use --removed FILE"),
        ("dedupe counted.csv --counts", "posts have a field 'n_copies' already"),
        ("dedupe posts.txt --counts", "--counts writes fields into each post"),
        ("dedupe posts.jsonl --authors nobody", "--authors nobody: not one post has this field"),
        ("dedupe liked.jsonl --config liked.yaml", NOT_LIKED),
        ("dedupe liked.csv --config liked.yaml", NOT_LIKED),
        ("dedupe two.txt --config liked.yaml", NOT_LIKED),
        ("dedupe new.jsonl --against ./new.jsonl", "--against ./new.jsonl is also an input"),
        ("dedupe - --against -", "--against - is also an input"),
        ("dedupe new.jsonl --against nowhere", "nowhere cannot be read: No such file or directory."),
        ("dedupe new.jsonl --against absent.jsonl", "absent.jsonl cannot be read: No such file or directory."),
        ("dedupe new.jsonl --against posts.jsonl -f -o posts.jsonl", "posts.jsonl is also an input; the input is"),
        ("dedupe posts.jsonl -o duckdb:///posts.duckdb?table=posts", "tables of duckdb are not read or written"),
        ("label posts.jsonl -o -", "-o -: the next call has to read the answers again; name a file."),
        ("label posts.jsonl -o posts.jsonl", "-o posts.jsonl is also an input"),
        ("label posts.jsonl -o nowhere/answers.jsonl", "there is no directory"),
        ("label posts.jsonl -o answers.jsonl", "answers.jsonl:2: not an answer of `hybriddup label`"),
        ("label apart.jsonl -o new_answers.jsonl", "no two of the posts have anything in common"),
        ("learn posts.jsonl -o recipe.npz", "recipe.npz exists already; replace it with --force"),
        ("learn recipe.npz -o recipe.npz --force --format lines", "-o recipe.npz is also an input"),
        ("tune pairs.jsonl -o liked.yaml", "liked.yaml exists already"),
        ("tune pairs.jsonl -o pairs.jsonl --force", "-o pairs.jsonl is also an input"),
        ("evaluate pairs.jsonl --wrong answers.jsonl", "answers.jsonl exists already; replace it with --force"),
        ("evaluate pairs.jsonl --wrong pairs.jsonl --force", "--wrong pairs.jsonl is also an input"),
        ("tune pairs.jsonl -o tuned.yaml", "got 0 and 1. Judge more pairs."),
        ("config init wiebo", "no shipped configuration is called 'wiebo'. Did you mean 'weibo'?"),
        ("warm-up wiebo", "'wiebo' is neither a file nor a shipped configuration. Did you mean 'weibo'?"),
    ],
)
def test_an_error_is_one_message_and_nothing_is_written(run: Run, tmp_path: Path, command: str, message: str) -> None:
    """An empty output, or one that keeps other posts than was meant, would look like a success."""
    for name, content in FILES.items():
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in failed(run, *shlex.split(command))


def test_a_record_without_the_text_field_is_a_bad_line_where_others_have_it(run: Run, tmp_path: Path) -> None:
    write_posts(tmp_path / "a.jsonl", {"body": "a"})
    write_posts(tmp_path / "b.jsonl", OTHER)
    assert run("dedupe", "a.jsonl", "b.jsonl", "--quiet", "-o", "c.jsonl").code == 1


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
    ran = run("dedupe", name, "--quiet")
    assert (ran.code, names(tmp_path)) == (2, [name])
    assert "posts.jsonl changed while it was being deduplicated" in ran.err
