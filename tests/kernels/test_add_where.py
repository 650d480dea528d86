"""Masked additions against a loop over the bits of the word."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from hybriddup.kernels.add_where import add_where


@njit
def call_add_where(sums: np.ndarray, start: int, word: np.uint64, weight: np.int16) -> None:
    """Intrinsics can be called from compiled code only."""
    add_where(sums, np.uint64(start), word, weight)


def added(sums: list[int], start: int, word: int, weight: int) -> list[int]:
    """The sums after one call."""
    array = np.array(sums, np.int16)
    call_add_where(array, start, np.uint64(word), np.int16(weight))
    return array.tolist()


words = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1]))


@given(word=words, weight=st.integers(-300, 32767), start=st.sampled_from([0, 64, 128]), seed=st.integers(0, 2**32))
def test_weight_is_added_where_the_word_has_a_one(word: int, weight: int, start: int, seed: int) -> None:
    """To sums that begin anywhere, of which those before, after and between stay as they are."""
    sums = np.random.default_rng(seed).integers(-500, 1, 192).tolist()
    expected = list(sums)
    for bit in range(64):
        expected[start + bit] += weight * (word >> bit & 1)
    assert added(sums, start, word, weight) == expected


def test_sums_need_not_begin_where_vectors_do() -> None:
    """An array of two-byte numbers may begin at any even address."""
    whole = np.zeros(64 * 2 + 7, np.int16)
    for shift in range(7):
        call_add_where(whole[shift : shift + 64], 0, np.uint64(2**64 - 1), np.int16(1))
    assert whole.tolist() == [min(i + 1, 7, max(70 - i, 0)) for i in range(len(whole))]
