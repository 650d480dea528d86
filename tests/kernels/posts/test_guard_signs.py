"""Which pairs a guard must read: those in which one text has a sign that the other lacks."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hybriddup.kernels.posts.guard_kinds import NAME, NEGATION, NUMBER, OPPOSITE
from hybriddup.steps.guards.names import Names
from hybriddup.steps.guards.negation import Negation, tables
from hybriddup.steps.guards.numbers import Numbers
from hybriddup.steps.guards.reading import Difference
from hybriddup.steps.guards.signs import signs_of_pairs

numbers = Numbers(Numbers.Options())


def signs(a: str, b: str) -> int:
    """What must be read of two texts, the same both ways round."""
    there, back = signs_of_pairs([a, b], np.array([0, 1]), np.array([1, 0])).tolist()
    assert there == back
    return int(there)


@pytest.mark.parametrize(
    ("a", "b", "sign", "is_read"),
    [
        ("lift 3 is here", "lift 8 is here", NUMBER, True),
        ("lift three is here", "lift eight is here", NUMBER, True),
        ("三楼开门", "八楼开门", NUMBER, True),
        ("part i of it", "part ii of it", NUMBER, True),
        ("hall 3a is full", "hall 3b is full", NUMBER, True),
        ("hall 3 is full", "hall 3 is full, go home", NUMBER, False),
        ("we can swim", "we can't swim", NEGATION, True),
        ("it is safe here", "it is unsafe here", NEGATION, True),
        ("明日は学校に行きます", "明日は学校に行きません", NEGATION, True),
        ("明天开门", "明天不开门", NEGATION, True),
        ("buy it now", "sell it now", OPPOSITE, True),
        ("最好的茶", "最差的茶", OPPOSITE, True),
        ("from bath to york", "from york to bath", NAME, True),
        # each must have a number that the other lacks
        ("lift 3 is here", "lift 3 is here", NUMBER, False),
        ("lift 3 is here #go", "lift 3 is here", NUMBER, False),
        ("", "lift 3 is here", NUMBER, False),
        ("we count 12 and 30", "30 and 12 we count", NUMBER, False),
        # a Han character in the place of another one denies nothing by a syllable, and nor do three letters
        ("今天天气很好啊我们去公园", "今天天气很坏啊我们去公园", NEGATION, False),
        ("we meet at the old mill", "we meet at the new mill", NEGATION, False),
        # of words that are added, all must be negations or words that come with them
        ("we swim there", "we do not swim there", NEGATION, True),
        ("我们去公园", "我们不会去公园", NEGATION, True),
        ("我们去公园", "天气不好我们去公园", NEGATION, False),
        ("see you there", "see you there, not before noon", NEGATION, False),
    ],
)
def test_a_pair_with_a_sign_on_one_side_is_read(a: str, b: str, sign: int, is_read: bool) -> None:
    """By the guard that the sign concerns."""
    assert bool(signs(a, b) & sign) is is_read


@given(st.lists(st.sampled_from(["a", "bb", "7", "12", "不"]), max_size=5), st.integers(0, 5), st.integers(10, 99))
def test_a_number_in_the_place_of_another_is_found_anywhere(words: list[str], place: int, number: int) -> None:
    """Whatever is around it."""
    a, b = ([*words[:place], str(one), *words[place:]] for one in (number, number + 900))
    assert signs(" ".join(a), " ".join(b)) & NUMBER


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_two_texts_are_looked_at(a: str, b: str) -> None:
    """Equal ones need no guard, and texts without digits and letters none for numbers."""
    found = signs(a, b)
    if a == b:
        assert found == 0
    if not re.search(r"\w", a + b):
        assert not found & NUMBER


BEGINNINGS = (
    "the harbour is closed for large ships this week, and nobody knows whether the ferry to the islands runs; ask at ",
    "our summer school of painting begins again soon, with new teachers, a bigger garden, better light and fun for ",
)


@pytest.mark.parametrize(
    ("of_a", "of_b", "sign"),
    [
        ("three of them are not here", "eight of them are here", 0),
        ("we buy tickets on monday", "on friday we sell tickets", NUMBER),
        ("we buy tickets on monday", "on monday we sell tickets", 0),
        ("we buy tickets on monday", "we sell tickets on deck", NUMBER),
        ("room 3 is free now", "room 8 is free now", NUMBER),
        ("有3万人来", "有3千人来", NUMBER),
        ("the film in hall 3a is full", "the play in hall 3b is full", NUMBER),
    ],
)
def test_a_large_difference_is_read_only_for_numbers_in_digits_and_for_days(of_a: str, of_b: str, sign: int) -> None:
    """Guards find nothing else in it."""
    a, b = (f"{beginning}{end}" for beginning, end in zip(BEGINNINGS, (of_a, of_b), strict=True))
    assert signs(a, b) == sign


dated = st.lists(
    st.sampled_from(
        [
            "monday",
            "friday",
            "june",
            "#sonntag",
            "#schönensonntag",
            "sonntag2",
            "sonntag_x",
            "周一",
            "周二",
            "7",
            "tea",
        ]
    ),
    max_size=6,
)


@given(dated, dated, st.booleans())
def test_what_the_guard_numbers_refuses_is_read(one: list[str], other: list[str], is_large: bool) -> None:
    """However much else differs."""
    begins = BEGINNINGS if is_large else ("see you ", "see us ")
    a, b = (begin + " ".join(words) for begin, words in zip(begins, (one, other), strict=True))
    assert signs(a, b) & NUMBER or numbers.reason(a, b) is None


endings = st.lists(
    st.sampled_from(
        ["行き", "ます", "ません", "ない", "なかった", "た", "て", "好", "不", "没有", "못", "해", "ไม่", "ไป"]
    ),
    max_size=5,
)


@given(endings, endings)
def test_what_the_guard_negation_refuses_is_read(one: list[str], other: list[str]) -> None:
    """A negation may share its first characters with what it replaces; one that has only moved is not read."""
    a, b = "明日は学校に" + "".join(one), "明日は学校に" + "".join(other)
    in_a, in_b = (sorted(character for character in text if character in tables().characters) for text in (a, b))
    assume(in_a != in_b)
    assert signs(a, b) & NEGATION or Negation().reason(a, b) is None


words = st.lists(
    st.sampled_from(["tea", "not", "3", "12", "不", "好", "bath", "york", "万", "can't", "@ann"]), max_size=60
)


@given(words, words)
def test_what_is_not_small_is_read_for_nothing_but_numbers(one: list[str], other: list[str]) -> None:
    """If nothing in the texts is blank when guards read them."""
    a, b = " ".join(one), " ".join(other)
    if "@" not in a + b and not Difference(a, b).is_small:
        assert signs(a, b) in (0, NUMBER)


@pytest.mark.parametrize(
    ("one", "other", "sign"),
    [
        ("北京", "上海", NAME),
        ("北", "南", NAME),  # with the character after it, 北海 and 南海
        ("王主任", "李主任", NAME),
        ("好天气", "坏心情", 0),
        ("北京", "心情", 0),
        ("北京", "london", 0),
        ("今天没去成", "心情很不错", 0),
    ],
)
def test_han_characters_in_the_place_of_others_are_read_for_known_names(one: str, other: str, sign: int) -> None:
    """Each of the two must be covered by one, or begin with a surname."""
    a, b = (f"我们很喜欢{slot}海边的路" for slot in (one, other))
    assert signs(a, b) & (NAME | NEGATION) == sign


pieces = st.lists(
    st.sampled_from([*"北京上海南李不没好人了会", "tea", "12", " ", "，", "bath", "王主任", "not ", "can't ", "do "]),
    max_size=5,
)


@given(
    pieces,
    pieces,
    st.sampled_from(["我们", "", "去", "there is "]),
    st.sampled_from(["的路上很美", "海", "", " is it"]),
)
def test_what_a_guard_refuses_is_read_where_one_run_of_words_differs(
    one: list[str], other: list[str], before: str, after: str
) -> None:
    """Names and denials are ruled out only if reading finds none."""
    a, b = ("".join([before, *slot, after]) for slot in (one, other))
    if len(Difference(a, b).runs) == 1:
        found = signs(a, b)
        assert found & NAME or Names().reason(a, b) is None
        assert found & NEGATION or Negation().reason(a, b) is None


NUMBERED = "".join(f"第{number}条不要忘记，" for number in range(40))


@pytest.mark.parametrize(
    ("before", "after", "sign"),
    [
        (("#日常# ", ""), ("", " #日记#"), 0),
        (("3只猫", "8只猫"), ("", " #日记#"), NUMBER),
        (("不好", "好"), ("x", "y"), NEGATION),
    ],
)
def test_texts_with_many_signs_are_read_only_if_these_differ(
    before: tuple[str, str], after: tuple[str, str], sign: int
) -> None:
    """Also where the texts differ at both of their ends."""
    a, b = (f"{before[side]}{NUMBERED}{after[side]}" for side in (0, 1))
    assert signs(a, b) & (NUMBER | NEGATION | OPPOSITE) == sign
