"""Posts as rows of an SQLite table, and back.

Text is kept as bytes, because SQLite's own text cannot hold lone surrogates. An id that is a text is bytes as well, one
that is a number is a number, or its digits as SQLite's text where 64 bits are too few; so two ids are equal where
their columns are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hybriddup.window.records import Evidence, PostId, StoredPost

KEPT_COLUMNS = "position, id, time, text, normalized"
COLUMNS = f"{KEPT_COLUMNS}, of_position, of_id, reason, hamming_distance, verifier, score, threshold, length_band"
N_KEPT_COLUMNS, N_COLUMNS = KEPT_COLUMNS.count(",") + 1, COLUMNS.count(",") + 1
CREATE_POSTS = """
    CREATE TABLE posts (
        position INTEGER PRIMARY KEY,
        id NOT NULL,
        time REAL NOT NULL,
        text BLOB NOT NULL,
        normalized BLOB,
        of_position INTEGER,
        of_id,
        reason TEXT,
        hamming_distance INTEGER,
        verifier TEXT,
        score REAL,
        threshold REAL,
        length_band TEXT
    )"""

Row = tuple[Any, ...]


def to_kept_row(post: StoredPost) -> Row:
    """Return the columns that a kept post has; the others are null."""
    normalized = None if post.normalized is None else _to_bytes(post.normalized)
    return (post.position, id_to_column(post.id), post.time, _to_bytes(post.text), normalized)


def to_row(post: StoredPost, evidence: Evidence) -> Row:
    """Return the columns of a duplicate."""
    of, of_position, *rest = evidence
    return (*to_kept_row(post), of_position, id_to_column(of), *rest)


def to_posts(rows: Iterable[Row]) -> list[StoredPost]:
    """Return the posts of rows, each with all columns."""
    return [
        StoredPost(
            row[0],
            id_from_column(row[1]),
            row[2],
            row[3].decode("utf-8", "surrogatepass"),
            None if row[4] is None else row[4].decode("utf-8", "surrogatepass"),
            None if row[5] is None else Evidence(id_from_column(row[6]), row[5], *row[7:]),
        )
        for row in rows
    ]


def to_kept_posts(rows: Iterable[Row]) -> list[StoredPost]:
    """Return the posts of rows of kept posts, each with the first five columns."""
    return [
        StoredPost(
            position,
            id_from_column(post_id),
            time,
            text.decode("utf-8", "surrogatepass"),
            None if normalized is None else normalized.decode("utf-8", "surrogatepass"),
            None,
        )
        for position, post_id, time, text, normalized in rows
    ]


def id_to_column(post_id: PostId) -> bytes | int | str:
    """Return an id as the file holds it."""
    if isinstance(post_id, str):
        return _to_bytes(post_id)
    return post_id if -(2**63) <= post_id < 2**63 else str(post_id)


def id_from_column(column: bytes | int | str) -> PostId:
    """Return an id that the file holds."""
    return column.decode("utf-8", "surrogatepass") if isinstance(column, bytes) else int(column)


def _to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
