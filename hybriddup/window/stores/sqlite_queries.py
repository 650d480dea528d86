"""What is asked of the SQLite file of a window, and posts as its rows.

Evidence is a JSON array of the fields of `hybriddup.window.records.Evidence`. So people can read the table, with
SQLite's own functions too, but for surrogates and what follows a NUL. A checksum tells whether a row is as it was
written: of bits flipped by a disk, SQLite itself notices only those that break the structure of its file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import xxhash

from hybriddup.data.records import UInt64s
from hybriddup.window.records import Evidence, StoredPost

CREATE_POSTS = """
    CREATE TABLE posts (
        position INTEGER PRIMARY KEY,
        id NOT NULL,
        time REAL NOT NULL,
        text TEXT NOT NULL,
        evidence TEXT,
        checksum INTEGER NOT NULL
    )"""
"""``evidence`` is NULL where the post was kept."""
POSITIVE = 2**63 - 1
"""SQLite's whole numbers have a sign."""
STATE, ID_KEY = "state", "id key"
"""Under which the store keeps which posts it holds, and the key of the hashes of ids."""
HASHES_TOGETHER = 1 << 16
"""Hashes of ids that are read together, at least, where there are as many."""
INSERT_POST = "INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?)"
INSERT_BYTES = """
    INSERT OR REPLACE INTO posts VALUES (
        ?1, iif(typeof(?2) = 'blob', CAST(?2 AS TEXT), ?2), ?3, CAST(?4 AS TEXT), CAST(?5 AS TEXT), ?6
    )"""
SELECT_POSTS = "SELECT * FROM posts WHERE position IN (SELECT value FROM json_each(?))"
SELECT_KEPT = "SELECT * FROM posts WHERE position >= ? AND evidence IS NULL ORDER BY position LIMIT ?"
INSERT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"
DELETE_HASHES = (
    "DELETE FROM id_hashes WHERE first_position < (SELECT max(first_position) FROM id_hashes WHERE first_position <= ?)"
)

Row = tuple[Any, ...]


class RowError(ValueError):
    """A row is not as `row_of` returned it."""


def row_of(post: StoredPost) -> Row:
    """Return the row of a post."""
    evidence = None if post.evidence is None else text_from(dump(tuple(post.evidence)))
    fields = (*post[:-1], evidence)
    return (*fields, checksum_of(*fields))


def post_of(row: Row) -> StoredPost:
    """Return the post of a row; RowError where it is not as it was written."""
    *fields, checksum = row
    try:
        is_sound = checksum_of(*fields) == checksum
    except (TypeError, ValueError, AttributeError):
        is_sound = False
    if not is_sound:
        raise RowError(f"the post at position {row[0]!r} is not as it was written")
    position, post_id, time, text, evidence = fields
    found = None if evidence is None else Evidence(*load(evidence))
    return StoredPost(position, post_id, time, text, found)


def checksum_of(position: int, post_id: object, time: float, text: str, evidence: str | None) -> int:
    """Return a number of 63 bits that depends on all of these, and on the type of the id."""
    exact_time = (time + 0.0).hex()  # SQLite gives 0.0 for -0.0
    fields = (position, post_id, exact_time, text, evidence)
    return xxhash.xxh3_64_intdigest(dump(fields)) & POSITIVE


def seal_of(name: object, data: bytes) -> int:
    """Return a number of 63 bits that depends on some bytes and on the name under which they are kept."""
    return xxhash.xxh3_64_intdigest(f"{name} ".encode() + data) & POSITIVE


def check_seal(name: object, data: object, seal: object) -> None:
    """Raise RowError where bytes are not those that `seal_of` was asked about."""
    if not isinstance(data, bytes) or seal_of(name, data) != seal:
        raise RowError(f"what is kept under {name!r} is not as it was written")


def dump(fields: tuple[Any, ...]) -> bytes:
    """Return the JSON of some fields; surrogates, which orjson refuses, stay as they are."""
    try:
        return orjson.dumps(fields)
    except TypeError:
        return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")


def load(evidence: str) -> list[Any]:
    """Return the fields of evidence."""
    fields: list[Any]
    try:
        fields = orjson.loads(evidence)
    except ValueError:  # surrogates
        fields = json.loads(evidence)
    return fields


def as_bytes(row: Row) -> Row:
    """Return a row with its texts as bytes, where lone surrogates, which UTF-8 has not, take three bytes each."""
    return tuple(field.encode("utf-8", "surrogatepass") if isinstance(field, str) else field for field in row)


def text_from(data: bytes) -> str:
    """Return a text of the file; RowError where its bytes are none."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RowError(f"a text is not as it was written: {data!r:.80}") from error


def insert_posts(connection: sqlite3.Connection, posts: Sequence[StoredPost], hashes: UInt64s) -> None:
    """Insert posts and the hashes of their ids."""
    if posts:
        rows = list(map(row_of, posts))
        try:
            connection.executemany(INSERT_POST, rows)
        except UnicodeEncodeError:  # surrogates; the rows that were inserted by then are replaced
            connection.executemany(INSERT_BYTES, map(as_bytes, rows))
        packed = hashes.astype("<u8").tobytes()
        first = posts[0].position
        connection.execute("INSERT INTO id_hashes VALUES (?, ?, ?)", (first, packed, seal_of(first, packed)))


def replace_post(connection: sqlite3.Connection, post: StoredPost) -> None:
    """Write a post over the one at its position, nothing of which is left in the file."""
    connection.execute(INSERT_POST, row_of(post))


def insert_meta(connection: sqlite3.Connection, values: Mapping[str, bytes]) -> None:
    """Insert values under their keys, in place of earlier ones."""
    connection.executemany(INSERT_META, [(key, value, seal_of(key, value)) for key, value in values.items()])


def delete_posts(connection: sqlite3.Connection, end: int) -> None:
    """Delete the posts before ``end``, and the hashes of their ids as far as they share no row with later ones."""
    connection.execute("DELETE FROM posts WHERE position < ?", (end,))
    connection.execute(DELETE_HASHES, (end,))


def write_state(connection: sqlite3.Connection, first: int, end: int) -> None:
    """Note the first position that is not forgotten and the next one to append."""
    insert_meta(connection, {STATE: json.dumps([first, end]).encode()})


def read_state(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the first position that is not forgotten, and the next one to append."""
    packed = read_meta(connection, STATE)
    return None if packed is None else tuple(json.loads(packed))


def read_held(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the first position of the posts in the file and the one after the last; None where there is none."""
    first, last = connection.execute(
        "SELECT (SELECT min(position) FROM posts), (SELECT max(position) FROM posts)"
    ).fetchone()
    return None if first is None else (first, last + 1)


def read_meta(connection: sqlite3.Connection, key: str) -> bytes | None:
    """Return the value under a key; RowError where it is not as it was written."""
    row: tuple[bytes, int] | None = connection.execute(
        "SELECT value, checksum FROM meta WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    check_seal(key, *row)
    return row[0]


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
    for begin, packed, seal in connection.execute(
        "SELECT * FROM id_hashes WHERE first_position >= ? ORDER BY first_position", (position,)
    ):
        check_seal(begin, packed, seal)
        if begin != end or end - first >= HASHES_TOGETHER:
            yield first, _unpacked(parts)
            parts, first, end = [], begin, begin
        parts.append(packed)
        end += len(packed) // 8
    yield first, _unpacked(parts)


def posts_at(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, StoredPost]:
    """Return the posts at positions, by position; without those that are missing."""
    rows = connection.execute(SELECT_POSTS, (json.dumps(positions),))
    return {post.position: post for post in map(post_of, rows)}


def kept_from(connection: sqlite3.Connection, position: int, n: int) -> list[StoredPost]:
    """Return the first ``n`` kept posts from a position on; fewer where there are no more."""
    return list(map(post_of, connection.execute(SELECT_KEPT, (position, n))))


def _unpacked(parts: list[bytes]) -> UInt64s:
    return np.frombuffer(b"".join(parts), "<u8").astype(np.uint64)
