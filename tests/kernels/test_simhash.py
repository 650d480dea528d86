"""The simhash kernel against the five steps in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.simhash import TOKENS_A_BLOCK, simhash
from tests import reference
from tests.builders import numbers_of, words_of

LARGEST_WEIGHT = 256_000


def one_text(hashes: list[int], weights: list[int], words: int) -> tuple[int, list[int]]:
    """The fingerprint and the bit strengths of one text with these token hashes and weights."""
    offsets = np.array([0, len(hashes)], np.int64)
    bits, strengths = simhash(words_of(hashes, words), np.array(weights, np.int32), offsets)
    return numbers_of(bits)[0], strengths[0].tolist()


def plain_sums(hashes: list[int], weights: list[int], n_bits: int) -> list[int]:
    """The signed sums of one text, each hash being a token of its own."""
    tokens = [str(place) for place in range(len(hashes))]
    return reference.signed_sums(tokens, weights, n_bits, lambda token: hashes[int(token)])


def test_worked_example_gives_101011() -> None:
    """Hashes 100101 with weight 4 and 101011 with weight 5 add up to 9 -9 1 -1 1 9, which is 101011."""
    fingerprint, _ = one_text([0b100101, 0b101011], [4, 5], 1)
    assert fingerprint == 0b101011


def test_worked_example_adds_up_as_published() -> None:
    """The sums of the example, highest bit first, are those that the text about it prints."""
    assert plain_sums([0b100101, 0b101011], [4, 5], 6)[::-1] == [9, -9, 1, -1, 1, 9]


def test_sum_of_zero_gives_bit_zero() -> None:
    """Two tokens of equal weight that disagree everywhere leave no bit set."""
    assert one_text([2**64 - 1, 0], [7, 7], 1)[0] == 0


def test_sum_of_zero_has_strength_zero() -> None:
    """A bit without a majority is the weakest there is."""
    assert set(one_text([2**64 - 1, 0], [7, 7], 1)[1]) == {0}


def test_unanimous_bits_have_the_largest_strength() -> None:
    """With one token every bit is as far from zero as it can be."""
    assert set(one_text([0b1010], [3], 1)[1]) == {255}


def test_text_without_tokens_has_fingerprint_zero() -> None:
    """Nothing is added up, so nothing is above zero."""
    assert one_text([], [], 2) == (0, [0] * 128)


@pytest.mark.parametrize("words", [1, 2, 4])
@given(data=st.data())
def test_fingerprint_equals_its_plain_twin(words: int, data: st.DataObject) -> None:
    """Bits and strengths are those of adding up token by token with whole numbers."""
    hashes = data.draw(st.lists(st.integers(0, 2 ** (64 * words) - 1), max_size=9))
    weights = data.draw(st.lists(st.integers(1, LARGEST_WEIGHT), min_size=len(hashes), max_size=len(hashes)))
    sums = plain_sums(hashes, weights, 64 * words)
    assert one_text(hashes, weights, words) == (
        reference.keep_signs(sums),
        reference.strengths(sums, sum(weights)),
    )


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(1, LARGEST_WEIGHT)), max_size=9), st.randoms())
def test_order_of_tokens_does_not_matter(tokens: list[tuple[int, int]], random: object) -> None:
    """Sums of whole numbers are the same in any order."""
    shuffled = sorted(tokens, key=lambda _: random.random())  # type: ignore[attr-defined]
    given_order, other_order = (one_text([h for h, _ in t], [w for _, w in t], 1) for t in (tokens, shuffled))
    assert given_order == other_order


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=3), max_size=5))
def test_texts_of_a_batch_do_not_touch_each_other(texts: list[list[int]]) -> None:
    """A text gets the fingerprint that it gets alone, also beside texts without tokens."""
    flat = [token for tokens in texts for token in tokens]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    bits, strengths = simhash(words_of(flat, 1), np.full(len(flat), 256, np.int32), offsets)
    alone = [one_text(tokens, [256] * len(tokens), 1) for tokens in texts]
    assert list(zip(numbers_of(bits), strengths.tolist(), strict=True)) == alone


@pytest.mark.parametrize("n_tokens", [TOKENS_A_BLOCK - 1, TOKENS_A_BLOCK, TOKENS_A_BLOCK + 1])
def test_long_texts_of_heavy_tokens_do_not_overflow(n_tokens: int) -> None:
    """At the largest weight the sums pass 2**30 within a block; the majority still decides each bit."""
    hashes = [1] * n_tokens + [2] * (n_tokens // 2)
    fingerprint, strengths = one_text(hashes, [LARGEST_WEIGHT] * len(hashes), 1)
    total = LARGEST_WEIGHT * len(hashes)
    sums = plain_sums([1, 2], [LARGEST_WEIGHT * n_tokens, LARGEST_WEIGHT * (n_tokens // 2)], 64)
    assert (fingerprint, strengths) == (1, reference.strengths(sums, total))
