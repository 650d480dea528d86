"""What is asked of the SQLite file of a window."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.window.records import StoredPost
from hybriddup.window.stores.packed_posts import pack_posts, unpack_posts

POSTS_A_ROW = 16
"""Posts of one batch that lie in one row: one row for each would take SQLite five times as long to insert, and with
more there is more to read for one. A part of the format: no row of a file may have more."""
HASHES_TOGETHER = 1 << 16
"""Hashes of ids that are read together, at least, where there are as many."""

CREATE_BATCHES = """
    CREATE TABLE batches (
        first_position INTEGER PRIMARY KEY,
        n_posts INTEGER NOT NULL,
        posts TEXT NOT NULL
    )"""
CREATE_POSTS = """
    CREATE VIEW posts AS SELECT
        batches.first_position + post.key AS position,
        json_extract(post.value, '$[0]') AS id,
        json_extract(post.value, '$[1]') AS time,
        json_extract(post.value, '$[2]') AS text,
        json_extract(post.value, '$[3]') AS normalized,
        json_extract(post.value, '$[4]') AS evidence
    FROM batches, json_each(batches.posts) AS post"""
"""For people who look at the file."""
INSERT_BATCH = "INSERT INTO batches VALUES (?, ?, CAST(? AS TEXT))"
INSERT_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
SELECT_BATCHES = "SELECT first_position, n_posts, CAST(posts AS BLOB) FROM batches WHERE first_position"
DELETE_HASHES = (
    "DELETE FROM id_hashes WHERE first_position < (SELECT max(first_position) FROM id_hashes WHERE first_position <= ?)"
)


def insert_posts(connection: sqlite3.Connection, posts: Sequence[StoredPost], hashes: UInt64s) -> None:
    """Insert posts and the hashes of their ids."""
    if posts:
        parts = [posts[start : start + POSTS_A_ROW] for start in range(0, len(posts), POSTS_A_ROW)]
        rows = [(part[0].position, len(part), pack_posts(part)) for part in parts]
        connection.executemany(INSERT_BATCH, rows)
        packed = hashes.astype("<u8").tobytes()
        connection.execute("INSERT INTO id_hashes VALUES (?, ?)", (posts[0].position, packed))


def insert_meta(connection: sqlite3.Connection, values: Mapping[str, bytes]) -> None:
    """Insert values under their keys, in place of earlier ones."""
    connection.executemany(INSERT_META, values.items())


def delete_posts(connection: sqlite3.Connection, end: int) -> None:
    """Delete the posts before ``end`` and the hashes of their ids; those that share a row with later ones stay."""
    connection.execute("DELETE FROM batches WHERE first_position < ? AND first_position + n_posts <= ?", (end, end))
    connection.execute(DELETE_HASHES, (end,))


def write_state(connection: sqlite3.Connection, first: int, end: int) -> None:
    """Note the first position that is not forgotten and the next one to append."""
    connection.execute("UPDATE state SET first_position = ?, next_position = ?", (first, end))


def read_state(connection: sqlite3.Connection) -> tuple[int, int, bytes] | None:
    """Return the first position that is not forgotten, the next one to append, and the key of the hashes of ids."""
    row: tuple[int, int, bytes] | None = connection.execute("SELECT * FROM state").fetchone()
    return row


def read_held(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the first position of the posts in the file and the one after the last; None where there is none."""
    first, end = connection.execute(
        "SELECT (SELECT min(first_position) FROM batches), "
        "(SELECT first_position + n_posts FROM batches ORDER BY first_position DESC LIMIT 1)"
    ).fetchone()
    return None if first is None else (first, end)


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


def posts_at(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, StoredPost]:
    """Return the posts at positions, by position, and more; without those that are missing."""
    posts: dict[int, StoredPost] = {}
    for position in sorted(positions):
        if position not in posts:
            asked = f"{SELECT_BATCHES} <= ? ORDER BY first_position DESC LIMIT 1"
            for row in connection.execute(asked, (position,)):
                posts.update((post.position, post) for post in unpack_posts(*row))
    return posts


def kept_from(connection: sqlite3.Connection, position: int, n: int) -> list[StoredPost]:
    """Return the first ``n`` kept posts from a position on, or a few more; fewer where there are no more."""
    kept: list[StoredPost] = []
    asked = f"{SELECT_BATCHES} > ? ORDER BY first_position"
    with closing(connection.execute(asked, (position - POSTS_A_ROW,))) as rows:
        for row in rows:
            kept += [post for post in unpack_posts(*row) if post.kept and post.position >= position]
            if len(kept) >= n:
                break
    return kept


def _unpacked(parts: list[bytes]) -> UInt64s:
    return np.frombuffer(b"".join(parts), "<u8").astype(np.uint64)
