"""Word boundaries against the `regex` library, whose ``\\b`` follows the same rules with ``(?w)``."""

import random

import numpy as np
import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.data.records import encode_texts
from hybriddup.kernels.text.words import mark_words
from hybriddup.steps.tokenizers.words import word_classes

VALUES = (
    *("ALetter", "Hebrew_Letter", "Numeric", "Katakana", "ExtendNumLet", "MidLetter", "MidNum", "MidNumLet"),
    *("Single_Quote", "Double_Quote", "Regional_Indicator", "Extend", "Format", "ZWJ", "WSegSpace", "CR", "LF"),
    *("Newline", "Other"),
)
"""All values of the property Word_Break."""
SAMPLE = (
    "aé喊한नี אב 12٣ カー・ _‿ :· ,; .’ ' \" 🇨🇳"
    " \u0301\u093f\u0e31\ufe0f🏽 \u00ad\u200e \u200d   \r\n\v\x85 ひ好ดี❤👩$\ud800\x00"
)
"""One or more of each value; Hebrew, kana, Thai and Indic letters; a heart and a woman, which are pictographic."""
UNLIKE = regex.compile(r"[\p{WB=ALetter}&&[\p{Han}\p{Extended_Pictographic}]]", regex.V1)
"""々, 〻 and 𖿣 are Han and no letters here: one word each. Six letters that are pictures too join no emoji."""


def boundaries(texts: list[str]) -> list[list[int]]:
    """Where words begin, counted from the beginning of each text."""
    encoded = encode_texts(texts)
    begins = mark_words(*encoded, word_classes())
    bounds = encoded.offsets.tolist()
    return [np.flatnonzero(begins[bounds[i] : bounds[i + 1]]).tolist() for i in range(len(texts))]


def expected(text: str) -> list[int]:
    """The same by the library."""
    return [found.start() for found in regex.finditer(r"(?V1w)\b", text) if found.start() < len(text)]


@given(st.lists(st.text(st.sampled_from(SAMPLE), max_size=10), max_size=4))
@example(["א'", "א'א", 'א"א', 'א"', 'a"a', "א\u05b0'"])
@example(["don't", "don’t", "3.14", "3,a", "a.b.", "a..b", "1'000", "a\u0301'\u0301b"])
@example(["🇨🇳🇺🇸🇫", "a🇨🇳", "🇨\u200d🇳", "🇨\u0301🇳"])
@example(["👩\u200d❤\ufe0f\u200d👩", "👍🏽", "a\u200d❤", "\u200d❤", " \u200d❤"])
@example(["\n\u0301a", "\r\n\u0301", "\r\u0301\n", "\u0301\u0301a", "   \u0301 "])
@example(["カタカナ_カ", "ｶﾞ", "カ\u3099ー", "ひらカ", "〱〱"])
@example(["नमस्ते", "สวัสดี", "မြန်မာ", "ភាសាខ្មែរ", "தமிழ்"])
def test_words_begin_where_the_library_says(texts: list[str]) -> None:
    assert boundaries(texts) == list(map(expected, texts))


@pytest.mark.parametrize("seed", range(4))
def test_words_of_any_characters_begin_where_the_library_says(seed: int) -> None:
    characters = "".join(map(chr, range(0x110000)))
    members = [UNLIKE.sub("", "".join(regex.findall(rf"\p{{WB={value}}}", characters))) for value in VALUES]
    rng = random.Random(seed)  # noqa: S311  (no secret)
    texts = ["".join(rng.choice(rng.choice(members)) for _ in range(rng.randint(1, 9))) for _ in range(4000)]
    assert boundaries(texts) == list(map(expected, texts))


def test_han_letters_are_words_of_their_own() -> None:
    assert boundaries(["人々", "々々a"]) == [[0, 1], [0, 1, 2]]
