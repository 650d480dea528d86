"""Differences of two texts: what is marked, and that it is text whatever it holds."""

from html import unescape

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.run.report.differences import MOST_SHOWN, MarkedText, marked_texts
from tests.builders import examples

TEXTS = st.text(alphabet=st.sampled_from("ab1 你好<&\"'👍\u200d"), max_size=20)


def unmarked(text: MarkedText) -> str:
    return "".join(piece for piece, is_common in zip(text.pieces, text.is_common, strict=True) if is_common)


@given(TEXTS, TEXTS)
@examples(200)
def test_what_is_not_marked_is_the_same_in_both(a: str, b: str) -> None:
    of_a, of_b = marked_texts(a, b)
    assert ("".join(of_a.pieces), "".join(of_b.pieces)) == (a, b)
    assert unmarked(of_a) == unmarked(of_b)


@given(TEXTS, TEXTS)
@examples(200)
def test_marked_text_is_text_again_without_its_markup(a: str, b: str) -> None:
    html = marked_texts(a, b)[1].__html__()
    assert unescape(regex.sub("</?mark>", "", html)) == b
    assert "<" not in regex.sub("</?mark>", "", html)


@given(TEXTS)
def test_nothing_is_marked_of_equal_texts(text: str) -> None:
    assert all(marked_texts(text, text)[0].is_common)


@pytest.mark.parametrize(
    ("a", "b", "marked"),
    [
        ("你妈妈喊你回家", "你妈妈叫你回家吃饭", "你妈妈<mark>叫</mark>你回家<mark>吃饭</mark>"),
        ("episode EP01 is out", "episode EP02 is out", "episode <mark>EP02</mark> is out"),
        ("a family 👨‍👩‍👧", "a family 👨‍👩‍👦", "a family <mark>👨‍👩‍👦</mark>"),
        ("tomorrow", "", ""),
    ],
)
def test_words_and_characters_are_marked_as_a_whole(a: str, b: str, marked: str) -> None:
    assert marked_texts(a, b)[1].__html__() == marked


def test_long_texts_are_shown_by_their_beginning() -> None:
    shown = marked_texts("a", "b" * (MOST_SHOWN + 1))[1].__html__()
    assert shown == f"<mark>{'b' * MOST_SHOWN}…</mark>"
