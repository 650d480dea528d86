"""In how many bits the pairs that ought to be found differ: a given number, or modeled by the share of edited text."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma

import numpy as np

from hybriddup.records import Float64s

SPREAD = 30.0
"""How closely the surviving share of pairs gathers around its mean: the sum of the two parameters of a beta
distribution. Pairs of short posts differ much from each other, because an edit can touch many tokens or few."""
N_LOSSES = 2000
TAIL_OF_LOSS = 0.1
"""Part of the loss that the target recall allows which may be lost to the limit of the Hamming distance."""


@dataclass(frozen=True)
class Distances:
    """How the Hamming distances of the pairs that ought to be found are spread, up to a limit."""

    probabilities: Float64s
    """float64[limit + 1]: the chance that a pair differs in exactly so many bits; the rest lies beyond the limit."""
    edit_share: float | None = None
    """The share of edited characters that they were modeled by; None where the distance was given."""

    @property
    def limit(self) -> int:
        """The largest distance, inclusive: the ``max_hamming_distance`` to configure."""
        return len(self.probabilities) - 1

    @property
    def within_limit(self) -> float:
        """Share of the pairs that are within the limit, 0.0 to 1.0: what an exact index finds."""
        return min(float(self.probabilities.sum()), 1.0)

    @property
    def mean(self) -> float:
        """Mean distance, in bits, of the pairs within the limit."""
        return float(self.probabilities @ np.arange(self.limit + 1)) / self.within_limit


def at_distance(distance: int) -> Distances:
    """Return the distances of pairs that all differ in exactly ``distance`` bits, the hardest within that limit."""
    return Distances(np.append(np.zeros(distance), 1.0))


def after_edits(edit_share: float, bits: int, recall: float) -> Distances:
    """Return the distances of posts from their edited copies, up to a limit that leaves room for a target recall.

    The limit is the smallest within which all pairs lie but a tenth of those that may be missed.

    Parameters
    ----------
    edit_share
        Share of the characters that were edited, above 0.0, below 1.0.
    recall
        The target, above 0.0, below 1.0.

    Notes
    -----
    The model: of the votes of a post's tokens, the share ``1 - edit_share`` survives on average, so that ``rho`` of
    `hybriddup.planner.weak_bits` is that share and ``arccos(1 - edit_share) / pi`` of the bits differ. It follows a
    beta distribution, and the differing bits of a pair a binomial one. Measured on short posts of 4 to 45 words (mean
    40 characters), with characters and pairs of characters as tokens, 256 bits, edits spread over the text, as share
    of differing bits, mean and 99th percentile:

    ============  ============  ============
    edited share  measured      model
    ============  ============  ============
    0.05          0.105, 0.211  0.094, 0.207
    0.10          0.143, 0.211  0.138, 0.250
    0.20          0.195, 0.266  0.202, 0.312
    ============  ============  ============

    The model spreads wider, because real repeats do: near repeats in a collection of posts in Chinese, whose edits
    are often one passage, had 0.114, 0.258 and 0.145, 0.328 at the edited shares 0.10 and 0.20 (128 bits).
    """
    probabilities = differing_bits(edit_share, bits)
    within = np.cumsum(probabilities)
    limit = int(np.searchsorted(within, 1 - (1 - recall) * TAIL_OF_LOSS))
    return Distances(probabilities[: min(limit, bits - 1) + 1], edit_share)


def differing_bits(edit_share: float, bits: int) -> Float64s:
    """Return float64[bits + 1]: the chance that a post and its edited copy differ in exactly so many bits.

    The model is that of `after_edits`.
    """
    losses, weights = beta_cells(edit_share * SPREAD, (1 - edit_share) * SPREAD)
    shares = np.arccos(1 - losses) / np.pi
    counts = np.arange(bits + 1)
    ways = np.array([lgamma(bits + 1) - lgamma(n + 1) - lgamma(bits - n + 1) for n in range(bits + 1)])
    logarithms = ways + counts * np.log(shares)[:, None] + (bits - counts) * np.log1p(-shares)[:, None]
    return np.asarray(weights @ np.exp(logarithms), np.float64)


def beta_cells(a: float, b: float) -> tuple[Float64s, Float64s]:
    """Return the beta distribution cut into cells: float64[n] their middles, float64[n] their shares, which sum to 1.

    The part that may rise without bound towards 0 is integrated exactly.
    """
    edges = np.linspace(0.0, 1.0, N_LOSSES + 1)
    centers = (edges[1:] + edges[:-1]) / 2
    weights = np.diff(edges**a) * (1 - centers) ** (b - 1)
    return centers, weights / weights.sum()
