"""An additive logistic model: a score from the features of a pair, with one piecewise linear curve per feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from hybriddup.data.limits import DECIMALS
from hybriddup.data.records import Float64s
from hybriddup.kernels.posts.curves import Curves, sum_curves
from hybriddup.kernels.posts.features import ADDING, BY_PLACE, FEATURES, LENGTH, SHARED
from hybriddup.steps.guards.tables import read_table
from hybriddup.steps.verifiers.phrases import describe_contributions

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class PostModel:
    """A model with the score ``1 / (1 + exp(-sum))``; ``sum`` is the intercept plus the value of each feature's curve.

    Parameters
    ----------
    intercept
        The sum if all curves are 0.
    curves
        Maps the name of each feature in use to points (value, contribution), in ascending order of value. A curve is
        linear between two points, and constant before the first and after the last point.

    Examples
    --------
    >>> model = PostModel(0.0, {"letters_shared": ((0.5, -2.0), (1.0, 2.0))})
    >>> features = np.zeros((2, len(FEATURES)))
    >>> features[:, FEATURES.index("letters_shared")] = 0.75, 1.0
    >>> model.scores(features).round(3).tolist()
    [0.5, 0.881]
    """

    intercept: float
    curves: Mapping[str, Points]

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PostModel:
        """Build the model from the result of `to_dict`.

        Raises
        ------
        ValueError
            The mapping is not a model.
        """
        if unknown := sorted(set(data) - {"intercept", *FEATURES}):
            raise ValueError(f"unknown feature {unknown[0]!r}; allowed: intercept, {', '.join(FEATURES)}")
        curves = {name: parse_points(name, points) for name, points in data.items() if name != "intercept"}
        intercept = data.get("intercept", 0.0)
        if not is_number(intercept):
            raise ValueError(f"intercept must be a number; got {intercept!r}")
        return cls(float(intercept), curves)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a mapping that a configuration file can contain."""
        return {"intercept": self.intercept} | {name: list(map(list, points)) for name, points in self.curves.items()}

    def contributions(self, features: Float64s) -> Float64s:
        """Return float64[n_pairs, n_features]: the contribution of each feature, in the order of `FEATURES`."""
        added = np.zeros(features.shape)
        for name, points in self.curves.items():
            column = FEATURES.index(name)
            added[:, column] = np.interp(features[:, column], *np.array(points).T)
        return added

    def explain(self, features: Float64s) -> list[str]:
        """Return lines on the features that raise or lower the score of a pair; ``features``: float64[n_features].

        The curves of a shipped model are 0 on average over its training pairs, so a contribution is relative to an
        average pair.
        """
        return describe_contributions(FEATURES, features, self.contributions(features[None])[0])

    def scores(self, features: Float64s) -> Float64s:
        """Return float64[n_pairs]: the scores, 0.0 to 1.0."""
        total = sum_curves(self._curves, features)
        scores: Float64s = np.round(1.0 / (1.0 + np.exp(-total.clip(-700.0, 700.0))), DECIMALS)
        return scores

    @cached_property
    def _curves(self) -> Curves:
        """The curves as arrays for the compiled code."""
        return as_curves(self.intercept, [(FEATURES.index(name), points) for name, points in self.curves.items()])

    def bound(self, thresholds: Float64s) -> tuple[Curves, Float64s]:
        """Return curves that bound the sum of a pair before alignment, and the least sum for each threshold."""
        least = thresholds.clip(1e-300, 1.0 - 1e-12)
        return self._bound, np.log(least / (1.0 - least)) - 1e-9

    @cached_property
    def _bound(self) -> Curves:
        """Curves that bound the sum from above, computed without an alignment.

        For a curve that needs an alignment, its maximum is added to the intercept, or a bound on its feature is used.
        `ADDING` is 0 before the alignment if it may change, which bounds its curve from above if that falls.
        """
        known, start = [], self.intercept
        for name, points in self.curves.items():
            column, heights = FEATURES.index(name), [added for _, added in points]
            if column not in BY_PLACE and (column != ADDING or heights == sorted(heights, reverse=True)):
                known.append((column, points))
            elif column == SHARED and heights == sorted(heights):
                known.append((LENGTH, points))  # shared words weigh at most as much as the shorter post
            else:
                start += max(heights)
        return as_curves(start, known)


def as_curves(start: float, curves: Sequence[tuple[int, Points]]) -> Curves:
    """Convert curves, given as (feature index, points), to arrays for the compiled code; ``start``: see `Curves`."""
    ordered = sorted(curves)
    offsets = np.cumsum([0, *(len(points) for _, points in ordered)], dtype=np.int64)
    values, added = np.concatenate([np.zeros((0, 2)), *(np.array(points) for _, points in ordered)]).T.copy()
    return Curves(float(start), np.array([column for column, _ in ordered], np.int64), offsets, values, added)


def parse_points(name: str, points: object) -> Points:
    """Parse the points of the curve ``name``; raise ValueError if they are invalid."""
    if not isinstance(points, (list, tuple)) or not points or not all(map(is_point, points)):
        raise ValueError(f"{name} must be a list of points [value, contribution]; got {points!r}")
    parsed = tuple((float(value), float(added)) for value, added in points)
    if any(one[0] >= next_one[0] for one, next_one in pairwise(parsed)):
        raise ValueError(f"the values of {name} must rise; got {[value for value, _ in parsed]}")
    return parsed


def is_point(point: object) -> bool:
    """Return whether a value is a pair of numbers."""
    return isinstance(point, (list, tuple)) and len(point) == 2 and all(map(is_number, point))


def is_number(value: object) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(value))


@cache
def shipped_models() -> dict[str, PostModel]:
    """Return the models that come with hybriddup, by name."""
    return {name: PostModel.from_dict(model) for name, model in read_table("models", __package__).items()}
