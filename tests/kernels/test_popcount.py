"""Bits of a word against Python's whole numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.popcount import differing_bits, lowest_bit, popcount
from tests import reference
from tests.builders import words_of
from tests.inner_kernels import from_python

bits = st.integers(0, 63)
words = st.one_of(st.integers(1, 2**64 - 1), bits.map(lambda bit: 2**64 - 2**bit), bits.map(lambda bit: 2**bit))


@given(words | st.just(0))
def test_ones_are_counted_as_python_counts_them(word: int) -> None:
    assert int(from_python(popcount)(np.uint64(word))) == word.bit_count()


@given(words)
def test_lowest_bit_is_the_first_that_is_one(word: int) -> None:
    assert int(from_python(lowest_bit)(np.uint64(word))) == next(bit for bit in range(64) if word >> bit & 1)


@pytest.mark.parametrize("words", [1, 2, 4])
@given(data=st.data())
def test_distances_equal_their_plain_twin(words: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, 2 ** (64 * words) - 1), min_size=1, max_size=8))
    bits = words_of(numbers, words)
    for a, b in np.ndindex(len(numbers), len(numbers)):
        assert from_python(differing_bits)(bits, a, bits, b) == reference.hamming_distance(numbers[a], numbers[b])
