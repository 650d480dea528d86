"""The longest common subsequence by bits against the textbook table and rapidfuzz."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from hybriddup.kernels.lcs import N_CLASSES, count_characters, lcs_lengths, lcs_upper_bounds, renumber
from hybriddup.records import encode_texts
from tests import reference

few_letters = st.text(alphabet="ab好\ud800\0", max_size=10)


def symbols_of(texts: list[str]) -> tuple[np.ndarray, np.ndarray, int]:
    """The texts as symbols with offsets, and how many symbols there are."""
    code_points, offsets = encode_texts(texts)
    symbols, n_symbols = renumber(code_points, np.full(0x110000, -1, np.int32), 0)
    return symbols, offsets, n_symbols


def all_against_all(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every ordered pair, those of one later text together."""
    later, earlier = (rows.ravel().astype(np.int64) for rows in np.mgrid[:n, :n])
    return earlier, later


def kernel_lengths(texts: list[str]) -> list[int]:
    """The LCS length of every ordered pair of texts by the kernel."""
    symbols, offsets, n_symbols = symbols_of(texts)
    earlier, later = all_against_all(len(texts))
    wanted = np.ones(len(earlier), np.bool_)
    return lcs_lengths(symbols, offsets, n_symbols, earlier, later, wanted).tolist()


@given(st.lists(few_letters, min_size=1, max_size=4))
def test_short_texts_equal_the_textbook_table(texts: list[str]) -> None:
    """Every pair, empty texts and a text with itself included, in one call."""
    assert kernel_lengths(texts) == [reference.lcs_length(a, b) for b in texts for a in texts]


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 200])
def test_texts_across_word_borders_equal_rapidfuzz(length: int) -> None:
    """One, two and more words a text, shorter and longer partners between them in the same call."""
    rng = np.random.default_rng(length)
    sizes = [length, 1, 70, length, 0, 130, length + 1]
    texts = ["".join(rng.choice(list("abc好"), size)) for size in sizes]
    assert kernel_lengths(texts) == [LCSseq.similarity(a, b) for b in texts for a in texts]


@pytest.mark.parametrize("length", [64, 128, 192])
def test_carry_runs_through_whole_words(length: int) -> None:
    """Texts of one character make the addition carry from the first bit to the last."""
    assert kernel_lengths(["a" * length, "a" * (length - 1) + "b", "b" + "a" * length])[:3] == [
        length,
        length - 1,
        length,
    ]


@pytest.mark.parametrize("n_between", [62, 63, 64, 126, 127, 130, 200])
def test_carry_passes_words_without_the_character(n_between: int) -> None:
    """``b`` before ``a`` has one of them in common with ``a...b``, however many words lie between the two."""
    assert kernel_lengths(["ba", "a" + "c" * n_between + "b"])[2:] == [1, n_between + 2]


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(0, 140), st.integers(0, 140))
def test_texts_of_any_length_equal_rapidfuzz(seed: int, n_a: int, n_b: int) -> None:
    """Random texts of few letters, so that the common subsequence is neither empty nor everything."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ab猫"), n)) for n in (n_a, n_b)]
    assert kernel_lengths(texts) == [LCSseq.similarity(a, b) for b in texts for a in texts]


def test_unwanted_pairs_are_left_at_zero() -> None:
    """They cost nothing and disturb nothing."""
    symbols, offsets, n_symbols = symbols_of(["abc", "abd", "abe"])
    earlier, later = np.array([0, 0, 1]), np.array([1, 2, 2])
    lengths = lcs_lengths(symbols, offsets, n_symbols, earlier, later, np.array([True, False, True]))
    assert lengths.tolist() == [2, 0, 2]


def upper_bounds(texts: list[str]) -> list[int]:
    """The bound of every ordered pair of texts."""
    symbols, offsets, _ = symbols_of(texts)
    return lcs_upper_bounds(count_characters(symbols, offsets), np.diff(offsets), *all_against_all(len(texts))).tolist()


@given(st.lists(few_letters, min_size=1, max_size=4))
def test_bound_is_never_below_the_truth(texts: list[str]) -> None:
    """For every pair, or matches would be lost."""
    lengths = [reference.lcs_length(a, b) for b in texts for a in texts]
    assert all(bound >= length for bound, length in zip(upper_bounds(texts), lengths, strict=True))


def test_bound_holds_where_many_symbols_share_a_class() -> None:
    """It may be loose then, but stays a bound."""
    rng = np.random.default_rng(5)
    texts = ["".join(map(chr, rng.integers(0x4E00, 0x4E00 + 600, 150))) for _ in range(6)]
    assert symbols_of(texts)[2] > N_CLASSES
    assert (np.array(upper_bounds(texts)) >= kernel_lengths(texts)).all()


@pytest.mark.parametrize("n", [254, 255, 256, 513])
def test_bound_holds_where_counts_do_not_fit_their_byte(n: int) -> None:
    """A text of one character many times over: its count stops, the bound goes by the length then."""
    texts = ["a" * n, "a" * n + "b", "a" * 10, "c"]
    assert (np.array(upper_bounds(texts)) >= kernel_lengths(texts)).all()


@given(st.lists(few_letters, min_size=1, max_size=4))
def test_bound_is_at_most_the_shorter_text(texts: list[str]) -> None:
    """Whatever the characters are."""
    shorter = [min(len(a), len(b)) for b in texts for a in texts]
    assert all(bound <= length for bound, length in zip(upper_bounds(texts), shorter, strict=True))


def test_bound_counts_a_character_as_often_as_both_have_it() -> None:
    """So that pairs that share letters but not many of each are refused without looking at their order."""
    assert upper_bounds(["aaaabbb", "abbcccc"])[1] == 3


@given(st.lists(few_letters, max_size=5))
def test_symbols_are_numbered_by_first_use(texts: list[str]) -> None:
    """Equal code points get equal numbers 0, 1, 2, ... in the order in which they first stand."""
    symbols, _, n_symbols = symbols_of(texts)
    order: dict[str, int] = {}
    expected = [order.setdefault(character, len(order)) for character in "".join(texts)]
    assert (symbols.tolist(), n_symbols) == (expected, len(order))


def test_numbering_goes_on_where_the_batch_before_ended() -> None:
    """Batches share one table, so a character keeps its number."""
    symbol_of = np.full(0x110000, -1, np.int32)
    _, n_symbols = renumber(encode_texts(["ab"]).code_points, symbol_of, 0)
    symbols, n_symbols = renumber(encode_texts(["bc"]).code_points, symbol_of, n_symbols)
    assert (symbols.tolist(), n_symbols) == ([1, 2], 3)
