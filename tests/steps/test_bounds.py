"""The texts of pairs, by position."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.steps.verifiers.bounds import positions_of


@given(st.integers(0, 60), st.sampled_from([3, 40, 10_000]), st.integers(0, 1000))
def test_texts_of_pairs_are_numbered_in_order(n: int, span: int, least: int) -> None:
    """Each text once, rising, whether the pairs are of a few texts or of some among many."""
    rng = np.random.default_rng(n * span + least)
    earlier, later = rng.integers(0, span, (2, n)) + least
    positions, one, other = positions_of(earlier, later)
    assert positions.tolist() == sorted({*earlier.tolist(), *later.tolist()})
    assert positions[one].tolist() == earlier.tolist()
    assert positions[other].tolist() == later.tolist()
