"""What the tests of window stores share."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

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
