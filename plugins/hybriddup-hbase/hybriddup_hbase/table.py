"""A table of HBase, over several connections to its Thrift server at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue
from time import monotonic, sleep
from typing import Any, NamedTuple, NoReturn, TypeVar

import happybase
from Hbase_thrift import AlreadyExists, IllegalArgument, Mutation  # happybase makes this module of a description
from Hbase_thrift import IOError as HBaseError
from thriftpy2.thrift import TException

from hybriddup.errors import StoreError
from hybriddup_hbase.scans import Calls, scan_each

FEWEST_ROWS = 128
"""Minimum number of rows per connection when a call is divided among connections."""
FEWEST_SCANS = 4
"""Minimum number of scans per connection when they are divided among connections."""
ENABLED_WITHIN = 20.0
"""Seconds for which a new table may be disabled while another process creates it."""

FOR_GOOD = 2**62
"""Timestamp of a removal that also hides later writes to the same cell, until HBase merges all files of a region (a
major compaction)."""

Row = dict[bytes, bytes]
"""Values by column, each with its family in front."""
One = TypeVar("One")
Other = TypeVar("Other")


class Place(NamedTuple):
    """The row and the column of a value."""

    row: bytes
    column: bytes


class Table:
    """Reads and writes many rows at once; each row is atomic by itself.

    All methods raise StoreError if HBase refuses a call or does not answer, or the table is closed. They may be called
    from several threads.

    A Thrift server closes connections that were idle for a minute, and one that is started anew has none. So a call on
    a connection that was open before is repeated once on a new one. The first call may have been carried out, or may be
    carried out later: the docstring of each method has the consequence.

    Parameters
    ----------
    name
        Name of the table.
    n_connections
        Number of connections that share a call, so that the server uses several processors.
    connection
        Arguments of `happybase.Connection`.
    """

    def __init__(self, name: str, n_connections: int, connection: Mapping[str, Any]) -> None:
        self._name, self._connection = name.encode(), connection
        self._is_closed = False
        # happybase's pool cannot be closed
        self._idle: LifoQueue[happybase.Connection] = LifoQueue()
        for _ in range(n_connections):
            self._idle.put(self._new_connection())
        self._n = n_connections
        self._threads = ThreadPoolExecutor(n_connections, "hbase")

    # ---- connections

    def _new_connection(self) -> happybase.Connection:
        return happybase.Connection(**self._connection, autoconnect=False)

    def _call(self, function: Callable[[happybase.Connection], One]) -> One:
        """Call a function with a connection and return its result; repeat the call if an idle connection was lost."""
        if self._is_closed:
            raise StoreError("the store is closed.")
        connection = self._idle.get()
        try:
            while True:
                was_open = connection.transport.is_open()
                try:
                    connection.open()
                    return function(connection)
                except (HBaseError, IllegalArgument) as error:
                    raise StoreError(
                        f"HBase refused a call: {message_of(error)}. Check its servers and the table "
                        f"{self._name.decode()}, and send the posts again."
                    ) from error
                except (TException, OSError) as error:
                    connection.close()
                    connection = self._new_connection()
                    if not was_open or isinstance(error, TimeoutError):
                        self._refuse(error)
        finally:
            self._idle.put(connection)

    def _refuse(self, error: Exception) -> NoReturn:
        """Raise the error of a server that does not answer."""
        raise StoreError(
            f"the Thrift server of HBase at {self._connection['host']}:{self._connection['port']} does not answer: "
            f"{type(error).__name__}: {error}. Check the server and the network, and that the table "
            f"{self._name.decode()} is enabled, and send the posts again."
        ) from error

    def each(self, function: Callable[[One], Other], items: Sequence[One]) -> list[Other]:
        """Call a function that uses HBase with each item, several in parallel; return the results in order."""
        if len(items) <= 1 or self._is_closed:
            return [function(item) for item in items]
        futures = [self._threads.submit(function, item) for item in items]
        return [one.result() for one in futures]

    def _shares(self, items: Sequence[One], fewest: int = FEWEST_ROWS) -> list[Sequence[One]]:
        """Divide items evenly among the connections, but give each at least ``fewest``, as long as there are any."""
        size = max(-(-len(items) // self._n), fewest)
        return [items[first : first + size] for first in range(0, len(items), size)]

    def close(self) -> None:
        """Close the connections; a second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._threads.shutdown()
            for _ in range(self._n):
                self._idle.get().close()

    # ---- the table itself

    def make(self, families: Mapping[str, Mapping[str, Any]]) -> dict[bytes, dict[str, Any]]:
        """Create the table if there is none; return the families that it has, and their settings."""
        if self._name not in self._call(lambda connection: connection.tables()):
            self._call(lambda connection: self._create(connection, families))
        ends = monotonic() + ENABLED_WITHIN
        while not self._call(lambda connection: connection.is_table_enabled(self._name)):
            if monotonic() > ends:
                name = self._name.decode()
                raise StoreError(f"the table {name} of HBase is disabled. In the shell of HBase: enable '{name}'.")
            sleep(0.1)
        return self._call(lambda connection: connection.table(self._name).families())

    def _create(self, connection: happybase.Connection, families: Mapping[str, Mapping[str, Any]]) -> None:
        """Create the table, unless another process does."""
        try:
            connection.create_table(self._name, families)
        except (AlreadyExists, HBaseError):  # the server answers with one or the other
            if self._name not in connection.tables():
                raise

    # ---- reading

    def rows(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """Return the rows that exist, by key; ``keys`` must be distinct."""

        def read(share: Sequence[bytes]) -> list[tuple[bytes, Row]]:
            return self._call(lambda connection: list(connection.table(self._name).rows(share)))

        return {key: row for found in self.each(read, self._shares(keys)) for key, row in found}

    def row(self, key: bytes) -> Row:
        """Return a row; empty if it does not exist."""
        return self._call(lambda connection: connection.table(self._name).row(key))

    def scan(self, prefixes: Sequence[bytes], family: bytes) -> list[list[tuple[bytes, Row]]]:
        """Return, for each prefix, the rows of a family whose keys begin with it. No prefix may end with byte 255."""

        def read(share: Sequence[bytes]) -> list[list[tuple[bytes, Row]]]:
            protocol = self._connection["protocol"]
            return self._call(lambda connection: scan_each(Calls(connection, protocol), self._name, share, family))

        return [rows for found in self.each(read, self._shares(prefixes, FEWEST_SCANS)) for rows in found]

    # ---- writing

    def put(self, values: Mapping[Place, bytes]) -> None:
        """Write values, each row atomically. A repeated call changes nothing."""

        def write(share: Sequence[tuple[bytes, Row]]) -> None:
            self._call(lambda connection: write_rows(connection.table(self._name), share))

        rows: dict[bytes, Row] = defaultdict(dict)
        for (row, column), value in values.items():
            rows[row][column] = value
        self.each(write, self._shares(list(rows.items())))

    def delete(self, places: Sequence[Place], timestamp: int | None = None) -> None:
        """Remove values. A repeated call changes nothing.

        With `FOR_GOOD` as the timestamp, an earlier `put` that HBase carries out late does not bring them back.
        """

        def remove(share: Sequence[Place]) -> None:
            self._call(lambda connection: delete_values(connection.table(self._name), share, timestamp))

        self.each(remove, self._shares(places))

    def swap(self, place: Place, expected: bytes | None, value: bytes) -> bool:
        """Write a value if the present one is ``expected``, None = there is none; return whether it was. Atomic.

        If an answer is lost, here or between the Thrift server and the region server, the call is repeated, and may
        find its own value. So the value in the table decides, and no other call should write the same value.
        """
        change = Mutation(column=place.column, value=value)

        def swap_once(connection: happybase.Connection) -> bool:
            # happybase has no method for what its client can do; to the client, an empty value is none
            client = connection.client
            is_done = client.checkAndPut(self._name, place.row, place.column, expected or b"", change, {})
            return bool(is_done or connection.table(self._name).row(place.row).get(place.column) == value)

        return self._call(swap_once)

    def add(self, place: Place, n: int) -> int:
        """Add to a counter; return its value afterwards. Atomic. A repeated call adds twice."""
        return self._call(lambda connection: int(connection.table(self._name).counter_inc(*place, n)))


def write_rows(table: happybase.Table, rows: Sequence[tuple[bytes, Row]]) -> None:
    """Write rows in one call."""
    with table.batch(transaction=True) as batch:
        for key, row in rows:
            batch.put(key, row)


def delete_values(table: happybase.Table, places: Sequence[Place], timestamp: int | None = None) -> None:
    """Remove values in one call."""
    with table.batch(timestamp, transaction=True) as batch:
        for row, column in places:
            batch.delete(row, [column])


def message_of(error: Exception) -> str:
    """Return the first line of a server's message, without the trace that follows."""
    message = getattr(error, "message", None) or b""
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    return text.partition("\n")[0].strip()
