"""The hash table of ids against a plain dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.id_slots import fill_slots, latest_places

HASHES = st.lists(st.integers(0, 20) | st.integers(0, 2**64 - 1), max_size=30)


@given(hashes=HASHES, wanted=HASHES, n_first=st.integers(0, 30))
def test_the_last_place_of_each_hash_is_found(hashes, wanted, n_first):
    """Entered in two parts, with any clashes, the last place of each hash is found, -1 for others."""
    slots, columns = np.zeros(64, np.int32), np.array(hashes, np.uint64)
    n_first = min(n_first, len(hashes))
    fill_slots(slots, columns, 0, n_first)
    fill_slots(slots, columns, n_first, len(hashes))
    last = {each: place for place, each in enumerate(hashes)}
    expected = [last.get(each, -1) for each in wanted]
    assert latest_places(slots, columns, np.array(wanted, np.uint64)).tolist() == expected
