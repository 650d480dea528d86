"""Removed posts: a sequence that makes each when it is asked for, and the columns behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.corpus import Corpus, pack_ids, unite_ids
from hybriddup.records import Removed
from hybriddup.removed import RemovedColumns, RemovedPosts

VERIFIERS, BANDS = ("edit", "cosine"), ("0-6", "7-20", "21-")


def columns_of(posts: list[tuple[int, int, bool]]) -> RemovedColumns:
    """Columns of removed posts (index of the post, of its keeper, whether it is an exact repeat)."""
    n = len(posts)
    numbers = np.arange(n, dtype=np.int32)
    return RemovedColumns(
        posts=np.array([post for post, _, _ in posts], np.int64),
        keepers=np.array([keeper for _, keeper, _ in posts], np.int64),
        is_exact=np.array([is_exact for _, _, is_exact in posts], np.bool_),
        hamming_distances=numbers,
        verifiers=numbers % 2,
        scores=1.0 - numbers / 100,
        thresholds=np.full(n, 0.8),
        length_bands=numbers % 3,
    )


def corpus_of(n: int) -> Corpus:
    """Posts on every other row, with ids and texts by row."""
    rows = np.arange(n, dtype=np.int64) * 2 + 1
    return Corpus([f"text {row}" for row in rows], [f"id {row}" for row in rows], rows)


POSTS = [(1, 0, False), (2, 0, True), (4, 3, False), (5, 0, False)]


def removed_posts() -> RemovedPosts:
    return RemovedPosts(corpus_of(6), columns_of(POSTS), VERIFIERS, BANDS)


EXPECTED = [
    Removed(3, "id 3", "text 3", 1, "id 1", "near", 0, "edit", 1.0, 0.8, "0-6"),
    Removed(5, "id 5", "text 5", 1, "id 1", "exact", 1, "equal", 0.99, 0.8, "7-20"),
    Removed(9, "id 9", "text 9", 7, "id 7", "near", 2, "edit", 0.98, 0.8, "21-"),
    Removed(11, "id 11", "text 11", 1, "id 1", "near", 3, "cosine", 0.97, 0.8, "0-6"),
]


def test_each_post_is_made_of_its_columns() -> None:
    """Ids and texts of the corpus, rows of the input, names of verifiers and bands; an exact repeat has its own."""
    assert list(removed_posts()) == EXPECTED


@pytest.mark.parametrize("index", range(-4, 4))
def test_index_counts_from_either_end(index: int) -> None:
    """As in a list."""
    assert removed_posts()[index] == EXPECTED[index]


@pytest.mark.parametrize("index", [4, -5, 100])
def test_index_past_the_end_is_an_error(index: int) -> None:
    """Which is what ends a loop over a sequence, too."""
    with pytest.raises(IndexError):
        removed_posts()[index]


@pytest.mark.parametrize("index", ["0", 1.0, None])
def test_index_that_is_no_number_is_an_error(index: Any) -> None:
    """And not the first post."""
    with pytest.raises(TypeError):
        removed_posts()[index]


@given(st.slices(6))
def test_slice_is_the_list_of_its_posts(chosen: slice) -> None:
    """With any bounds and steps, backwards too."""
    assert removed_posts()[chosen] == EXPECTED[chosen]


def test_numpy_index_finds_the_post() -> None:
    """Rows of results often come out of arrays."""
    assert removed_posts()[np.int64(2)] == EXPECTED[2]


def test_posts_are_a_sequence() -> None:
    """Length, membership, places and reversed order are those of the list."""
    posts = removed_posts()
    assert isinstance(posts, Sequence)
    assert (len(posts), bool(posts), EXPECTED[2] in posts, posts.index(EXPECTED[2])) == (4, True, True, 2)
    assert list(reversed(posts)) == EXPECTED[::-1]
    assert posts.count(EXPECTED[0]) == 1


def test_posts_equal_a_list_of_the_same() -> None:
    """From either side; and another sequence of equal posts, but no other one."""
    posts = removed_posts()
    assert posts == EXPECTED
    assert posts == EXPECTED
    assert posts == removed_posts()
    assert posts != EXPECTED[:3]
    assert posts != EXPECTED[::-1]
    assert posts != 4
    assert posts != None  # noqa: E711  (what is compared is the operator)


def test_posts_are_no_key_of_a_dict() -> None:
    """They compare by content, as lists do."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(removed_posts())


def test_posts_are_shown_as_a_list() -> None:
    """For people who look at a result."""
    assert repr(removed_posts()) == repr(EXPECTED)


def test_no_posts_are_an_empty_sequence() -> None:
    """Nothing was removed."""
    none = RemovedPosts(corpus_of(3), columns_of([]), VERIFIERS, BANDS)
    assert (len(none), bool(none), list(none), none[:], none == []) == (0, False, [], [], True)
    with pytest.raises(IndexError):
        _ = none[0]


def test_columns_are_those_of_the_posts() -> None:
    """As arrays, for those who want no objects."""
    posts = removed_posts()
    assert posts.rows.tolist() == [post.row for post in EXPECTED]
    assert posts.keeper_rows.tolist() == [post.keeper_row for post in EXPECTED]


@given(st.slices(6))
def test_values_are_the_fields_of_the_posts(chosen: slice) -> None:
    """In their order, for writers, which need no objects."""
    expected = [tuple(getattr(post, name) for name in Removed.__dataclass_fields__) for post in EXPECTED]
    assert list(removed_posts().values(chosen)) == expected[chosen]
    assert list(removed_posts().values()) == expected


@pytest.mark.parametrize("ids", [["a", "b", "c"], [10, 20, 30], [1.5, ("x",), None]], ids=str)
@pytest.mark.parametrize("packed", [True, False])
def test_ids_are_those_of_the_input(ids: list[Any], packed: bool) -> None:
    """Of the same value and type, whether or not they are held as an array."""
    corpus = Corpus(["t"] * 3, unite_ids([pack_ids(ids)]) if packed else ids, np.arange(3))
    posts = RemovedPosts(corpus, columns_of([(1, 2, False), (2, 0, True)]), VERIFIERS, BANDS)
    assert [(post.id, post.keeper_id) for post in posts] == [(ids[1], ids[2]), (ids[2], ids[0])]
    assert [type(post.id) for post in posts] == [type(ids[1]), type(ids[2])]
    assert posts[1].id == ids[2]


def test_rows_are_the_ids_of_posts_without_any() -> None:
    """They need no list."""
    corpus = Corpus(["t"] * 3, range(3), np.arange(3))
    posts = RemovedPosts(corpus, columns_of([(1, 2, False), (2, 0, True)]), VERIFIERS, BANDS)
    assert [(post.id, post.keeper_id) for post in posts] == [(1, 2), (2, 0)]


def test_posts_can_be_looked_at_twice() -> None:
    """Iterating uses nothing up."""
    posts = removed_posts()
    assert list(posts) == list(posts)
    first, second = iter(posts), iter(posts)
    assert next(first) == next(second) == EXPECTED[0]
