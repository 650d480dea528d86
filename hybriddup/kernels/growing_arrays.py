"""Grows an array while it is being filled."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hybriddup.kernels.cache import njit

Number = TypeVar("Number", bound=np.generic)


@njit(cache=True, nogil=True)
def with_room_for(found: NDArray[Number], n_found: int, n_more: int) -> NDArray[Number]:
    """Copy the first ``n_found`` items to a new array, at least twice as long, with capacity for ``n_more`` more."""
    larger = np.empty(max(2 * len(found), n_found + n_more + 1), found.dtype)
    for i in range(n_found):  # a slice assignment would take a second to compile
        larger[i] = found[i]
    return larger
