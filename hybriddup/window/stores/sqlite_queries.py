"""What is asked of the SQLite file of a window."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from hybriddup.records import UInt64s
from hybriddup.window.records import StoredPost
from hybriddup.window.stores.sqlite_rows import (
    COLUMNS,
    KEPT_COLUMNS,
    N_COLUMNS,
    N_KEPT_COLUMNS,
    Row,
    to_kept_row,
    to_row,
)

ASKED_TOGETHER = (1, 16, 256)
"""Positions asked for in one statement: few sizes, so that SQLite compiles few statements, and these once."""
HASHES_TOGETHER = 1 << 16
"""Hashes of ids that are read together, at least, where there are as many."""

INSERT_POST = f"INSERT INTO posts VALUES ({', '.join('?' * N_COLUMNS)})"  # noqa: S608  question marks only
INSERT_KEPT = f"INSERT INTO posts ({KEPT_COLUMNS}) VALUES ({', '.join('?' * N_KEPT_COLUMNS)})"  # noqa: S608  the same
INSERT_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
SELECT_POSTS = f"SELECT {COLUMNS} FROM posts WHERE position IN"  # noqa: S608  our own columns
SELECT_KEPT = (
    f"SELECT {KEPT_COLUMNS} FROM posts "  # noqa: S608  our own columns
    "WHERE position >= ? AND of_position IS NULL ORDER BY position LIMIT ?"
)
DELETE_HASHES = (
    "DELETE FROM id_hashes WHERE first_position < (SELECT max(first_position) FROM id_hashes WHERE first_position <= ?)"
)


def insert_posts(connection: sqlite3.Connection, posts: Sequence[StoredPost], hashes: UInt64s) -> None:
    """Insert posts and the hashes of their ids."""
    if posts:
        # kept posts by themselves: naming no columns that are null takes SQLite half of the time
        connection.executemany(INSERT_KEPT, (to_kept_row(post) for post in posts if post.evidence is None))
        connection.executemany(
            INSERT_POST, (to_row(post, post.evidence) for post in posts if post.evidence is not None)
        )
        packed = hashes.astype("<u8").tobytes()
        connection.execute("INSERT INTO id_hashes VALUES (?, ?)", (posts[0].position, packed))


def insert_meta(connection: sqlite3.Connection, values: Mapping[str, bytes]) -> None:
    """Insert values under their keys, in place of earlier ones."""
    connection.executemany(INSERT_META, values.items())


def delete_posts(connection: sqlite3.Connection, first: int, end: int) -> None:
    """Delete the posts from ``first`` up to ``end``, which stays, and the hashes that are of deleted posts only."""
    connection.execute("DELETE FROM posts WHERE position >= ? AND position < ?", (first, end))
    connection.execute(DELETE_HASHES, (end,))


def write_state(connection: sqlite3.Connection, first: int, end: int) -> None:
    """Note the first position that is not forgotten and the next one to append."""
    connection.execute("UPDATE state SET first_position = ?, next_position = ?", (first, end))


def read_state(connection: sqlite3.Connection) -> tuple[int, int, bytes] | None:
    """Return the first position that is not forgotten, the next one to append, and the key of the hashes of ids."""
    row: tuple[int, int, bytes] | None = connection.execute("SELECT * FROM state").fetchone()
    return row


def read_held(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the first and the last position of the posts in the file, forgotten ones too; None where there is none."""
    first, last = connection.execute(
        "SELECT (SELECT min(position) FROM posts), (SELECT max(position) FROM posts)"
    ).fetchone()
    return None if first is None else (first, last)


def read_meta(connection: sqlite3.Connection, key: str) -> bytes | None:
    """Return the value under a key."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else row[0]


def first_with_hash(connection: sqlite3.Connection, default: int) -> int:
    """Return the first position whose hash the file holds, ``default`` where it holds none."""
    position: int | None = connection.execute("SELECT min(first_position) FROM id_hashes").fetchone()[0]
    return default if position is None else position


def read_hashes(connection: sqlite3.Connection, position: int) -> Iterator[tuple[int, UInt64s]]:
    """Yield, from the first batch that begins at a position or later, where hashes begin, and the hashes.

    Those of batches that follow one another without a gap are yielded together.
    """
    parts: list[bytes] = []
    first = end = position
    for begin, packed in connection.execute(
        "SELECT first_position, hashes FROM id_hashes WHERE first_position >= ? ORDER BY first_position", (position,)
    ):
        if begin != end or end - first >= HASHES_TOGETHER:
            yield first, _unpacked(parts)
            parts, first, end = [], begin, begin
        parts.append(packed)
        end += len(packed) // 8
    yield first, _unpacked(parts)


def rows_at(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, Row]:
    """Return the rows of posts at positions, by position."""
    wanted = sorted(set(positions))
    rows: dict[int, Row] = {}
    place = 0
    while place < len(wanted):
        size = next((size for size in ASKED_TOGETHER if size >= len(wanted) - place), ASKED_TOGETHER[-1])
        asked = wanted[place : place + size]
        asked += asked[-1:] * (size - len(asked))
        statement = f"{SELECT_POSTS} ({', '.join('?' * size)})"
        rows.update((row[0], row) for row in connection.execute(statement, asked))
        place += size
    return rows


def _unpacked(parts: list[bytes]) -> UInt64s:
    return np.frombuffer(b"".join(parts), "<u8").astype(np.uint64)
