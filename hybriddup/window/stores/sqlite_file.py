"""The SQLite file of a window: opening it, its tables, and messages for its errors."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from hybriddup.errors import StoreError
from hybriddup.window.stores import sqlite_queries as queries
from hybriddup.window.stores.opened_files import OpenedFiles, unreachable
from hybriddup.window.stores.private_files import PRIVATE_FOLDER, open_private
from hybriddup.window.stores.rows import RowError, text_from

FILE = "posts.sqlite3"
LOCK = "writer.lock"
BUSY_TIMEOUT = 5.0
"""Time to wait for other programs that lock the file, in seconds; a second writing window fails at once."""
APPLICATION = 0x68796464
"""SQLite's application id of the files of windows, by which a file of another program is recognized."""
SCHEMA = 7
"""Version of the tables. Files of the two previous versions are converted, files of any other version are refused."""

SETTINGS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # in WAL mode, anything less may lose acknowledged posts when the power fails
    "cache_size = -16384",  # KiB: rows come at one end and go at the other, and few are read in between
    "secure_delete = ON",  # FAST leaves texts in free pages, also of posts that are deleted later
    "temp_store = MEMORY",
    "wal_autocheckpoint = 0",  # see Checkpoints
    "journal_size_limit = 67108864",
)


def _statements(name: str) -> list[str]:
    """Return the SQL statements in a file next to this module."""
    return Path(__file__).with_name(name).read_text("utf-8").split(";")[:-1]


TABLES = _statements("tables.sql")
FROM_6 = _statements("convert_6.sql")
CONVERSIONS = {5: [*TABLES[2:4], *_statements("convert_5.sql"), *FROM_6], 6: FROM_6}
"""Maps each earlier version of the tables to the statements that convert it to version `SCHEMA`."""
OLD_FOLDER, OLD_ENDINGS = "derived", (".kept", ".texts", ".json", ".unfinished")
"""Directory with the text and record files of a store of version 5, and the endings of these files."""

CAUSES = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again",
    sqlite3.SQLITE_IOERR: "reading or writing failed; check that the disk works and is not full, and that no limit of "
    "the size of files is reached, then try again",
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that one and try again",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; close that one and try again",
    sqlite3.SQLITE_READONLY: "it cannot be written to; check the permissions of the file and its directory",
    sqlite3.SQLITE_PERM: "it may not be accessed; check its permissions",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check that the directory exists and can be written to, and the "
    "permissions of the file",
    sqlite3.SQLITE_CORRUPT: "it is damaged; move it away and begin a new one, or restore it from a copy",
    sqlite3.SQLITE_NOTADB: "it is damaged or no SQLite file; move it away and begin a new one, or restore it",
}

logger = logging.getLogger("hybriddup")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Convert errors of SQLite to `StoreError`, with the file, the cause and the remedy."""
    try:
        yield
    except sqlite3.Error as error:
        primary = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest are variants of the same cause
        cause = CAUSES.get(primary, "the request failed")
        raise StoreError(f"{path}: {cause} (SQLite: {error})") from error
    except RowError as error:
        raise damaged(path, str(error)) from error


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE") -> Iterator[None]:
    """Run the block in a transaction: commit its changes durably at the end, or roll them back if it raises.

    In a DEFERRED transaction that only reads, all queries see the same snapshot of the database.
    """
    try:
        connection.execute(f"BEGIN {kind}")
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            if connection.in_transaction:  # on some errors, SQLite has rolled back already
                connection.execute("ROLLBACK")
        raise


def log_of(path: Path) -> Path:
    """Return the path of the write-ahead log of a database file."""
    return path.with_name(f"{path.name}-wal")


def files_of(path: Path) -> list[Path]:
    """Return the paths of all files of a store; some may not exist."""
    return [path, log_of(path), path.with_name(f"{path.name}-shm")]


def warn_of_lost_posts(path: Path, end: int, acknowledged: int) -> None:
    """Log that a store ends before the position up to which posts were acknowledged."""
    logger.error(
        "%s has lost acknowledged posts: it ends before position %d, and posts up to position %d were acknowledged. "
        "Either an older copy of the file was put back, or the file or its -wal file was damaged or removed. Restore a "
        "copy that has them, or send them again: they are decided anew.",
        path,
        end,
        acknowledged - 1,
    )


def damaged(path: Path, why: str) -> StoreError:
    """Return the error for a damaged file."""
    return StoreError(f"{path}: {CAUSES[sqlite3.SQLITE_CORRUPT]} ({why})")


def make_folder(folder: Path) -> None:
    """Create a directory if it is missing, durably."""
    try:
        if not folder.is_dir():
            folder.mkdir(PRIVATE_FOLDER, parents=True)
            _sync_folder(folder.parent)
    except OSError as error:
        raise StoreError(
            f"the directory {folder} cannot be used or created: {error.strerror}; check the path and its permissions"
        ) from error


def opened_files(path: Path, *, read_only: bool) -> OpenedFiles:
    """Return the database file of a window as `OpenedFiles`; create it if it is missing, unless ``read_only``.

    SQLite creates its other files with the same permissions.
    """
    try:
        if not read_only:
            os.close(open_private(path, os.O_RDWR))
        return OpenedFiles(path)
    except FileNotFoundError:
        raise StoreError(f"{path}: there is no such store; open the window for writing to begin one") from None
    except OSError as error:
        raise unreachable(path, error) from error


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Return a connection to the file of a window; StoreError if the file belongs to another program."""
    connection = _open(path, "ro" if read_only else "rw")
    connection.text_factory = text_from
    try:
        _prepare(connection, path, read_only=read_only)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_again(path: Path) -> sqlite3.Connection:
    """Return a second writing connection to the file of a window, for another thread."""
    connection = _open(path, "rw")
    connection.execute("PRAGMA synchronous = FULL").fetchall()
    return connection


def _open(path: Path, mode: str) -> sqlite3.Connection:
    # with the path alone, SQLite would create a file if the store was removed; a window has calls from any thread
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False)


def _prepare(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    version = _version(connection, path)
    if read_only:
        if version in CONVERSIONS:
            raise StoreError(
                f"{path}: it was written by an earlier version of hybriddup. Open the window once for adding "
                "posts, which converts the file; then it can be opened with read_only=True."
            )
        return
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}").fetchall()
    if version == SCHEMA:
        return
    with transaction(connection):
        if version:
            for statement in CONVERSIONS[version]:
                connection.execute(statement)
        else:
            _begin(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _begin(connection: sqlite3.Connection) -> None:
    """Create the tables of a store in an empty database."""
    for statement in TABLES:
        connection.execute(statement)
    queries.write_state(connection, 0, 0)
    queries.insert_meta(connection, {queries.ID_KEY: os.urandom(16)})


def connect_to_memory() -> sqlite3.Connection:
    """Return a connection to a new database in memory, with the tables of a store."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.text_factory = text_from
    _begin(connection)
    return connection


def remove_old_files(folder: Path) -> None:
    """Delete the text and record files of a store that was converted from version 5.

    They contain texts, including texts of posts that were deleted later.
    """
    old = folder / OLD_FOLDER
    if not old.is_dir():
        return
    try:
        for path in old.iterdir():
            if path.suffix in OLD_ENDINGS:
                path.unlink(missing_ok=True)
        with suppress(OSError):  # other files there are not ours
            old.rmdir()
    except OSError as error:
        raise StoreError(
            f"{old} cannot be deleted: {error.strerror or error}. An earlier version of hybriddup stored texts there, "
            "which are now in the file of the store; delete the directory."
        ) from error


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables, 0 = no tables; StoreError for a file of another program or version."""
    n_tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if not n_tables:
        return 0
    if queries.read_pragma(connection, "application_id") != APPLICATION:
        raise StoreError(f"{path}: this SQLite file is not a window of hybriddup; choose another directory")
    version = queries.read_pragma(connection, "user_version")
    if version != SCHEMA and version not in CONVERSIONS:
        is_later = version > SCHEMA
        when = "a later" if is_later else "an earlier"
        remedy = "upgrade hybriddup to open it" if is_later else "begin a new store, or open it with that version"
        raise StoreError(
            f"{path}: it was written by {when} version of hybriddup (its tables have version {version}, those known "
            f"here {SCHEMA}); {remedy}"
        )
    return version


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere directories cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
