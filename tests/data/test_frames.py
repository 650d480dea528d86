"""Posts from lists and data frames, and removed posts as a data frame."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hybriddup.data.frames import corpus_from_posts, removed_to_pandas, removed_to_polars, take_posts
from hybriddup.data.records import Removed
from hybriddup.errors import HybriddupError, InputError

COLUMNS = {"text": ["早上好", "lunch?", ""], "id": [7, 8, 9], "likes": [3, 1, 2]}
DICTS = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)]


def read(posts: Any, order_field: str | None = None, **fields: str) -> Any:
    order_fields = () if order_field is None else (order_field,)
    return corpus_from_posts(posts, fields.get("text_field", "text"), fields.get("id_field", "id"), order_fields)


ODD = [*COLUMNS["text"], "\ud800", "a\0b"]


@pytest.mark.parametrize(
    ("make", "texts"),
    [
        *((make, ODD) for make in (list, tuple, iter, lambda texts: (text for text in texts))),
        *((make, COLUMNS["text"]) for make in (np.array, pd.Series, pl.Series)),
    ],
)
def test_texts_in_any_ordered_container_are_posts(make: Any, texts: list[str]) -> None:
    corpus = read(make(texts))
    assert (corpus.texts, set(map(type, corpus.texts))) == (texts, {str})
    assert list(corpus.ids) == corpus.rows.tolist() == list(range(len(texts)))
    assert corpus.n_rows == len(texts)


@pytest.mark.parametrize("posts", [DICTS, pd.DataFrame(COLUMNS, index=[5, 5, 2]), pl.DataFrame(COLUMNS)])
@pytest.mark.parametrize("id_field", ["id", "likes"])
def test_dicts_and_data_frames_bring_ids_and_order(posts: Any, id_field: str) -> None:
    corpus = read(posts, "likes", id_field=id_field)
    assert (corpus.texts, corpus.rows.tolist(), list(corpus.ids)) == (COLUMNS["text"], [0, 1, 2], COLUMNS[id_field])
    assert [list(values) for values in corpus.order_values.values()] == [[3, 1, 2]]


@pytest.mark.parametrize("posts", [[], (), pd.DataFrame({"text": []}), pl.DataFrame({"text": []})])
def test_no_posts_are_an_empty_corpus(posts: Any) -> None:
    corpus = read(posts)
    assert corpus.texts == []
    assert corpus.rows.dtype == np.int64


@pytest.mark.parametrize(
    "posts",
    [
        pd.DataFrame({"text": ["a", None]}),
        pd.DataFrame({"text": ["a", float("nan")]}, dtype=object),
        pd.DataFrame({"text": pd.array(["a", pd.NA], dtype="string")}),
        pl.DataFrame({"text": ["a", None]}),
        [{"text": "a"}, {"text": None}],
        [{"text": "a"}, {"text": float("nan")}],
    ],
    ids=["None", "NaN", "NA", "polars", "mapping", "mapping with NaN"],
)
def test_values_that_stand_for_none_are_posts_without_text(posts: Any) -> None:
    assert read(posts).texts == ["a", ""]


@pytest.mark.parametrize(
    ("posts", "message"),
    [
        ("one text", r"got str 'one text'\. A list with one text is \[text\]\."),
        (b"bytes", r"got bytes b'bytes'"),
        ({"text": "a"}, r"got dict\. A list with one post is \[post\]\."),
        ({"a", "b"}, r"got set, which has no order"),
        (None, r"got None\."),
        (3, r"got int 3\."),
        (pl.LazyFrame(COLUMNS), r"got LazyFrame\. Collect it"),
        (["a", 5], r"posts\[1\] must be a string.*got int 5\."),
        (["a", None], r"posts\[1\] must be a string.*got None\."),
        (["a", b"bytes"], r"posts\[1\] must be a string.*got bytes"),
        ([["a"]], r"posts\[0\] must be a string, or a mapping with the field 'text'; got list\."),
        (["a", {"text": "b"}], r"posts\[1\] must be a string.*got dict"),
        ([{"text": "a"}, "b"], r"posts\[1\] is str 'b', but posts\[0\] is a mapping"),
        ([{"text": "a"}, {"body": "b", "id": 1}], r"posts\[1\] has no field 'text' \(fields: 'body', 'id'\)"),
        ([{"text": 1.5}], r"posts\[0\]\['text'\] must be a string; got float 1\.5\."),
        (pd.DataFrame({"text": ["a", 7]}), r"row 1 of column 'text' must be a string; got int 7"),
        (pd.DataFrame({"body": ["a"]}), r"has no column 'text' \(columns: 'body'\).*text_field"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), r"has 2 columns named 'text'"),
        ("x" * 1_000_000, r"got str 'x{40}'\.\.\.\. A list"),
    ],
)  # fmt: skip
def test_posts_of_the_wrong_kind_are_refused_with_their_place(posts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(posts)


@pytest.mark.parametrize(
    ("posts", "fields", "message"),
    [
        ([{"text": "a"}], {"id_field": "post_id"}, r"'post_id'.*id_field"),
        (pd.DataFrame({"text": ["a"]}), {"id_field": "post_id"}, r"'post_id'.*id_field"),
        (pl.DataFrame({"text": ["a"]}), {"id_field": "post_id"}, r"'post_id'.*id_field"),
        ([{"text": "a", "likes": 1}, {"text": "b"}], {"order_field": "likes"}, r"'likes'.*keep: highest"),
        (pd.DataFrame({"text": ["a"]}), {"order_field": "likes"}, r"'likes'.*keep: highest"),
        (["a"], {"order_field": "likes"}, r"keep: \{highest: likes\} needs posts with fields.*first, last or longest"),
    ],
)
def test_field_that_was_asked_for_must_be_there(posts: Any, fields: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(posts, **fields)


def removed_post(text: str, row: int = 1) -> Removed:
    return Removed(row, f"id {row}", text, 0, "id 0", "kept", "near", 3, "edit", 0.9, 0.8, "7-20", "weibo", "0a")


TO_FRAME = [pytest.param(removed_to_pandas, id="pandas"), pytest.param(removed_to_polars, id="polars")]


@pytest.mark.parametrize("to_frame", TO_FRAME)
def test_removed_posts_become_a_data_frame_of_their_fields(to_frame: Any) -> None:
    frame = to_frame([removed_post("早上好\ud800"), replace(removed_post("早上好。", 2), id=2**70)])
    empty = to_frame([])
    assert list(frame.columns) == [
        "row", "id", "text", "keeper_row", "duplicate_of", "keeper_text", "reason",
        "hamming_distance", "verifier", "score", "threshold", "length_band", "config", "recipe_id",
        "keeper_source",
    ]  # fmt: skip
    assert frame["text"].to_list() == ["早上好\ud800", "早上好。"]
    assert frame["id"].to_list() == ["id 1", 2**70]
    assert list(empty.columns) == list(frame.columns)
    for number in ("row", "keeper_row", "hamming_distance", "score", "threshold"):
        assert empty[number].dtype == frame[number].dtype


@pytest.mark.parametrize(("library", "to_frame"), [("pandas", removed_to_pandas), ("polars", removed_to_polars)])
def test_missing_library_is_said_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, library: str, to_frame: Any
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(HybriddupError, match=f"pip install {library}"):
        to_frame([])


@pytest.mark.parametrize(
    "make",
    [
        *(list, tuple, np.array, pl.Series),
        lambda texts: pd.Series(texts, [5, 5, 2]),
        lambda texts: pl.DataFrame({"a": texts}),
    ],
)
@pytest.mark.parametrize("rows", [[0, 2], []])
def test_taken_posts_have_the_type_that_was_given(make: Any, rows: list[int]) -> None:
    posts = make(["a", "b", "c"])
    taken = take_posts(posts, rows, 3)
    assert type(taken) is type(posts)
    column = taken["a"] if isinstance(taken, pl.DataFrame) else taken
    assert list(column) == [["a", "b", "c"][row] for row in rows]
    if isinstance(taken, pd.Series):
        assert taken.index.tolist() == [[5, 5, 2][row] for row in rows]


def test_taken_posts_of_a_data_set_are_selected() -> None:
    """As those of Hugging Face, which are no sequences of Python."""

    class DataSet:
        def __len__(self) -> int:
            return 3

        def select(self, rows: list[int]) -> list[str]:
            return [f"selected {row}" for row in rows]

    assert take_posts(DataSet(), [0, 2], 3) == ["selected 0", "selected 2"]


@pytest.mark.parametrize(
    ("posts", "message"),
    [
        (["a"], "dedupe was given 3 posts, and these are 1; give the same posts"),
        (iter("abc"), "posts must be a list of strings.* got str_ascii_iterator"),
        ("abc", "posts must be a list of strings.* got str 'abc'"),
        ({"text": "a", "b": 1, "c": 2}, "posts must be a list of strings.* got dict"),
    ],
)
def test_posts_that_cannot_be_the_same_are_refused(posts: Any, message: str) -> None:
    """By their number, or because they can be read once only."""
    with pytest.raises(InputError, match=message):
        take_posts(posts, [0, 2], 3)
