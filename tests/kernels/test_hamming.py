"""Hamming distances of given pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.hamming import pair_distances
from tests import reference
from tests.builders import words_of


@pytest.mark.parametrize("words", [1, 2, 4])
@given(data=st.data())
def test_distances_equal_their_plain_twin(words: int, data: st.DataObject) -> None:
    """Whatever the width, the compiled count is that of the differing binary digits."""
    numbers = data.draw(st.lists(st.integers(0, 2 ** (64 * words) - 1), min_size=1, max_size=8))
    bits = words_of(numbers, words)
    rows_a, rows_b = (rows.ravel() for rows in np.mgrid[: len(numbers), : len(numbers)])
    distances = pair_distances(bits, rows_a, bits, rows_b)
    expected = [reference.hamming_distance(numbers[a], numbers[b]) for a, b in zip(rows_a, rows_b, strict=True)]
    assert distances.tolist() == expected


@pytest.mark.parametrize("words", [1, 2, 4])
def test_opposite_fingerprints_differ_in_every_bit(words: int) -> None:
    """The largest distance is the width, which does not overflow any counter."""
    bits = words_of([0, 2 ** (64 * words) - 1], words)
    rows = np.array([0], np.int64)
    assert pair_distances(bits, rows, bits, rows + 1).tolist() == [64 * words]


def test_no_pairs_have_no_distances() -> None:
    """Nothing in, nothing out."""
    no_rows = np.zeros(0, np.int64)
    assert pair_distances(words_of([1], 1), no_rows, words_of([1], 1), no_rows).shape == (0,)
