"""What the tests of window stores share."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from hybriddup.window.records import Evidence, PostId, StoredPost

FILE = "posts.sqlite3"
WITHOUT_RECORDS = "UPDATE batches SET made_with = '', records = NULL, records_checksum = NULL"
"""Leaves a store with posts from which everything else has to be derived."""


def post(position: int, post_id: PostId | None = None, text: str | None = None) -> StoredPost:
    """Return a kept post, or at each third position a duplicate of the one before."""
    evidence = None
    if position % 3 == 1:
        evidence = Evidence(position - 1, position - 1, "near", 5, "edit", 0.9, 0.8, "7-20")
    own_id = position if post_id is None else post_id
    return StoredPost(position, own_id, float(position), text or f"text {position}", evidence)


def posts(first: int, n: int) -> list[StoredPost]:
    return [post(position) for position in range(first, first + n)]


def change(folder: Path, *statements: str | tuple[str, Any]) -> None:
    with closing(sqlite3.connect(folder / FILE)) as connection:
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))
        connection.commit()


def check_file(folder: Path) -> None:
    """SQLite finds the file sound, and there is no gap in the positions."""
    with closing(sqlite3.connect(folder / FILE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        lowest, highest, n = connection.execute("SELECT min(position), max(position), count(*) FROM posts").fetchone()
        assert n == 0 or highest - lowest + 1 == n


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """Mount a file system of this size over a directory, if this process may."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this process may not mount a file system")
    except FileNotFoundError:
        pytest.skip("there is no program mount")
    yield
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607
