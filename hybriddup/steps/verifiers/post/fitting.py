"""Fitting a model to pairs that people have judged."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from hybriddup.data.records import Bools, Float64s
from hybriddup.kernels.post_features import NAMES
from hybriddup.steps.verifiers.best_threshold import threshold_for
from hybriddup.steps.verifiers.post.model import Points, PostModel

QUANTILES = (0.0, 1 / 3, 2 / 3, 1.0)
"""Where a curve may bend, by the values of the feature in the pairs."""
STRENGTH = 0.1
"""Inverse of the strength of the penalty on contributions; others, .03 to .3, come to the same within .01 of F1."""
FOLDS = 5
PLACES = 4
"""Decimals of the values and contributions of a fitted model."""


def fit_to(features: Float64s, labels: Bools, precision: float, seed: int) -> PostModel:
    """Return the model that finds most of the pairs that match, at a precision; its score of 0.5 is the threshold.

    Parameters
    ----------
    features
        float64[n_pairs, n_features], as `hybriddup.steps.verifiers.post.features.pair_features` returns them.
    labels
        bool[n_pairs]: which match; at least `FOLDS` of either kind. The threshold is chosen by folds of them.
    precision
        0.0 to 1.0: at least this share of the pairs that are called matches should be. Where no threshold reaches it,
        the best F1 is looked for.
    """
    knots = [np.unique(np.quantile(column, QUANTILES).round(PLACES)) for column in features.T]
    pipeline = make_pipeline(
        FunctionTransformer(bends, kw_args={"knots": knots}),
        StandardScaler(),
        LogisticRegression(C=STRENGTH, max_iter=5000),
    )
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed + 1)
    scores = cross_val_predict(pipeline, features, labels, cv=folds, method="decision_function")
    return model_of(pipeline.fit(features, labels), knots, threshold_for(scores, labels, precision))


def bends(features: Float64s, knots: list[Float64s]) -> Float64s:
    """Return float64[n_pairs, n]: of each feature how near it is to each of its knots: 1.0 at it, 0.0 at the next."""
    columns = [
        np.interp(column, at, row) for column, at in zip(features.T, knots, strict=True) for row in np.eye(len(at))
    ]
    return np.array(columns).T


def model_of(pipeline: Pipeline, knots: list[Float64s], threshold: float) -> PostModel:
    """Return what a fitted pipeline computes as curves; a threshold becomes the score of 0.5."""
    scaler, logistic = pipeline[1], pipeline[2]
    weights = logistic.coef_[0] / scaler.scale_
    intercept = float(logistic.intercept_[0] - weights @ scaler.mean_) - threshold
    curves: dict[str, Points] = {}
    starts = np.cumsum([0, *map(len, knots)])
    for name, at, start in zip(NAMES, knots, starts, strict=False):
        added = weights[start : start + len(at)].round(PLACES)
        if len(at) > 1:
            curves[name] = tuple(zip(at.tolist(), added.tolist(), strict=True))
        else:
            intercept += float(added[0])
    return PostModel(round(intercept, PLACES), curves)
