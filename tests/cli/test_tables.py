"""Tables of SQLite on the command line."""

import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, names
from tests.processes import python

KILLED = """
import os, signal, sys
from hybriddup.__main__ import main
from hybriddup.files import table_outputs

def insert(database, table, row, insert=table_outputs._insert):
    if row[0] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    insert(database, table, row)

table_outputs._insert = insert
sys.exit(main())
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "posts.db")) as database, database:
        database.execute("CREATE TABLE posts (id INTEGER PRIMARY KEY, body TEXT)")
        database.executemany("INSERT INTO posts (body) VALUES (?)", [(REPEATED,), (OTHER,), (NEARLY,), (None,)])
    return tmp_path / "posts.db"


def ids(path: Path, table: str) -> list[int]:
    with closing(sqlite3.connect(path)) as database:
        return [one for (one,) in database.execute(f"SELECT id FROM {table}")]  # noqa: S608


def test_a_table_is_deduplicated_into_a_table(run: Run, database: Path, tmp_path: Path) -> None:
    to = ("-o", "sqlite:///kept.db?table=kept", "--removed", "sqlite:///posts.db?table=removed")
    ran = run("dedupe", "sqlite:///posts.db?table=posts", "--text-field", "body", *to)
    assert ran.code == 1, ran.err
    assert "Kept 2 in sqlite:///kept.db?table=kept." in ran.err
    assert "sqlite:///posts.db?table=posts:4: column 'body' holds NULL, not text (rowid = 4)" in ran.err
    assert (ids(tmp_path / "kept.db", "kept"), ids(database, "removed")) == ([1, 2], [3])
    assert names(tmp_path) == ["kept.db", "posts.db"]


@pytest.mark.parametrize("target", ["posts.db", "new.db"])
def test_a_killed_run_leaves_no_half_table(run: Run, database: Path, tmp_path: Path, target: str) -> None:
    command = f"dedupe sqlite:///posts.db?table=posts --text-field body -o sqlite:///{target}?table=kept".split()
    killed = subprocess.run([*python(), "-c", KILLED, *command], cwd=tmp_path, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (tmp_path / "new.db").exists() is False
    with pytest.raises(sqlite3.OperationalError, match="no such table: kept"):
        ids(database, "kept")
    assert run(*command).code == 1
    assert ids(tmp_path / target, "kept") == [1, 2]
    assert names(tmp_path) == sorted({"posts.db", target})
