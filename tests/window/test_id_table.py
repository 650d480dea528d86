"""The table from ids to positions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.window.stores import id_table
from hybriddup.window.stores.id_table import IdTable, hash_ids, id_bytes

SETS = st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=8)


@given(batches=SETS, wanted=st.lists(st.integers(0, 40), max_size=20))
def test_the_last_position_of_each_hash_is_found(batches, wanted):
    """Whatever the batches and however many clash, the answers are those of a plain dictionary."""
    table, last = IdTable(5), {}
    for batch in batches:
        last.update((each, 5 + place) for place, each in enumerate(batch, table.end - 5))
        table.add(np.array(batch, np.uint64))
    assert table.latest(np.array(wanted, np.uint64)).tolist() == [last.get(each, -1) for each in wanted]


@given(batches=SETS)
def test_all_positions_of_a_hash_are_found(batches):
    """Clashing ids are told apart by looking at each position of their hash."""
    table = IdTable(0)
    for batch in batches:
        table.add(np.array(batch, np.uint64))
    held = [each for batch in batches for each in batch]
    assert table.all(np.uint64(7)).tolist() == [place for place, each in enumerate(held) if each == 7]


def test_segments_are_given_back_when_their_positions_are_forgotten(monkeypatch):
    """Five windows' worth takes no more memory than two, and what is not forgotten is found."""
    hashes = np.random.default_rng(3).integers(0, 2**64, 5000, np.uint64)
    monkeypatch.setattr(id_table, "SMALLEST_SEGMENT", 64)
    table, largest = IdTable(0), []
    for first in range(0, 5000, 50):
        table.add(hashes[first : first + 50])
        table.forget_before(first + 50 - 1000)
        largest.append(table.n_bytes)
    assert max(largest[40:]) <= max(largest[:40])
    assert table.latest(hashes[4000:]).tolist() == list(range(4000, 5000))
    assert table.first_position <= 4000


def test_ids_that_differ_have_bytes_that_differ():
    """A number is no text of its digits, nor of any other."""
    ids = ["1", 1, "-1", -1, "", "\udcff", "\xff1", 2**70, str(2**70), "a", "a\0"]
    assert len({id_bytes(each) for each in ids}) == len(ids)


def test_hashes_depend_on_the_key():
    """Who does not know the key cannot have ids clash."""
    first, again, other = (hash_ids(["a", 1], key) for key in (b"k" * 16, b"k" * 16, b"l" * 16))
    assert first.tolist() == again.tolist()
    assert not set(first.tolist()) & set(other.tolist())
