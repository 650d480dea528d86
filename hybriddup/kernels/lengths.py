"""Lengths of texts: how far they reach."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s
from hybriddup.kernels.cache import njit

CLASSES_OF_DOUBLING, LAST_CLASS = 16, 255
"""Classes of lengths from one to its double, and the largest."""


@njit(cache=True, nogil=True)
def largest_so_far(lengths: Int32s, values: Int32s, longest: int) -> Int64s:
    """Return int64[longest + 1]: for each length, the largest value of the texts that are no longer; -1 = no text."""
    largest = np.full(longest + 1, -1, np.int64)
    for row in range(len(lengths)):
        largest[lengths[row]] = max(largest[lengths[row]], np.int64(values[row]))
    for length in range(1, longest + 1):
        largest[length] = max(largest[length], largest[length - 1])
    return largest


@njit(cache=True, nogil=True, inner=True)
def length_class(length: int) -> int:
    """Return a number from 0 to 255 that never falls with the length, and rises by one where this rises by a sixteenth.

    Lengths below 32 have a class each, those from 31 * 2**14 on the last one.
    """
    doublings = np.int64(0)
    while length >> doublings >= 2 * CLASSES_OF_DOUBLING:
        doublings += 1
    return min((length >> doublings) + CLASSES_OF_DOUBLING * doublings, LAST_CLASS)


@njit(cache=True, nogil=True)
def first_reaching(reaches: Int64s, lengths: Int32s) -> Int32s:
    """Return int32[n]: the smallest length whose reach is at least each given length; itself where none reaches it.

    ``reaches`` is what `largest_so_far` returns of the longest partners: they need not rise with length where bands
    differ, so the farthest of all shorter texts is what bounds.
    """
    longest = len(reaches) - 1
    first_of = np.empty(longest + 1, np.int32)
    shorter = np.int64(0)
    for length in range(longest + 1):
        while shorter < length and reaches[shorter] < length:
            shorter += 1
        first_of[length] = shorter
    first = np.empty(len(lengths), np.int32)
    for row in range(len(lengths)):
        first[row] = first_of[lengths[row]]
    return first
