"""Removed posts: a sequence that makes each when it is asked for, the columns behind it, and those of a run."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.config.load import open_session
from hybriddup.data.corpus import Corpus, pack_ids, unite_ids
from hybriddup.data.records import Removed
from hybriddup.data.removed import RemovedBy, RemovedColumns, RemovedPosts
from hybriddup.run.pipeline import run
from hybriddup.run.result import Result

BY = RemovedBy(("edit", "cosine"), ("0-6", "7-20", "21-"), "weibo", "0a1b")


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
    return RemovedPosts(corpus_of(6), columns_of(POSTS), BY)


EXPECTED = [
    Removed(3, "id 3", "text 3", 1, "id 1", "text 1", "near", 0, "edit", 1.0, 0.8, "0-6", "weibo", "0a1b"),
    Removed(5, "id 5", "text 5", 1, "id 1", "text 1", "exact", 1, "equal", 0.99, 0.8, "7-20", "weibo", "0a1b"),
    Removed(9, "id 9", "text 9", 7, "id 7", "text 7", "near", 2, "edit", 0.98, 0.8, "21-", "weibo", "0a1b"),
    Removed(11, "id 11", "text 11", 1, "id 1", "text 1", "near", 3, "cosine", 0.97, 0.8, "0-6", "weibo", "0a1b"),
]


def test_each_post_is_made_of_its_columns() -> None:
    """Ids and texts of the corpus, rows of the input, names of verifiers and bands; an exact repeat has its own."""
    assert list(removed_posts()) == EXPECTED


@pytest.mark.parametrize("index", range(-4, 4))
def test_index_counts_from_either_end(index: int) -> None:
    """As in a list; also an index that comes out of an array."""
    assert removed_posts()[index] == removed_posts()[np.int64(index)] == EXPECTED[index]


@pytest.mark.parametrize("index", [4, -5, 100])
def test_index_past_the_end_is_an_error(index: int) -> None:
    """Which is what ends a loop over a sequence, too."""
    with pytest.raises(IndexError):
        removed_posts()[index]


@given(st.slices(6))
def test_slice_is_the_list_of_its_posts(chosen: slice) -> None:
    """With any bounds and steps, backwards too."""
    assert removed_posts()[chosen] == EXPECTED[chosen]


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
    assert EXPECTED == posts  # noqa: SIM300  from the other side
    assert posts == removed_posts()
    assert posts != EXPECTED[:3]
    assert posts != EXPECTED[::-1]
    assert posts != 4
    assert posts != None  # noqa: E711  (what is compared is the operator)


def test_posts_are_shown_as_a_list() -> None:
    """For people who look at a result."""
    assert repr(removed_posts()) == repr(EXPECTED)


def test_no_posts_are_an_empty_sequence() -> None:
    """Nothing was removed."""
    none = RemovedPosts(corpus_of(3), columns_of([]), BY)
    assert (len(none), bool(none), list(none), none[:], none == []) == (0, False, [], [], True)
    with pytest.raises(IndexError):
        _ = none[0]


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
    posts = RemovedPosts(corpus, columns_of([(1, 2, False), (2, 0, True)]), BY)
    assert [(post.id, post.keeper_id) for post in posts] == [(ids[1], ids[2]), (ids[2], ids[0])]
    assert [type(post.id) for post in posts] == [type(ids[1]), type(ids[2])]
    assert posts[1].id == ids[2]


def test_rows_are_the_ids_of_posts_without_any() -> None:
    """They need no list."""
    corpus = Corpus(["t"] * 3, range(3), np.arange(3))
    posts = RemovedPosts(corpus, columns_of([(1, 2, False), (2, 0, True)]), BY)
    assert [(post.id, post.keeper_id) for post in posts] == [(1, 2), (2, 0)]


# --- of a run: in input order, with the evidence of the pair or of the equal text ---

TEMPLATE = "你妈妈喊你回家吃饭哦，回家罗回家罗"


def dedupe(posts: Any, **config: Any) -> Result:
    return hybriddup.dedupe(posts, config=config)


def evidence(result: Result) -> list[tuple[int, int, str, int, str, float, float, str]]:
    """All that the result says of each removed post but its text."""
    return [
        (
            post.row,
            post.keeper_row,
            post.reason,
            post.hamming_distance,
            post.verifier,
            post.score,
            post.threshold,
            post.length_band,
        )
        for post in result.removed
    ]


BOTH_BANDS = {
    "lengths": [
        {"up_to": 6, "exact_only": True},
        {"max_hamming_distance": 64, "verifier": {"use": "edit", "threshold": 0.8}},
    ]
}


@pytest.mark.parametrize(("keep", "keeper"), [("first", 0), ("last", 5), ("longest", 3)])
def test_removed_posts_are_in_input_order_whoever_is_kept(keep: str, keeper: int) -> None:
    """The order of deciding is not that of the input where the last or the longest post is kept."""
    posts = [TEMPLATE, TEMPLATE + "！", TEMPLATE, TEMPLATE + "！！！", TEMPLATE + "！", TEMPLATE]
    result = dedupe(posts, keep=keep, normalizer={"use": "none"}, **BOTH_BANDS)
    assert result.kept == [keeper]
    assert [post.row for post in result.removed] == [row for row in range(6) if row != keeper]
    assert {post.keeper_row for post in result.removed} == {keeper}
    assert [post.text for post in result.removed] == [posts[post.row] for post in result.removed]
    assert result.removed.rows.tolist() == [post.row for post in result.removed]  # type: ignore[attr-defined]


def test_exact_repeat_of_a_removed_text_has_the_evidence_of_its_pair() -> None:
    """It was removed by the same pair, whichever copies of the text came first."""
    posts = [TEMPLATE, TEMPLATE + "！", "完全不同的另一条", TEMPLATE + "！", TEMPLATE]
    result = dedupe(posts, normalizer={"use": "none"}, **BOTH_BANDS)
    first, repeat, exact = evidence(result)
    assert first[:3] == (1, 0, "near")
    assert repeat == (3, *first[1:])
    assert exact == (4, 0, "exact", 0, "equal", 1.0, 1.0, "7-")
    assert (result.summary.n_exact, result.summary.n_near) == (1, 2)


def test_evidence_names_the_verifier_and_the_band_that_decided() -> None:
    """Each length band with a verifier of its own, and exact repeats in the band of their length."""
    bands = [
        {"up_to": 20, "max_hamming_distance": 64, "verifier": {"use": "edit", "threshold": 0.7}},
        {"max_hamming_distance": 64, "verifier": {"use": "lcs", "threshold": 0.6}},
    ]
    long = TEMPLATE + "昨天晚上我看见一只很大的猫坐在门口等你"
    posts = [TEMPLATE, long, TEMPLATE + "啊", long + "呢", TEMPLATE, long]
    found = evidence(dedupe(posts, normalizer={"use": "none"}, lengths=bands))
    named = [
        (row, keeper, reason, verifier, threshold, band)
        for row, keeper, reason, _, verifier, _, threshold, band in found
    ]
    assert named == [
        (2, 0, "near", "edit", 0.7, "0-20"),
        (3, 1, "near", "lcs", 0.6, "21-"),
        (4, 0, "exact", "equal", 1.0, "0-20"),
        (5, 1, "exact", "equal", 1.0, "21-"),
    ]


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=8), st.permutations(range(8)))
def test_result_names_rows_and_ids_of_the_input(which: list[int], gaps: list[int]) -> None:
    """With rows that are missing in between and ids of any kind, kept or removed."""
    texts = [f"{'abc'[one] * 3} 今天天气真好" for one in which]
    rows = np.sort(np.array(gaps[: len(which)], np.int64))
    ids: list[Any] = [("id", row) for row in rows.tolist()]
    settings, manager = open_session({"lengths": [{"exact_only": True}]}, entry_points=False)
    result = run(Corpus(texts, ids, rows, n_rows=8), settings, manager.registry, workers=1)
    first = {text: texts.index(text) for text in texts}
    expected = [
        (int(rows[i]), ids[i], int(rows[first[t]]), ids[first[t]]) for i, t in enumerate(texts) if first[t] != i
    ]
    assert [(post.row, post.id, post.keeper_row, post.keeper_id) for post in result.removed] == expected
    assert sorted(result.kept + [row for row, *_ in expected]) == rows.tolist()


def test_fields_are_plain_numbers_and_strings() -> None:
    """Not NumPy's, which JSON does not know."""
    posts = [TEMPLATE, TEMPLATE + "！", TEMPLATE]
    for post in dedupe(posts, normalizer={"use": "none"}, **BOTH_BANDS).removed:
        fields = [getattr(post, name) for name in Removed.__dataclass_fields__]
        assert {type(value) for value in fields} <= {int, float, str, type(None)}


def test_posts_survive_copying_and_pickling() -> None:
    """Results are sent between processes."""
    result = dedupe([TEMPLATE, TEMPLATE + "！"], normalizer={"use": "none"}, **BOTH_BANDS)
    assert pickle.loads(pickle.dumps(result.removed)) == result.removed  # noqa: S301  (our own bytes)
    assert copy.deepcopy(result.removed) == list(result.removed)
