"""Sums of piecewise linear curves, one curve per feature."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Float64s, Int64s
from hybriddup.kernels.cache import njit


class Curves(NamedTuple):
    """A sum of piecewise linear curves, one per feature, each defined by its points; sorted by feature column."""

    start: float
    """Constant term, to which the heights of all curves are added."""
    columns: Int64s
    """int64[n_curves]: the column of each curve's feature."""
    offsets: Int64s
    """int64[n_curves + 1]: curve ``i`` has the points ``offsets[i]`` to ``offsets[i + 1] - 1``, at least one."""
    values: Float64s
    """float64[n_points]: feature value of each point, rising within a curve."""
    added: Float64s
    """float64[n_points]: height of each point, which is added to the sum."""


@njit(cache=True, nogil=True, inner=True)
def height_at(curves: Curves, first: int, last: int, value: float) -> float:
    """Return the height at ``value`` of the curve through points ``first`` to ``last - 1``.

    The curve is linear between points, and constant before the first point and after the last.
    """
    if not value > curves.values[first]:
        return np.float64(curves.added[first])
    place = first + 1
    while place < last and value >= curves.values[place]:
        place += 1
    low, start = curves.added[place - 1], curves.values[place - 1]
    if place == last:
        return np.float64(low)
    slope = (curves.added[place] - low) / (curves.values[place] - start)
    return np.float64(slope * (value - start) + low)


@njit(cache=True, nogil=True)
def sum_curves(curves: Curves, features: Float64s) -> Float64s:
    """Return float64[n]: the sum for each row of ``features``, float64[n, n_features]."""
    sums = np.empty(len(features))
    for row in range(len(features)):
        sums[row] = sum_of(curves, features[row])
    return sums


@njit(cache=True, nogil=True, inner=True)
def sum_of(curves: Curves, row: Float64s) -> float:
    """Return the sum for one ``row`` of features; the heights are added in the order of the curves."""
    total = curves.start
    for i in range(len(curves.columns)):
        total += height_at(curves, curves.offsets[i], curves.offsets[i + 1], row[curves.columns[i]])
    return total
