"""The distances of edited copies: the model against what was measured and against its own random draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.planner.distances import SPREAD, after_edits, at_distance, differing_bits

MEASURED = {0.05: (0.105, 0.211), 0.10: (0.143, 0.211), 0.20: (0.195, 0.266)}
"""Edited share -> share of differing bits, mean and 99th percentile; 256 bits, characters and pairs of characters."""


def mean_and_tail(probabilities: np.ndarray) -> tuple[float, float]:
    """Mean and 99th percentile of the share of differing bits."""
    bits = len(probabilities) - 1
    mean = float(probabilities @ np.arange(bits + 1)) / bits
    return mean, int(np.searchsorted(np.cumsum(probabilities), 0.99)) / bits


@pytest.mark.parametrize("edit_share", MEASURED)
def test_model_has_the_measured_mean(edit_share: float) -> None:
    """Within 0.012 of the measured share of differing bits."""
    mean, _ = modeled(edit_share)
    assert mean == pytest.approx(MEASURED[edit_share][0], abs=0.012)


@pytest.mark.parametrize("edit_share", MEASURED)
def test_model_spreads_no_less_than_measured(edit_share: float) -> None:
    """Its 99th percentile is not below the measured one by more than 0.005, nor above it by more than 0.05."""
    _, tail = modeled(edit_share)
    assert -0.005 <= tail - MEASURED[edit_share][1] <= 0.05


@pytest.mark.parametrize("edit_share", MEASURED)
def test_docstring_states_what_was_measured_and_what_the_model_gives(edit_share: float) -> None:
    """Its table has the line."""
    measured, model = ("{:.3f}, {:.3f}".format(*pair) for pair in (MEASURED[edit_share], modeled(edit_share)))
    line = f"{edit_share:.2f}          {measured}  {model}"
    assert after_edits.__doc__ is not None
    assert line in after_edits.__doc__


def modeled(edit_share: float) -> tuple[float, float]:
    return mean_and_tail(differing_bits(edit_share, 256))


@pytest.mark.parametrize("edit_share", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("bits", [64, 128])
def test_formula_is_that_of_random_draws(edit_share: float, bits: int) -> None:
    """A surviving share from the beta distribution, its angle, and so many bits from the binomial one."""
    rng = np.random.default_rng(bits)
    n = 20_000
    losses = rng.beta(edit_share * SPREAD, (1 - edit_share) * SPREAD, n)
    drawn = rng.binomial(bits, np.arccos(1 - losses) / np.pi)
    below = np.bincount(drawn, minlength=bits + 1).cumsum() / n
    assert np.abs(below - differing_bits(edit_share, bits).cumsum()).max() < 0.015


@settings(max_examples=30)
@given(st.floats(0.001, 0.5), st.sampled_from([64, 128, 512]), st.floats(0.5, 0.9999))
def test_limit_loses_a_tenth_of_what_may_be_lost(edit_share: float, bits: int, recall: float) -> None:
    """It is the smallest that does not lose more."""
    distances = after_edits(edit_share, bits, recall)
    allowed = 1 - (1 - recall) / 10
    assert distances.limit == bits - 1 or distances.within_limit >= allowed
    assert distances.probabilities[:-1].sum() < allowed
    assert distances.edit_share == edit_share


@settings(max_examples=20)
@given(st.floats(0.001, 0.45), st.sampled_from([64, 128]))
def test_more_edits_are_more_differing_bits(edit_share: float, bits: int) -> None:
    """Chances sum to 1, and the mean rises with the edited share."""
    less, more = differing_bits(edit_share, bits), differing_bits(edit_share + 0.05, bits)
    assert less.sum() == pytest.approx(1)
    assert mean_and_tail(less)[0] < mean_and_tail(more)[0]


@pytest.mark.parametrize("distance", [0, 3, 40])
def test_given_distance_is_the_limit_and_the_mean(distance: int) -> None:
    """All pairs differ in so many bits."""
    distances = at_distance(distance)
    assert (distances.limit, distances.mean, distances.within_limit) == (distance, distance, 1.0)
