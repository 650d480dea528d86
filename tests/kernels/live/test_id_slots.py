"""The hash table of ids against a plain dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.live.id_slots import MOST_PLACES, fill_slots, find_latest
from hybriddup.window.hash_table import LARGEST_SEGMENT

NEAR = st.builds(lambda high, low: high << 57 | low, st.integers(0, 3), st.integers(0, 3))
"""Hashes that share a slot, or a tag, or both."""
HASHES = st.lists(NEAR | st.integers(0, 20) | st.integers(0, 2**64 - 1), max_size=30)


@given(hashes=HASHES, wanted=HASHES, n_first=st.integers(0, 30))
def test_the_last_place_of_each_hash_is_found(hashes, wanted, n_first):
    slots, columns = np.zeros(64, np.uint32), np.array(hashes, np.uint64)
    n_first = min(n_first, len(hashes))
    fill_slots(slots, columns, 0, n_first)
    fill_slots(slots, columns, n_first, len(hashes))
    last = {each: place for place, each in enumerate(hashes)}
    found = np.array([7 * (i % 2) - 1 for i in range(len(wanted))], np.int64)
    expected = [
        100 + last[each] if each in last else before for each, before in zip(wanted, found.tolist(), strict=True)
    ]
    find_latest(slots, columns, np.array(wanted, np.uint64), 100, found)
    assert found.tolist() == expected


def test_a_segment_has_no_more_places_than_a_slot_can_tell():
    assert LARGEST_SEGMENT <= MOST_PLACES
