"""Posts as rows of an SQLite table, and back.

Evidence is a JSON array of the fields of `hybriddup.window.records.Evidence`. So people can read the table, with
SQLite's own functions too, but for surrogates and what follows a NUL. A checksum tells whether a row is as it was
written: of bits flipped by a disk, SQLite itself notices only those that break the structure of its file.
"""

from __future__ import annotations

import json
from typing import Any

import orjson
import xxhash

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

Row = tuple[Any, ...]


class RowError(ValueError):
    """A row is not as `row_of` returned it."""


def row_of(post: StoredPost) -> Row:
    """Return the row of a post."""
    evidence = None if post.evidence is None else text_from(dump(tuple(post.evidence)))
    fields = (*post[:-1], evidence)
    return (*fields, checksum_of(*fields))


def post_of(row: Row) -> StoredPost:
    """Return the post of a row.

    Raises
    ------
    RowError
        The row is not as it was written.
    """
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
    """Return a text of the file.

    Raises
    ------
    RowError
        The bytes are none.
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RowError(f"a text is not as it was written: {data!r:.80}") from error
