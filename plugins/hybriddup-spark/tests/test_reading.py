"""`hybriddup spark dedupe` reads the lines that `hybriddup dedupe` reads, and orders them by the same values."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hybriddup_spark.job import perform
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from hybriddup.cli.app import app
from hybriddup.errors import InputError

SAMPLES = Path(__file__).parents[3] / "tests" / "samples" / "posts.jsonl"


def spark(*inputs: Path, output: Path, order_by: str = "n", **options: Any) -> dict[str, Any]:
    """Run the command in the session of the tests; return the summary."""
    settings = {"config": "weibo", "text_field": "text", "id_field": "id", "format_name": None, "work": None}
    more = {"plugins": [], "quiet": False}
    perform(list(map(str, inputs)), str(output), order_by=[order_by], **{**settings, **more, **options})
    summary: dict[str, Any] = json.loads(next((output / "summary").glob("part-*")).read_text(encoding="utf-8"))
    return summary


def rows(session: SparkSession, folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a result."""
    found: list[dict[str, Any]] = session.read.parquet(str(folder)).toArrow().to_pylist()
    return found


def write_csv(path: Path, table: list[dict[str, Any]]) -> None:
    """Write posts with a header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)


def test_tables_are_decided_as_on_one_machine(
    session: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a column of numbers, those of one digit first, among posts one of which has no text."""
    texts = [json.loads(line)["text"] for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    posts = [{"n": row, "id": f"p{row}", "text": text} for row, text in enumerate(["", *texts])]
    write_csv(tmp_path / "posts.csv", posts)
    local = ["dedupe", tmp_path / "posts.csv", "-o", tmp_path / "kept.csv", "--removed", tmp_path / "removed.jsonl"]
    assert CliRunner().invoke(app, [*map(str, local), "--quiet"]).exit_code == 0
    removed = map(json.loads, (tmp_path / "removed.jsonl").read_text(encoding="utf-8").splitlines())
    write_csv(tmp_path / "shuffled.csv", sorted(posts, key=lambda post: str(post["text"])))
    summary = spark(tmp_path / "shuffled.csv", output=tmp_path / "out")
    found = {row["id"]: row["duplicate_of"] for row in rows(session, tmp_path / "out" / "removed")}
    assert found == {post["id"]: post["duplicate_of"] for post in removed}
    assert (summary["n_bad"], summary["n_without_text"] > 0) == (0, True)
    assert summary["compared_as"] == {"n": "numbers"}
    assert "'n' was compared as numbers." in capsys.readouterr().err


def test_lines_with_other_numbers_of_fields_are_bad(session: SparkSession, tmp_path: Path) -> None:
    """Too many and too few; they are written as they came. The others are decided, with line ends in their texts."""
    lines = [
        "id,text,n",
        '1,"good\nmorning, everybody",5',
        "2,too many,6,7,8",
        "3,too few",
        "4,good morning everybody,9",
    ]
    (tmp_path / "posts.csv").write_text("\n".join(lines), encoding="utf-8")
    summary = spark(tmp_path / "posts.csv", output=tmp_path / "out", config="twitter")
    bad = rows(session, tmp_path / "out" / "bad")
    assert sorted(row["_corrupt_record"].strip() for row in bad) == lines[2:4]
    kept, removed = (rows(session, tmp_path / "out" / name) for name in ("kept", "removed"))
    assert kept == [{"id": "1", "text": "good\nmorning, everybody", "n": "5"}]
    assert [row["id"] for row in removed] == ["4"]
    assert (summary["n_read"], summary["n_bad"], summary["n_near"]) == (2, 2, 1)


def test_tables_with_different_columns_are_refused(session: SparkSession, tmp_path: Path) -> None:
    """Spark would read the second one by the places of the columns."""
    assert session.version
    (tmp_path / "a.csv").write_text("id,text,n\n1,good morning everybody,5\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("text,id,n\nwhat is for lunch,2,6\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"files with different columns: .*[ab]\.csv\. Give them the same columns"):
        spark(tmp_path / "a.csv", tmp_path / "b.csv", output=tmp_path / "out")


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        (
            "a.csv",
            ["id,Text,text,n,text"],
            "a.csv: columns 'Text' and 'text' and 'text': Spark cannot distinguish them",
        ),
        (
            "a.csv",
            ["id,text,n,_corrupt_record"],
            "a.csv: column '_corrupt_record' has the name of the column in which Spark",
        ),
        ("a.csv", [""], "a.csv: is empty; a CSV file begins with the names of its columns."),
        ("a.jsonl", ['{"text": "a", "Text": "b"}'], "spark.sql.caseSensitive=true pyspark-shell"),
        ("a.jsonl", ['{"text": "a", "user": {"id": 1, "Id": 2}}'], "a.jsonl: cannot be read: [COLUMN_ALREADY_EXISTS]"),
    ],
)
def test_names_that_come_twice_are_refused(
    session: SparkSession, tmp_path: Path, name: str, lines: list[str], message: str
) -> None:
    """Spark would give such columns of tables other names."""
    assert session.version
    (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        spark(tmp_path / name, output=tmp_path / "out")
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_table_of_pandas_has_a_column_without_a_name(session: SparkSession, tmp_path: Path) -> None:
    """That of its index, which Spark calls _c0."""
    (tmp_path / "a.csv").write_text(",text,score\n0,good morning,5\n1,good morning,10\n", encoding="utf-8")
    spark(tmp_path / "a.csv", output=tmp_path / "out", id_field="_c0", order_by="score")
    (removed,) = rows(session, tmp_path / "out" / "removed")
    assert (removed["_c0"], removed["duplicate_of"], removed["post_score"], removed["score"]) == ("1", "0", "10", 1.0)
