"""Hamming distances of two fingerprints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.hamming import differing_bits
from tests import reference
from tests.builders import words_of


@pytest.mark.parametrize("words", [1, 2, 4])
@given(data=st.data())
def test_distances_equal_their_plain_twin(words: int, data: st.DataObject) -> None:
    """Whatever the width, the compiled count is that of the differing binary digits."""
    numbers = data.draw(st.lists(st.integers(0, 2 ** (64 * words) - 1), min_size=1, max_size=8))
    bits = words_of(numbers, words)
    for a, b in np.ndindex(len(numbers), len(numbers)):
        assert differing_bits(bits, a, bits, b) == reference.hamming_distance(numbers[a], numbers[b])


@pytest.mark.parametrize("words", [1, 2, 4])
def test_opposite_fingerprints_differ_in_every_bit(words: int) -> None:
    """The largest distance is the width, which does not overflow any counter."""
    bits = words_of([0, 2 ** (64 * words) - 1], words)
    assert differing_bits(bits, 0, bits, 1) == 64 * words
