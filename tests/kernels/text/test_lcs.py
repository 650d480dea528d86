"""The longest common subsequence by bits against the textbook table and rapidfuzz."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from hybriddup.data.records import encode_texts
from hybriddup.kernels.text.lcs import lcs_lengths, symbols_in_common
from hybriddup.steps.verifiers.characters import as_symbols
from tests import reference
from tests.builders import examples

few_letters = st.text(alphabet="ab好\ud800\0", max_size=10)


def all_against_all(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every ordered pair, those of one later text together."""
    later, earlier = (rows.ravel().astype(np.int64) for rows in np.mgrid[:n, :n])
    return earlier, later


def kernel_lengths(texts: list[str]) -> list[int]:
    """The LCS length of every ordered pair of texts by the kernel."""
    return lcs_lengths(*as_symbols(encode_texts(texts)), *all_against_all(len(texts))).tolist()


@given(st.lists(few_letters, max_size=4))
def test_short_texts_equal_the_textbook_table(texts: list[str]) -> None:
    assert kernel_lengths(texts) == [reference.lcs_length(a, b) for b in texts for a in texts]


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 129, 200, 256, 257, 520])
def test_texts_across_word_borders_equal_rapidfuzz(length: int) -> None:
    rng = np.random.default_rng(length)
    sizes = [length, 1, 70, length, 0, 130, length + 1]
    texts = ["".join(rng.choice(list("abc好"), size)) for size in sizes]
    assert kernel_lengths(texts) == [LCSseq.similarity(a, b) for b in texts for a in texts]


@pytest.mark.parametrize("length", [64, 128, 192, 256, 320, 576])
def test_carry_runs_through_whole_words(length: int) -> None:
    texts = ["a" * length, "a" * (length - 1) + "b", "b" + "a" * length]
    assert kernel_lengths(texts)[:3] == [length, length - 1, length]


@pytest.mark.parametrize("n_between", [62, 63, 64, 126, 127, 130, 200, 254, 255, 256, 600])
def test_carry_passes_words_without_the_character(n_between: int) -> None:
    assert kernel_lengths(["ba", "a" + "c" * n_between + "b"])[2:] == [1, n_between + 2]


@examples(25)
@given(st.integers(0, 2**32), st.integers(0, 140), st.integers(0, 140))
def test_texts_of_any_length_equal_rapidfuzz(seed: int, n_a: int, n_b: int) -> None:
    """Random texts of few letters, so that the common subsequence is neither empty nor everything."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("ab猫"), n)) for n in (n_a, n_b)]
    assert kernel_lengths(texts) == [LCSseq.similarity(a, b) for b in texts for a in texts]


@given(st.lists(few_letters, min_size=1, max_size=4), st.randoms())
def test_order_of_pairs_does_not_matter(texts: list[str], random: object) -> None:
    earlier, later = all_against_all(len(texts))
    order = np.array(sorted(range(len(earlier)), key=lambda _: random.random()))  # type: ignore[attr-defined]
    shuffled = lcs_lengths(*as_symbols(encode_texts(texts)), earlier[order], later[order])
    assert shuffled.tolist() == np.array(kernel_lengths(texts))[order].tolist()


def in_common(texts: list[str], needed: int) -> list[int]:
    """The symbols in common of every ordered pair, or a number below the needed one."""
    pairs = all_against_all(len(texts))
    wanted = np.full(len(pairs[0]), needed)
    return symbols_in_common(*as_symbols(encode_texts(texts)), *pairs, wanted).tolist()


@given(st.lists(few_letters, max_size=4), st.integers(0, 10))
def test_symbols_in_common_are_counted_as_far_as_they_are_needed(texts: list[str], needed: int) -> None:
    """As often as both have them, whatever their order; so few that it does not matter how many are told by fewer."""
    truth = [reference.characters_in_common(a, b) for b in texts for a in texts]
    for found, expected in zip(in_common(texts, needed), truth, strict=True):
        assert found == expected or (expected < needed and found < needed)
    assert in_common(texts, 0) == truth
