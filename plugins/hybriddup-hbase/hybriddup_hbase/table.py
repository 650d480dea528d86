"""A table of HBase, over several connections to its Thrift server at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import LifoQueue
from time import sleep
from typing import Any, NamedTuple, TypeVar

import happybase
from Hbase_thrift import AlreadyExists, Mutation  # happybase makes this module of the server's description
from Hbase_thrift import IOError as HBaseError
from thriftpy2.thrift import TException

from hybriddup.errors import StoreError

FEWEST_ROWS = 128
"""A connection is given at least so many rows of a call."""

Row = dict[bytes, bytes]
"""Values by column, with its family before it."""
One = TypeVar("One")
Other = TypeVar("Other")


class Place(NamedTuple):
    """Where a value stands."""

    row: bytes
    column: bytes


class Table:
    """Reads and writes many rows at once; each row is atomic by itself.

    All methods raise StoreError where HBase does not do what is asked, or the table is closed. They may be called from
    several threads.

    Parameters
    ----------
    n_connections
        So many connections share a call, so that the server uses several processors.
    connection
        Arguments of `happybase.Connection`.
    """

    def __init__(self, name: str, n_connections: int, connection: Mapping[str, Any]) -> None:
        self._name, self._connection = name.encode(), connection
        self._is_closed = False
        # happybase's pool cannot be closed
        self._idle: LifoQueue[happybase.Connection] = LifoQueue()
        for _ in range(n_connections):
            self._idle.put(happybase.Connection(**connection, autoconnect=False))
        self._n = n_connections
        self._threads = ThreadPoolExecutor(n_connections, "hbase")

    # ---- connections

    @contextmanager
    def connected(self) -> Iterator[happybase.Connection]:
        """Yield a connection; where it fails, it is replaced."""
        if self._is_closed:
            raise StoreError("the store is closed.")
        connection = self._idle.get()
        try:
            connection.open()
            yield connection
        except HBaseError as error:
            raise StoreError(
                f"HBase does not do what is asked: {said_in(error)}. Look to its servers, and send the posts again."
            ) from error
        except (TException, OSError) as error:
            connection.close()
            connection = happybase.Connection(**self._connection, autoconnect=False)
            raise StoreError(
                f"the Thrift server of HBase at {connection.host}:{connection.port} does not answer: "
                f"{type(error).__name__}: {error}. Look to server and network, and send the posts again."
            ) from error
        finally:
            self._idle.put(connection)

    @contextmanager
    def _table(self) -> Iterator[happybase.Table]:
        with self.connected() as connection:
            yield connection.table(self._name)

    def make(self, families: Mapping[str, Mapping[str, Any]]) -> dict[bytes, dict[str, Any]]:
        """Create the table if there is none; return the families that it has, and their settings."""
        with self.connected() as connection:
            if self._name not in connection.tables():
                self._create(connection, families)
            while not connection.is_table_enabled(self._name):  # another process is making it
                sleep(0.1)
            found: dict[bytes, dict[str, Any]] = connection.table(self._name).families()
        return found

    def _create(self, connection: happybase.Connection, families: Mapping[str, Mapping[str, Any]]) -> None:
        try:
            connection.create_table(self._name, families)
        except (AlreadyExists, HBaseError):  # the server says it in both ways
            if self._name not in connection.tables():
                raise

    def each(self, function: Callable[[One], Other], items: Sequence[One]) -> list[Other]:
        """Return what a function that asks HBase returns for each item, several at once."""
        if len(items) <= 1 or self._is_closed:
            return [function(item) for item in items]
        asked = [self._threads.submit(function, item) for item in items]
        return [one.result() for one in asked]

    def _shares(self, items: Sequence[One]) -> list[Sequence[One]]:
        """Return the items in parts of about one size, one for each connection."""
        size = max(-(-len(items) // self._n), FEWEST_ROWS)
        return [items[first : first + size] for first in range(0, len(items), size)]

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._threads.shutdown()
            for _ in range(self._n):
                self._idle.get().close()

    # ---- reading

    def rows(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """Return those of the rows with these keys that there are; no key twice."""

        def read(share: Sequence[bytes]) -> list[tuple[bytes, Row]]:
            with self._table() as table:
                return list(table.rows(share))

        return {key: row for found in self.each(read, self._shares(keys)) for key, row in found}

    def row(self, key: bytes) -> Row:
        """Return a row; an empty one where there is none."""
        with self._table() as table:
            found: Row = table.row(key)
        return found

    # ---- writing

    def put(self, values: Mapping[Place, bytes]) -> None:
        """Write values, those of one row at once."""

        def write(share: Sequence[tuple[bytes, Row]]) -> None:
            with self._table() as table, table.batch(transaction=True) as batch:
                for key, row in share:
                    batch.put(key, row)

        rows: dict[bytes, Row] = defaultdict(dict)
        for (row, column), value in values.items():
            rows[row][column] = value
        self.each(write, self._shares(list(rows.items())))

    def delete(self, places: Sequence[Place]) -> None:
        """Remove values."""

        def remove(share: Sequence[Place]) -> None:
            with self._table() as table, table.batch(transaction=True) as batch:
                for row, column in share:
                    batch.delete(row, [column])

        self.each(remove, self._shares(places))

    def swap(self, place: Place, expected: bytes | None, value: bytes) -> bool:
        """Write a value where another one is expected, None = none; return whether it was there. Atomic."""
        change = Mutation(column=place.column, value=value)
        with self.connected() as connection:
            # happybase has no method for what its client can do; an empty value stands for none
            client = connection.client
            return bool(client.checkAndPut(self._name, place.row, place.column, expected or b"", change, {}))

    def add(self, place: Place, n: int) -> int:
        """Add to a counter, and return what it is then. Atomic."""
        with self._table() as table:
            return int(table.counter_inc(*place, n))


def said_in(error: HBaseError) -> str:
    """Return the first line of what a server says is wrong, without the trace that follows."""
    message = error.message or ""
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    return text.partition("\n")[0].strip()
