"""The table from ids to positions."""

from __future__ import annotations

import numpy as np

from hybriddup.window.stores import id_table
from hybriddup.window.stores.id_table import IdTable, hash_ids, id_bytes


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
