"""The likeliest pairs of each row, against sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.likely_pairs import nearest_pairs, newest_places

N_ROWS = 5
PAIRS = st.lists(st.tuples(st.integers(0, N_ROWS - 1), st.integers(0, 9)), max_size=200)


@given(PAIRS, st.lists(st.integers(0, 20), min_size=N_ROWS, max_size=N_ROWS))
def test_the_nearest_pairs_are_those_that_come_first_when_sorted(pairs: list[tuple[int, int]], most: list[int]) -> None:
    """By distance, and of the same distance the earlier ones."""
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    kept = nearest_pairs(columns[:, 0].copy(), columns[:, 1].astype(np.int32), np.array(most, np.int64), 10)
    expected = set()
    for row in range(N_ROWS):
        own = sorted((distance, place) for place, (of, distance) in enumerate(pairs) if of == row)
        expected |= {place for _, place in own[: most[row]]}
    assert set(np.flatnonzero(kept).tolist()) == expected


@given(
    st.sets(st.tuples(st.integers(0, N_ROWS - 1), st.integers(0, 300)), max_size=200),
    st.integers(1, 60),
    st.sampled_from([1, 50_000]),
    st.randoms(use_true_random=False),
)
def test_the_newest_places_are_the_largest(
    entries: set[tuple[int, int]], most: int, spread: int, order: object
) -> None:
    """At least as many as are wanted or there are, none that is older than one left out, and the order is kept."""
    given_ = sorted(entries)
    order.shuffle(given_)  # type: ignore[attr-defined]
    near = np.array([row << 32 | place * spread for row, place in given_], np.uint64)
    kept = [(int(one) >> 32, int(one) & 0xFFFFFFFF) for one in newest_places(near, N_ROWS, most)]
    scaled = [(row, place * spread) for row, place in given_]
    assert kept == [one for one in scaled if one in set(kept)]
    for row in range(N_ROWS):
        own, left = ({place for of, place in some if of == row} for some in (scaled, kept))
        assert len(left) >= min(len(own), most)
        assert left == {place for place in own if not left or place >= min(left)}
        if spread == 1:
            assert len(left) == min(len(own), most)
