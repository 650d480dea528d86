"""Systematic samples: evenly spread rows, without randomness; and slices of about equal size."""

from itertools import pairwise

import numpy as np

from hybriddup.data.records import Int32s, Int64s


def spread_rows(n: int, sample: int) -> Int64s:
    """Return int64[min(n, sample)]: up to ``sample`` rows, evenly spread over 0 to n - 1, in ascending order.

    Examples
    --------
    >>> spread_rows(4, 2).tolist(), spread_rows(3, 10).tolist()
    ([0, 2], [0, 1, 2])
    """
    return np.arange(min(n, sample), dtype=np.int64) * n // max(min(n, sample), 1)


def slices_of_size(sizes: Int32s | Int64s, size: int) -> list[slice]:
    """Split items into consecutive slices of about ``size`` in total; ``sizes`` are the sizes of the items.

    A larger item makes a larger slice. Without items, the only slice is empty.

    Examples
    --------
    >>> slices_of_size(np.array([5, 4, 30, 1, 1]), 10)
    [slice(0, 2, None), slice(2, 3, None), slice(3, 5, None)]
    """
    slice_of_item = np.cumsum(sizes, dtype=np.int64) // size
    bounds = [0, *(np.flatnonzero(np.diff(slice_of_item)) + 1).tolist(), len(sizes)]
    return [slice(first, last) for first, last in pairwise(bounds)]
