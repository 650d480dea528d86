"""The model of strengths and recall, against real sums of votes and against counting."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.planner.weak_bits import PairModel, differ_in_key, found_by_tables, normal_cdf

BITS = 128
N_PAIRS = 1500
MEAN_WEIGHT = 3.5
"""Of a token, in `edited_sums`."""
MAX_WEAK_BITS = 6


# --- keys of sampled bits, without probing ---


@pytest.mark.parametrize("distance", [1, 8, 20, 40])
@pytest.mark.parametrize("key_bits", [8, 16])
def test_differing_key_bits_are_as_many_as_counted(distance: int, key_bits: int) -> None:
    """Random keys on random pairs: the counts of differing bits are those of the formula, within 5 standard errors."""
    rng = np.random.default_rng(distance)
    n_keys = 20_000
    keys = rng.permuted(np.tile(np.arange(64), (n_keys, 1)), axis=1)[:, :key_bits]
    differing = (keys < distance).sum(axis=1)  # any set of bits may be the one that differs
    for n_differing in range(4):
        chance = differ_in_key(64, distance, key_bits, n_differing)
        error = np.sqrt(chance * (1 - chance) / n_keys)
        assert abs(np.mean(differing == n_differing) - chance) <= 5 * error + 1e-12


@given(distance=st.integers(0, 64), key_bits=st.integers(1, 30))
def test_chances_of_differing_key_bits_sum_to_one(distance: int, key_bits: int) -> None:
    """Some number of the key's bits differs."""
    assert sum(differ_in_key(64, distance, key_bits, n) for n in range(key_bits + 1)) == pytest.approx(1)


@pytest.mark.parametrize(("distance", "key_bits", "n_tables"), [(3, 16, 4), (10, 8, 20), (18, 12, 25)])
def test_recall_of_sampled_tables_is_that_of_random_keys(distance: int, key_bits: int, n_tables: int) -> None:
    """`1 - (1 - C(B - K, k) / C(B, k)) ** L`, within 5 standard errors of what random tables find."""
    rng = np.random.default_rng(key_bits)
    n_pairs = 4000
    found = np.zeros(n_pairs, np.bool_)
    for _ in range(n_tables):
        keys = rng.permuted(np.tile(np.arange(64), (n_pairs, 1)), axis=1)[:, :key_bits]
        found |= (keys >= distance).all(axis=1)
    by_table = PairModel(64, range(distance, distance + 1)).found_by_table(key_bits, 0)[0, 0]
    expected = float(found_by_tables(by_table, n_tables))
    assert by_table == pytest.approx(comb(64 - distance, key_bits) / comb(64, key_bits))
    assert abs(found.mean() - expected) <= 5 * np.sqrt(expected * (1 - expected) / n_pairs)


# --- weak bits, against sums of votes ---


def edited_sums(rng: np.random.Generator, n_tokens: int, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
    """The sums float64[n_pairs, bits] of posts and their edited copies: votes of weighted tokens, some of them kept."""
    weights = rng.uniform(2, 5, (N_PAIRS, 2 * n_tokens - n_kept, 1))
    votes = rng.integers(0, 2, (N_PAIRS, 2 * n_tokens - n_kept, BITS), np.int8) * 2 - 1
    kept, of_post, of_copy = slice(0, n_kept), slice(n_kept, n_tokens), slice(n_tokens, None)
    common = (weights[:, kept] * votes[:, kept]).sum(axis=1)
    post, copy = ((weights[:, part] * votes[:, part]).sum(axis=1) for part in (of_post, of_copy))
    return common + post, common + copy


def needed_weak_bits(post: np.ndarray, copy: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return int[n_pairs]: up to which of the copy's key bits, from the weakest on, all that differ are."""
    strengths = np.take_along_axis(np.abs(copy), keys, axis=1)
    differs = np.take_along_axis((post > 0) != (copy > 0), keys, axis=1)
    by_strength = np.take_along_axis(differs, np.argsort(strengths, axis=1, kind="stable"), axis=1)
    ranks = np.arange(1, keys.shape[1] + 1)
    return (by_strength * ranks).max(axis=1)


@pytest.mark.parametrize(("n_tokens", "n_kept"), [(60, 54), (60, 48), (20, 16), (120, 100)])
@pytest.mark.parametrize("key_bits", [10, 16])
def test_weak_bits_find_what_the_model_says(n_tokens: int, n_kept: int, key_bits: int) -> None:
    """Given the distances of simulated pairs, the share that a table finds, for each number of probed weak bits."""
    rng = np.random.default_rng(n_tokens * key_bits)
    post, copy = edited_sums(rng, n_tokens, n_kept)
    distances = ((post > 0) != (copy > 0)).sum(axis=1)
    keys = rng.permuted(np.tile(np.arange(BITS), (8, N_PAIRS, 1)), axis=2)[:, :, :key_bits]
    needed = np.stack([needed_weak_bits(post, copy, key) for key in keys])
    model = PairModel(BITS, range(BITS + 1)).found_by_table(key_bits, MAX_WEAK_BITS)
    for n_weak_bits in range(MAX_WEAK_BITS + 1):
        assert np.mean(needed <= n_weak_bits) == pytest.approx(model[n_weak_bits, distances].mean(), abs=0.025)


@pytest.mark.parametrize(
    ("n_tokens", "n_kept", "lost"), [(20, 16, 0.015), (60, 54, 0.015), (120, 100, 0.015), (500, 450, 0.02)]
)
def test_sixteen_levels_of_strength_find_almost_what_exact_ones_find(n_tokens: int, n_kept: int, lost: float) -> None:
    """Those of `Fingerprints.strengths`, narrowest near zero; of equally weak bits the first in the key is weaker."""
    rng = np.random.default_rng(n_tokens)
    post, copy = edited_sums(rng, n_tokens, n_kept)
    levels = np.minimum(np.floor(16 * np.sqrt(4 * np.abs(copy) / (MEAN_WEIGHT * n_tokens))), 15)
    keys = rng.permuted(np.tile(np.arange(BITS), (8, N_PAIRS, 1)), axis=2)[:, :, :16]
    exact = np.stack([needed_weak_bits(post, copy, key) for key in keys])
    leveled = np.stack([needed_weak_bits(post, np.sign(copy) * (levels + 0.5), key) for key in keys])
    for n_weak_bits in range(MAX_WEAK_BITS + 1):
        assert abs(np.mean(leveled <= n_weak_bits) - np.mean(exact <= n_weak_bits)) <= lost


@pytest.mark.parametrize(("n_kept", "n_weak_bits", "n_tables"), [(48, 2, 10), (48, 4, 10), (54, 3, 5), (51, 6, 3)])
def test_tables_are_as_good_as_independent(n_kept: int, n_weak_bits: int, n_tables: int) -> None:
    """Several tables over the same pairs find what the formula for independent ones says."""
    rng = np.random.default_rng(n_kept)
    post, copy = edited_sums(rng, 60, n_kept)
    distances = ((post > 0) != (copy > 0)).sum(axis=1)
    found = np.zeros(N_PAIRS, np.bool_)
    for _ in range(n_tables):
        keys = rng.permuted(np.tile(np.arange(BITS), (N_PAIRS, 1)), axis=1)[:, :16]
        found |= needed_weak_bits(post, copy, keys) <= n_weak_bits
    by_table = PairModel(BITS, range(BITS + 1)).found_by_table(16, MAX_WEAK_BITS)[n_weak_bits, distances]
    assert found.mean() == pytest.approx(found_by_tables(by_table, n_tables).mean(), abs=0.03)


@pytest.mark.parametrize("n_kept", [30, 45, 54])
def test_share_of_differing_bits_is_the_angle(n_kept: int) -> None:
    """`arccos(rho) / pi`, where rho is the share of the squared weights that both posts have."""
    post, copy = edited_sums(np.random.default_rng(n_kept), 60, n_kept)
    assert np.mean((post > 0) != (copy > 0)) == pytest.approx(np.arccos(n_kept / 60) / np.pi, abs=0.005)


# --- what must hold of any model ---


@pytest.mark.parametrize("key_bits", [1, 6, 22])
@pytest.mark.parametrize("bits", [64, 128])
def test_more_weak_bits_find_more_and_greater_distances_less(bits: int, key_bits: int) -> None:
    """Chances are from 0 to 1, rise with the weak bits and fall with the distance."""
    found = PairModel(bits, range(bits + 1)).found_by_table(key_bits, MAX_WEAK_BITS)
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-9
    assert np.diff(found, axis=0).min() >= -1e-9
    assert np.diff(found, axis=1).max() <= 1e-3
    assert found[:, 0] == pytest.approx(1)


def test_key_of_weak_bits_only_finds_everything() -> None:
    """All combinations of all of its bits are probed."""
    found = PairModel(64, range(65)).found_by_table(5, 6)
    assert found[5:] == pytest.approx(1, abs=1e-6)


@given(st.floats(-8, 8))
def test_normal_distribution_is_symmetric(value: float) -> None:
    """What lies below and what lies above is all."""
    below, above = normal_cdf(np.array([value, -value]))
    assert below + above == pytest.approx(1)
