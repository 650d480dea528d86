"""Bits of a word against Python's whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from hybriddup.kernels.popcount import lowest_bit, popcount

words = st.one_of(st.integers(1, 2**64 - 1), st.integers(0, 63).map(lambda bit: 2**64 - 2**bit))


@njit
def call_popcount(word: np.uint64) -> np.uint64:
    """Intrinsics can be called from compiled code only."""
    return popcount(word)


@njit
def call_lowest_bit(word: np.uint64) -> np.uint64:
    """Intrinsics can be called from compiled code only."""
    return lowest_bit(word)


@given(words)
def test_ones_are_counted(word: int) -> None:
    """As Python counts them."""
    assert int(call_popcount(np.uint64(word))) == word.bit_count()


def test_nothing_has_no_ones() -> None:
    """0 is a word like any other."""
    assert int(call_popcount(np.uint64(0))) == 0


@given(words)
def test_lowest_bit_is_the_first_that_is_one(word: int) -> None:
    """Counted from 0 at the lowest."""
    assert int(call_lowest_bit(np.uint64(word))) == next(bit for bit in range(64) if word >> bit & 1)


@pytest.mark.parametrize("bit", range(64))
def test_single_bit_is_the_lowest(bit: int) -> None:
    """Whatever stands above it."""
    assert [int(call_lowest_bit(np.uint64(word))) for word in (2**bit, 2**64 - 2**bit)] == [bit, bit]
