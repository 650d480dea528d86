"""Numbers from the newest are those that sorting tells."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.numbers_in_buckets import numbers_in_buckets

BUCKETS = st.lists(st.lists(st.integers(-3, 60), unique=True, max_size=9), max_size=6)


@given(BUCKETS, st.data())
def test_a_number_says_how_many_are_newer(buckets: list[list[int]], data: st.DataObject) -> None:
    """In whatever order a bucket is; negative positions are nobody's."""
    places = [(number, place) for number, bucket in enumerate(buckets) for place in range(len(bucket))]
    chosen = data.draw(st.lists(st.sampled_from(places))) if places else []
    begins = np.cumsum([0, *(len(bucket) for bucket in buckets)])
    found = numbers_in_buckets(
        np.array([one for bucket in buckets for one in bucket], np.int64),
        np.array([begins[number] for number, _ in chosen], np.int64),
        np.array([begins[number + 1] for number, _ in chosen], np.int64),
        np.array([begins[number] + place for number, place in chosen], np.int64),
    )
    expected = [sorted(buckets[number], reverse=True).index(buckets[number][place]) + 1 for number, place in chosen]
    assert found.tolist() == expected
