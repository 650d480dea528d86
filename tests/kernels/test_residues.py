"""Residues of fingerprints: what is told to be too far away is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.residues import BITS_OF_RESIDUES, residues_of, want_residues
from tests.builders import words_of
from tests.reference import lee_distance

NUMBERS = st.integers(0, 2**128 - 1)
N_CLASSES = 1 << BITS_OF_RESIDUES


def plain_residues(number: int) -> int:
    """The ones of every third bit of each word, modulo eight."""
    words = [f"{number % 2**64:064b}"[::-1], f"{number >> 64:064b}"[::-1]]
    counts = [sum(digits[third::3].count("1") for digits in words) for third in range(3)]
    return sum(count % 8 << 3 * third for third, count in enumerate(counts))


def classes_within(residues: int, distance: int) -> set[int]:
    """The classes that are wanted."""
    wanted = np.full(N_CLASSES // 64, 2**64 - 1, np.uint64)
    want_residues(np.uint64(residues), np.uint64(distance), wanted)
    return {each for each in range(N_CLASSES) if int(wanted[each // 64]) >> each % 64 & 1}


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.sampled_from([1, 2]))
def test_residues_count_ones(numbers: list[int], words: int) -> None:
    """Of fingerprints of one word and of two."""
    cut = [number % 2 ** (64 * words) for number in numbers]
    found = [int(residues_of(words_of(cut, words), row)) for row in range(len(cut))]
    assert found == [plain_residues(number) for number in cut]


@given(NUMBERS, st.sets(st.integers(0, 127), max_size=13))
def test_fingerprints_within_a_distance_are_of_wanted_classes(number: int, flipped: set[int]) -> None:
    """However many bits differ, and whichever."""
    bits = words_of([number, number ^ sum(1 << bit for bit in flipped)], 2)
    first, second = int(residues_of(bits, 0)), int(residues_of(bits, 1))
    assert lee_distance(first, second) <= len(flipped)
    assert second in classes_within(first, len(flipped))


@pytest.mark.parametrize("distance", [*range(13), 2**40])
@given(residues=st.integers(0, N_CLASSES - 1))
def test_wanted_are_the_classes_within_a_distance(residues: int, distance: int) -> None:
    """And no others, whatever was wanted before."""
    expected = {other for other in range(N_CLASSES) if lee_distance(residues, other) <= distance}
    assert classes_within(residues, distance) == expected


@pytest.mark.parametrize(("distance", "n_classes"), [(0, 1), (1, 7), (2, 25), (3, 63), (12, 512)])
def test_so_many_classes_are_within_a_distance(distance: int, n_classes: int) -> None:
    """As many as there are points of a lattice of three dimensions."""
    assert len(classes_within(0o357, distance)) == n_classes
