"""Lengths of texts: how far they reach."""

import numpy as np

from hybriddup.data.records import Int32s
from hybriddup.kernels.cache import njit

CLASSES_OF_DOUBLING, LAST_CLASS = 16, 255
"""Classes of lengths from one to its double, and the largest."""


@njit(cache=True, nogil=True, inner=True)
def length_class(length: int) -> int:
    """Return a number from 0 to 255 that never falls with the length, and rises by one where this rises by a sixteenth.

    Lengths below 32 have a class each, those from 31 * 2**14 on the last one.
    """
    doublings = np.int64(0)
    while length >> doublings >= 2 * CLASSES_OF_DOUBLING:
        doublings += 1
    return min((length >> doublings) + CLASSES_OF_DOUBLING * doublings, LAST_CLASS)


def shortest_partners(lengths: Int32s, reaches: Int32s, longest: int) -> Int32s:
    """Return int32[longest + 1]: the shortest text that one of each length may match; its own length where none may be.

    Parameters
    ----------
    lengths, reaches
        int32[n], int32[n]: of the texts, up to ``longest``, and the longest partner of each. These need not rise with
        the length where bands differ.
    """
    farthest, every = np.zeros(longest + 1, np.int32), np.arange(longest + 1, dtype=np.int32)
    np.maximum.at(farthest, lengths, reaches)
    return np.minimum(np.searchsorted(np.maximum.accumulate(farthest), every), every).astype(np.int32)
