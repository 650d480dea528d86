"""Calls that HBase carries out late, after they were repeated or given up, change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
from hybriddup_hbase.opening import address_of, open_store
from hybriddup_hbase.store import HBaseStore
from plugin_support.late import Late
from servers import HBase

from hybriddup.shared_windows import Change, PostRecord, State
from hybriddup.testing.shared_stores import NEEDS, found_in, keyed
from hybriddup.window.records import StoredPost

KEY = np.array([5], np.uint64)
NEVER = float("-inf")
PENDING, CHALLENGED = frozenset({State.PENDING}), frozenset({State.CHALLENGED})


@pytest.fixture
def between(servers: HBase) -> Iterator[Late]:
    """What holds requests."""
    with closing(Late(servers.port)) as proxy:
        yield proxy


@pytest.fixture
def store(between: Late) -> Iterator[HBaseStore]:
    """A store whose requests can be late."""
    with closing(open_store(address_of(f"hbase://127.0.0.1:{between.port}/late?connections=1"), NEEDS)) as opened:
        yield opened


@pytest.fixture
def other(servers: HBase) -> Iterator[HBaseStore]:
    """The store of another process."""
    with closing(open_store(address_of(servers.url("late")), NEEDS)) as opened:
        yield opened


def announced(store: HBaseStore) -> int:
    """Announce a post in a block of its own; return its position."""
    position = store.take(1).first
    store.announce([PostRecord(State.PENDING, StoredPost(position, f"{position}", 1.0, "text", None), 1.0)], [])
    return position


def test_entries_that_are_written_late_do_not_come_back(store: HBaseStore, other: HBaseStore, between: Late) -> None:
    """The call was repeated, and the post has left its buckets since."""
    position = announced(store)
    between.holds = b"mutateRows"
    store.enter(keyed([position], [[5]]), KEY)
    store.finish(position, NEVER, NEVER, [], keyed([position], [[5]]))
    between.arrive()
    assert found_in(other, 5) == [[]]


def test_a_change_that_is_carried_out_late_hides_no_challenge(
    store: HBaseStore, other: HBaseStore, between: Late
) -> None:
    """A post is made pending again, by a call that was repeated, and challenged anew before the first call arrives."""
    position = announced(store)
    other.change([Change(position, PENDING, State.CHALLENGED)])
    between.holds = b"checkAndPut"
    assert store.change([Change(position, CHALLENGED, State.PENDING)]) == [State.PENDING]
    other.change([Change(position, PENDING, State.CHALLENGED)])
    between.arrive()
    assert other.change([Change(position, PENDING, State.KEPT)]) == [State.CHALLENGED]
