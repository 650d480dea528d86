"""Posts as rows of SQLite, with checksums.

The column ``evidence`` is a JSON array of the fields of `hybriddup.window.records.Evidence`. The column ``copies`` is a
JSON array of the author and, if copies are counted, the fields of `hybriddup.window.records.Copies`. So any program
for SQLite can show the table, and SQLite's JSON functions can query these columns; only surrogates, and text after a
NUL, are not readable that way. A checksum detects damaged rows: SQLite itself notices flipped bits only if they break
the structure of its file.
"""

from __future__ import annotations

import json
from typing import Any

import orjson
import xxhash

from hybriddup.window.records import Copies, Evidence, StoredPost, evidence_values

POSITIVE = 2**63 - 1
"""Mask that reduces a hash to 63 bits, because SQLite's integers have a sign."""
Row = tuple[Any, ...]


class RowError(ValueError):
    """Raised if a row of the database is damaged."""


def row_of(post: StoredPost) -> Row:
    """Return the row of a post."""
    evidence = None if post.evidence is None else text_from(dump(evidence_values(post.evidence)))
    copies = None
    if post.copies is not None:
        *counts, authors = post.copies
        copies = text_from(dump((post.author, *counts, list(authors.items()))))
    elif post.author is not None:
        copies = text_from(dump((post.author,)))
    fields = (*post[:4], evidence, copies)
    return (*fields, checksum_of(*fields))


def sum_text(position: int, data: bytes) -> int:
    """Return a checksum of 63 bits for a text, given as bytes, and the position of its post."""
    return xxhash.xxh3_64_intdigest(data, position) & POSITIVE


def post_of(row: Row) -> StoredPost:
    """Return the post of a row; RowError if the row is damaged."""
    *fields, checksum = row
    try:
        is_sound = checksum_of(*fields) == checksum
    except (TypeError, ValueError, AttributeError):
        is_sound = False
    if not is_sound:
        raise RowError(f"checksum mismatch for the post at position {row[0]!r}")
    position, post_id, time, text, evidence, copies = fields
    found = None if evidence is None else Evidence(*load(evidence))
    stored: list[Any] = [None] if copies is None else load(copies)
    author, *counts = stored
    counted = Copies(counts[0], counts[1], counts[2], dict(counts[3])) if counts else None
    return StoredPost(position, post_id, time, text, found, author, counted)


def checksum_of(
    position: int, post_id: object, time: float, text: str, evidence: str | None, copies: str | None
) -> int:
    """Return a checksum of 63 bits for the fields of a post and the type of its id."""
    exact_time = (time + 0.0).hex()  # SQLite gives 0.0 for -0.0
    fields: Row = (position, post_id, exact_time, text, evidence)
    if copies is not None:  # posts of earlier versions have no copies, and keep their checksums
        fields = (*fields, copies)
    return xxhash.xxh3_64_intdigest(dump(fields)) & POSITIVE


def seal_of(name: object, data: bytes) -> int:
    """Return a checksum of 63 bits for ``data`` and the name under which it is stored."""
    return xxhash.xxh3_64_intdigest(f"{name} ".encode() + data) & POSITIVE


def is_sealed(name: object, data: object, seal: object) -> bool:
    """Return whether ``seal`` is the checksum of ``data`` under ``name``; see `seal_of`."""
    return isinstance(data, bytes) and seal_of(name, data) == seal


def check_seal(name: object, data: object, seal: object) -> None:
    """Raise RowError unless ``seal`` is the checksum of ``data`` under ``name``; see `seal_of`."""
    if not is_sealed(name, data, seal):
        raise RowError(f"checksum mismatch for {name!r}")


def dump(fields: tuple[Any, ...]) -> bytes:
    """Return some fields as JSON in UTF-8; a lone surrogate, which orjson refuses, is encoded as three bytes."""
    try:
        return orjson.dumps(fields)
    except TypeError:
        return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")


def load(packed: str) -> list[Any]:
    """Parse the JSON array that stores evidence or copies; return the array's fields as a list."""
    fields: list[Any]
    try:
        fields = orjson.loads(packed)
    except ValueError:  # surrogates
        fields = json.loads(packed)
    return fields


def as_bytes(row: Row) -> Row:
    """Return a row with its texts as bytes; lone surrogates, which are not valid in UTF-8, take three bytes each."""
    return tuple(field.encode("utf-8", "surrogatepass") if isinstance(field, str) else field for field in row)


def text_from(data: bytes) -> str:
    """Decode a text of the database; RowError if it is damaged."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise RowError(f"a text is not UTF-8: {data!r:.80}") from error
