"""Names of outputs: what cannot be a file, or would hold something else than its name says, is refused beforehand."""

import gzip
import re
from pathlib import Path

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, jsonl, write_posts

DEDUPE = ["dedupe", "posts.jsonl"]
PAIRS = ["evaluate", "pairs.jsonl"]
FILES = [
    [*DEDUPE, "-o"],
    *([*DEDUPE, "-o", "-", option] for option in ("--removed", "--clusters", "--bad", "--summary", "--report")),
    [*DEDUPE, "--mark", "-o"],
    [*DEDUPE, "-o", "-", "--save-recipe"],
    ["learn", "posts.jsonl", "-o"],
    ["label", "posts.jsonl", "-o"],
    ["tune", "pairs.jsonl", "-o"],
    ["tune", "pairs.jsonl", "-o", "mine.yaml", "--wrong"],
    [*PAIRS, "--wrong"],
]
"""Each command up to the name of an output."""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    write_posts(tmp_path / "posts.jsonl", REPEATED, OTHER, NEARLY)
    (tmp_path / "pairs.jsonl").write_text(jsonl({"a": REPEATED, "b": NEARLY, "label": 1}), "utf-8")
    (tmp_path / "there").mkdir()


@pytest.mark.parametrize("arguments", FILES, ids=" ".join)
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("new/", " new/ names a directory; name a file in it, such as "),
        ("there", " there names a directory; name a file in it, such as "),
        ("", " is empty text; name a file. Perhaps a"),
        ("file.pdf", r" file\.pdf: .*not written as \."),
        ("file.XLSX.gz", r" file\.XLSX\.gz: .*(not written as \.|not compressed; leave out \.gz, as in file\.)"),
    ],
)
def test_what_cannot_be_an_output_is_refused(run: Run, arguments: list[str], name: str, fault: str) -> None:
    assert re.search(f"error: {arguments[-1]}{fault}", failed(run, *arguments, name))


@pytest.mark.parametrize("name", ["new/.", "there/", "there/..", ".", ".."])
def test_a_directory_may_have_any_name(run: Run, name: str) -> None:
    assert f"-o {name} names a directory" in failed(run, *DEDUPE, "-o", name)


@pytest.mark.parametrize(
    ("option", "name", "ending"),
    [
        ("--summary", "summary.jsonl", ".json"),
        ("--report", "report.json", ".html"),
        ("--removed", "removed.html", ".parquet"),
        ("--clusters", "clusters.txt", ".csv"),
        ("--bad", "bad.csv", ".txt"),
        ("--save-recipe", "recipe.yaml", ".npz"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_the_message_lists_the_endings_that_will_do(
    run: Run, option: str, name: str, ending: str, more: list[str]
) -> None:
    """A dry run says what the run would."""
    said = failed(run, *DEDUPE, option, name, *more)
    assert ending in said.split("ends in ")[1].replace(",", "").split()


def test_a_spreadsheet_is_made_by_the_command_of_the_message(run: Run) -> None:
    said = failed(run, *DEDUPE, "-o", "my posts.xlsx")
    line = "pandas.read_json('my posts.jsonl', lines=True).to_excel('my posts.xlsx', index=False)"
    assert f'python -c "import pandas; {line}"' in said
    assert "pandas.read_csv('removed.csv').to_excel(" in failed(run, *DEDUPE, "--removed", "removed.xlsx")
    Path("posts.xlsx").touch()
    line = "pandas.read_excel('posts.xlsx').to_csv('posts.csv', index=False)"
    assert f'Or convert it: python -c "import pandas; {line}"' in failed(run, "dedupe", "posts.xlsx")


def test_names_may_be_in_capitals_have_a_date_or_no_suffix_at_all(run: Run, tmp_path: Path) -> None:
    outputs = ("-o", "KEPT.JSONL.GZ", "--removed", "REMOVED.CSV", "--clusters", "clusters.2026-11-27")
    assert run(*DEDUPE, *outputs).code == 0
    assert gzip.decompress((tmp_path / "KEPT.JSONL.GZ").read_bytes()).decode() == jsonl(REPEATED, OTHER)
    assert (tmp_path / "REMOVED.CSV").read_text("utf-8").startswith("row,id,")
    assert (tmp_path / "clusters.2026-11-27").read_text("utf-8").startswith('{"cluster":1,')
    assert run(*DEDUPE, "-o", "kept", "--summary", "summary", "--report", "report").code == 0
    assert (tmp_path / "report").read_bytes().startswith(b"<!doctype html>")
    assert run("learn", "posts.jsonl", "-o", "recipe").code == 0
    assert (tmp_path / "kept").read_text("utf-8") == jsonl(REPEATED, OTHER)


def test_bad_lines_may_be_plain_text(run: Run, tmp_path: Path) -> None:
    with (tmp_path / "posts.jsonl").open("a") as posts:
        posts.write("{broken\n")
    assert run(*DEDUPE, "-o", "-", "--bad", "bad.txt").code == 1
    assert (tmp_path / "bad.txt").read_text("utf-8") == "{broken\n"
