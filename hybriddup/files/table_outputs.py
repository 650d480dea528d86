"""Writes output tables: first to a temporary file, which is copied into the database in one transaction at the end.

A transaction that is open during the run would lock the database, but the posts may be read from the same database.
The temporary file is written by `marshal`, which supports all values of SQLite: None, int, float, str and bytes.
"""

from __future__ import annotations

import json
import marshal
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from hybriddup.errors import OutputError

TYPES = {"int64": "INTEGER", "float64": "REAL", "bool": "INTEGER", "string": "TEXT", "list": "TEXT"}
"""Map from column types of `hybriddup.data.marks.Table` to types of SQLite."""
LOCK_SECONDS = 30
"""Maximum time to wait for another program's transaction, in seconds."""


class Column(NamedTuple):
    """A column of a table."""

    name: str
    type: str = ""
    key: int = 0
    """One-based position in the primary key; 0 = not part of it."""


def quoted(name: str) -> str:
    """Quote the name of a table or column for SQL."""
    return '"' + name.replace('"', '""') + '"'


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[Column, ...]:
    """Return the columns that ``SELECT *`` returns for a table or view."""
    found = connection.execute("SELECT name, type, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1", [table])
    return tuple(Column(*column) for column in found)


def write_rows(
    target: BinaryIO, columns: Iterable[Column], more: Mapping[str, str], batches: Iterable[Iterable[Sequence[Any]]]
) -> None:
    """Write columns and rows to the temporary file ``target``.

    ``more``: the name and the type of each column that is added to the given ones.
    """
    marshal.dump([*map(tuple, columns), *((name, TYPES[kind], 0) for name, kind in more.items())], target)
    kinds = list(more.values())
    for rows in batches:
        marshal.dump([_stored(tuple(row), kinds) for row in rows], target)
    marshal.dump(None, target)


def _stored(row: tuple[Any, ...], kinds: Sequence[str]) -> tuple[Any, ...]:
    """Convert the last ``len(kinds)`` values of a row to values that SQLite stores; ``kinds`` are their types."""
    n_own = len(row) - len(kinds)
    return (*row[:n_own], *(_value(value, kind) for value, kind in zip(row[n_own:], kinds, strict=True)))


def _value(value: Any, kind: str) -> Any:
    if value is None or kind not in {"string", "list"}:
        return value
    text = json.dumps(value, ensure_ascii=False, default=str) if kind == "list" else str(value)
    return text.encode(errors="backslashreplace").decode()


def check_table(file: Path, table: str, shown: str, *, force: bool) -> None:
    """Raise OutputError if a table cannot be created, or if it exists and ``force`` is False; change nothing.

    ``shown`` is the name of the table in messages.
    """
    with _transaction(file if file.exists() else ":memory:", shown) as database:
        query = "SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE"
        kinds = [kind for (kind,) in database.execute(query, [table])]
        if not kinds:
            database.execute(f"CREATE TABLE {quoted(table)} (x)")
        elif kinds != ["table"]:
            raise OutputError(f"{shown} is the name of a {kinds[0]}, which is never replaced; name another table.")
        elif not force:
            raise OutputError(f"{shown} exists already; replace it with --force, or name another table.")


def put_in_place(file: Path, tables: Mapping[str, Path], shown: str) -> None:
    """Create or replace tables in one transaction; ``tables`` maps table names to temporary files with the rows.

    A new database is created under another name first, so that it appears complete or not at all.
    """
    new = None if file.exists() else file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        with _transaction(new or file, shown) as database:
            for table, rows in tables.items():
                with rows.open("rb") as stream:
                    _create(database, table, stream)
            database.execute("COMMIT")
        if new is not None:
            new.replace(file)
    except OSError as error:
        raise OutputError(f"{shown} could not be put in place: {error.strerror or error}.") from None
    finally:
        if new is not None:
            new.unlink(missing_ok=True)


@contextmanager
def _transaction(file: Path | str, shown: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection with an open transaction, which is rolled back unless the caller commits it."""
    try:
        with closing(sqlite3.connect(file, timeout=LOCK_SECONDS, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
    except sqlite3.Error as error:
        raise OutputError(f"{shown} could not be written: {error}. No table was changed.") from None


def _create(database: sqlite3.Connection, table: str, stream: BinaryIO) -> None:
    columns = [Column(*column) for column in marshal.load(stream)]  # noqa: S302  written by this run
    database.execute(f"DROP TABLE IF EXISTS {quoted(table)}")
    database.execute(f"CREATE TABLE {quoted(table)} ({', '.join(_definitions(columns))})")
    for rows in iter(lambda: marshal.load(stream), None):  # noqa: S302
        for row in rows:
            _insert(database, table, row)


def _definitions(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the SQL definition of each column, and of the primary key.

    A column of type ANY is defined without a type, because ANY would convert values in a table that is not STRICT.
    """
    for column in columns:
        yield quoted(column.name) + (f" {quoted(column.type)}" if column.type.upper() not in {"", "ANY"} else "")
    if keys := sorted((column for column in columns if column.key), key=lambda column: column.key):
        yield f"PRIMARY KEY ({', '.join(quoted(column.name) for column in keys)})"


def _insert(database: sqlite3.Connection, table: str, row: Sequence[Any]) -> None:
    values = ["?"] * len(row)
    try:
        database.execute(f"INSERT INTO {quoted(table)} VALUES ({', '.join(values)})", row)  # noqa: S608  quoted
    except UnicodeEncodeError:  # text that is not UTF-8 is stored as the bytes that it had
        values = ["CAST(? AS TEXT)" if isinstance(value, str) else "?" for value in row]
        raw = [value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value for value in row]
        database.execute(f"INSERT INTO {quoted(table)} VALUES ({', '.join(values)})", raw)  # noqa: S608  quoted
