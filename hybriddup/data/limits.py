"""Limits shared by the steps and the adapters of plugins: largest weight, no length bound, precision of scores."""

import numpy as np

from hybriddup.data.records import Float64s

MAX_WEIGHT = 1000.0
"""Largest weight of a token; it keeps the sums of `hybriddup.kernels.text.simhash` from overflowing."""

NO_BOUND = 2**31 - 1
"""Result of `max_partner_lengths` if texts of any length can match."""

DECIMALS = 12
"""Decimals of a score; about a hundred times coarser than the rounding errors of the sums."""


def round_onto(scores: Float64s, thresholds: Float64s) -> Float64s:
    """Round scores to `DECIMALS`, with a maximum of 1.0, so that none falls below a threshold that it reaches.

    A threshold with more decimals, such as 1 / 3, may lie above its own rounding. A score that equals the rounded
    threshold is therefore raised to the threshold.
    """
    rounded = np.round(scores, DECIMALS).clip(max=1.0)
    meets = (rounded < thresholds) & (rounded >= np.round(thresholds, DECIMALS))
    return np.where(meets, thresholds, rounded)
