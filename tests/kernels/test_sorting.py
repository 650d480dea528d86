"""Runs of numbers are sorted in place, whatever their length, and nothing outside them changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.sorting import LONGEST_SHORT_RUN, sort_run

ANY_BITS, HIGH_AND_LOW, ONE_BYTE = 2**64 - 1, 0xFFFF_FF00_0000_00FF, 0xFF_0000


@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=70),
    st.sampled_from([1, 2, 4, 8]),
    st.sampled_from([ANY_BITS, HIGH_AND_LOW, ONE_BYTE]),
)
def test_a_run_is_sorted(numbers: list[int], n_copies: int, differing_bits: int) -> None:
    array = np.array([number & differing_bits for number in numbers * n_copies], np.uint64)
    before, first, last = array.tolist(), len(array) // 5, len(array) * 3 // 4
    sort_run(array, first, last)
    assert array.tolist() == before[:first] + sorted(before[first:last]) + before[last:]


def test_runs_just_below_and_above_the_limit_of_insertion_are_sorted() -> None:
    for length in (LONGEST_SHORT_RUN, LONGEST_SHORT_RUN + 1):
        array = np.arange(length, 0, -1).astype(np.uint64)
        sort_run(array, 0, length)
        assert array.tolist() == list(range(1, length + 1))
