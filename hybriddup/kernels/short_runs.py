"""In-place sorting of a short run within an array.

Insertion sort, and Shellsort for long runs (D. L. Shell 1959, with the gaps of Gonnet and Baeza-Yates 1991). numba's
own sort is a third faster but takes more than a second to compile, which every user would wait for.
"""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import ONE

LONGEST_SHORT_RUN = 100
"""Maximum length of a run that is sorted by insertion alone."""


@njit(cache=True, nogil=True, inner=True)
def sort_run(numbers: UInt64s, first: int, last: int) -> None:
    """Sort ``numbers[first:last]`` in place."""
    gap = np.uint64(last - first)
    if gap <= LONGEST_SHORT_RUN:
        gap = ONE
    while gap > 0:
        for i in range(np.uint64(first) + gap, np.uint64(last)):
            number, place = numbers[i], np.uint64(i)
            while place >= np.uint64(first) + gap and numbers[place - gap] > number:
                numbers[place] = numbers[place - gap]
                place -= gap
            numbers[place] = number
        gap = np.uint64(0) if gap == ONE else max(gap * np.uint64(5) // np.uint64(11), ONE)
