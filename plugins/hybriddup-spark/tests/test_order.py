"""The order of posts in columns of text: that of a run on one machine, also for numbers and times."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pyarrow as pa
import pytest
from hybriddup_spark import SparkResult, dedupe
from hybriddup_spark.order_values import read_value
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import hybriddup
from hybriddup.run.deciding_order import as_number

NUMBERS = ["-20", "-3", "-2.5", "0", " 2", "9", "10", "100.5", "1e3", "176776200", "1767762000", "9007199254740992",
           "9007199254740993"]  # fmt: skip
TIMES = ["2025-12-31", "2026-01-07T13:00:00+08:00", "2026-01-07T06:00:00Z", "Wed Jan 07 15:00:00 +0800 2026",
         "2026-01-07T08:00:00.250Z", "2026-01-10 09:00"]  # fmt: skip
NAMES = ["10 a", "9 b", "A", "a", "é", "你", "😀"]
CASES = [(NUMBERS, "numbers"), (TIMES, "times"), (NAMES, "text")]


def pairs_of(values: list[str]) -> list[dict[str, Any]]:
    """Return posts of which each value has one in common with each other one; the ids are no help."""
    posts = [
        {"text": f"good morning everybody, number {place}", "at": value}
        for place, pair in enumerate(combinations(values, 2))
        for value in pair
    ]
    return [{"id": f"p{(7 * row) % len(posts)}", **post} for row, post in enumerate(posts)]


def kept_values(result: SparkResult) -> set[tuple[str, str]]:
    """Return the value of each keeper with the value of the post that it removed."""
    kept = {row["text"]: row["at"] for row in result.kept.toArrow().to_pylist()}
    return {(kept[row["keeper_text"]], row["at"]) for row in result.removed.toArrow().to_pylist()}


@pytest.mark.parametrize(("values", "kind"), CASES, ids=[kind for _, kind in CASES])
def test_text_is_ordered_as_numbers_and_times_if_it_is_some(
    session: SparkSession, values: list[str], kind: str
) -> None:
    """Of two posts, the one with the smaller value is kept; of a value and none (``N/A``), the one with a value."""
    without = [] if kind == "text" else ["N/A"]
    posts = pairs_of([*values, *without, ""])
    frame = session.createDataFrame(pa.Table.from_pylist(posts[::-1])).repartition(3)
    result = dedupe(frame, config={"normalizer": {"digits": "keep"}, "lengths": [{"exact_only": True}]}, order_by="at")
    expected = {*combinations(values, 2), *((value, none) for value in values for none in (*without, ""))}
    assert expected <= kept_values(result)
    assert result.summary.compared_as == {"at": kind}
    assert result.summary.n_without_value == {"at": sum(post["at"] in (*without, "") for post in posts)}


@pytest.mark.parametrize(("values", "kind"), CASES, ids=[kind for _, kind in CASES])
def test_the_highest_text_is_that_of_a_run(session: SparkSession, values: list[str], kind: str) -> None:
    """As numbers, as times, or as text, with values that are none among them."""
    posts = pairs_of([*values[::2], *([] if kind == "text" else ["N/A"])])
    config = {"keep": {"highest": "at"}, "lengths": [{"exact_only": True}]}
    frame = session.createDataFrame(pa.Table.from_pylist(posts))
    result = dedupe(frame, config=config, order_by="text")
    run = hybriddup.dedupe(posts, config=config)
    assert kept_values(result) == {(posts[one.keeper_row]["at"], posts[one.row]["at"]) for one in run.removed}
    assert result.summary.compared_as["at"] == kind


def test_whole_numbers_are_compared_to_the_last_digit(session: SparkSession) -> None:
    """Ids of tweets have 19 digits; a float has 15."""
    rows = [(str(10**18 + 1), 10**18 + 1, "good morning"), (str(10**18), 10**18, "good morning")]
    frame = session.createDataFrame(rows, "id string, n long, text string")
    for field in ("id", "n"):
        result = dedupe(frame, config={"keep": {"highest": field}}, order_by="text")
        assert [row["n"] for row in result.kept.collect()] == [10**18 + 1]


def test_of_posts_of_one_moment_the_smaller_id_is_earlier(session: SparkSession) -> None:
    """Also if ids are text: 9 before 10, and whole numbers before other ids."""
    ids = ["9", "10", "-3", "b", "a", "100"]
    rows = [(name, f"good morning everybody, {pair}", 1) for pair in combinations(ids, 2) for name in pair]
    frame = session.createDataFrame(rows, "id string, text string, at int")
    result = dedupe(frame, config={"lengths": [{"exact_only": True}]}, order_by="at")
    found = {(row["duplicate_of"], row["id"]) for row in result.removed.toArrow().to_pylist()}
    assert found == set(combinations(["-3", "9", "10", "100", "a", "b"], 2))


@pytest.mark.parametrize("keep", ["first", "last"])
def test_posts_without_a_value_come_last(session: SparkSession, keep: str) -> None:
    """Null and NaN, whether the first or the last post is kept."""
    rows = [("a", None), ("b", float("nan")), ("c", 2.0), ("d", 1.0)]
    frame = session.createDataFrame(
        [(name, "good morning", at) for name, at in rows], "id string, text string, at double"
    )
    result = dedupe(frame, config={"keep": keep}, order_by="at")
    assert [row["id"] for row in result.kept.collect()] == ["d" if keep == "first" else "c"]


@given(st.lists(st.one_of(st.integers(-(10**31), 10**31), st.floats(allow_nan=False)).map(str), min_size=2))
def test_read_numbers_keep_their_order(texts: list[str]) -> None:
    """Whole and other numbers, by their two floats."""
    ordered = sorted(texts, key=as_number)
    read = [read_value(text) for text in ordered]
    assert all(value is not None and value[0] is not None for value in read)
    for (text, value), (later_text, later) in pairwise(zip(ordered, read, strict=True)):
        is_equal = as_number(text) == as_number(later_text)
        assert value[:2] == later[:2] if is_equal else value[:2] < later[:2]
