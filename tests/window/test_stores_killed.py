"""A process that is killed while it appends: no acknowledged post is lost, and none is there twice."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager

import pytest

from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.stores import posts

PARENT = """
import os
import random
import sys
import tempfile
from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.stores import posts

def append_for_ever(folder, log, seed):
    store, rng = SqliteStore.open(folder), random.Random(seed)
    acknowledged = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    is_begun = False
    while True:
        first, n = store.next_position, rng.choice((1, 7, 64, 256, 1000))
        store.append(posts(first, n), {"n": b"%d" % (first + n)})
        os.write(acknowledged, b"%d\\n" % (first + n))
        store.forget_before(max(0, first + n - 3000))
        if not is_begun:  # an acknowledged batch of each process, so that at most one is written and not acknowledged
            is_begun = True
            print("begun", os.getpid(), flush=True)

with tempfile.TemporaryDirectory() as folder:  # loads the kernels
    store = SqliteStore.open(folder)
    store.append(posts(0, 1))
    store.close()
for seed in sys.stdin:
    child = os.fork()
    if not child:
        append_for_ever(sys.argv[1], sys.argv[2], int(seed))
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@contextmanager
def parent_of_writers(folder, log):
    """Start a process that has one child after another append batches, without loading everything anew."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PARENT, str(folder), str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as parent:
        try:
            yield parent
        finally:
            parent.stdin.close()


def append_until_killed(parent, seed, seconds):
    """Have a process append batches and kill it after a time."""
    parent.stdin.write(b"%d\n" % seed)
    said, child = parent.stdout.readline().split()
    assert said == b"begun"
    time.sleep(seconds)
    os.kill(int(child), signal.SIGKILL)
    assert parent.stdout.readline() == b"ended %d\n" % -signal.SIGKILL


def acknowledged(log):
    """Return how many posts were acknowledged, by the last whole line that the process wrote."""
    lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
    return max((int(line) for line in lines if line.endswith(b"\n")), default=0)


def check_posts(folder, n_acknowledged):
    """Check that the store holds every acknowledged post once, in order, and at most one batch more."""
    store = SqliteStore.open(folder)
    first, end = store.first_position, store.next_position
    assert n_acknowledged <= end <= n_acknowledged + 1000
    assert first <= max(0, n_acknowledged - 3000)
    assert store.meta("n") == (b"%d" % end if end else None)
    expected = posts(first, end - first)
    assert [post for batch in store.kept_since(0) for post in batch] == [post for post in expected if post.kept]
    assert store.find_ids(list(range(first, end + 1))) == [*expected, None]
    store.close()


def check_file(folder):
    """Check that SQLite finds the file sound, and that there is no gap in the positions."""
    with closing(sqlite3.connect(folder / "posts.sqlite3")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        lowest, highest, n = connection.execute("SELECT min(position), max(position), count(*) FROM posts").fetchone()
        assert n == 0 or highest - lowest + 1 == n


def kill_again_and_again(folder, n_times):
    """Append to the same store in one process after another, each killed at a random moment.

    After each kill, what was acknowledged is checked. Returns how many posts were, in the end.
    """
    rng = random.Random(n_times)  # noqa: S311  moments, not secrets
    with parent_of_writers(folder / "store", folder / "log") as parent:
        for time_killed in range(n_times):
            append_until_killed(parent, time_killed, rng.uniform(0.0, 0.25))
            check_posts(folder / "store", acknowledged(folder / "log"))
    check_file(folder / "store")
    return acknowledged(folder / "log")


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path):
    """Killed a few times, at random moments."""
    assert kill_again_and_again(tmp_path, 4) > 400


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_was_acknowledged_is_there_after_many_kills(tmp_path):
    """Killed many times, at random moments."""
    assert kill_again_and_again(tmp_path, 60) > 6000
