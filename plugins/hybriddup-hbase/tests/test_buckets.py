"""What stands in HBase where many posts share a block key, and values that are large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

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
    """Let stores put posts into the bucket in turn, each of a group of its own; return their positions."""
    positions = []
    for number in range(n):
        store = some[number % len(some)]
        positions.append(store.take(1).first)
        _, entries = store.enter(keyed([positions[-1]], [[KEY]]), np.array([KEY], np.uint64))
        assert positions[-1] in entries["position"]
    return positions


@pytest.mark.parametrize("n_stores", [1, 3])
def test_many_entries_of_a_bucket_take_few_cells_and_none_is_lost(servers: HBase, n_stores: int) -> None:
    """Whoever packs them, and whoever reads."""
    name = f"packed{n_stores}"
    with stores(servers, name, n_stores, 0) as some:
        positions = enter_in_turn(some, 200)
        assert all(found_in(store, KEY)[0] == positions for store in some)
        assert columns(servers, name) < 70
        some[0].leave(keyed([positions[-1]], [[KEY]]))
        assert found_in(some[-1], KEY)[0] == positions[:-1]


def test_of_a_bucket_the_newest_entries_are_there_and_not_many_more(servers: HBase) -> None:
    """However many posts share it, decided or not."""
    with stores(servers, "newest", 1, 8) as (store,):
        positions = enter_in_turn([store], 200)
        found = found_in(store, KEY)[0]
        assert found == positions[-len(found) :]
        assert 8 <= len(found) < 100
        first = store.take(500).first
        store.enter(keyed(list(range(first, first + 500)), [[KEY]] * 500), np.array([KEY], np.uint64))
        found = found_in(store, KEY)[0]
        assert found == list(range(first + 500 - len(found), first + 500))
        assert 8 <= len(found) < 100
        assert columns(servers, "newest") < 200


def test_packing_at_the_same_moment_loses_nothing(servers: HBase) -> None:
    """Two that have read the same entries both pack them: the bucket has them once."""
    address = address_of(servers.url("twice"))
    with stores(servers, "twice", 1, 0) as (store,):
        positions = []
        for _ in range(60):
            positions.append(store.take(1).first)
            store.enter(keyed([positions[-1]], [[KEY]]), np.zeros(0, np.uint64))
        table = Table(address.table, 1, address.connection)
        row = table.row(ROW)
        for buckets in (Buckets(table, NEEDS), Buckets(table, NEEDS)):
            buckets.tidy([ROW], {ROW: row}, buckets.parse([row]), positions[-1])
        table.close()
        assert columns(servers, "twice") == 3
        assert found_in(store, KEY)[0] == positions


def test_a_value_larger_than_a_cell_may_be_comes_back(servers: HBase) -> None:
    """In parts; another one under its key is not taken."""
    value = bytes(range(256)) * 50_000
    with stores(servers, "large", 2, 0) as (one, other):
        assert one.set_first("weights", value) == value
        assert other.set_first("weights", b"other") == value
        assert other.meta("weights") == value
