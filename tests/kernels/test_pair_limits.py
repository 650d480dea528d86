"""The shortest text that one may match, by looking at every text."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.pair_limits import shortest_partners

LONGEST = 25


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 60)), max_size=12))
def test_the_shortest_partner_is_the_shortest_text_that_reaches(texts: list[tuple[int, int]]) -> None:
    """Whatever the order of the texts; a length that none of the shorter ones reaches has itself."""
    columns = np.array(texts, np.int32).reshape(-1, 2).T
    expected = [
        min((own for own, reach in texts if own <= length <= reach), default=length) for length in range(LONGEST + 1)
    ]
    assert shortest_partners(*columns, LONGEST).tolist() == expected
