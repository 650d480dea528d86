"""Moving committed posts from SQLite's log into its file beside the deciding, so that no batch waits for it.

SQLite by itself does it now and then at the end of a transaction, which then takes some fifty times as long as others.
Here a thread does it with a connection of its own. Meanwhile more is committed, so that something is always left in the
log and it would grow for ever: once it is large, the thread goes over it again at once, and the little that is left
after that is moved between two batches. SQLite then begins the log anew.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

STEP = 2**20
"""Bytes of posts after which they are moved: so few that a batch hardly waits for the disk meanwhile."""
A_COMMIT = 2**15
"""Bytes that a commit takes in the log besides its posts: pages are written whole."""
SMALLEST_LARGE, LARGEST_LARGE, SHARE_OF_FILE = 256, 8192, 16
"""A log begins anew when it has such a share of the pages of the file, within these bounds."""

logger = logging.getLogger("hybriddup")


class Checkpoints:
    """Moves what one connection commits, by another one to the same file, which ``connect`` returns."""

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
        elif self._moving.done():
            self._go_on(connection, self._moving.result())

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
