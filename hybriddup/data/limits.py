"""Limits that steps and plugins' adapters both keep: of weights, of lengths, and of how exact a score is."""

import numpy as np

from hybriddup.data.records import Float64s

MAX_WEIGHT = 1000.0
"""Largest weight a token may have; the sums of `hybriddup.kernels.text.simhash` rely on it."""

NO_BOUND = 2**31 - 1
"""What `max_partner_lengths` gives where length alone rules nothing out."""

DECIMALS = 12
"""Scores are rounded to these, some hundred times coarser than the rounding errors of the sums."""


def round_onto(scores: Float64s, thresholds: Float64s) -> Float64s:
    """Return the scores, rounded to `DECIMALS`, at most 1.0; one that meets its threshold there is made the threshold.

    The last matters for a threshold with more decimals, such as 1 / 3, below which its own rounding would lie.
    """
    rounded = np.round(scores, DECIMALS).clip(max=1.0)
    meets = (rounded < thresholds) & (rounded >= np.round(thresholds, DECIMALS))
    return np.where(meets, thresholds, rounded)
