"""Keys made of chosen bits of a fingerprint."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.search.bit_keys import hash_bits
from tests.builders import words_of

NOT_FLIPPED = np.zeros((1, 1), np.uint64)
ONE_KEY = np.zeros(1, np.int64)


@pytest.mark.parametrize("shift", [0, 20, 52])
def test_keys_of_one_word_are_one_to_one(shift: int) -> None:
    values = np.arange(2**12, dtype=np.uint64) << np.uint64(shift)
    mask = np.array([[0xFFF << shift]], np.uint64)
    others = np.random.default_rng(shift).integers(0, 2**64, len(values), np.uint64) & ~mask[0]
    keys, same = (hash_bits(bits[:, None], mask, NOT_FLIPPED, ONE_KEY) for bits in (values, values | others))
    assert len(np.unique(keys)) == len(values)
    assert keys.tolist() == same.tolist()


def test_keys_of_different_masks_never_meet() -> None:
    values = np.arange(2**12, dtype=np.uint64)
    masks = np.array([[0xFFF, 0], [0, 0xFFF], [0xFFF << 12, 0]], np.uint64)
    bits = np.stack([values | values << np.uint64(12), values], axis=1)
    keys = hash_bits(bits, masks, np.zeros_like(masks), np.arange(3))
    assert len(np.unique(keys)) == keys.size


@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_only_chosen_bits_make_a_key(number: int, other: int, mask: int) -> None:
    bits = words_of([number, number & mask, (number & mask) | (other & ~mask)], 2)
    keys = hash_bits(bits, words_of([mask], 2), np.zeros((1, 2), np.uint64), ONE_KEY)
    assert len(set(keys[:, 0].tolist())) == 1


def test_flips_are_the_keys_of_flipped_bits() -> None:
    flips = np.array([[1 << a | 1 << b] for a, b in combinations(range(8), 2)], np.uint64)
    mask, number = np.array([[0xFF]], np.uint64), np.array([[0b1010_0110]], np.uint64)
    keys = hash_bits(number, mask, flips, np.zeros(len(flips), np.int64))[0]
    assert keys.tolist() == hash_bits(number ^ flips, mask, NOT_FLIPPED, ONE_KEY)[:, 0].tolist()


def test_no_texts_have_no_keys() -> None:
    assert hash_bits(np.zeros((0, 1), np.uint64), NOT_FLIPPED, NOT_FLIPPED, ONE_KEY).shape == (0, 1)
