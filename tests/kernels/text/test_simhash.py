"""The simhash kernel against the five steps in plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.text.simhash import MAX_BLOCK_WEIGHT, simhash
from tests import reference
from tests.builders import numbers_of, words_of

LARGEST_WEIGHT = 256_000


def one_text(hashes: list[int], weights: list[int], words: int) -> int:
    offsets = np.array([0, len(hashes)], np.int64)
    return numbers_of(simhash(words_of(hashes, words), np.array(weights, np.int32), offsets))[0]


def plain_text(hashes: list[int], weights: list[int], words: int) -> int:
    """The same by adding up token by token with whole numbers, each hash being a token of its own."""
    tokens = [str(place) for place in range(len(hashes))]
    sums = reference.signed_sums(tokens, weights, 64 * words, lambda token: hashes[int(token)])
    return reference.keep_signs(sums)


def test_worked_example_gives_101011() -> None:
    assert one_text([0b100101, 0b101011], [4, 5], 1) == 0b101011


def test_sum_of_zero_gives_bit_zero() -> None:
    assert one_text([2**64 - 1, 0], [7, 7], 1) == 0


any_weights = st.one_of(
    st.integers(1, LARGEST_WEIGHT),
    st.integers(1, 2000),
    st.integers(-2, 2).map(lambda step: MAX_BLOCK_WEIGHT + step),
    st.integers(-2, 2).map(lambda step: (MAX_BLOCK_WEIGHT + 1) // 2 + step),
)


@pytest.mark.parametrize("words", [1, 2, 3, 4])
@given(data=st.data())
def test_fingerprint_equals_its_plain_twin(words: int, data: st.DataObject) -> None:
    hashes = data.draw(st.lists(st.integers(0, 2 ** (64 * words) - 1), max_size=9))
    weights = data.draw(st.lists(any_weights, min_size=len(hashes), max_size=len(hashes)))
    assert one_text(hashes, weights, words) == plain_text(hashes, weights, words)


@pytest.mark.parametrize("words", [1, 2, 4])
@pytest.mark.parametrize("n_tokens", [127, 128, 129, 1000])
def test_texts_of_many_tokens_equal_their_plain_twin(words: int, n_tokens: int) -> None:
    rng = np.random.default_rng([words, n_tokens])
    hashes = [int.from_bytes(rng.bytes(8 * words), "little") for _ in range(n_tokens)]
    weights = rng.integers(1, 1281, n_tokens).tolist()
    assert one_text(hashes, weights, words) == plain_text(hashes, weights, words)


@pytest.mark.parametrize(
    "weights",
    [
        [MAX_BLOCK_WEIGHT],
        [MAX_BLOCK_WEIGHT + 1],
        [MAX_BLOCK_WEIGHT, 1],
        [1, MAX_BLOCK_WEIGHT],
        [1, MAX_BLOCK_WEIGHT - 1],
        [1, MAX_BLOCK_WEIGHT - 1, 1],
        [MAX_BLOCK_WEIGHT, MAX_BLOCK_WEIGHT, MAX_BLOCK_WEIGHT],
        [5, MAX_BLOCK_WEIGHT + 1, MAX_BLOCK_WEIGHT - 5, 1],
        [LARGEST_WEIGHT, 1, LARGEST_WEIGHT],
    ],
    ids=str,
)
@pytest.mark.parametrize("words", [1, 2, 4])
def test_blocks_that_are_just_full_do_not_overflow(words: int, weights: list[int]) -> None:
    """Every token votes 1 for every bit, so each sum is the total weight; and once with a single bit left out."""
    everything = 2 ** (64 * words) - 1
    for hashes in ([everything] * len(weights), [everything ^ 1 << 64 * words - 1] * len(weights)):
        assert one_text(hashes, weights, words) == plain_text(hashes, weights, words)


def test_text_after_a_full_block_begins_with_nothing() -> None:
    hashes, offsets = words_of([2**64 - 1, 0, 2**64 - 1], 1), np.array([0, 1, 2, 3], np.int64)
    bits = simhash(hashes, np.array([MAX_BLOCK_WEIGHT, 1, MAX_BLOCK_WEIGHT], np.int32), offsets)
    assert numbers_of(bits) == [2**64 - 1, 0, 2**64 - 1]


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=3), max_size=5))
def test_texts_of_a_batch_do_not_touch_each_other(texts: list[list[int]]) -> None:
    flat = [token for tokens in texts for token in tokens]
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    bits = simhash(words_of(flat, 1), np.full(len(flat), 256, np.int32), offsets)
    assert numbers_of(bits) == [one_text(tokens, [256] * len(tokens), 1) for tokens in texts]


@pytest.mark.parametrize("weight", [MAX_BLOCK_WEIGHT, LARGEST_WEIGHT])
def test_long_texts_of_heavy_tokens_do_not_overflow(weight: int) -> None:
    n_tokens = 2**31 // weight + 2
    hashes = [1] * n_tokens + [2] * (n_tokens // 2)
    assert one_text(hashes, [weight] * len(hashes), 1) == 1
