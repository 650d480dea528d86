"""Buckets in HBase that many posts share, and values that are large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import happybase
import numpy as np
import pytest
from hybriddup_hbase.buckets import Buckets, bucket_rows
from hybriddup_hbase.opening import address_of, open_store
from hybriddup_hbase.store import HBaseStore
from hybriddup_hbase.table import Table
from servers import HBase

from hybriddup.testing.shared_stores import NEEDS, found_in, keyed

KEY = 5
KEYS = np.array([KEY], np.uint64)
NEVER = float("-inf")
ROW = bucket_rows(np.array([KEY], np.uint64))[0]


@contextmanager
def stores(servers: HBase, name: str, n: int, max_bucket_size: int) -> Iterator[list[HBaseStore]]:
    """Several that share a window."""
    needs = NEEDS._replace(max_bucket_size=max_bucket_size)
    with ExitStack() as stack:
        made = [open_store(address_of(servers.url(name)), needs) for _ in range(n)]
        for store in made:
            stack.callback(store.close)
        yield made


def columns(servers: HBase, name: str) -> int:
    """How many cells HBase has for the key."""
    connection = happybase.Connection("127.0.0.1", servers.port)
    row = connection.table(name).row(ROW)
    connection.close()
    return len(row)


def enter_in_turn(some: Sequence[HBaseStore], n: int) -> list[int]:
    """Let stores put posts into the bucket in turn, each of a block that it finishes; return their positions."""
    positions = []
    for number in range(n):
        store = some[number % len(some)]
        positions.append(store.take(1).first)
        _, entries = store.enter(keyed([positions[-1]], [[KEY]]), KEYS)
        assert positions[-1] in entries["position"]
        store.finish(positions[-1], NEVER, NEVER, [], keyed([], []))
    return positions


@pytest.mark.parametrize("n_stores", [1, 3])
def test_many_entries_of_a_bucket_take_few_cells_and_none_is_lost(servers: HBase, n_stores: int) -> None:
    """Whoever packs them, and whoever reads."""
    name = f"packed{n_stores}"
    with stores(servers, name, n_stores, 0) as some:
        positions = enter_in_turn(some, 200)
        assert all(found_in(store, KEY)[0] == positions for store in some)
        assert columns(servers, name) < 60
        for gone in positions[0], positions[-1]:
            some[0].leave(keyed([gone], [[KEY]]))
        assert found_in(some[-1], KEY)[0] == positions[1:-1]


def test_of_a_bucket_the_newest_entries_are_there_and_not_many_more(servers: HBase) -> None:
    """Those of a batch that is being decided are there as well, however many they are."""
    with stores(servers, "newest", 1, 8) as (store,):
        positions = enter_in_turn([store], 200)
        first = store.take(500).first
        own = list(range(first, first + 500))
        store.enter(keyed(own, [[KEY]] * 500), KEYS)
        assert found_in(store, KEY)[0] == positions[-8:] + own
        store.finish(first, NEVER, NEVER, [], keyed(own[100:], [[KEY]] * 400))
        assert enter_in_turn([store], 1)
        assert found_in(store, KEY)[0][:-1] == own[92:100]
        assert columns(servers, "newest") < 60


def test_a_kept_post_stays_in_a_bucket_while_batches_of_equal_keys_come_and_go(servers: HBase) -> None:
    """A thousand posts that are being decided, and turn out to be duplicates, do not push it out."""
    with stores(servers, "crowd", 2, 8) as (one, other):
        (kept,) = enter_in_turn([one], 1)
        for store in one, other, one:
            first = store.take(1000).first
            crowd = keyed(list(range(first, first + 1000)), [[KEY]] * 1000)
            _, entries = store.enter(crowd, KEYS)
            assert kept in entries["position"]
            store.finish(first, NEVER, NEVER, [], crowd)
        assert found_in(other, KEY)[0] == [kept]


def test_packing_at_the_same_moment_loses_nothing(servers: HBase) -> None:
    """Two that have read the same entries both pack them: the bucket has them once, in one cell."""
    address = address_of(servers.url("twice"))
    with stores(servers, "twice", 1, 0) as (store,):
        blocks = [store.take(1).first for _ in range(60)]
        store.enter(keyed(blocks, [[KEY]] * 60), np.zeros(0, np.uint64))
        table = Table(address.table, 1, address.connection)
        stale = {ROW: table.row(ROW)}
        for _ in range(2):
            with patch.object(table, "rows", return_value=stale):
                Buckets(table, NEEDS._replace(max_bucket_size=0)).read(KEYS, blocks[-1])
        table.close()
        assert columns(servers, "twice") == 1 + 60 - 32
        assert found_in(store, KEY)[0] == blocks


def test_a_value_larger_than_a_cell_may_be_comes_back(servers: HBase) -> None:
    """In parts; another one under its key is not taken."""
    value = bytes(range(256)) * 50_000
    with stores(servers, "large", 2, 0) as (one, other):
        assert one.set_first("weights", value) == value
        assert other.set_first("weights", b"other") == value
        assert other.meta("weights") == value
