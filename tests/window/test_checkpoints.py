"""Moving posts from SQLite's log into its file: beside the deciding, and without the log growing for ever."""

from __future__ import annotations

import logging
import shutil
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from hybriddup.window.stores import sqlite_file
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.stores.sqlite_file import SMALLEST_LARGE, Checkpoints
from tests.window.stores import post, posts

PAGE = 4096


def fill(store: SqliteStore, n: int) -> list[int]:
    """Append batches without a pause; return the sizes of the log."""
    sizes = []
    for _ in range(n):
        first = store.next_position
        store.append([post(position, text=f"text {position} " * 50) for position in range(first, first + 50)])
        sizes.append((store._path.parent / "posts.sqlite3-wal").stat().st_size)
    return sizes


def test_the_log_begins_anew_under_a_steady_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though every batch commits while the thread is moving: the log is no larger after many times its size.

    How soon the thread gets its turn is the machine's affair, so a log that never begins anew is told by far more.
    """
    monkeypatch.setattr(sqlite_file, "STEP", 2**16)
    store = SqliteStore.open(tmp_path)
    sizes = fill(store, 1200)
    written = store.n_bytes()
    store.close()

    assert written > 10 * SMALLEST_LARGE * PAGE
    assert max(sizes) <= 5 * SMALLEST_LARGE * PAGE


def test_what_is_moved_is_in_the_file_alone(tmp_path: Path) -> None:
    """A copy of the file without its log has what was moved, whole and in order."""
    with closing(SqliteStore.open(tmp_path / "store")) as store:
        store.append(posts(0, 500))
        again = partial(sqlite3.connect, store._path, isolation_level=None, check_same_thread=False)
        with closing(Checkpoints(again)) as moving:
            moving.committed(store._connection, sqlite_file.STEP)  # type: ignore[arg-type]
            assert moving._moving is not None
            assert moving._moving.result() > 0
        (tmp_path / "copy").mkdir()
        shutil.copy(tmp_path / "store" / "posts.sqlite3", tmp_path / "copy")
    with closing(SqliteStore.open(tmp_path / "copy", read_only=True)) as copy:
        assert copy.posts(np.arange(500)) == posts(0, 500)


def test_a_file_that_cannot_be_opened_again_costs_only_the_moving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Posts are safe in the log, and the next closing moves them."""

    def fail(_: Path) -> sqlite3.Connection:
        raise sqlite3.OperationalError("too many open files")

    monkeypatch.setattr(sqlite_file, "STEP", 1)
    monkeypatch.setattr("hybriddup.window.stores.sqlite.connect_again", fail)
    with caplog.at_level(logging.WARNING, "hybriddup"), closing(SqliteStore.open(tmp_path)) as store:
        fill(store, 20)
        assert store.next_position == 1000
    assert "SQLite checkpoint failed; the WAL grows until one succeeds: too many open files" in caplog.text
    with closing(SqliteStore.open(tmp_path)) as store:
        assert [post.id for post in store.posts(np.arange(1000))] == list(range(1000))
