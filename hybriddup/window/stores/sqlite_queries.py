"""Queries and statements for the SQLite database of a window."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.window.records import StoredPost, mark_of
from hybriddup.window.stores import READ_TOGETHER, Derived, Span
from hybriddup.window.stores.rows import as_bytes, check_seal, is_sealed, post_of, row_of, seal_of, sum_text

STATE, ID_KEY = "state", "id key"
"""Names under which the table ``meta`` has the range of positions in the store, and the secret for hashing ids."""
BATCHES_TOGETHER = 1 << 16
"""Number of posts after which a query for records stops; it reads whole batches, so it may read more posts."""
MERGED, MERGED_POSTS = 64, 4096
"""Number of latest batches that are merged if together they have fewer than `MERGED_POSTS` posts."""
COLUMNS = "position, id, time, text, evidence, copies, checksum"
"""Columns of a post. Statements name them, because files of earlier versions have them in another order."""
INSERT_POST = f"INSERT OR REPLACE INTO posts ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
INSERT_BYTES = f"""
    INSERT OR REPLACE INTO posts ({COLUMNS}) VALUES (
        ?1, iif(typeof(?2) = 'blob', CAST(?2 AS TEXT), ?2), ?3, CAST(?4 AS TEXT), CAST(?5 AS TEXT), CAST(?6 AS TEXT), ?7
    )"""  # noqa: S608
INSERT_NORMALIZED = "INSERT OR REPLACE INTO normalized VALUES (?, CAST(? AS TEXT), ?)"
SELECT_POSTS = f"SELECT {COLUMNS} FROM posts WHERE position IN (SELECT value FROM json_each(?))"  # noqa: S608
SELECT_DUPLICATES = f"SELECT {COLUMNS} FROM posts WHERE evidence IS NOT NULL ORDER BY position"  # noqa: S608
UPDATE_COPIES = "UPDATE posts SET copies = CAST(? AS TEXT), checksum = ? WHERE position = ?"
SELECT_NORMALIZED = """
    SELECT position, CAST(text AS BLOB), checksum FROM normalized
    WHERE position IN (SELECT value FROM json_each(?))"""
INSERT_BATCH = "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)"
SELECT_BATCHES = """
    SELECT {} FROM batches
    WHERE first_position >= (SELECT ifnull(max(first_position), 0) FROM batches WHERE first_position <= ?)
    ORDER BY first_position"""
"""Query for columns of the batch that contains a position, and of all later batches."""
SELECT_LATEST = "SELECT first_position FROM batches ORDER BY first_position DESC LIMIT ?"
INSERT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"
DELETE_BATCHES = (
    "DELETE FROM batches WHERE first_position < (SELECT max(first_position) FROM batches WHERE first_position <= ?)"
)


def insert_posts(connection: sqlite3.Connection, posts: Sequence[StoredPost]) -> None:
    """Insert posts into the table ``posts``; a post replaces the one at its position."""
    rows = list(map(row_of, posts))
    try:
        connection.executemany(INSERT_POST, rows)
    except UnicodeEncodeError:  # surrogates; rows that were inserted before the error are replaced
        connection.executemany(INSERT_BYTES, map(as_bytes, rows))


def count_copies(
    connection: sqlite3.Connection, copies: Iterable[StoredPost], known: Iterable[StoredPost] = (), sign: int = 1
) -> None:
    """Add ``copies`` to the counts of the kept posts that they repeat, or subtract them if ``sign`` is -1.

    ``known`` are stored posts; the repeated posts that are not among them are read from the database.
    """
    copies_of: dict[int, list[StoredPost]] = {}
    for post in copies:
        if post.evidence is not None:
            copies_of.setdefault(post.evidence.of_position, []).append(post)
    repeated = {post.position: post for post in known if post.position in copies_of}
    if others := list(copies_of.keys() - repeated.keys()):
        repeated |= posts_at(connection, others)
    write_copies(connection, [post.with_copies(copies_of[at], sign) for at, post in repeated.items() if post.kept])


def write_copies(connection: sqlite3.Connection, posts: Iterable[StoredPost]) -> None:
    """Update the counted copies of posts that are already in the database."""
    connection.executemany(
        UPDATE_COPIES,
        [(copies and copies.encode("utf-8", "surrogatepass"), seal, at) for at, *_, copies, seal in map(row_of, posts)],
    )


def count_old_copies(connection: sqlite3.Connection) -> None:
    """Count the copies of each kept post among all posts of the store, because copies were not counted so far."""
    renewals, newest = read_renewals(connection, 0), dict[int, int]()
    for position, before in renewals:
        posts = posts_at(connection, [before, position])
        first = posts.get(before, posts[position]).counted()
        write_copies(connection, [posts[position]._replace(copies=first.copies)])
    for position, before in reversed(renewals):
        newest[before] = newest.get(position, position)
    duplicates = connection.execute(SELECT_DUPLICATES)
    while rows := duplicates.fetchmany(READ_TOGETHER):
        copies = [(post, post.evidence.of_position) for post in map(post_of, rows) if post.evidence is not None]
        count_copies(connection, (post.repeating(newest.get(of, of)) for post, of in copies))


def insert_renewals(connection: sqlite3.Connection, pairs: Iterable[tuple[int, int]]) -> None:
    """Store the new and the previous position of each kept post that is stored again."""
    rows = [(position, before, seal_of(position, b"%d" % before)) for position, before in pairs]
    connection.executemany("INSERT INTO renewals VALUES (?, ?, ?)", rows)


def read_renewals(connection: sqlite3.Connection, first: int) -> list[tuple[int, int]]:
    """Return the pairs that `insert_renewals` stored with a new position of at least ``first``, in ascending order."""
    rows = connection.execute("SELECT * FROM renewals WHERE position >= ? ORDER BY position", (first,)).fetchall()
    for position, before, seal in rows:
        check_seal(position, b"%d" % before, seal)
    return [row[:2] for row in rows]


def insert_normalized(connection: sqlite3.Connection, first: int, texts: Sequence[str | None]) -> None:
    """Insert the normalized texts of the posts from position ``first`` on; None = skip the post."""
    kept = ((position, text) for position, text in enumerate(texts, first) if text is not None)
    encoded = ((position, text.encode("utf-8", "surrogatepass")) for position, text in kept)
    rows = [(position, data, sum_text(position, data)) for position, data in encoded]
    connection.executemany(INSERT_NORMALIZED, rows)


def delete_post(connection: sqlite3.Connection, post: StoredPost) -> None:
    """Replace a post by its tombstone, so that no text of it is left."""
    connection.execute(INSERT_POST, row_of(mark_of(post)))
    connection.execute("DELETE FROM normalized WHERE position = ?", (post.position,))


def insert_batches(connection: sqlite3.Connection, first: int, hashes: bytes, derived: Derived | None) -> None:
    """Insert the batch that begins at position ``first``: the hashes of its ids, and the records in ``derived``."""
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
    """Replace the records of whole batches, from the batch that begins at ``first`` to the end of ``derived``."""
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
    """Merge the latest batches if they are small and their records were made with the same settings.

    ``end`` is the position after the last post.
    """
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
    """Store values under their keys, replacing earlier ones."""
    connection.executemany(INSERT_META, [(key, value, seal_of(key, value)) for key, value in values.items()])


def delete_posts(connection: sqlite3.Connection, end: int) -> None:
    """Delete the posts before ``end``, and the batches that contain only such posts."""
    connection.execute("DELETE FROM posts WHERE position < ?", (end,))
    connection.execute("DELETE FROM normalized WHERE position < ?", (end,))
    connection.execute("DELETE FROM renewals WHERE position < ?", (end,))
    connection.execute(DELETE_BATCHES, (end,))


def write_state(connection: sqlite3.Connection, first: int, end: int) -> None:
    """Store the position of the oldest post not forgotten, and the position of the next post to append."""
    insert_meta(connection, {STATE: json.dumps([first, end]).encode()})


def read_state(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the positions of the oldest post not forgotten and of the next post to append; None if not stored."""
    packed = read_meta(connection, STATE)
    return None if packed is None else tuple(json.loads(packed))


def read_held(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Return the first position of the stored posts, and the position after the last; None if there are no posts."""
    first, last = connection.execute(
        "SELECT (SELECT min(position) FROM posts), (SELECT max(position) FROM posts)"
    ).fetchone()
    return None if first is None else (first, last + 1)


def read_meta(connection: sqlite3.Connection, key: str) -> bytes | None:
    """Return the value of a key, None if it has none; RowError if its checksum is wrong."""
    row: tuple[bytes, int] | None = connection.execute(
        "SELECT value, checksum FROM meta WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    check_seal(key, *row)
    return row[0]


def n_bytes(connection: sqlite3.Connection) -> int:
    """Return the size of the database in bytes."""
    return read_pragma(connection, "page_count") * read_pragma(connection, "page_size")


def read_pragma(connection: sqlite3.Connection, name: str) -> int:
    """Return the value of a pragma that is a number."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def first_with_hash(connection: sqlite3.Connection, default: int) -> int:
    """Return the position of the first post whose id hash is stored; ``default`` if there is none."""
    position: int | None = connection.execute("SELECT min(first_position) FROM batches").fetchone()[0]
    return default if position is None else position


def read_hashes(connection: sqlite3.Connection, position: int) -> Iterator[tuple[int, UInt64s]]:
    """Yield the hashes of the ids of each batch, together with the position of its first post.

    The first batch is the one that contains ``position``, and later batches follow in ascending order.
    """
    columns = "first_position, hashes, hashes_checksum"
    for first, packed, seal in connection.execute(SELECT_BATCHES.format(columns), (position,)):
        check_seal(first, packed, seal)
        yield first, np.frombuffer(packed, "<u8").astype(np.uint64)


def read_span(connection: sqlite3.Connection, position: int, made_with: str) -> tuple[Span, list[int]] | None:
    """Return a span that begins with the batch that contains ``position``; None if there is no such batch.

    Also return a list with the first position of each batch whose records are damaged.
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
    """Return the posts at ``positions``, by position; missing posts are left out."""
    rows = connection.execute(SELECT_POSTS, (json.dumps(positions),))
    return {post.position: post for post in map(post_of, rows)}


def normalized_at(connection: sqlite3.Connection, positions: Sequence[int]) -> dict[int, str]:
    """Return the normalized texts of posts, by position; missing and damaged texts are left out."""
    rows = connection.execute(SELECT_NORMALIZED, (json.dumps(positions),))
    return {
        position: data.decode("utf-8", "surrogatepass")
        for position, data, checksum in rows
        if data is not None and sum_text(position, data) == checksum
    }
