"""Moves committed posts from the write-ahead log of SQLite into its file, and empties the log after a deletion."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

STEP = 2**20
"""Number of bytes committed between two checkpoints, few enough that a batch hardly waits for the disk."""
COMMIT_OVERHEAD = 2**15
"""Bytes that a commit takes in the log in addition to its posts, because whole pages are written."""
PAGE = 4096
"""Bytes of a page, SQLite's default."""
SMALLEST_LARGE, LARGEST_LARGE, SHARE_OF_FILE = 256, 8192, 16
"""A log is large if it has at least 1 / `SHARE_OF_FILE` as many pages as the file; this minimum is never less than
`SMALLEST_LARGE` or more than `LARGEST_LARGE` pages. A large log is overwritten from its start."""
MOST_BEHIND = 2
"""Maximum backlog of the checkpoint thread, as a multiple of the size of a large log (see `large_log`); above it,
batches wait for the thread."""
PATIENCE = 0.1
"""Maximum time, in seconds, that a deletion waits for readers to finish, because the log cannot be emptied before."""

logger = logging.getLogger("hybriddup")


class Checkpoints:
    """Moves committed posts from SQLite's log into the database file, in a thread, so that batches hardly wait.

    SQLite by itself does so now and then at the end of a transaction, which then takes about fifty times as long as
    others. The thread uses its own connection, which ``connect`` returns. Batches are committed during a checkpoint, so
    the log is never empty and would grow for ever. Once it is large, the thread therefore runs a second checkpoint
    right after the first, and the little that is left is moved between two batches; then SQLite overwrites the log from
    its start. If posts come faster than the disk can write, batches wait for the thread, so the log stays bounded.

    An overwritten log keeps the bytes after its new end, which may contain a deleted text. So after a deletion the log
    is truncated instead. If a reader in the middle of a query prevents that, `retry` does it later.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], timeout: float) -> None:
        self._connect = connect
        self._timeout = timeout
        """Time that the connection of the writer waits for other programs, in seconds."""
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "checkpoints")
        self._moving: Future[int] | None = None
        self._is_last_round = False
        """Whether the thread is moving a large log for the second time, so that little is left in it."""
        self._has_failed = False
        self._n_bytes = 0
        """Bytes committed since the thread began its latest checkpoint."""
        self.is_to_empty = False
        """Whether `retry` has to empty the log, because it may contain deleted texts."""

    def committed(self, connection: sqlite3.Connection, n_bytes: int) -> None:
        """Record a commit of about ``n_bytes``; start a checkpoint, or continue one, if it is due."""
        self._n_bytes += COMMIT_OVERHEAD + n_bytes
        if self._moving is None:
            if self._n_bytes >= STEP:
                self._begin()
        elif self._moving.done() or self._n_bytes > MOST_BEHIND * PAGE * large_log(connection):
            self._go_on(connection, self._moving.result())

    def empty(self, connection: sqlite3.Connection) -> None:
        """Move the whole log into the file and empty the log; if a reader still needs it, `retry` does this later."""
        self.is_to_empty = True
        if self._moving is not None:
            self._moving.result()
        self._try_to_empty(connection, PATIENCE)

    def retry(self, connection: sqlite3.Connection) -> None:
        """Empty the log if `empty` could not and no reader needs the log now; never wait."""
        if not self.is_to_empty or connection.in_transaction or (self._moving is not None and not self._moving.done()):
            return
        self._try_to_empty(connection, 0.0)

    def _try_to_empty(self, connection: sqlite3.Connection, patience: float) -> None:
        try:
            with self._noting_failure():
                set_timeout(connection, patience)
                self.is_to_empty = bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        finally:
            set_timeout(connection, self._timeout)

    def close(self) -> None:
        """Wait for the thread and close its connection."""
        self._thread.shutdown()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _begin(self) -> None:
        self._n_bytes = 0
        self._moving = self._thread.submit(self._move)

    def _go_on(self, connection: sqlite3.Connection, n_pages: int) -> None:
        """Take the next step after a checkpoint in the thread, before which the log had ``n_pages`` pages.

        If the log was large, start a second checkpoint in the thread. After the second one, move the rest of the log in
        the calling thread.
        """
        self._moving = None
        if self._is_last_round:
            self._is_last_round = False
            with self._noting_failure():
                move_log(connection)
        elif n_pages >= large_log(connection):
            self._is_last_round = True
            self._begin()

    def _move(self) -> int:
        """Move the log into the file, in the thread for checkpoints; return its number of pages, 0 if moving failed."""
        with self._noting_failure():
            self._connection = self._connection or self._connect()
            return move_log(self._connection)
        return 0

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        """Log an error of SQLite, such as a full disk, unless one was logged since the last successful checkpoint.

        The posts then stay in the log, which is just as safe.
        """
        try:
            yield
            self._has_failed = False
        except sqlite3.Error as error:
            if not self._has_failed:
                logger.warning("SQLite checkpoint failed; the WAL grows until one succeeds: %s", error)
            self._has_failed = True


def move_log(connection: sqlite3.Connection) -> int:
    """Move as much of the log as possible without waiting; return the number of pages in the log, moved or not."""
    return int(connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1])


def set_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    """Set how long a connection waits for a lock that another connection holds, in seconds."""
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}").fetchall()


def large_log(connection: sqlite3.Connection) -> int:
    """Return the minimum number of pages of a large log, which depends on the size of the file; see `SHARE_OF_FILE`."""
    n_pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return min(max(n_pages // SHARE_OF_FILE, SMALLEST_LARGE), LARGEST_LARGE)
