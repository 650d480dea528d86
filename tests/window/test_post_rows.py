"""Posts as rows and back: whatever the characters and ids are, and nothing is believed that was not written."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.window.records import Evidence, StoredPost
from hybriddup.window.stores.sqlite_file import TABLES
from hybriddup.window.stores.sqlite_queries import (
    RowError,
    insert_posts,
    post_of,
    posts_at,
    row_of,
    text_from,
)

TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud83d\ude00", "😀", "\x00", "\udc00a"])
IDS = TEXTS | st.integers(-(2**63), 2**63 - 1)
TIMES = st.floats(allow_nan=False, allow_infinity=False)
REASONS, DISTANCES = st.sampled_from(["exact", "near"]), st.integers(0, 128)
EVIDENCE = st.builds(Evidence, IDS, st.integers(0, 2**60), REASONS, DISTANCES, TEXTS, TIMES, TIMES, TEXTS)
POST = st.builds(StoredPost, st.just(0), IDS, TIMES, TEXTS, st.none() | EVIDENCE)


def read_back(post: StoredPost) -> dict[int, StoredPost]:
    """What is read of a post that was written, asked for with the one after it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.text_factory = text_from
        for statement in TABLES:
            connection.execute(statement)
        insert_posts(connection, [post], np.zeros(1, np.uint64))
        return posts_at(connection, [post.position, post.position + 1])


@given(POST, st.integers(0, 2**60))
def test_what_is_read_is_what_was_written(post: StoredPost, position: int) -> None:
    """Types too: an id that is a number stays one, and a surrogate pair written as two characters stays two."""
    post = post._replace(position=position)
    found = read_back(post)
    assert found == {position: post}
    assert [type(field) for field in found[position]] == [type(field) for field in post]


@pytest.mark.parametrize("time", [-0.0, 5e-324, 1.7e308, float("inf"), float("-inf"), 1e16, 2.0**53])
def test_any_time_is_read_as_it_was_written(time: float) -> None:
    """Also where SQLite stores it as a whole number."""
    post = StoredPost(0, "a", time, "b", None)
    assert read_back(post) == {0: post}


@given(POST, POST)
def test_other_posts_have_other_checksums(post: StoredPost, other: StoredPost) -> None:
    """So that a row that was changed is not taken for what was written."""
    assert (row_of(post) == row_of(other)) == (repr(post) == repr(other))
    if repr(post) != repr(other):
        with pytest.raises(RowError):
            post_of((*row_of(post)[:-1], row_of(other)[-1]))


@given(st.tuples(*[st.none() | st.integers() | st.binary(max_size=4) | st.text(max_size=4)] * 6))
def test_what_is_no_row_is_an_error(row: tuple[object, ...]) -> None:
    """Whatever is read, the error is the one that says so."""
    with pytest.raises(RowError):
        post_of(row)
