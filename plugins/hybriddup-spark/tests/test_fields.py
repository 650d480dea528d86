"""Names of columns: those that results use, too, those that a run adds, and those that Spark cannot tell apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hybriddup_spark import dedupe
from pyspark.sql import SparkSession

import hybriddup
from hybriddup.errors import InputError

TEXTS = [
    "你妈妈喊你回家吃饭哦，回家罗回家罗",
    "明天下雨吗",
    "你妈妈叫你回家吃饭啦，回家罗回家罗",
    "明天下雨吗",
]
EVIDENCE = "duplicate_of", "keeper_text", "reason", "hamming_distance", "verifier", "score", "threshold", "length_band"


def posts_with(**columns: list[Any]) -> list[dict[str, Any]]:
    """Return four posts, the last two of which repeat the first two, with more columns."""
    rows = [{"id": f"p{row}", "text": text, "at": row} for row, text in enumerate(TEXTS, 1)]
    return [row | {name: values[place] for name, values in columns.items()} for place, row in enumerate(rows)]


def expected_evidence(posts: list[dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Return why each removed post goes, by id, as a run on one machine has it."""
    return {one.id: tuple(getattr(one, name) for name in EVIDENCE) for one in hybriddup.dedupe(posts).removed}


@pytest.mark.parametrize("values", [[7, 7, 1, 7], ["a", "b", "c", "d"]], ids=str)
def test_a_column_called_keeper_changes_no_keeper(session: SparkSession, values: list[Any]) -> None:
    """Whether its values could be positions or not: all removed posts are there, each with its own keeper."""
    posts = posts_with(keeper=values)
    result = dedupe(session.createDataFrame(pa.Table.from_pylist(posts)), order_by="at")
    removed = {row["id"]: row for row in result.removed.toArrow().to_pylist()}
    assert {name: row["duplicate_of"] for name, row in removed.items()} == {"p3": "p1", "p4": "p2"}
    assert [removed[name]["keeper"] for name in ("p3", "p4")] == values[2:]
    assert result.summary.n_exact + result.summary.n_near == len(removed)


def test_columns_called_as_evidence_are_kept_under_other_names(session: SparkSession, tmp_path: Path) -> None:
    """Kept posts are as they were. Removed posts have the evidence under its names, whatever the case of a user's
    column, and the user's values under names with ``post_``. All of it can be written.
    """
    own = {name: [f"{name} {row}" for row in range(4)] for name in (*EVIDENCE[:-2], "Threshold", "LENGTH_BAND")}
    others = {name: [f"{name} {row}" for row in range(4)] for name in ("position", "number", "part", "count", "config")}
    posts = posts_with(**own, **others)
    result = dedupe(session.createDataFrame(pa.Table.from_pylist(posts)), order_by="at")
    result.write(str(tmp_path))
    kept, removed = (session.read.parquet(str(tmp_path / name)).toArrow() for name in ("kept", "removed"))
    assert sorted(kept.to_pylist(), key=lambda row: row["at"]) == posts[:2]
    names = ["id", "text", "at", *(f"post_{name}" for name in own), *others, *EVIDENCE]
    assert removed.column_names == names
    rows = sorted(removed.to_pylist(), key=lambda row: row["at"])
    as_given = [{name.removeprefix("post_"): row[name] for name in names[: -len(EVIDENCE)]} for row in rows]
    assert as_given == posts[2:]
    assert {row["id"]: tuple(row[name] for name in EVIDENCE) for row in rows} == expected_evidence(posts)


def test_the_columns_that_decide_may_have_any_name(session: SparkSession) -> None:
    """Names of results, of counts, and names with dots and backticks."""
    names = {"id": "count", "text": "score.of `it`", "at": "reason"}
    posts = [{names[name]: value for name, value in post.items()} for post in posts_with()]
    frame = session.createDataFrame(pa.Table.from_pylist(posts))
    result = dedupe(frame, text=names["text"], id="count", order_by="reason", config={"keep": ["longest", "first"]})
    found = {row["count"]: (row["duplicate_of"], row["post_reason"]) for row in result.removed.toArrow().to_pylist()}
    assert found == {"p3": ("p1", 3), "p4": ("p2", 4)}
    assert result.summary.n_repeated_ids == 0


def test_names_that_cannot_be_used_are_refused_before_the_run(session: SparkSession, tmp_path: Path) -> None:
    """All of them in one error, with what to do; nothing is written."""
    columns = ["id", "text", "Text", "_Hybriddup_rank", "score", "post_score", "likes", "likes"]
    frame = session.createDataFrame([(1, "a", "b", 2, 0.5, 1, 2, 3)], columns)
    with pytest.raises(InputError) as refused:
        dedupe(frame, order_by=["at", "tags"], work=str(tmp_path / "work"))
    lines = str(refused.value).splitlines()
    assert [line.split(":")[0] for line in lines] == [
        f"the posts have no column 'at'; they have {', '.join(map(repr, dict.fromkeys(columns)))}.",
        f"the posts have no column 'tags'; they have {', '.join(map(repr, dict.fromkeys(columns)))}.",
        "column '_Hybriddup_rank'",
        "column 'score' is 'post_score' in the removed posts, which have 'post_score' already. Rename or drop one.",
        "columns 'text' and 'Text'",
        "columns 'likes' and 'likes'",
    ]
    assert "spark.sql.caseSensitive" in lines[4]
    assert not (tmp_path / "work").exists()


def test_names_that_differ_in_case_are_two_columns_if_spark_tells_them_apart(session: SparkSession) -> None:
    """By its setting spark.sql.caseSensitive."""
    posts = posts_with(Text=["other words"] * 4, Score=[1.5] * 4, score=[2.5] * 4)
    session.conf.set("spark.sql.caseSensitive", "true")
    try:
        result = dedupe(session.createDataFrame(pa.Table.from_pylist(posts)), order_by="at")
        removed = {row["id"]: row for row in result.removed.toArrow().to_pylist()}
        kept = result.kept.toArrow().to_pylist()
    finally:
        session.conf.unset("spark.sql.caseSensitive")
    assert {name: row["duplicate_of"] for name, row in removed.items()} == {"p3": "p1", "p4": "p2"}
    assert {(row["Text"], row["post_Score"], row["post_score"]) for row in removed.values()} == {
        ("other words", 1.5, 2.5)
    }
    assert sorted(kept, key=lambda row: row["at"]) == posts[:2]
