"""Limits shared by steps and plugin adapters: maximum weight, the value for "no length bound", score precision."""

import numpy as np

from hybriddup.data.records import Float64s

MAX_WEIGHT = 1000.0
"""Maximum weight of a token, so that the sums in `hybriddup.kernels.text.simhash` do not overflow."""

NO_BOUND = 2**31 - 1
"""Result of `max_partner_lengths` if texts of any length can match."""

DECIMALS = 12
"""Number of decimals of a score: the last one is about a hundred times as large as the rounding errors of a score."""


def round_onto(scores: Float64s, thresholds: Float64s) -> Float64s:
    """Round scores to `DECIMALS` decimals, so that a score on its threshold is not lost to a rounding error.

    A threshold with more decimals, such as 1 / 3, may be above its own rounded value. A score that equals the rounded
    threshold is therefore raised to the threshold. Scores above 1.0 become 1.0.
    """
    rounded = np.round(scores, DECIMALS).clip(max=1.0)
    meets = (rounded < thresholds) & (rounded >= np.round(thresholds, DECIMALS))
    return np.where(meets, thresholds, rounded)
