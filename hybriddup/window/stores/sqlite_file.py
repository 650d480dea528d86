"""The SQLite file of a window: opening it, its tables, what its errors mean, and moving posts into it from its log."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from hybriddup.errors import StoreError
from hybriddup.window.stores import sqlite_queries as queries
from hybriddup.window.stores.private_files import PRIVATE_FOLDER, open_private
from hybriddup.window.stores.sqlite_queries import CREATE_POSTS, RowError, text_from

FILE = "posts.sqlite3"
LOCK = "writer.lock"
BUSY_TIMEOUT = 5.0
"""Seconds for which other programs that lock the file are waited for; a process of hybriddup that writes is not."""
APPLICATION = 0x68796464
"""Marks the file as one of hybriddup's windows."""
SCHEMA = 5
"""Version of the tables; a file with another one was written by another version of hybriddup, and is refused."""

SETTINGS = (
    "journal_mode = WAL",
    "synchronous = FULL",  # in WAL mode, anything less may lose acknowledged posts when the power fails
    "cache_size = -16384",  # KiB: rows come at one end and go at the other, and few are read in between
    "secure_delete = FAST",  # ON, as some systems have it, would write each page of forgotten posts once more
    "temp_store = MEMORY",
    "wal_autocheckpoint = 0",  # see Checkpoints
    "journal_size_limit = 67108864",
)
TABLES = (
    CREATE_POSTS,
    "CREATE TABLE id_hashes (first_position INTEGER PRIMARY KEY, hashes BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {SCHEMA}",
)

STEP = 2**20
"""Bytes of posts after which they are moved: so few that a batch hardly waits for the disk meanwhile."""
A_COMMIT = 2**15
"""Bytes that a commit takes in the log besides its posts: pages are written whole."""
PAGE = 4096
"""Bytes of a page, SQLite's default."""
SMALLEST_LARGE, LARGEST_LARGE, SHARE_OF_FILE = 256, 8192, 16
"""A log begins anew when it has such a share of the pages of the file, within these bounds."""
MOST_BEHIND = 2
"""A batch waits for the thread that moves posts once it is behind by so many large logs."""
CAUSES = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and try again",
    sqlite3.SQLITE_IOERR: "reading or writing failed; see that the disk works and is not full, and that no limit of "
    "the size of files is reached, then try again",
    sqlite3.SQLITE_BUSY: "another program keeps it locked; close that one and try again",
    sqlite3.SQLITE_LOCKED: "another program keeps it locked; close that one and try again",
    sqlite3.SQLITE_READONLY: "it cannot be written to; see to the permissions of the file and its directory",
    sqlite3.SQLITE_PERM: "it may not be accessed; see to its permissions",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see that the directory exists and can be written to",
    sqlite3.SQLITE_CORRUPT: "it is damaged; move it away and begin a new one, or restore it from a copy",
    sqlite3.SQLITE_NOTADB: "it is damaged or no SQLite file; move it away and begin a new one, or restore it",
}


logger = logging.getLogger("hybriddup")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise `StoreError` in place of an error of SQLite, with the file, the cause and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        primary = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest tells kinds of the same cause apart
        cause = CAUSES.get(primary, "the request failed")
        raise StoreError(f"{path}: {cause} (SQLite: {error})") from error
    except RowError as error:
        raise damaged(path, str(error)) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Have all or nothing of the block in the file, and on disk when it ends."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            if connection.in_transaction:  # on some errors, SQLite has taken everything back already
                connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Have all that is read in the block be of one state of the file."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.execute("COMMIT")


def damaged(path: Path, why: str) -> StoreError:
    """Return the error of a file whose tables do not agree."""
    return StoreError(f"{path}: {CAUSES[sqlite3.SQLITE_CORRUPT]} ({why})")


def make_folder(folder: Path) -> None:
    """Make a directory where there is none, and have its entry on disk."""
    if folder.is_dir():
        return
    try:
        folder.mkdir(PRIVATE_FOLDER, parents=True)
    except OSError as error:
        raise StoreError(f"the directory {folder} cannot be made: {error.strerror}") from error
    _sync_folder(folder.parent)


def make_private(path: Path) -> None:
    """Make a file where there is none; SQLite gives the two beside it the same permissions."""
    try:
        os.close(open_private(path, os.O_RDWR))
    except OSError as error:
        raise StoreError(f"{path}: {CAUSES[sqlite3.SQLITE_CANTOPEN]} ({error.strerror})") from error


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Return a connection to the file of a window, made where there is none; StoreError where it is another's."""
    if read_only and not path.exists():
        raise StoreError(f"{path}: there is no such store; open the window for writing to begin one")
    mode = "ro" if read_only else "rwc"
    if not read_only:
        make_private(path)
    with explained(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=BUSY_TIMEOUT,
            isolation_level=None,
            check_same_thread=False,  # the window has one call at a time, but from any thread
        )
        connection.text_factory = text_from
        try:
            _prepare(connection, path, read_only=read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_again(path: Path) -> sqlite3.Connection:
    """Return another connection for writing to the file of a window, for another thread."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL").fetchall()
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    _check_kind(connection, path)
    if read_only:
        return
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}").fetchall()
    if not _number(connection, "user_version"):
        with transaction(connection):
            for statement in TABLES:
                connection.execute(statement)
            queries.write_state(connection, 0, 0)
            queries.insert_meta(connection, {queries.ID_KEY: os.urandom(16)})


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a window's, or of another version."""
    n_tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if n_tables and _number(connection, "application_id") != APPLICATION:
        raise StoreError(f"{path}: this SQLite file is not of a window of hybriddup; choose another directory")
    version = _number(connection, "user_version")
    if n_tables and version != SCHEMA:
        is_later = version > SCHEMA
        when = "a later" if is_later else "an earlier"
        remedy = "upgrade hybriddup to open it" if is_later else "begin a new store, or open it with that version"
        raise StoreError(
            f"{path}: it was written by {when} version of hybriddup (its tables have version {version}, those known "
            f"here {SCHEMA}); {remedy}"
        )


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere directories cannot be opened
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Checkpoints:
    """Moves committed posts from SQLite's log into its file beside the deciding, so that batches hardly wait for it.

    SQLite by itself does it now and then at the end of a transaction, which then takes some fifty times as long as
    others. Here a thread does it with a connection of its own, which ``connect`` returns. Meanwhile more is committed,
    so that something is always left in the log and it would grow for ever: once it is large, the thread goes over it
    again at once, and the little that is left after that is moved between two batches. SQLite then begins the log anew.
    Where posts come faster than the disk takes them, batches do wait for the thread: the log stays within bounds.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "checkpoints")
        self._moving: Future[int] | None = None
        self._is_last_round = False
        """Whether the thread goes over the log again, so that next to nothing is left in it."""
        self._has_failed = False
        """Whether moving failed the last time."""
        self._n_bytes = 0
        """Committed since the thread last began to move."""

    def committed(self, connection: sqlite3.Connection, n_bytes: int) -> None:
        """Take note of a commit of posts of about so many bytes through a connection, on which it was the last."""
        self._n_bytes += A_COMMIT + n_bytes
        if self._moving is None:
            if self._n_bytes >= STEP:
                self._begin()
        elif self._moving.done() or self._is_behind(connection):
            self._go_on(connection, self._moving.result())

    def close(self) -> None:
        """Wait for the thread and close its connection."""
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_behind(self, connection: sqlite3.Connection) -> bool:
        """Whether more was committed since the thread began to move than may stay in the log."""
        return self._n_bytes > MOST_BEHIND * PAGE * large_log(connection)

    def _begin(self) -> None:
        self._n_bytes = 0
        self._moving = self._thread.submit(self._move)

    def _go_on(self, connection: sqlite3.Connection, n_pages: int) -> None:
        """Do what comes after the thread has moved all that it found, where the log had so many pages."""
        self._moving = None
        if self._is_last_round:
            self._is_last_round = False
            self._checkpoint(connection)
        elif n_pages >= large_log(connection):
            self._is_last_round = True
            self._begin()

    def _move(self) -> int:
        """Move what is in the log and return how many pages it has. Runs in the thread."""
        try:
            self._connection = self._connection or self._connect()
        except sqlite3.Error as error:
            self._note(error)
            return 0
        return self._checkpoint(self._connection)

    def _checkpoint(self, connection: sqlite3.Connection) -> int:
        """Move what can be moved without waiting for anybody, and return how many pages the log has; 0 = it failed."""
        try:
            _, n_pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:  # such as a full disk: it stays in the log, where it is as safe
            self._note(error)
            return 0
        self._has_failed = False
        return int(n_pages)

    def _note(self, error: sqlite3.Error) -> None:
        """Say what went wrong, once until it goes well again."""
        if not self._has_failed:
            logger.warning("SQLite checkpoint failed; the WAL grows until one succeeds: %s", error)
        self._has_failed = True


def large_log(connection: sqlite3.Connection) -> int:
    """Return from how many pages on a log is large."""
    n_pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return min(max(n_pages // SHARE_OF_FILE, SMALLEST_LARGE), LARGEST_LARGE)
