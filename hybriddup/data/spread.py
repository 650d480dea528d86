"""Samples that are spread evenly over the whole and are the same every time."""

import numpy as np

from hybriddup.data.records import Int64s


def spread_rows(n: int, sample: int) -> Int64s:
    """Return int64: at most ``sample`` rows below ``n``, evenly spread, rising.

    Examples
    --------
    >>> spread_rows(4, 2).tolist(), spread_rows(3, 10).tolist()
    ([0, 2], [0, 1, 2])
    """
    return np.arange(min(n, sample), dtype=np.int64) * n // max(min(n, sample), 1)
