"""Grows an array while it is being filled."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

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
