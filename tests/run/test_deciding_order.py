"""Keep policies change the order of deciding: by place, by length, by the value of a field."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.config.settings import KeepHighest
from hybriddup.data.corpus import Corpus
from hybriddup.errors import ConfigError, InputError
from hybriddup.run.deciding_order import deciding_order
from hybriddup.steps.posts.parts import body_lengths

# 17 to 19 characters each, and all near repeats of one another
FAMILY = [
    "你妈妈喊你回家吃饭哦，回家罗回家罗",
    "你妈妈喊你回家吃饭哦，回家罗回家罗！！",
    "你妈妈喊你回家吃饭哦，回家罗回家罗！",
]
API_DATES = ["Wed Jan 07 13:00:00 +0800 2026", "Thu Jan 08 13:00:00 +0800 2026", "N/A", "2026-01-07T13:00:00+02:00"]


def order(policy: Any, texts: list[str] | None = None, **values: list[Any]) -> list[int]:
    texts = texts if texts is not None else ["x"] * len(next(iter(values.values())))
    rows = np.arange(3, 3 + len(texts), dtype=np.int64)
    corpus = Corpus(texts, list(rows), rows, {"likes": [], **values})
    rules = policy if isinstance(policy, tuple) else (policy,)
    places = deciding_order(corpus, rules, lambda: body_lengths(texts))
    return list(range(len(texts))) if places is None else places.tolist()


def by_value(values: list[Any]) -> list[int]:
    return order(KeepHighest(highest="likes"), likes=values)


@pytest.mark.parametrize(
    ("policy", "texts", "expected"),
    [
        ("first", ["a", "b", "c"], [0, 1, 2]),
        ("last", ["a", "b", "c"], [2, 1, 0]),
        ("longest", ["bb", "a", "ccc", "dd"], [2, 0, 3, 1]),
        ("most_complete", ["#很长的话题标签# 早安", "大家早安", "早安大家🌞🌞🌞", "早"], [1, 2, 0, 3]),
    ],
)
def test_policy_says_which_post_is_decided_first(policy: str, texts: list[str], expected: list[int]) -> None:
    """So that it stays of a set of repeats; of as long, or complete without hashtags and emoji, the first stays."""
    assert order(policy, texts) == expected


def test_a_rule_decides_where_those_before_it_find_no_difference() -> None:
    likes, reads = KeepHighest(highest="likes"), KeepHighest(highest="reads")
    values: dict[str, list[Any]] = {"likes": [1, 2, 2, None, 2], "reads": [9, "7", 8, 1, "8"]}
    assert order((likes, reads), **values) == [2, 4, 1, 0, 3]
    assert order((likes, reads, "last"), **values) == [4, 2, 1, 0, 3]
    assert order((likes, "longest"), ["a", "b", "ccc", "d", "ee"], **values) == [2, 4, 1, 0, 3]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.text("ab", max_size=2)), max_size=12))
def test_a_list_of_rules_equals_sorting_by_all_of_them(posts: list[tuple[int, int, str]]) -> None:
    likes, reads, texts = ([post[i] for post in posts] for i in range(3))
    expected = sorted(range(len(posts)), key=lambda i: (-likes[i], -len(texts[i]), -reads[i], -i))  # type: ignore[operator, arg-type]
    rules = (KeepHighest(highest="likes"), "longest", KeepHighest(highest="reads"), "last")
    assert order(rules, texts, likes=likes, reads=reads) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", ["first", "last", "longest", "most_complete", KeepHighest(highest="likes")])
def test_no_posts_have_no_order(policy: Any) -> None:
    assert order(policy, []) == []


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["9", "10", " 9.5 ", "-1"], [1, 2, 0, 3]),
        (["2025-10-17", "2025-10-19", "2025-10-18"], [1, 2, 0]),
        ([2**60, 2**60 + 1, str(2**60 + 2)], [2, 1, 0]),
        (["N/A", "9", "10"], [2, 1, 0]),
        (API_DATES, [1, 3, 0, 2]),
        (["b", "2026-01-07", "a"], [0, 2, 1]),
    ],
    ids=["numbers as text", "ISO dates", "large ids", "no number", "dates of the APIs", "text"],
)
def test_values_are_compared_as_what_most_of_them_are(values: list[Any], expected: list[int]) -> None:
    assert by_value(values) == expected


@pytest.mark.parametrize("missing", [None, "", "  ", "nan", " NaN", float("nan"), np.float64("nan"), pd.NA, pd.NaT])
def test_post_without_a_value_is_decided_last(missing: Any) -> None:
    assert by_value([missing, "9", "10", missing]) == [2, 1, 0, 3]


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5), st.floats(-5, 5)), max_size=12))
def test_order_by_value_equals_its_plain_twin(values: list[float | None]) -> None:
    expected = sorted(range(len(values)), key=lambda i: -math.inf if values[i] is None else values[i], reverse=True)
    assert by_value(values) == sorted(expected, key=lambda i: values[i] is None)


@pytest.mark.parametrize(
    ("values", "held"), [([1, {}, 2], "dict and int"), ([np.array([1, 2]), np.array([1, 3])], "ndarray")]
)
def test_values_that_cannot_be_ordered_are_an_error(values: list[Any], held: str) -> None:
    message = rf"keep: \{{highest: likes\}} needs values .* holds {held} \(first at row 3\)"
    with pytest.raises(InputError, match=message):
        by_value(values)


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("first", 0),
        ("last", 2),
        ("longest", 1),
        ("most_complete", 0),
        ({"highest": "likes"}, 2),
        (["most_complete", {"highest": "likes"}], 2),
        ([{"highest": "likes"}, "longest"], 2),
    ],
)
def test_policy_says_which_of_a_family_stays(keep: Any, kept: int) -> None:
    posts = [{"text": text, "likes": likes} for text, likes in zip(FAMILY, [5, 1, 30], strict=True)]
    config = {"keep": keep, "normalizer": {"use": "none"}}
    result = hybriddup.dedupe(posts, config=config)
    assert result.kept == [kept]
    assert {post.keeper_row for post in result.removed} == {kept}


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ([], "keep must be .* of at least 1"),
        (["longest", "shortest"], r"keep\[1\] must be 'first' or 'last' or 'longest' or 'most_complete'"),
        (["last", "longest"], r"keep\[0\] must be the last rule if it is last"),
        ([["first"]], r"keep\[0\] must be"),
        ([{"lowest": "likes"}], "lowest"),
    ],
)
def test_rules_that_mean_nothing_are_errors(keep: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        hybriddup.dedupe(FAMILY, config={"keep": keep})


@pytest.mark.parametrize(("keep", "kept"), [("last", 2), ("longest", 1)])
def test_policy_settles_exact_repeats_too(keep: str, kept: int) -> None:
    posts = ["今天天气真好，出门走走吧", "今天天气真好，出门走走吧 http://t.cn/abc", "今天天气真好，出门走走吧 "]
    assert hybriddup.dedupe(posts, config={"keep": keep}).kept == [kept]
