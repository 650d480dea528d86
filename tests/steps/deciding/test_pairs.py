"""Pairs in one piece of memory, against a list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import CandidatePairs
from hybriddup.steps.deciding.pairs import GrowingPairs, no_pairs

rows = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 512))


@given(st.lists(st.lists(rows, max_size=5), max_size=6), st.integers(0, 4))
def test_pairs_come_back_as_they_were_put_in(parts: list[list[tuple[int, int, int]]], room: int) -> None:
    growing = GrowingPairs(no_pairs(), room)
    for part in parts:
        earlier, later, distances = np.array(part, np.int64).reshape(-1, 3).T
        growing.add(CandidatePairs(earlier, later, distances.astype(np.int32)))
    found = growing.all()
    assert (found.earlier.dtype, found.later.dtype, found.hamming_distances.dtype) == (np.int64, np.int64, np.int32)
    columns = (found.earlier, found.later, found.hamming_distances)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [row for part in parts for row in part]
