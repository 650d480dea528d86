"""Moving committed posts from SQLite's write-ahead log into its file, and emptying the log after a deletion."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

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
PATIENCE = 0.1
"""Seconds for which a deletion waits for readers, so that nothing of the text is left in the log when it returns."""

logger = logging.getLogger("hybriddup")


class Checkpoints:
    """Moves committed posts from SQLite's log into its file beside the deciding, so that batches hardly wait for it.

    SQLite by itself does it now and then at the end of a transaction, which then takes some fifty times as long as
    others. Here a thread does it with a connection of its own, which ``connect`` returns. Meanwhile more is committed,
    so that something is always left in the log and it would grow for ever: once it is large, the thread goes over it
    again at once, and the little that is left after that is moved between two batches. SQLite then begins the log anew.
    Where posts come faster than the disk takes them, batches do wait for the thread: the log stays within bounds.

    A log that begins anew keeps what is after its new end, and a text that was overwritten in the file may be there.
    After a deletion the log is emptied instead. A reader in the middle of a question holds that up; then `retry` does
    it.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], timeout: float) -> None:
        self._connect = connect
        self._timeout = timeout
        """Seconds for which the connection of the writer waits for other programs."""
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "checkpoints")
        self._moving: Future[int] | None = None
        self._is_last_round = False
        """Whether the thread goes over the log again, so that next to nothing is left in it."""
        self._has_failed = False
        """Whether moving failed the last time."""
        self._n_bytes = 0
        """Committed since the thread last began to move."""
        self.is_to_empty = False
        """Whether the log still has to be emptied."""

    def committed(self, connection: sqlite3.Connection, n_bytes: int) -> None:
        """Take note of a commit of posts of about so many bytes through a connection, on which it was the last."""
        self._n_bytes += A_COMMIT + n_bytes
        if self._moving is None:
            if self._n_bytes >= STEP:
                self._begin()
        elif self._moving.done() or self._is_behind(connection):
            self._go_on(connection, self._moving.result())

    def empty(self, connection: sqlite3.Connection) -> None:
        """Move all that is in the log and leave an empty file, now or, while a reader needs the log, by `retry`."""
        self.is_to_empty = True
        if self._moving is not None:
            self._moving.result()
        self._try_to_empty(connection, PATIENCE)

    def retry(self, connection: sqlite3.Connection) -> None:
        """Empty the log if that is still to be done and nobody needs it; waits for nobody."""
        if not self.is_to_empty or connection.in_transaction or (self._moving is not None and not self._moving.done()):
            return
        self._try_to_empty(connection, 0.0)

    def _try_to_empty(self, connection: sqlite3.Connection, patience: float) -> None:
        try:
            set_timeout(connection, patience)
            self.is_to_empty = bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
        except sqlite3.Error as error:
            self._note(error)
        else:
            self._has_failed = False
        finally:
            set_timeout(connection, self._timeout)

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


def set_timeout(connection: sqlite3.Connection, seconds: float) -> None:
    """Have a connection wait for others that lock the file, for so long."""
    connection.execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}").fetchall()


def large_log(connection: sqlite3.Connection) -> int:
    """Return from how many pages on a log is large."""
    n_pages: int = connection.execute("PRAGMA page_count").fetchone()[0]
    return min(max(n_pages // SHARE_OF_FILE, SMALLEST_LARGE), LARGEST_LARGE)
