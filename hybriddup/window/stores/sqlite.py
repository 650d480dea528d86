"""The store of a window in an SQLite file: a batch is a transaction, on disk when it is acknowledged.

Posts are appended, the oldest posts are deleted, and their pages are used again. The file also has the hashes of the
ids and the records of the kept posts, from which a window fills its memory when it is opened.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from hybriddup.errors import StoreError
from hybriddup.window.stores import sqlite_queries as queries
from hybriddup.window.stores.checkpoints import Checkpoints
from hybriddup.window.stores.opened_files import OpenedFiles
from hybriddup.window.stores.private_files import WriterLock
from hybriddup.window.stores.sqlite_file import (
    BUSY_TIMEOUT,
    FILE,
    LOCK,
    connect,
    connect_again,
    explained,
    files_of,
    log_of,
    make_folder,
    opened_files,
    remove_old_files,
    warn_of_lost_posts,
)
from hybriddup.window.stores.store import WindowStore


class SqliteStore(WindowStore):
    """Holds posts in the file ``posts.sqlite3`` of a directory; see `open`."""

    keeps_derived = True

    def __init__(self, path: Path, connection: sqlite3.Connection, files: OpenedFiles, lock: WriterLock | None) -> None:
        super().__init__(connection, path)
        self._files = files
        self._lock = lock
        """The lock of the writer; None = the store is open for reading only."""
        self.is_read_only = lock is None
        self._checkpoints = Checkpoints(partial(connect_again, path), BUSY_TIMEOUT)

    @classmethod
    def open(cls, folder: str | Path, *, read_only: bool = False) -> SqliteStore:
        """Return the store in a directory; both are created if missing, unless ``read_only``."""
        path = Path(folder) / FILE
        with ExitStack() as undoing:
            lock = None
            if not read_only:
                make_folder(path.parent)
                lock = WriterLock(path.parent / LOCK)
                undoing.callback(lock.release)
            files = opened_files(path, read_only=read_only)
            with explained(path):
                connection = connect(path, read_only=read_only)
            undoing.callback(connection.close)
            store = cls(path, connection, files, lock)
            with store.reading():
                pass  # now the fields agree with the file
            if lock is not None:
                store._begin_writing(lock, connection)
            undoing.pop_all()
            return store

    def _begin_writing(self, lock: WriterLock, connection: sqlite3.Connection) -> None:
        """Log an error if acknowledged posts are missing, and empty the write-ahead log left by the last writer."""
        if lock.end > self._next:
            warn_of_lost_posts(self._path, self._next, lock.end)
            lock.note(self._next)
        if (log := log_of(self._path)).exists():  # not where the file system has no shared memory
            self._files.add(log)
        self._checkpoints.empty(connection)
        remove_old_files(self._path.parent)

    def delete(self, position: int, meta: Mapping[str, bytes], of: int | None = None) -> None:
        """Replace a post by its tombstone, and empty the write-ahead log, which may contain the post's text.

        See `WindowStore.delete`.
        """
        super().delete(position, meta, of)
        self._checkpoints.empty(self._usable())

    def n_bytes(self) -> int:
        """Return the size of the files in bytes."""
        with self.reading():
            return sum(file.stat().st_size for file in files_of(self._path) if file.exists())

    def close(self) -> None:
        """Close the file and let others write to it; a second call does nothing."""
        if self._connection is None:
            return
        with suppress(StoreError):  # without this note, the posts forgotten last are found again: nothing is lost
            if self._lock is not None:
                with self._changing() as connection:
                    queries.write_state(connection, self._first, self._next)
        self._checkpoints.close()
        super().close()
        if self._lock is not None:
            self._lock.release()

    def _usable(self) -> sqlite3.Connection:
        connection = super()._usable()
        self._files.check(1)  # only writing depends on the log
        self._checkpoints.retry(connection)
        return connection

    def _check_place(self) -> None:
        self._files.check()

    def _acknowledge(self, end: int) -> None:
        if self._lock is not None:
            self._lock.note(end)

    def _committed(self, connection: sqlite3.Connection, n_bytes: int) -> None:
        self._checkpoints.committed(connection, n_bytes)
