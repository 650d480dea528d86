"""Removed posts: a sequence that makes each when it is asked for, the columns behind it, and those of a run."""

import copy
import operator
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


@pytest.mark.parametrize(("posts", "expected"), [(POSTS, EXPECTED), ([], [])])
def test_posts_are_a_sequence_like_the_list_of_them(
    posts: list[tuple[int, int, bool]], expected: list[Removed]
) -> None:
    removed, n = RemovedPosts(corpus_of(6), columns_of(posts), BY), len(expected)
    assert isinstance(removed, Sequence)
    assert (list(removed), list(reversed(removed))) == (expected, expected[::-1])
    assert (len(removed), bool(removed)) == (n, n > 0)
    for index in range(-n, n):
        assert removed[index] == removed[np.int64(index)] == expected[index]
        assert (removed.index(expected[index]), removed.count(expected[index])) == (index % n, 1)
    for index in (n, -n - 1, 100):
        with pytest.raises(IndexError):
            removed[index]
    assert removed == expected == removed == RemovedPosts(corpus_of(6), columns_of(posts), BY)
    assert removed not in ([*expected, EXPECTED[0]], EXPECTED[:3], EXPECTED[::-1], 4, None)


@given(st.slices(6))
def test_slices_are_those_of_the_list(chosen: slice) -> None:
    """With any bounds and steps, backwards too; so are the values of the fields, for writers, which need no objects."""
    expected = [tuple(getattr(post, name) for name in Removed.__dataclass_fields__) for post in EXPECTED]
    assert removed_posts()[chosen] == EXPECTED[chosen]
    assert list(removed_posts().values(chosen)) == expected[chosen]


@pytest.mark.parametrize("ids", [["a", "b", "c"], [10, 20, 30], [1.5, ("x",), None], range(3)], ids=str)
@pytest.mark.parametrize("packed", [True, False])
def test_ids_are_those_of_the_input(ids: Sequence[Any], packed: bool) -> None:
    corpus = Corpus(["t"] * 3, unite_ids([pack_ids(list(ids))]) if packed else ids, np.arange(3))
    posts = RemovedPosts(corpus, columns_of([(1, 2, False), (2, 0, True)]), BY)
    assert [(post.id, post.duplicate_of) for post in posts] == [(ids[1], ids[2]), (ids[2], ids[0])]
    assert [type(post.id) for post in posts] == [type(ids[1]), type(ids[2])]
    assert posts[1].id == ids[2]


# --- of a run: in input order, with the evidence of the pair or of the equal text ---

TEMPLATE = "你妈妈喊你回家吃饭哦，回家罗回家罗"


def dedupe(posts: Any, **config: Any) -> Result:
    return hybriddup.dedupe(posts, config=config)


EVIDENCE = operator.attrgetter(
    "row", "keeper_row", "reason", "hamming_distance", "verifier", "score", "threshold", "length_band"
)
"""All that the result says of a removed post but its text."""
BOTH_BANDS = {
    "lengths": [
        {"up_to": 6, "exact_only": True},
        {"max_hamming_distance": 64, "verifier": {"use": "edit", "threshold": 0.8}},
    ]
}


@pytest.mark.parametrize(("keep", "keeper"), [("first", 0), ("last", 5), ("longest", 3)])
def test_removed_posts_are_in_input_order_whoever_is_kept(keep: str, keeper: int) -> None:
    posts = [TEMPLATE, TEMPLATE + "！", TEMPLATE, TEMPLATE + "！！！", TEMPLATE + "！", TEMPLATE]
    result = dedupe(posts, keep=keep, normalizer={"use": "none"}, **BOTH_BANDS)
    assert result.kept == [keeper]
    assert [post.row for post in result.removed] == [row for row in range(6) if row != keeper]
    assert {post.keeper_row for post in result.removed} == {keeper}
    assert [post.text for post in result.removed] == [posts[post.row] for post in result.removed]
    assert result.removed.rows.tolist() == [post.row for post in result.removed]  # type: ignore[attr-defined]


def test_exact_repeat_of_a_removed_text_has_the_evidence_of_its_pair() -> None:
    posts = [TEMPLATE, TEMPLATE + "！", "完全不同的另一条", TEMPLATE + "！", TEMPLATE]
    result = dedupe(posts, normalizer={"use": "none"}, **BOTH_BANDS)
    first, repeat, exact = map(EVIDENCE, result.removed)
    assert first[:3] == (1, 0, "near")
    assert repeat == (3, *first[1:])
    assert exact == (4, 0, "exact", 0, "equal", 1.0, 1.0, "7-")
    assert (result.summary.n_exact, result.summary.n_near) == (1, 2)


def test_evidence_names_the_verifier_and_the_band_that_decided() -> None:
    bands = [
        {"up_to": 20, "max_hamming_distance": 64, "verifier": {"use": "edit", "threshold": 0.7}},
        {"max_hamming_distance": 64, "verifier": {"use": "lcs", "threshold": 0.6}},
    ]
    long = TEMPLATE + "昨天晚上我看见一只很大的猫坐在门口等你"
    posts = [TEMPLATE, long, TEMPLATE + "啊", long + "呢", TEMPLATE, long]
    named = operator.attrgetter("row", "keeper_row", "reason", "verifier", "threshold", "length_band")
    assert list(map(named, dedupe(posts, normalizer={"use": "none"}, lengths=bands).removed)) == [
        (2, 0, "near", "edit", 0.7, "0-20"),
        (3, 1, "near", "lcs", 0.6, "21-"),
        (4, 0, "exact", "equal", 1.0, "0-20"),
        (5, 1, "exact", "equal", 1.0, "21-"),
    ]


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=8), st.permutations(range(8)))
def test_result_names_rows_and_ids_of_the_input(which: list[int], gaps: list[int]) -> None:
    texts = [f"{'abc'[one] * 3} 今天天气真好" for one in which]
    rows = np.sort(np.array(gaps[: len(which)], np.int64))
    ids: list[Any] = [("id", row) for row in rows.tolist()]
    settings, manager = open_session({"lengths": [{"exact_only": True}]}, entry_points=False)
    result = run(Corpus(texts, ids, rows, n_rows=8), settings, manager.registry, workers=1)
    first = {text: texts.index(text) for text in texts}
    expected = [
        (int(rows[i]), ids[i], int(rows[first[t]]), ids[first[t]]) for i, t in enumerate(texts) if first[t] != i
    ]
    assert [(post.row, post.id, post.keeper_row, post.duplicate_of) for post in result.removed] == expected
    assert sorted(result.kept + [row for row, *_ in expected]) == rows.tolist()


def test_fields_are_plain_numbers_and_strings() -> None:
    """Not NumPy's, which JSON does not know."""
    posts = [TEMPLATE, TEMPLATE + "！", TEMPLATE]
    for post in dedupe(posts, normalizer={"use": "none"}, **BOTH_BANDS).removed:
        fields = [getattr(post, name) for name in Removed.__dataclass_fields__]
        assert {type(value) for value in fields} <= {int, float, str, type(None)}


def test_posts_survive_copying_and_pickling() -> None:
    result = dedupe([TEMPLATE, TEMPLATE + "！"], normalizer={"use": "none"}, **BOTH_BANDS)
    assert pickle.loads(pickle.dumps(result.removed)) == result.removed  # noqa: S301  (our own bytes)
    assert copy.deepcopy(result.removed) == list(result.removed)
