"""The nearest pairs of a text against sorting them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.nearest import choose_nearest


@pytest.mark.parametrize("most", [1, 2, 3, 7])
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=10))
def test_the_nearest_candidates_stay(most: int, pairs: list[tuple[int, bool]]) -> None:
    """Of those at one distance the first; others than candidates do not count."""
    distances = np.array([distance for distance, _ in pairs], np.int32)
    stay = np.array([is_candidate for _, is_candidate in pairs])
    choose_nearest(distances, stay, most)
    nearest = sorted((distance, place) for place, (distance, is_candidate) in enumerate(pairs) if is_candidate)
    assert np.flatnonzero(stay).tolist() == sorted(place for _, place in nearest[:most])
