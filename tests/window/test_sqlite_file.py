"""The SQLite file of a store: on a full disk, beside the log that it is moved from, and its rows."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.errors import StoreError
from hybriddup.window.records import Copies, Evidence, StoredPost
from hybriddup.window.stores import sqlite_file
from hybriddup.window.stores.checkpoints import MOST_BEHIND, PAGE, SMALLEST_LARGE, STEP, Checkpoints
from hybriddup.window.stores.rows import RowError, post_of, row_of, text_from
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.stores.sqlite_file import TABLES
from hybriddup.window.stores.sqlite_queries import insert_normalized, insert_posts, normalized_at, posts_at
from tests.window.plugins import connections_made
from tests.window.stores import post, posts


def limit(connection, n_pages):
    connection.execute(f"PRAGMA max_page_count = {n_pages}").fetchall()


def append_until_full(store):
    """Append batches, each with a value that tells where it began, until one fails."""
    while True:
        n = store.next_position
        store.append(posts(n, 50), {"n": b"%d" % n})


def test_a_full_disk_is_an_error_until_there_is_room(tmp_path, monkeypatch):
    made = connections_made(monkeypatch)
    with closing(SqliteStore.open(tmp_path)) as store:
        limit(made[0], 60)
        with pytest.raises(StoreError, match="the disk is full"):
            append_until_full(store)
        n = store.next_position
        assert n > 0
        assert store.find_ids([n, n - 1]) == [None, posts(n - 1, 1)[0]]
        assert store.meta("n") == b"%d" % (n - 50)
        with pytest.raises(StoreError, match="the disk is full"):
            store.append(posts(n, 50))
        store.forget_before(n)
        store.append([])
        store.append(posts(n, 50))
        limit(made[0], 1000)
        store.append(posts(n + 50, 50), {"n": b"%d" % n})
    with closing(SqliteStore.open(tmp_path)) as store:
        assert store.next_position == n + 100
        assert store.meta("n") == b"%d" % n


def fill(store: SqliteStore, folder: Path, n: int) -> list[int]:
    """Append batches without a pause; return the sizes of the log."""
    sizes = []
    for _ in range(n):
        first = store.next_position
        store.append([post(position, text=f"text {position} " * 200) for position in range(first, first + 50)])
        sizes.append((folder / "posts.sqlite3-wal").stat().st_size)
    return sizes


def connect_late(path: Path) -> sqlite3.Connection:
    """Stands for a disk that takes long, or a thread that does not get its turn."""
    time.sleep(1)
    return sqlite_file.connect_again(path)


@pytest.mark.parametrize("connect", [sqlite_file.connect_again, connect_late])
def test_the_log_stays_within_bounds_under_a_steady_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[[Path], sqlite3.Connection]
) -> None:
    """Though every batch commits while the thread is moving, and however long that takes.

    At most so much is in the log: a large one, not yet told of, and what may be committed beside three turns of the
    thread: the one that did not tell of it, the one that does, and the last.
    """
    monkeypatch.setattr("hybriddup.window.stores.sqlite.connect_again", connect)
    store = SqliteStore.open(tmp_path)
    sizes = fill(store, tmp_path, 300)
    store.close()
    most = (1 + 3 * MOST_BEHIND) * SMALLEST_LARGE * PAGE + STEP

    assert max(sizes) <= most
    assert (tmp_path / "posts.sqlite3").stat().st_size > 3 * most


def test_what_is_moved_is_in_the_file_alone(tmp_path: Path) -> None:
    with closing(SqliteStore.open(tmp_path / "store")) as store:
        store.append(posts(0, 500))
        file = tmp_path / "store" / "posts.sqlite3"
        again = partial(sqlite3.connect, file, isolation_level=None, check_same_thread=False)
        with closing(again()) as connection, closing(Checkpoints(again, 5.0)) as moving:
            moving.committed(connection, STEP)
        (tmp_path / "copy").mkdir()
        shutil.copy(file, tmp_path / "copy")
    with closing(SqliteStore.open(tmp_path / "copy", read_only=True)) as copy:
        assert copy.posts(np.arange(500)) == posts(0, 500)


def test_a_file_that_cannot_be_opened_again_costs_only_the_moving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fails = Mock(side_effect=sqlite3.OperationalError("too many open files"))
    monkeypatch.setattr("hybriddup.window.stores.sqlite.connect_again", fails)
    with caplog.at_level("WARNING", "hybriddup"), closing(SqliteStore.open(tmp_path)) as store:
        fill(store, tmp_path, 30)
        assert store.next_position == 1500
    assert "SQLite checkpoint failed; the WAL grows until one succeeds: too many open files" in caplog.text
    with closing(SqliteStore.open(tmp_path)) as store:
        assert [post.id for post in store.posts(np.arange(1500))] == list(range(1500))


TEXTS = st.text(st.characters(), max_size=8) | st.sampled_from(["\ud83d\ude00", "😀", "\x00", "\udc00a"])
IDS = TEXTS | st.integers(-(2**63), 2**63 - 1)
TIMES = st.floats(allow_nan=False, allow_infinity=False)
REASONS, DISTANCES = st.sampled_from(["exact", "near"]), st.integers(0, 128)
EVIDENCE = st.builds(Evidence, IDS, st.integers(0, 2**60), REASONS, DISTANCES, TEXTS, TIMES, TIMES, TEXTS)
COUNTS = st.integers(0, 2**60)
COPIES = st.builds(Copies, COUNTS, TIMES, TIMES, st.dictionaries(IDS, COUNTS, max_size=3))
LATER = st.none() | IDS, st.none() | COPIES
POST = st.builds(StoredPost, st.just(0), IDS, TIMES, TEXTS, st.none() | EVIDENCE, *LATER)


def read_back(post: StoredPost, normalized: str | None = None) -> dict[int, StoredPost]:
    """What is read of a post that was written, asked for with the one after it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.text_factory = text_from
        for statement in TABLES:
            connection.execute(statement)
        insert_posts(connection, [post])
        insert_normalized(connection, post.position, [normalized])
        wanted = [post.position, post.position + 1]
        assert normalized_at(connection, wanted) == ({} if normalized is None else {post.position: normalized})
        return posts_at(connection, wanted)


@given(POST, st.integers(0, 2**60), st.none() | TEXTS)
def test_what_is_read_is_what_was_written(post: StoredPost, position: int, normalized: str | None) -> None:
    """Types too: an id that is a number stays one, and a surrogate pair written as two characters stays two."""
    post = post._replace(position=position)
    found = read_back(post, normalized)
    assert found == {position: post}
    assert [type(field) for field in found[position]] == [type(field) for field in post]


@pytest.mark.parametrize("time", [-0.0, 5e-324, 1.7e308, float("inf"), float("-inf"), 1e16, 2.0**53])
def test_any_time_is_read_as_it_was_written(time: float) -> None:
    post = StoredPost(0, "a", time, "b", None)
    assert read_back(post) == {0: post}


@given(POST, POST)
def test_other_posts_have_other_checksums(post: StoredPost, other: StoredPost) -> None:
    assert (row_of(post) == row_of(other)) == (repr(post) == repr(other))
    if repr(post) != repr(other):
        with pytest.raises(RowError):
            post_of((*row_of(post)[:-1], row_of(other)[-1]))


@given(st.tuples(*[st.none() | st.integers() | st.binary(max_size=4) | st.text(max_size=4)] * 7))
def test_what_is_no_row_is_an_error(row: tuple[object, ...]) -> None:
    with pytest.raises(RowError):
        post_of(row)
