"""Parts of looking texts up in chains: what is near is listed once and in order, however much there is of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.chain_look_ups import without_repeats
from hybriddup.kernels.short_runs import LONGEST_SHORT_RUN


def near_of(rows: list[int], rng: np.random.Generator) -> np.ndarray:
    """So many numbers for each row, in any order, some of them several times."""
    parts = [np.uint64(row) << np.uint64(32) | rng.integers(0, 2 * n + 1, n, np.uint64) for row, n in enumerate(rows)]
    return np.concatenate([np.zeros(0, np.uint64), *parts])


@given(
    st.lists(st.sampled_from([0, 1, 2, 9, LONGEST_SHORT_RUN, LONGEST_SHORT_RUN + 1, 300]), max_size=6),
    st.integers(0, 99),
)
def test_what_is_near_a_row_is_sorted_and_stands_once(rows: list[int], seed: int) -> None:
    """Runs that are sorted by insertion, and longer ones."""
    near = near_of(rows, np.random.default_rng(seed))
    assert without_repeats(near.copy()).tolist() == np.unique(near).tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_a_run_in_order_or_reversed_is_sorted(order: int) -> None:
    """The least and the most that insertion has to move."""
    near = np.arange(LONGEST_SHORT_RUN, dtype=np.uint64)[::order].copy()
    assert without_repeats(near).tolist() == list(range(LONGEST_SHORT_RUN))
