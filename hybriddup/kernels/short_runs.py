"""Sorting a run of numbers within an array, fast where the run is short."""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit

LONGEST_SHORT_RUN = 64
"""Numbers that are sorted by insertion, which is faster than numba's own sorting where they are few."""


@njit(cache=True, nogil=True)
def sort_run(numbers: UInt64s, first: int, last: int) -> None:
    """Sort the numbers from place ``first`` up to, not including, ``last``, in place."""
    if last - first > LONGEST_SHORT_RUN:
        numbers[first:last].sort()
    else:
        sort_short_run(numbers, first, last)


@njit(cache=True, nogil=True, counts_references=False)
def sort_short_run(numbers: UInt64s, first: int, last: int) -> None:
    """Sort as `sort_run` does, by insertion."""
    for i in range(first + 1, last):
        number, place = numbers[np.uint64(i)], np.uint64(i)
        while place > np.uint64(first) and numbers[place - np.uint64(1)] > number:
            numbers[place] = numbers[place - np.uint64(1)]
            place -= np.uint64(1)
        numbers[place] = number
