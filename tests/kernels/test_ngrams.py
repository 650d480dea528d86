"""Character n-grams by script against a plain walk over the text."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.ngrams import mark_dense, script_ngrams
from hybriddup.records import Tokens, encode_texts

DENSE_RANGES = (
    (0x1100, 0x11FF),
    (0x2000, 0x206F),
    (0x2600, 0x27BF),
    (0x2E80, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF),
    (0x1F000, 0x10FFFF),
)
mixed_texts = st.text(alphabet="ab1 é猫喊한ー，😀\ud800\0", max_size=12)
size_pairs = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda sizes: (sizes[0], sum(sizes)))


def is_dense(character: str) -> bool:
    """Whether the character stands in one of the ranges that one character of says much in."""
    return any(low <= ord(character) <= high for low, high in DENSE_RANGES)


def plain_ngrams(text: str, dense: tuple[int, int], other: tuple[int, int]) -> list[str]:
    """The n-grams of each run of one kind of script, by size and then by place."""
    ngrams = []
    for dense_run, characters in groupby(text, key=is_dense):
        run = "".join(characters)
        smallest, largest = dense if dense_run else other
        for size in range(min(smallest, len(run)), min(largest, len(run)) + 1):
            ngrams += [run[start : start + size] for start in range(len(run) - size + 1)]
    return ngrams


def kernel_ngrams(texts: list[str], dense: tuple[int, int], other: tuple[int, int]) -> list[list[str]]:
    """The n-grams of each text by the kernel."""
    code_points, offsets = encode_texts(texts)
    tokens = Tokens(code_points, *script_ngrams(code_points, offsets, np.array(dense), np.array(other)))
    return [tokens.strings(text) for text in range(len(texts))]


@given(st.lists(mixed_texts, max_size=4), size_pairs, size_pairs)
def test_ngrams_equal_their_plain_twin(texts: list[str], dense: tuple[int, int], other: tuple[int, int]) -> None:
    """Any mixture of scripts and any sizes, in the same order."""
    assert kernel_ngrams(texts, dense, other) == [plain_ngrams(text, dense, other) for text in texts]


def test_ngrams_never_cross_scripts() -> None:
    """A Latin word keeps its tokens whatever Chinese stands beside it."""
    assert kernel_ngrams(["我用iPhone拍"], (2, 2), (3, 3)) == [["我用", "iPh", "Pho", "hon", "one", "拍"]]


def test_text_shorter_than_the_ngram_is_its_own_token() -> None:
    """So two short texts do not share one signature by having none."""
    assert kernel_ngrams(["ab", "cd", "é"], (2, 2), (3, 4)) == [["ab"], ["cd"], ["é"]]


def test_empty_text_has_no_ngrams() -> None:
    """Neither first, nor between others, nor last."""
    assert kernel_ngrams(["", "ab", "", "猫", ""], (1, 1), (2, 2)) == [[], ["ab"], [], ["猫"], []]


@pytest.mark.parametrize("character", ["猫", "の", "カ", "한", "，", "“", "。", "😀", "☔", "𠮷", "Ａ"])
def test_character_that_carries_a_word_is_dense(character: str) -> None:
    """Han, kana, hangul, their punctuation, full-width forms and emoji."""
    assert mark_dense(encode_texts([character]).code_points, np.array([0])).tolist() == [True]


@pytest.mark.parametrize("character", ["a", "é", "7", " ", "я", "ب", "ש", "ไ", "\0", "\ud800"])
def test_character_of_an_alphabet_is_not_dense(character: str) -> None:
    """Latin, Cyrillic, Arabic, Hebrew, Thai, digits, and what is no character at all."""
    assert mark_dense(encode_texts([character]).code_points, np.array([0])).tolist() == [False]


def test_token_is_dense_by_its_first_character() -> None:
    """Tokens of dictionaries may mix scripts."""
    code_points, _ = encode_texts(["T恤T"])
    assert mark_dense(code_points, np.array([0, 1])).tolist() == [False, True]
