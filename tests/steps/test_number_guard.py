"""Digits: two posts that differ in a number are the user's decision, by `numbers_must_match`."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hybriddup
from hybriddup.steps.verifiers.number_guard import have_same_numbers, number_keys
from tests.builders import make_pairs

EPISODES = ["《寻常人家》第一季 EP01 中英字幕 高清", "《寻常人家》第一季 EP02 中英字幕 高清"]
CASES = ["截至昨日24时，全市新增确诊10例，无新增死亡病例", "截至昨日24时，全市新增确诊12例，无新增死亡病例"]
differing_numbers = pytest.mark.parametrize("posts", [EPISODES, CASES], ids=["episodes", "cases"])

texts_with_digits = st.lists(st.text(alphabet="a1２ 0.", max_size=6), min_size=1, max_size=6)


def digit_runs(text: str) -> list[str]:
    """The runs of digits, by walking over the text."""
    return "".join(character if character.isdecimal() else " " for character in text).split()


@given(texts_with_digits)
@example(["1 23", "12 3", "123", "23 1", "1.23"])
def test_keys_are_equal_exactly_where_the_numbers_are(texts: list[str]) -> None:
    """Same runs of digits in the same order."""
    keys = number_keys(texts).tolist()
    for a, key_a in zip(texts, keys, strict=True):
        for b, key_b in zip(texts, keys, strict=True):
            assert (key_a == key_b) == (digit_runs(a) == digit_runs(b))


def test_guard_keeps_pairs_with_the_same_numbers_only() -> None:
    """By text; texts without digits have the same numbers, none."""
    keys = number_keys(["1", "2", "1", "a", "b"])
    assert have_same_numbers(make_pairs([(0, 1), (0, 2), (1, 2), (3, 4)]), keys).tolist() == [False, True, False, True]


@differing_numbers
def test_posts_that_differ_in_a_number_are_near_by_their_characters(posts: list[str]) -> None:
    """One of many differs; `post` knows that a number counts."""
    edit = {"lengths": [{"verifier": {"use": "edit", "threshold": 0.8}}]}
    assert hybriddup.dedupe(posts, config=edit).kept == [0]
    assert hybriddup.dedupe(CASES).kept == [0, 1]


@differing_numbers
@pytest.mark.parametrize("config", [{"numbers_must_match": True}, "sms", "headlines"])
def test_guard_keeps_posts_that_differ_in_a_number(posts: list[str], config: object) -> None:
    """Where the configuration asks for it, as those for messages and headlines do."""
    assert hybriddup.dedupe(posts, config=config).kept == [0, 1]  # type: ignore[arg-type]


@differing_numbers
@pytest.mark.parametrize(
    ("everywhere", "short", "long", "kept"),
    [(False, True, None, [0, 1]), (True, False, None, [0]), (True, None, False, [0, 1]), (False, None, True, [0])],
)
def test_a_length_band_may_say_otherwise(
    posts: list[str], everywhere: bool, short: bool | None, long: bool | None, kept: list[int]
) -> None:
    """In runs, windows and explanations; the other bands go by what is said for all."""
    edit = {"use": "edit", "threshold": 0.8}
    bands = [
        {"up_to": 60, "verifier": edit, "numbers_must_match": short},
        {"verifier": edit, "numbers_must_match": long},
    ]
    config = {"numbers_must_match": everywhere, "lengths": bands}
    assert hybriddup.dedupe(posts, config=config).kept == kept
    assert hybriddup.explain(*posts, config=config).matches == (kept == [0])
    with hybriddup.Window.open(None, config) as window:
        assert [decision.kept for decision in window.add_many(posts)] == [True, kept == [0, 1]]
        assert [match.text for match in window.match(posts[1]) if match.score < 1] == posts[:1] * (kept == [0])


@differing_numbers
def test_masked_digits_are_all_alike(posts: list[str]) -> None:
    """To reduce posts to their templates: then they are exact repeats."""
    result = hybriddup.dedupe(posts, config={"normalizer": {"digits": "mask"}})
    assert [post.reason for post in result.removed] == ["exact"]


def test_guard_does_not_part_posts_with_the_same_numbers() -> None:
    """It refuses on numbers only."""
    posts = [CASES[0], CASES[0].replace("，", "。")[:-1] + "！"]
    assert hybriddup.dedupe(posts, config={"numbers_must_match": True}).kept == [0]


def test_later_post_with_the_number_of_a_kept_one_is_still_removed() -> None:
    """The guard looks at pairs: the third repeats the first though the second lies between."""
    posts = [*CASES, CASES[0].replace("全市", "本市")]
    result = hybriddup.dedupe(posts, config={"numbers_must_match": True})
    assert [(post.row, post.keeper_row) for post in result.removed] == [(2, 0)]
