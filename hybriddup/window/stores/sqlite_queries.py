"""Statements for the SQLite file of a window, and posts and batches as its rows.

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
from hybriddup.window.records import Evidence, StoredPost, evidence_values
from hybriddup.window.stores import READ_TOGETHER, Derived, Span

CREATE_POSTS = """
    CREATE TABLE posts (
        position INTEGER PRIMARY KEY,
        id NOT NULL,
        time REAL NOT NULL,
        text TEXT NOT NULL,
        evidence TEXT,
        checksum INTEGER NOT NULL
    )"""
"""``evidence`` is NULL if the post was kept."""
CREATE_NORMALIZED = (
    "CREATE TABLE normalized (position INTEGER PRIMARY KEY, text TEXT NOT NULL, checksum INTEGER NOT NULL)"
)
"""Normalized texts of kept posts. One that is missing is made again from the text of the post.

Verifying reads several hundred of them per batch, from all over the window. In a table of their own they take a fifth
of the pages that the posts take, so more of them are in the page cache of the system. Those that normalizing does not
change are there too: for a few texts, normalizing takes longer than reading.
"""
CREATE_BATCHES = """
    CREATE TABLE batches (
        first_position INTEGER PRIMARY KEY,
        made_with TEXT NOT NULL,
        hashes BLOB NOT NULL,
        hashes_checksum INTEGER NOT NULL,
        records BLOB,
        records_checksum INTEGER
    )"""
"""Derived data of consecutive posts: hashes of their ids, and records of the kept ones, NULL = there are none."""
POSITIVE = 2**63 - 1
"""SQLite's whole numbers have a sign."""
STATE, ID_KEY = "state", "id key"
"""Under which the store keeps which posts it holds, and the key of the hashes of ids."""
BATCHES_TOGETHER = 1 << 16
"""Posts whose hashes or records are read together, at least, if there are as many."""
MERGED, MERGED_POSTS = 64, 4096
"""Number of the latest batches that are merged if together they have fewer posts than this."""
INSERT_POST = "INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?)"
INSERT_BYTES = """
    INSERT OR REPLACE INTO posts VALUES (
        ?1, iif(typeof(?2) = 'blob', CAST(?2 AS TEXT), ?2), ?3, CAST(?4 AS TEXT), CAST(?5 AS TEXT), ?6
    )"""
INSERT_NORMALIZED = "INSERT OR REPLACE INTO normalized VALUES (?, CAST(? AS TEXT), ?)"
SELECT_POSTS = "SELECT * FROM posts WHERE position IN (SELECT value FROM json_each(?))"
SELECT_NORMALIZED = """
    SELECT position, CAST(text AS BLOB), checksum FROM normalized
    WHERE position IN (SELECT value FROM json_each(?))"""
INSERT_BATCH = "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)"
SELECT_BATCHES = """
    SELECT {} FROM batches
    WHERE first_position >= (SELECT ifnull(max(first_position), 0) FROM batches WHERE first_position <= ?)
    ORDER BY first_position"""
"""Those from the one with a position on."""
SELECT_LATEST = "SELECT first_position FROM batches ORDER BY first_position DESC LIMIT ?"
INSERT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"
DELETE_BATCHES = (
    "DELETE FROM batches WHERE first_position < (SELECT max(first_position) FROM batches WHERE first_position <= ?)"
)

Row = tuple[Any, ...]


class RowError(ValueError):
    """A row is not as `row_of` returned it."""


def row_of(post: StoredPost) -> Row:
    """Return the row of a post."""
    evidence = None if post.evidence is None else text_from(dump(evidence_values(post.evidence)))
    fields = (*post[:-1], evidence)
    return (*fields, checksum_of(*fields))


def sum_text(position: int, data: bytes) -> int:
    """Return a number of 63 bits that depends on the bytes of a text and on its position."""
    return xxhash.xxh3_64_intdigest(data, position) & POSITIVE


def post_of(row: Row) -> StoredPost:
    """Return the post of a row; RowError if it is not as it was written."""
    *fields, checksum = row
    try:
        is_sound = checksum_of(*fields) == checksum
    except (TypeError, ValueError, AttributeError):
        is_sound = False
    if not is_sound:
        raise RowError(f"checksum mismatch for the post at position {row[0]!r}")
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


def is_sealed(name: object, data: object, seal: object) -> bool:
    """Return whether bytes are those that `seal_of` was called with."""
    return isinstance(data, bytes) and seal_of(name, data) == seal


def check_seal(name: object, data: object, seal: object) -> None:
    """Raise RowError if bytes are not those that `seal_of` was called with."""
    if not is_sealed(name, data, seal):
        raise RowError(f"checksum mismatch for {name!r}")


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
        raise RowError(f"a text is not UTF-8: {data!r:.80}") from error


def insert_posts(connection: sqlite3.Connection, posts: Sequence[StoredPost]) -> None:
    """Insert posts."""
    rows = list(map(row_of, posts))
    try:
        connection.executemany(INSERT_POST, rows)
    except UnicodeEncodeError:  # surrogates; the rows that were inserted by then are replaced
        connection.executemany(INSERT_BYTES, map(as_bytes, rows))


def insert_normalized(connection: sqlite3.Connection, first: int, texts: Sequence[str | None]) -> None:
    """Insert normalized texts of posts from ``first`` on; None = there is none."""
    encoded = [
        (position, text.encode("utf-8", "surrogatepass"))
        for position, text in enumerate(texts, first)
        if text is not None
    ]
    connection.executemany(
        INSERT_NORMALIZED, [(position, data, sum_text(position, data)) for position, data in encoded]
    )


def replace_post(connection: sqlite3.Connection, post: StoredPost) -> None:
    """Write a post over the one at its position, nothing of which is left in the file."""
    connection.execute(INSERT_POST, row_of(post))
    connection.execute("DELETE FROM normalized WHERE position = ?", (post.position,))


def insert_batches(connection: sqlite3.Connection, first: int, hashes: bytes, derived: Derived | None) -> None:
    """Insert the hashes of the ids of posts from ``first`` on, and their records."""
    if derived is None:
        connection.execute(INSERT_BATCH, (first, "", hashes, seal_of(first, hashes), None, None))
        return
    begin = first
    for end, records in derived.parts:
        of_part = hashes[8 * (begin - first) : 8 * (end - first)]
        seals = seal_of(begin, of_part), seal_of(f"{begin} {derived.made_with}", records)
        connection.execute(INSERT_BATCH, (begin, derived.made_with, of_part, seals[0], records, seals[1]))
        begin = end


def replace_batches(connection: sqlite3.Connection, first: int, derived: Derived) -> None:
    """Replace the records of the posts from ``first`` on, where a batch begins, up to where another one ends."""
    end = derived.parts[-1][0]
    rows = connection.execute(
        "SELECT first_position, hashes, hashes_checksum FROM batches WHERE first_position >= ? AND first_position < ? "
        "ORDER BY first_position",
        (first, end),
    ).fetchall()
    for begin, hashes, seal in rows:
        check_seal(begin, hashes, seal)
    connection.execute("DELETE FROM batches WHERE first_position >= ? AND first_position < ?", (first, end))
    insert_batches(connection, first, b"".join(row[1] for row in rows), derived)


def merge_latest(connection: sqlite3.Connection, end: int) -> None:
    """Merge the latest batches if they are small and alike; ``end`` is the position after the last post."""
    latest: list[int] = [row[0] for row in connection.execute(SELECT_LATEST, (MERGED,))]
    if len(latest) < MERGED or end - latest[-1] >= MERGED_POSTS:
        return
    rows = connection.execute("SELECT * FROM batches WHERE first_position >= ? ORDER BY first_position", latest[-1:])
    firsts, made_with, _, _, records, seals = zip(*rows, strict=True)
    names = [f"{first} {made_with[0]}" for first in firsts]
    if len(set(made_with)) == 1 and all(map(is_sealed, names, records, seals)):
        merged = Derived(made_with[0], [(end, b"".join(records))])
        replace_batches(connection, firsts[0], merged)


def insert_meta(connection: sqlite3.Connection, values: Mapping[str, bytes]) -> None:
    """Insert values under their keys, in place of earlier ones."""
    connection.executemany(INSERT_META, [(key, value, seal_of(key, value)) for key, value in values.items()])


def delete_posts(connection: sqlite3.Connection, end: int) -> None:
    """Delete the posts before ``end``, and the batches that have no others."""
    connection.execute("DELETE FROM posts WHERE position < ?", (end,))
    connection.execute("DELETE FROM normalized WHERE position < ?", (end,))
    connection.execute(DELETE_BATCHES, (end,))


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
    """Return the first position whose hash the file holds, ``default`` if it holds none."""
    position: int | None = connection.execute("SELECT min(first_position) FROM batches").fetchone()[0]
    return default if position is None else position


def read_hashes(connection: sqlite3.Connection, position: int) -> Iterator[tuple[int, UInt64s]]:
    """Yield hashes of ids, from the batch with a position on, each time with the position of the first one.

    Batches that follow one another without a gap are yielded together.
    """
    parts: list[bytes] = []
    first = end = position
    columns = "first_position, hashes, hashes_checksum"
    for begin, packed, seal in connection.execute(SELECT_BATCHES.format(columns), (position,)):
        check_seal(begin, packed, seal)
        if begin != end or end - first >= BATCHES_TOGETHER:
            if parts:
                yield first, _unpacked(parts)
            parts, first, end = [], begin, begin
        parts.append(packed)
        end += len(packed) // 8
    yield first, _unpacked(parts)


def read_span(connection: sqlite3.Connection, position: int, made_with: str) -> tuple[Span, list[int]] | None:
    """Return the next span, from the batch with a position on, and where batches with damaged records begin.

    None = there are no more batches.
    """
    parts: list[bytes] = []
    first = end = position
    is_made, damaged = True, list[int]()
    columns = "first_position, length(hashes) / 8, made_with, records, records_checksum"
    for begin, n, made, records, seal in connection.execute(SELECT_BATCHES.format(columns), (position,)):
        is_sound = made == made_with and is_sealed(f"{begin} {made}", records, seal)
        if parts and (is_sound != is_made or end - first >= (BATCHES_TOGETHER if is_made else READ_TOGETHER)):
            break
        if not parts:
            first, is_made = begin, is_sound
        if made == made_with and records is not None and not is_sound:
            damaged.append(begin)
        parts.append(records if is_sound else b"")
        end = begin + n
    if not parts:
        return None
    return Span(first, end, b"".join(parts) if is_made else None), damaged


def posts_at(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, StoredPost]:
    """Return the posts at positions, by position; without those that are missing."""
    rows = connection.execute(SELECT_POSTS, (json.dumps(positions),))
    return {post.position: post for post in map(post_of, rows)}


def normalized_at(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, str]:
    """Return the normalized texts of posts, by position; without those that are missing or damaged."""
    rows = connection.execute(SELECT_NORMALIZED, (json.dumps(positions),))
    return {
        position: data.decode("utf-8", "surrogatepass")
        for position, data, checksum in rows
        if data is not None and sum_text(position, data) == checksum
    }


def _unpacked(parts: list[bytes]) -> UInt64s:
    return np.frombuffer(b"".join(parts), "<u8").astype(np.uint64)
