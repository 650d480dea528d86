"""Scans that are under way at once return what each of them would return by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from hybriddup_hbase.opening import address_of
from hybriddup_hbase.scans import AT_ONCE
from hybriddup_hbase.table import Place, Row, Table
from servers import HBase

from hybriddup.errors import StoreError

PREFIXES = [b"%04d" % number for number in range(3 * AT_ONCE)]
ROWS: list[list[tuple[bytes, Row]]] = [
    [(b"%b-%d" % (prefix, place), {b"b:x": b"%d" % place}) for place in range(number % 9)]
    for number, prefix in enumerate(PREFIXES)
]
"""By prefix: from none to eight rows."""


@pytest.fixture
def table(servers: HBase) -> Iterator[Table]:
    """A table with rows, over one connection."""
    address = address_of(servers.url("scanned"))
    with closing(Table(address.table, 1, address.connection)) as opened:
        opened.make({"b": {}})
        opened.put({Place(key, b"b:x"): row[b"b:x"] for rows in ROWS for key, row in rows})
        yield opened


def test_many_scans_return_the_rows_of_each_prefix(table: Table) -> None:
    """More scans than are under way at once, in any order."""
    assert table.scan(PREFIXES, b"b") == ROWS
    assert table.scan(PREFIXES[::-1], b"b") == ROWS[::-1]
    assert table.scan([], b"b") == []


@pytest.mark.parametrize("scanned", [1, 2, 4])
def test_a_scan_of_several_calls_returns_all_rows(table: Table, scanned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than a call returns, or exactly as many."""
    monkeypatch.setattr("hybriddup_hbase.scans.SCANNED", scanned)
    assert table.scan(PREFIXES, b"b") == ROWS


def test_after_scans_that_were_refused_the_connection_can_be_used(table: Table) -> None:
    """No answer is left in it that belongs to an earlier call."""
    with pytest.raises(StoreError, match="NoSuchColumnFamily"):
        table.scan(PREFIXES, b"z")
    assert table.scan(PREFIXES[:9], b"b") == ROWS[:9]
