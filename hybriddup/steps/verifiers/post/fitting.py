"""Fits the model of the verifier `post` to labelled pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold

from hybriddup.data.records import Bools, Float64s, Int64s
from hybriddup.kernels.posts.features import FEATURES
from hybriddup.steps.verifiers.best_threshold import threshold_for
from hybriddup.steps.verifiers.post.model import PostModel

QUANTILES = (0.02, 0.25, 0.5, 0.75, 0.98)
"""The curve of a feature may bend at these quantiles of its values."""
RISING = ("shared", "letters_shared", "letters_contained", "length", "goes_on")
FREE = ("moved", "hashtags_of_one", "source_of_one")
"""Features whose curve need not be monotone. For all others, a higher value never lowers the score if the feature is in
`RISING`, and otherwise never raises it."""
STRENGTH = 0.05
"""Inverse strength of the penalty on `Fit.steps`; any value from 0.01 to 0.1 gives the same F1 within 0.01."""
FOLDS = 5
PLACES = 4  # decimals of values and contributions


def fit_to(features: Float64s, labels: Bools, precision: float) -> PostModel:
    """Fit a model to labelled pairs, with a score of 0.5 at the chosen threshold.

    This is the threshold with the best F1 of all thresholds with at least the given precision.

    Parameters
    ----------
    features
        float64[n_pairs, n_features], from `hybriddup.steps.verifiers.post.features.pair_features`.
    labels
        bool[n_pairs]: whether each pair matches; at least `FOLDS` do and at least `FOLDS` do not, because the threshold
        is chosen by cross-validation.
    precision
        Smallest precision, 0.0 to 1.0. If no threshold reaches it, the threshold with the best F1 is chosen.
    """
    weights, scores = np.ones(len(labels)), np.zeros(len(labels))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=1)
    for others, fold in folds.split(features, labels):
        scores[fold] = fit_curves(features[others], labels[others], weights[others]).logits(features[fold])
    return fit_curves(features, labels, weights).model(threshold_for(scores, labels, precision))


class Fit(NamedTuple):
    """A fitted model; a curve is a sum of pieces, each of which changes between two knots and is constant elsewhere."""

    knots: list[Float64s]
    """For each feature, the values at which its curve bends, ascending."""
    steps: Float64s
    """float64[n_pieces]: rise of each piece, feature by feature; negative if it falls."""
    intercept: float
    means: Float64s
    """float64[n_pieces]: how far the pairs are along each piece on average, 0.0 (lower knot) to 1.0 (upper knot)."""

    def logits(self, features: Float64s) -> Float64s:
        """Return float64[n_pairs]: the sum of intercept and curves for each pair, before the logistic function."""
        return np.asarray(pieces(features, self.knots)[0] @ self.steps + self.intercept)

    def model(self, threshold: float) -> PostModel:
        """Return a model whose curves are 0 on average and whose score is 0.5 if the logit equals ``threshold``."""
        curves, start, intercept = {}, 0, self.intercept - threshold
        for name, at in zip(FEATURES, self.knots, strict=True):
            steps, means = (array[start : start + len(at) - 1] for array in (self.steps, self.means))
            start += len(at) - 1
            if np.abs(steps).max(initial=0.0) < 10.0**-PLACES:
                continue
            heights = np.concatenate([[0.0], np.cumsum(steps)]) - means @ steps
            curves[name] = tuple(zip(at.tolist(), heights.round(PLACES).tolist(), strict=True))
            intercept += float(means @ steps)
        return PostModel(round(intercept, PLACES), curves)


def fit_curves(features: Float64s, labels: Bools, weights: Float64s) -> Fit:
    """Fit the curves of a logistic model with penalized steps; a curve is monotone unless its feature is in `FREE`.

    scikit-learn has monotone boosting, which without interactions is additive and fits equally well (F1 of 0.82 against
    0.83 on held-out sources), but its curves are step functions. Steps with bounds need only L-BFGS-B (Byrd, Lu,
    Nocedal and Zhu 1995).
    """
    knots = [knots_of(column) for column in features.T]
    heights, columns = pieces(features, knots)
    spread = heights.std(axis=0) + 0.05
    scaled, signs = heights / spread, np.where(labels, 1.0, -1.0)

    def loss(parameters: Float64s) -> tuple[float, Float64s]:
        steps, margins = parameters[:-1], (scaled @ parameters[:-1] + parameters[-1]) * signs
        slopes = -weights * signs / (1.0 + np.exp(np.clip(margins, -50.0, 50.0)))
        value = weights @ np.logaddexp(0.0, -margins) + 0.5 / STRENGTH * (steps @ steps)
        return float(value), np.concatenate([scaled.T @ slopes + steps / STRENGTH, [slopes.sum()]])

    bounds = [bounds_of(FEATURES[column]) for column in columns.tolist()]
    start = np.zeros(len(bounds) + 1)
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)], options={"maxiter": 2000}
    )
    means = np.asarray(weights @ heights / weights.sum())
    return Fit(knots, found.x[:-1] / spread, float(found.x[-1]), means)


def bounds_of(name: str) -> tuple[float | None, float | None]:
    """Return the lower and upper bound of each piece's rise in a feature's curve; None = unbounded."""
    if name in FREE:
        return None, None
    return (0.0, None) if name in RISING else (None, 0.0)


def knots_of(column: Float64s) -> Float64s:
    """Return the values at which the curve of a feature may bend; float64[1] if the feature is constant."""
    distinct = np.unique(column)
    if len(distinct) <= 2:
        return np.asarray(distinct.round(PLACES))
    at = np.unique(np.quantile(column, QUANTILES).round(PLACES))
    if len(at) < 3:  # mostly one value: bend at quantiles of the others
        rest = column[column != at[0]]
        at = np.unique(np.concatenate([[column.min()], np.quantile(rest, (0.1, 0.5, 0.9))]).round(PLACES))
    return np.asarray(at)


def pieces(features: Float64s, knots: list[Float64s]) -> tuple[Float64s, Int64s]:
    """Return two arrays: how far each pair is along each piece, and the feature of each piece.

    The first is float64[n_pairs, n_pieces], from 0.0 at or below the lower knot to 1.0 at or above the upper knot; the
    second is int64[n_pieces].
    """
    columns = np.repeat(np.arange(len(knots)), [len(at) - 1 for at in knots])
    low, high = (np.concatenate([at[some] for at in knots])[:, None] for some in (slice(-1), slice(1, None)))
    return np.clip((features.T.take(columns, axis=0) - low) / (high - low), 0.0, 1.0).T, columns
