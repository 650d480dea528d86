"""Fields by name, by path, and several as one text: the same in files, lists and data frames."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow
import pyarrow.parquet
import pytest

from hybriddup.data.corpus import Corpus
from hybriddup.data.frames import corpus_from_posts
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import open_inputs
from hybriddup.files.reading import read_corpus
from hybriddup.plugin.manager import create_plugin_manager

POSTS = [
    {"title": "one", "body": "two", "user": {"id": 7, "name": "Ann"}, "a.b": "dotted", "a": {"b": "nested"}},
    {"title": "three", "body": None, "user": {"id": 8, "name": "Bo"}, "a.b": "dots", "a": {"b": "nest"}},
]

WAYS = ["jsonl", "json", "parquet", "list", "pandas", "polars"]


def read(way: str, directory: Path, posts: list[dict[str, Any]], text: str, id: str = "id") -> tuple[list[str], Any]:  # noqa: A002
    """Return the texts and ids of posts that come one way."""
    if way in {"list", "pandas", "polars"}:
        given = {"list": list, "pandas": pd.DataFrame, "polars": pl.DataFrame}[way](posts)
        corpus = corpus_from_posts(given, text, id)
        return corpus.texts, list(corpus.ids)
    path = directory / f"posts.{way}"
    if way == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(posts), path)
    else:
        path.write_text(json.dumps(posts) if way == "json" else "\n".join(map(json.dumps, posts)))
    corpus = read_file(path, Fields(text, id))
    return corpus.texts, list(corpus.ids)


def read_file(path: Path, fields: Fields) -> Corpus:
    with open_inputs([str(path)], create_plugin_manager(entry_points=False).registry) as inputs:
        return read_corpus(inputs, fields)[0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("posts", "text", "id_field", "found"),
    [
        (POSTS, "title", "id", (["one", "three"], [0, 1])),
        (POSTS, "user.name", "id", (["Ann", "Bo"], [0, 1])),
        (POSTS, "a.b", "id", (["dotted", "dots"], [0, 1])),
        (POSTS, "title + body", "id", (["one\ntwo", "three"], [0, 1])),
        (POSTS, "user.name+title", "id", (["Ann\none", "Bo\nthree"], [0, 1])),
        (POSTS, "title", "user.id", (["one", "three"], [7, 8])),
        ([{"a + b": "x", "a": "y", "b": "z"}], "a + b", "id", (["x"], [0])),
    ],
)
def test_texts_and_ids_are_found_by_name_then_by_path_and_texts_put_together(
    tmp_path: Path, way: str, posts: list[dict[str, Any]], text: str, id_field: str, found: Any
) -> None:
    assert read(way, tmp_path, posts, text, id_field) == found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "id"), [("user.nick", "id"), ("nick", "id"), ("title + nick", "id"), ("title", "user.nick")]
)
def test_a_field_that_no_post_has_is_refused(tmp_path: Path, way: str, text: str, id: str) -> None:  # noqa: A002
    with pytest.raises(InputError, match="nick"):
        read(way, tmp_path, POSTS, text, id)


@pytest.mark.parametrize("way", ["jsonl", "list"])
def test_some_posts_may_lack_one_of_several_fields(tmp_path: Path, way: str) -> None:
    posts = [{"title": "one"}, {"body": "two"}, {"title": "", "body": "three", "id": 5}]
    assert read(way, tmp_path, posts, "title + body") == (["one", "two", "three"], [0, 1, 5])


def test_columns_of_csv_are_put_together(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("user.id,title,body\n7,one,two\n8,,three\n")
    corpus = read_file(tmp_path / "posts.csv", Fields("title + body", "user.id"))
    assert (corpus.texts, list(corpus.ids)) == (["one\ntwo", "three"], ["7", "8"])


def test_a_part_that_is_no_text_is_a_bad_line_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text('{"title": "one", "body": "two"}\n{"title": "one", "body": [2]}\n')
    corpus = read_file(tmp_path / "posts.jsonl", Fields("title + body"))
    assert [bad.reason for bad in corpus.bad_records] == ["field 'body' is not a string but a list"]
    assert corpus.texts == ["one\ntwo"]


def test_values_to_order_by_are_found_by_their_path(tmp_path: Path) -> None:
    posts = [{"text": "a", "stats": {"likes": 3}}, {"text": "b", "stats": None}]
    (tmp_path / "posts.jsonl").write_text("\n".join(map(json.dumps, posts)))
    corpus = read_file(tmp_path / "posts.jsonl", Fields(order=("stats.likes",)))
    assert corpus.order_values == {"stats.likes": [3, None]}
    assert corpus_from_posts(posts[:1], "text", "id", ["stats.likes"]).order_values == {"stats.likes": [3]}
