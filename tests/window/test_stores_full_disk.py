"""A disk that is full: errors and no lies."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from hybriddup.errors import StoreError
from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.stores import posts

LIMIT = 1_500_000
CHILD = """
import sys
from hybriddup.errors import StoreError
from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.stores import posts

store = SqliteStore.open(sys.argv[1])
failures = 0
while failures < 3:
    n = store.next_position
    try:
        store.append(posts(n, 50), {"n": b"%d" % (n + 50)})
    except StoreError as error:
        failures += 1
        assert store.next_position == n and store.find_ids([n, n - 1])[0] is None
        print("error", error, flush=True)
    else:
        print("acknowledged", n + 50, flush=True)
store.close()
"""


def limit(connection, n_pages):
    """Limit the size of a store's file, as a full disk does."""
    connection.execute(f"PRAGMA max_page_count = {n_pages}").fetchall()


def append_until_full(store):
    """Append batches, each with a value that tells where it began, until one fails."""
    while True:
        n = store.next_position
        store.append(posts(n, 50), {"n": b"%d" % n})


def test_a_full_disk_is_an_error_until_there_is_room(tmp_path):
    """The batch that did not fit leaves nothing, all before it are there, and later it fits.

    What is forgotten is cleared by empty batches too, and its space used for the next posts.
    """
    with closing(SqliteStore.open(tmp_path)) as store:
        limit(store._connection, 60)
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
        limit(store._connection, 1000)
        store.append(posts(n + 50, 50), {"n": b"%d" % n})
    with closing(SqliteStore.open(tmp_path)) as store:
        assert store.next_position == n + 100
        assert store.meta("n") == b"%d" % n


def test_a_limit_of_the_size_of_files_is_an_error_and_loses_nothing(tmp_path):
    """Where the system refuses to let the files grow, what was acknowledged is there, and nothing else."""

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=limited,
    )
    lines = child.stdout.splitlines()
    acknowledged = [int(line.split()[1]) for line in lines if line.startswith("acknowledged")]
    assert len(acknowledged) > 3
    assert all("posts.sqlite3" in line for line in lines if line.startswith("error"))
    store = SqliteStore.open(tmp_path)
    assert store.next_position == acknowledged[-1]
    assert store.meta("n") == b"%d" % acknowledged[-1]
    assert [post for batch in store.kept_since(0) for post in batch] == [
        post for post in posts(0, acknowledged[-1]) if post.kept
    ]
    store.close()
    with closing(sqlite3.connect(tmp_path / "posts.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
