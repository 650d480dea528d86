"""Finds the best threshold for the scores of labeled pairs."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Bools, Float64s


def threshold_for(scores: Float64s, labels: Bools, precision: float) -> float:
    """Return the threshold with the best F1 among those that reach ``precision``, or among all if none reaches it."""
    order = np.argsort(-scores, kind="stable")
    n_right, n_found = np.cumsum(labels[order]), np.arange(1, len(order) + 1)
    f1 = 2 * n_right / (n_found + labels.sum())
    reaches = n_right / n_found >= precision
    return float(scores[order][np.argmax(np.where(reaches, f1, f1 * 0.0) if reaches.any() else f1)])
