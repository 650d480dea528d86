"""Fingerprints of texts and their edited copies by a model, for planning where no text is there yet.

The sums behind the bits of a text and of its copy are Gaussians with a correlation: as in
`hybriddup.planner.weak_bits`, which works the same model out by formula.
"""

from __future__ import annotations

import numpy as np

from hybriddup.records import Fingerprints, Float64s, PairLimits, UInt8s, UInt64s

N_PAIRS = 2048
N_TOKENS = 64
"""Tokens of equal weight: of so many, the sum is an eighth of the weight as a standard deviation."""
ANY_LENGTH = 2**31 - 1


def model_pairs(bits: int, limit: int, n_pairs: int = N_PAIRS, seed: int = 0) -> tuple[Fingerprints, Fingerprints]:
    """Return fingerprints and edited copies, row by row, whose distances are spread up to about the limit.

    As with edited copies of real texts, most distances are more than half of it.
    """
    rng = np.random.default_rng(seed)
    shares = np.sqrt(rng.random(n_pairs)) * limit / bits
    sums = rng.standard_normal((n_pairs, bits))
    copies = correlated(sums, shares, rng)
    return prints_of(sums, limit), prints_of(copies, limit)


def correlated(sums: Float64s, shares: Float64s, rng: np.random.Generator) -> Float64s:
    """Return sums of copies, of which on average the given share of bits differs from the original's."""
    rho = np.cos(np.pi * shares)[:, None]
    copies: Float64s = rho * sums + np.sqrt(1 - rho**2) * rng.standard_normal(sums.shape)
    return copies


def prints_of(sums: Float64s, limit: int) -> Fingerprints:
    """Return the fingerprints of sums float64[n, bits], in standard deviations; all of one length."""
    n = len(sums)
    limits = PairLimits(
        np.full(n, N_TOKENS // 2, np.int32),
        np.full(n, limit, np.int32),
        np.full(n, ANY_LENGTH, np.int32),
        np.zeros(n, np.float32),
        np.zeros(n, np.float32),
    )
    return Fingerprints(np.arange(n), bits_of(sums), strengths_of(sums), limits)


def bits_of(sums: Float64s) -> UInt64s:
    """Return uint64[n, words]: a bit is 1 where its sum is above zero."""
    return np.packbits(sums > 0, axis=1, bitorder="little").view(np.uint64)


def strengths_of(sums: Float64s) -> UInt8s:
    """Return uint8[n, bits / 2]: the strengths of the bits, packed, as `hybriddup.records.Fingerprints` has them."""
    share_of_weight = np.abs(sums) / np.sqrt(N_TOKENS)
    levels = np.minimum(16 * np.sqrt(4 * share_of_weight), 15).astype(np.uint8)
    return np.ascontiguousarray(levels[:, 0::2] | levels[:, 1::2] << 4)
