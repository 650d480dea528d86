"""Systematic samples: evenly spread rows, without randomness."""

import numpy as np

from hybriddup.data.records import Int64s


def spread_rows(n: int, sample: int) -> Int64s:
    """Return int64[min(n, sample)]: up to ``sample`` rows, evenly spread over 0 to n - 1, in ascending order.

    Examples
    --------
    >>> spread_rows(4, 2).tolist(), spread_rows(3, 10).tolist()
    ([0, 2], [0, 1, 2])
    """
    return np.arange(min(n, sample), dtype=np.int64) * n // max(min(n, sample), 1)
