"""Reader and writer for tables of SQLite databases; see also `hybriddup.files.table_outputs`."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress, islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hybriddup.data.marks import Marks
from hybriddup.data.records import Bools
from hybriddup.errors import InputError
from hybriddup.files.copying import Choice, check_marks, check_same_columns
from hybriddup.files.formats import (
    BadRow,
    Fields,
    Record,
    RecordBatch,
    check_columns,
    needed_columns,
    reader_of_rows,
    record_batches,
)
from hybriddup.files.sources import Source, changed, unreadable
from hybriddup.files.table_names import EXAMPLE, folded, parse_name
from hybriddup.files.table_outputs import Column, columns_of, quoted, write_rows
from hybriddup.files.tables import batched

BROKEN = re.compile("[\udc80-\udcff]")
"""Pattern of a character that ``surrogateescape`` produces for a byte that is not valid UTF-8."""
ROWIDS = ("rowid", "_rowid_", "oid")
KINDS = {type(None): "NULL", bytes: "a BLOB", int: "an integer", float: "a number"}


@dataclass(frozen=True)
class TableSource(Source):
    """A table of a database, with its own connection. Between reads, the connection holds no lock."""

    connection: sqlite3.Connection = field(kw_only=True, repr=False)
    columns: tuple[Column, ...] = field(kw_only=True)
    order: tuple[str, ...] = field(kw_only=True)
    """SQL terms that identify and order the rows: the rowid or the primary key; empty for a view."""
    version: int = field(kw_only=True)
    """Data version of the database when it was opened; it changes if another connection commits."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def rows(self, terms: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the values of SQL expressions, such as quoted column names, for every row, in the table's order."""
        table = quoted(parse_name(self.name).table)
        order = f" ORDER BY {', '.join(self.order)}" if self.order else ""
        with failures_named(self.name):
            yield from self.connection.execute(f"SELECT {', '.join(terms)} FROM {table}{order}")  # noqa: S608  quoted

    def check_unchanged(self) -> None:
        """Raise InputError if another connection changed the database since it was opened."""
        with failures_named(self.name):
            if _version(self.connection) != self.version:
                raise InputError(changed(self.name))

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def open_table(name: str) -> TableSource:
    """Open a table or view for reading; if it does not exist, raise InputError with a list of existing tables."""
    file, table = parse_name(name)
    try:
        file.stat()
    except OSError as error:
        raise InputError(unreadable(name, error)) from None
    with failures_named(name):
        connection = _connect(file)
        try:
            _check_table(connection, name, table)
            columns = columns_of(connection, table)
            order, version = _order(connection, table, columns), _version(connection)
        except BaseException:
            connection.close()
            raise
    return TableSource(name, "", (), connection=connection, columns=columns, order=order, version=version)


@contextmanager
def failures_named(name: str) -> Iterator[None]:
    """Convert SQLite's errors in the ``with`` block to an InputError that names the table."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{name} cannot be read as a table of SQLite: {error}.") from None


def _connect(file: Path) -> sqlite3.Connection:
    address = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _check_table(connection: sqlite3.Connection, name: str, table: str) -> None:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
    tables = [one for (one,) in connection.execute(query)]
    if folded(table) in map(folded, tables):
        return
    listed = ", ".join(map(repr, tables[:20])) + (f" and {len(tables) - 20} more" if len(tables) > 20 else "")
    fault = f"there is no table {table!r}" if table else f"name the table, as in {EXAMPLE}"
    raise InputError(f"{name}: {fault}; the tables are {listed or 'none'}.")


def _order(connection: sqlite3.Connection, table: str, columns: Sequence[Column]) -> tuple[str, ...]:
    """Return SQL terms by which the rows are ordered: the rowid if there is one, else the primary key's columns.

    The result is empty for a view.
    """
    query = "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE AND type = 'view'"
    if connection.execute(query, [table]).fetchone():
        return ()
    names = {folded(column.name) for column in columns}
    for rowid in (one for one in ROWIDS if one not in names):
        try:
            connection.execute(f"SELECT {rowid} FROM {quoted(table)} LIMIT 0")  # noqa: S608  quoted
        except sqlite3.OperationalError:
            break
        return (rowid,)
    keys = sorted((column for column in columns if column.key), key=lambda column: column.key)
    return tuple(quoted(column.name) for column in keys)


def _as_tables(sources: Sequence[Source]) -> list[TableSource]:
    for source in sources:
        if not isinstance(source, TableSource):
            raise InputError(f"{source.name}: for a table of SQLite, name the file and the table, as in {EXAMPLE}.")
    return [source for source in sources if isinstance(source, TableSource)]


class SqliteReader:
    """Reads posts from the rows of a table; a row whose text is NULL, a BLOB or a number is a bad row."""

    extensions = ()

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one table in order."""
        (table,) = _as_tables([source])
        check_columns(table.name, table.names, fields)
        return record_batches(_records(table, fields))


def _records(table: TableSource, fields: Fields) -> Iterator[Record | BadRow]:
    names = needed_columns(table.names, fields)
    read = reader_of_rows(names, fields)
    for line, row in enumerate(table.rows([*map(quoted, names), *table.order]), 1):
        (text, record_id, order_values), key = read(row), row[len(names) :]
        place = f" ({', '.join(table.order)} = {', '.join(map(repr, key))})" if key else ""
        if not isinstance(text, str):
            yield BadRow(line, f"column {fields.text!r} holds {KINDS[type(text)]}, not text{place}", "type")
        elif not text.isascii() and BROKEN.search(text):
            yield BadRow(line, f"column {fields.text!r} is not valid UTF-8{place}")
        else:
            yield Record(text, record_id.hex() if isinstance(record_id, bytes) else record_id, order_values)


class SqliteWriter:
    """Copies rows of one or more tables with the same columns; the output has the column types of the first table."""

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError if the tables have different columns."""
        tables = [(table.name, table.names, ", ".join(table.names)) for table in _as_tables(sources)]
        check_same_columns(tables, "read views that have the same columns")

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError if a table already has a column with one of ``names``, the columns to be added as marks."""
        for table in _as_tables(sources):
            check_marks(table.name, names, [folded(one) for one in table.names])

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Write the kept rows, in input order, to a temporary file for `hybriddup.files.table_outputs.put_in_place`."""
        write_rows(target, _columns(sources), {}, _chosen(_as_tables(sources), keep))

    def write_marked(self, sources: Sequence[Source], target: BinaryIO, keep: Bools, marks: Marks) -> None:
        """Write the rows to keep, in input order, with their marks as further columns."""
        values = marks.of(np.flatnonzero(keep))
        rows = _chosen(_as_tables(sources), keep)
        marked = ([(*row, *more) for row, more in zip(some, islice(values, len(some)), strict=True)] for some in rows)
        write_rows(target, _columns(sources), marks.types, marked)


def _columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    """Return the columns of the first table.

    If there are several tables, no column is marked as part of a primary key, because the tables
    may have keys in common.
    """
    first, *others = _as_tables(sources)
    return tuple(column._replace(key=0) for column in first.columns) if others else first.columns


def _chosen(tables: Sequence[TableSource], keep: Bools) -> Iterator[list[tuple[Any, ...]]]:
    choice = Choice(keep, tables)
    for table in tables:
        for rows in batched(table.rows([*map(quoted, table.names)])):
            yield list(compress(rows, choice.take(len(rows))))
    choice.check_all_taken()
