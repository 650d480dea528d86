"""Folding by table against a plain walk over each text."""

import re
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import UInt32s, encode_texts
from hybriddup.kernels.text.folding import (
    COLLAPSES,
    ENDS_LITERAL,
    MAX_SEVERAL,
    NUMBER_SHIFT,
    SEVERAL,
    SPECIAL,
    TEXT_HAS_LITERAL,
    TEXT_IS_SPECIAL,
    FoldingTable,
    fold_texts,
)

FOLDED = {"A": "a", "B": "b", "…": "...", "½": "1/2", "㏂": "a.m.", "\u200b": "", "\t": " ", "!": "!"}
SPECIALS = "\u0301ᄀ"
LITERALS = ("@", "ba", "1/", "b.", "..", "\U0001f600", "!a@", "m.")
ONCE = "!. \U0001f600"
DOTS = ".。"

folding_texts = st.lists(st.text(alphabet="abAB…½㏂\u200b\t!. @\U0001f600\u0301ᄀ喊\ud800\0", max_size=10), max_size=5)


def make_table(once: str, literals: tuple[str, ...], joins_dots: bool = False) -> FoldingTable:
    """The table of `FOLDED`, with some characters that stand once."""
    literals = tuple(sorted(literals, key=lambda literal: literal[::-1]))
    ends = [literal[-1] for literal in literals]
    flags = {character: int(COLLAPSES) for character in once}
    for end in ends:
        flags[end] = flags.get(end, 0) | int(ENDS_LITERAL) | ends.index(end) << int(NUMBER_SHIFT)
    if joins_dots:
        flags |= dict.fromkeys(DOTS, int(COLLAPSES | ENDS_LITERAL) | len(literals) << int(NUMBER_SHIFT))
    entries = np.arange(0x110000, dtype=np.uint32)
    several: list[int] = []
    for character in {*FOLDED, *flags, *SPECIALS}:
        folded = FOLDED.get(character, character)
        parts = [ord(part) | flags.get(part, 0) for part in folded]
        several_here = int(SEVERAL) | len(parts) << int(NUMBER_SHIFT) | len(several)
        entries[ord(character)] = parts[0] if len(parts) == 1 else several_here
        several += parts if len(parts) != 1 else []
    entries[[ord(character) for character in SPECIALS]] |= SPECIAL
    bounds = np.cumsum([0, *map(len, literals)], dtype=np.int64)
    points = encode_texts(["".join(literals)]).code_points
    states = np.full(len(literals), TEXT_HAS_LITERAL)
    return FoldingTable(entries, np.array(several, np.uint32), points, bounds, states, False, joins_dots)


def plain_fold(text: str, once: str) -> str:
    """The characters one by one; those that stand once not after themselves, a space not at the ends."""
    folded = ""
    for character in "".join(FOLDED.get(character, character) for character in text):
        if character not in once or not folded.endswith(character):
            folded += character
    return folded.strip(" ") if " " in once else folded


def as_strings(folded: UInt32s, bounds: list[int]) -> list[str]:
    points = folded.astype("<u4")
    parts = (points[start:end].tobytes() for start, end in pairwise(bounds))
    return [part.decode("utf-32-le", "surrogatepass") for part in parts]


def kernel_fold(
    texts: list[str], once: str, literals: tuple[str, ...], fold_special: bool
) -> tuple[list[str], list[int]]:
    points, offsets = encode_texts(texts)
    folded = np.full(MAX_SEVERAL * len(points), 0x3F, np.uint32)
    found = np.zeros(len(literals), np.bool_)
    bounds, states = fold_texts(points, offsets, make_table(once, literals), fold_special, found, folded)
    return as_strings(folded, bounds.tolist()), states.tolist()


@given(folding_texts, st.sets(st.sampled_from(ONCE)).map("".join))
def test_folded_texts_equal_their_plain_twin(texts: list[str], once: str) -> None:
    assert kernel_fold(texts, once, (), True)[0] == [plain_fold(text, once) for text in texts]


@given(folding_texts)
def test_a_text_with_a_special_character_is_named_and_left_empty(texts: list[str]) -> None:
    special = [any(character in SPECIALS for character in text) for text in texts]
    folded, states = kernel_fold(texts, ONCE, (), False)
    assert [state & TEXT_IS_SPECIAL != 0 for state in states] == special
    assert folded == ["" if skip else plain_fold(text, ONCE) for text, skip in zip(texts, special, strict=True)]


@given(folding_texts, st.sets(st.sampled_from(LITERALS)).map(tuple))
def test_a_text_with_a_literal_is_named(texts: list[str], literals: tuple[str, ...]) -> None:
    folded, states = kernel_fold(texts, "!.", literals, True)
    expected = [any(literal in text for literal in literals) for text in folded]
    assert [state & TEXT_HAS_LITERAL != 0 for state in states] == expected


@given(st.lists(st.text(alphabet="a.。…½ ", max_size=10), max_size=5))
def test_three_dots_or_more_become_an_ellipsis_and_two_become_one(texts: list[str]) -> None:
    points, offsets = encode_texts(texts)
    folded = np.empty(MAX_SEVERAL * len(points), np.uint32)
    bounds, _ = fold_texts(points, offsets, make_table("", (), joins_dots=True), True, np.zeros(0, np.bool_), folded)
    expected = [re.sub("[.。]{3,}", "…", plain_fold(text, "")) for text in texts]  # … folds to three dots here
    expected = [re.sub("([.。])[.。]", r"\1", text) for text in expected]
    assert as_strings(folded, bounds.tolist()) == expected


def test_numbers_fit_into_an_entry() -> None:
    largest = 127
    entry = np.uint32(largest) << NUMBER_SHIFT | ENDS_LITERAL | SEVERAL | SPECIAL | COLLAPSES
    assert int(entry) & 0x10FFFF == 0
    assert int(entry) >> int(NUMBER_SHIFT) == largest >= MAX_SEVERAL
