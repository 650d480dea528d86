"""Sums of curves of straight lines, one curve a feature."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Float64s, Int64s
from hybriddup.kernels.cache import njit


class Curves(NamedTuple):
    """Curves by rising column, each given by its points."""

    columns: Int64s
    """int64[n_curves]: the feature that each is a curve of."""
    offsets: Int64s
    """int64[n_curves + 1]: where the points of each begin; it has at least one."""
    values: Float64s
    """float64[n_points]: rising within a curve."""
    added: Float64s
    """float64[n_points]: what a feature of that value adds."""


class Bound(NamedTuple):
    """What a sum of curves can be at most, by some of the features."""

    curves: Curves
    start: float
    """What the features without a curve here add at most."""
    least: Float64s
    """float64[n]: the least sum that counts, of each row; -inf where all features are needed."""


@njit(cache=True, nogil=True, inner=True)
def height_at(curves: Curves, first: int, last: int, value: float) -> float:
    """Return the height of the curve through points ``first`` to ``last``: level beyond them, straight between two."""
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
def sum_curves(curves: Curves, start: float, features: Float64s) -> Float64s:
    """Return float64[n]: ``start`` and the heights of all curves at ``features``, float64[n, n_features], in order."""
    sums = np.empty(len(features))
    for row in range(len(features)):
        sums[row] = sum_of(curves, start, features[row])
    return sums


@njit(cache=True, nogil=True, inner=True)
def sum_of(curves: Curves, start: float, row: Float64s) -> float:
    """Return the same of one row, float64[n_features]."""
    total = start
    for i in range(len(curves.columns)):
        total += height_at(curves, curves.offsets[i], curves.offsets[i + 1], row[curves.columns[i]])
    return total
