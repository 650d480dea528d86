"""Residues of fingerprints: what is told to be too far away is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.residues import N_CLASSES, classes_within, lee_distance, residues_of
from tests.builders import words_of

NUMBERS = st.integers(0, 2**128 - 1)


def plain_residues(number: int) -> int:
    """The ones of the even and of the odd bits, modulo eight."""
    digits = f"{number:b}"[::-1]
    return digits[::2].count("1") % 8 + 8 * (digits[1::2].count("1") % 8)


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.sampled_from([1, 2]))
def test_residues_count_ones(numbers: list[int], words: int) -> None:
    """Of fingerprints of one word and of two."""
    cut = [number % 2 ** (64 * words) for number in numbers]
    found = [int(residues_of(words_of(cut, words), row)) for row in range(len(cut))]
    assert found == [plain_residues(number) for number in cut]


@given(NUMBERS, st.sets(st.integers(0, 127), max_size=9))
def test_residues_are_never_farther_apart_than_fingerprints(number: int, flipped: set[int]) -> None:
    """However many bits differ, and whichever."""
    other = number ^ sum(1 << bit for bit in flipped)
    bits = words_of([number, other], 2)
    first, second = residues_of(bits, 0), residues_of(bits, 1)
    assert int(lee_distance(first, second)) <= len(flipped)
    assert int(classes_within(first, np.uint64(len(flipped)))) >> int(second) & 1


@pytest.mark.parametrize(("distance", "n_classes"), [(0, 1), (1, 5), (2, 13), (3, 25), (8, 64), (2**40, 64)])
def test_so_many_classes_are_within_a_distance(distance: int, n_classes: int) -> None:
    """Whatever the residues are."""
    for residues in range(N_CLASSES):
        assert int(classes_within(np.uint64(residues), np.uint64(distance))).bit_count() == n_classes
