"""Grows arrays while they are being filled, and finds the length of the longest of several texts."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Int64s
from hybriddup.kernels.cache import njit

Number = TypeVar("Number", bound=np.generic)


@njit(cache=True, nogil=True)
def with_room_for(found: NDArray[Number], n_found: int, n_more: int) -> NDArray[Number]:
    """Return a new array that begins with ``found[:n_found]`` and has space for at least ``n_more`` more items.

    The new array is at least twice as long as ``found``; its other items are uninitialized.
    """
    larger = np.empty(max(2 * len(found), n_found + n_more + 1), found.dtype)
    for i in range(n_found):  # a slice assignment would take a second to compile
        larger[i] = found[i]
    return larger


@njit(cache=True, nogil=True, inner=True)
def longest_of(offsets: Int64s) -> int:
    """Return the length of the longest text; ``offsets``, int64[n_texts + 1], are the bounds of concatenated texts."""
    longest = np.int64(0)
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    return longest
