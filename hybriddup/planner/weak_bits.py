"""Whether a table of sampled key bits finds a pair: a model of how strong the bits of a simhash are.

The sum behind a bit of a simhash adds up a vote of + or - for each token, so that over many tokens it is close to a
Gaussian. Of a post and its edited copy some tokens are the same, and their sums ``x`` and ``y`` are Gaussians with a
correlation ``rho``. From that follow

- the share of the bits that differ, which is the chance that ``x`` and ``y`` have different signs: the angle between
  the two votes over half a turn, ``arccos(rho) / pi`` (Goemans and Williamson 1995, lemma 3.2; Charikar 2002);
- which bits differ: given the strength ``|x| = z`` of a bit, in units of its standard deviation, the sum of the copy is
  a Gaussian around ``rho * z`` with variance ``1 - rho ** 2``, so that the bit differs with the chance
  ``Phi(-rho * z / sqrt(1 - rho ** 2))``: mostly the weak ones.

So the distance of a pair tells ``rho``, and ``rho`` how the strengths of its differing bits and of the others are
spread. A table whose probes flip the ``n_weak_bits`` weakest bits of the key, in all combinations, finds the pair when
all differing bits of the key are among them.

The model orders the bits of a key by strength exactly. A run keeps 16 levels of it, the narrowest near zero
(`hybriddup.records.Fingerprints.strengths`), and takes equally weak bits in the order of the key: which
costs a table half a point of what it finds among posts of some hundred tokens, and two among texts of thousands.
"""

from __future__ import annotations

from math import comb, erf

import numpy as np

from hybriddup.records import Float64s

STRENGTHS: Float64s = 6.0 * np.linspace(0.0, 1.0, 241) ** 2
"""Strengths at which integrals are worked out, in standard deviations, closest near 0, where bits differ; stronger
bits are one in 500 million."""
NORMAL_GRID: Float64s = np.linspace(-6.0, 6.0, 481)
NORMAL: Float64s = np.array([0.5 * (1.0 + erf(value / 2**0.5)) for value in NORMAL_GRID])
"""The Gaussian distribution function over its grid."""


def normal_cdf(values: Float64s) -> Float64s:
    """Return float64, of the shape of ``values``: the share of a Gaussian that lies below each."""
    below: Float64s = np.interp(values, NORMAL_GRID, NORMAL, left=0.0, right=1.0)
    return below


def differ_in_key(bits: int, distance: int, key_bits: int, n_differing: int) -> float:
    """Return the chance that exactly ``n_differing`` of the sampled key bits are among the ``distance`` that differ.

    Hypergeometric, because the bits of a key are distinct. For 0 it is ``C(bits - distance, key_bits) /
    C(bits, key_bits)``, the chance that a table finds the pair without probing.
    """
    n_ways = comb(distance, n_differing) * comb(bits - distance, key_bits - n_differing)
    return n_ways / comb(bits, key_bits)


class PairModel:
    """How the strengths of bits are spread in pairs of a known distance: differing bits apart from the others.

    Parameters
    ----------
    bits
        Width of the fingerprint.
    distances
        0 to ``bits``, inclusive.
    """

    def __init__(self, bits: int, distances: range) -> None:
        self.bits = bits
        self.distances = distances
        shares = np.clip(np.array(distances) / bits, 1e-4, 1 - 1e-4)[:, None]  # at 0 and 1 nothing is left to spread
        rho = np.cos(np.pi * shares)
        density = np.exp(-(STRENGTHS**2) / 2)
        differs = normal_cdf(-rho * STRENGTHS / np.sqrt(1 - rho**2))
        self.of_differing = cumulate(density * differs)
        """float64[n_distances, n_strengths]: share of the differing bits that are at most so strong."""
        self.of_others = cumulate(density * (1 - differs))

    def found_by_table(self, key_bits: int, max_weak_bits: int) -> Float64s:
        """Return float64[max_weak_bits + 1, n_distances]: the chance that one table finds a pair.

        The first axis is the number of weak bits that are probed, 0 to ``max_weak_bits``.
        """
        found = np.zeros((max_weak_bits + 1, len(self.distances)))
        for n_differing in range(min(max_weak_bits, key_bits) + 1):
            chances = [differ_in_key(self.bits, distance, key_bits, n_differing) for distance in self.distances]
            found += np.array(chances) * self._are_weakest(key_bits, n_differing, max_weak_bits)
        return found

    def _are_weakest(self, key_bits: int, n_differing: int, max_weak_bits: int) -> Float64s:
        """Return float64[max_weak_bits + 1, n_distances]: the chance that all differing bits of a key are weak.

        The strongest of them has the distribution ``of_differing ** n_differing``; all are among the
        ``n_weak_bits`` weakest where at most ``n_weak_bits - n_differing`` of the others are weaker than that one.
        """
        if n_differing == 0:
            return np.ones((max_weak_bits + 1, len(self.distances)))
        strongest = np.diff(self.of_differing**n_differing, axis=1)
        n_others = key_bits - n_differing
        chance = np.zeros((max_weak_bits + 1, len(self.distances)))
        for n_weak_bits in range(n_differing, max_weak_bits + 1):
            n_weaker = n_weak_bits - n_differing
            exactly = comb(n_others, n_weaker) * self.of_others**n_weaker if n_weaker <= n_others else 0.0
            exactly = exactly * (1 - self.of_others) ** max(n_others - n_weaker, 0)
            added = (strongest * middles(exactly)).sum(axis=1)
            chance[n_weak_bits] = chance[n_weak_bits - 1] + added
        return chance


def cumulate(densities: Float64s) -> Float64s:
    """Return float64, of the same shape: the distribution functions of densities over `STRENGTHS`, 0.0 to 1.0."""
    sums = np.cumsum(middles(densities) * np.diff(STRENGTHS), axis=1)
    return np.pad(sums / sums[:, -1:], ((0, 0), (1, 0)))


def middles(values: Float64s) -> Float64s:
    """Return the mean of each value and the next along the last axis."""
    return (values[..., 1:] + values[..., :-1]) / 2


def found_by_tables(found_by_table: Float64s, n_tables: int) -> Float64s:
    """Return the chance that at least one of ``n_tables`` finds a pair, given that of a single one.

    Tables sample their keys independently of each other, so that each is a new chance.
    """
    found: Float64s = 1.0 - (1.0 - found_by_table) ** n_tables
    return found
