"""Removed posts of a run: in input order, with the evidence of the pair or of the equal text."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.config.load import open_session
from hybriddup.corpus import Corpus
from hybriddup.pipeline import run
from hybriddup.records import Removed
from hybriddup.result import Result

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


def test_nothing_removed_is_an_empty_result() -> None:
    """No post at all, and posts that do not match."""
    for posts in ([], ["今天天气真好", "完全不同的另一条"]):
        result = dedupe(posts)
        assert (result.kept, len(result.removed), result.removed == []) == (list(range(len(posts))), 0, True)


def test_posts_where_only_exact_repeats_are_removed() -> None:
    """No pair decided anything, so there is no pair whose evidence could be taken."""
    result = dedupe(["a b", "c", "a b", "c", "a b"], lengths=[{"exact_only": True}])
    assert [(row, keeper, reason) for row, keeper, reason, *_ in evidence(result)] == [
        (2, 0, "exact"),
        (3, 1, "exact"),
        (4, 0, "exact"),
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
        assert {type(value) for value in fields} <= {int, float, str}


def test_posts_survive_copying_and_pickling() -> None:
    """Results are sent between processes."""
    result = dedupe([TEMPLATE, TEMPLATE + "！"], normalizer={"use": "none"}, **BOTH_BANDS)
    assert pickle.loads(pickle.dumps(result.removed)) == result.removed  # noqa: S301  (our own bytes)
    assert copy.deepcopy(result.removed) == list(result.removed)
