"""Characters that two texts can have in common: counted and bounded, against Counter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import N_CLASSES, encode_texts
from hybriddup.kernels.characters import (
    common_characters,
    count_characters,
    count_lacking,
    lcs_upper_bounds,
    sketch_characters,
)
from tests import reference

few_letters = st.text(alphabet="ab好\ud800\0", max_size=10)
any_letters = st.one_of(
    few_letters, st.text(max_size=30), st.text(alphabet="ab", max_size=6).map(lambda text: text * 90)
)


def counts_of(texts: list[str]) -> np.ndarray:
    """The characters of the texts by class."""
    counts = np.zeros((len(texts), N_CLASSES), np.uint8)
    count_characters(*encode_texts(texts), counts)
    return counts


def sketches_of(texts: list[str]) -> np.ndarray:
    """The same, up to three."""
    sketches = np.zeros((len(texts), 2), np.uint64)
    sketch_characters(counts_of(texts), sketches)
    return sketches


def class_of(character: str) -> int:
    """The class of one character."""
    return int(counts_of([character])[0].argmax())


def common(a: str, b: str) -> int:
    """The bound on the characters in common of two texts."""
    return int(common_characters(counts_of([a, b]), 0, 1))


def lacks(a: str, b: str) -> int:
    """The bound on the characters of the first text that the second one lacks."""
    sketches = sketches_of([a, b])
    return int(count_lacking(*sketches[0], *sketches[1]))


# --- counting ---


@given(st.lists(any_letters, max_size=4))
def test_counts_are_those_of_the_characters_of_each_class(texts: list[str]) -> None:
    """Every character in one class, 255 standing for more too."""
    counts = counts_of(texts)
    for row, text in enumerate(texts):
        expected = [0] * N_CLASSES
        for character in text:
            expected[class_of(character)] += 1
        assert counts[row].tolist() == [min(count, 255) for count in expected]


def test_neighbours_among_the_code_points_are_spread_over_the_classes() -> None:
    """The letters of an alphabet, and those of a block of Han, do not meet in a few classes."""
    letters = [chr(point) for point in range(ord("a"), ord("z") + 1)]
    han = [chr(point) for point in range(0x4E00, 0x4E00 + N_CLASSES)]
    assert len({class_of(letter) for letter in letters}) >= 20
    assert len({class_of(character) for character in han}) >= 50


# --- bounds ---


@given(any_letters, any_letters)
def test_characters_in_common_are_never_more_than_the_bound(a: str, b: str) -> None:
    """Or pairs would be lost; in either order, and with itself."""
    truth = reference.characters_in_common(a, b)
    assert common(a, b) == common(b, a) >= truth
    assert common(a, a) >= len(a)


@given(few_letters, few_letters)
def test_bound_is_exact_where_no_characters_share_a_class(a: str, b: str) -> None:
    """The five letters here have five classes."""
    assert len({class_of(letter) for letter in "ab好\ud800\0"}) == 5
    assert common(a, b) == reference.characters_in_common(a, b)


@pytest.mark.parametrize("n", [254, 255, 256, 513])
def test_there_is_no_bound_where_counts_do_not_fit_their_byte(n: int) -> None:
    """255 of both may be any number; where one text has fewer, its count is known."""
    assert common("a" * n, "a" * n) == (n if n < 255 else NO_BOUND)
    assert common("a" * n + "b", "a" * 254 + "bb") == min(n, 254) + 1


@given(any_letters, any_letters)
def test_lacking_is_never_more_than_the_truth(a: str, b: str) -> None:
    """What the second text lacks of the first, characters counted as often as they stand there."""
    in_common = reference.characters_in_common(a, b)
    assert lacks(a, b) <= len(a) - in_common
    assert lacks(b, a) <= len(b) - in_common
    assert lacks(a, a) == 0


@given(few_letters, few_letters)
def test_lacking_counts_up_to_three_characters_of_a_class(a: str, b: str) -> None:
    """Where no two characters share a class, exactly those; fourth ones and further are not looked at."""
    expected = sum(max(min(a.count(letter), 3) - min(b.count(letter), 3), 0) for letter in set(a))
    assert lacks(a, b) == expected


def test_sketches_hold_a_number_up_to_three_for_each_class() -> None:
    """Its low bit in one word, its high bit in the other."""
    a, b = 1 << class_of("a"), 1 << class_of("b")
    sketches = sketches_of(["b", "aab", "", "ba" * 200, "aaab"]).tolist()
    assert sketches == [[b, 0], [b, a], [0, 0], [a | b, a | b], [a | b, a]]


def test_nothing_is_lacking_where_nothing_was_counted() -> None:
    """Sketches that are all 0 refuse no pair."""
    assert int(count_lacking(*[np.uint64(0)] * 4)) == 0


# --- the longest common subsequence ---


def all_against_all(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every ordered pair, those of one later text together."""
    later, earlier = (rows.ravel().astype(np.int64) for rows in np.mgrid[:n, :n])
    return earlier, later


def upper_bounds(texts: list[str]) -> list[int]:
    """The bound of every ordered pair of texts."""
    lengths = np.array(list(map(len, texts)), np.int64)
    return lcs_upper_bounds(counts_of(texts), lengths, *all_against_all(len(texts))).tolist()


def lcs_lengths(texts: list[str]) -> list[int]:
    """The truth for every ordered pair of texts."""
    return [reference.lcs_length(a, b) for b in texts for a in texts]


@given(st.lists(few_letters, min_size=1, max_size=4))
def test_bound_is_never_below_the_longest_common_subsequence(texts: list[str]) -> None:
    """For every pair, or matches would be lost."""
    assert all(bound >= length for bound, length in zip(upper_bounds(texts), lcs_lengths(texts), strict=True))


def test_bound_holds_where_many_characters_share_a_class() -> None:
    """It may be loose then, but stays a bound."""
    rng = np.random.default_rng(5)
    texts = ["".join(map(chr, rng.integers(0x4E00, 0x4E00 + 600, 150))) for _ in range(4)]
    assert len(set("".join(texts))) > N_CLASSES
    assert (np.array(upper_bounds(texts)) >= lcs_lengths(texts)).all()


@pytest.mark.parametrize("n", [254, 255, 256, 513])
def test_bound_holds_where_counts_do_not_fit_their_byte(n: int) -> None:
    """A text of one character many times over: its count stops, the bound goes by the length then."""
    texts = ["a" * n, "a" * n + "b", "a" * 10, "c"]
    assert (np.array(upper_bounds(texts)) >= lcs_lengths(texts)).all()


@given(st.lists(few_letters, min_size=1, max_size=4))
def test_bound_is_at_most_the_shorter_text(texts: list[str]) -> None:
    """Whatever the characters are."""
    shorter = [min(len(a), len(b)) for b in texts for a in texts]
    assert all(bound <= length for bound, length in zip(upper_bounds(texts), shorter, strict=True))


def test_bound_counts_a_character_as_often_as_both_have_it() -> None:
    """So that pairs that share letters but not many of each are refused without looking at their order."""
    assert upper_bounds(["aaaabbb", "abbcccc"])[1] == 3
