"""Finds posts by id, with a table of the ids' hashes in memory.

With an index in the database instead, a batch would write a page for every post, because ids come in no order. The
database stores the hashes of a batch as one value, and is queried only for ids whose hash is in the table in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.hash_table import HashTable
from hybriddup.window.records import PostId, StoredPost
from hybriddup.window.stores import sqlite_queries as queries
from hybriddup.window.stores.rows import RowError


class StoredIds:
    """Hashes of the ids of consecutive posts, which may include deleted and forgotten ones."""

    def __init__(self) -> None:
        self.key = b""
        """Secret key of the hash function."""
        self._hashes = HashTable(0)
        self._found: dict[PostId, int] = {}

    def hashed(self, ids: Iterable[PostId]) -> UInt64s:
        """Return uint64[n]: the hashes of ids; the ids of the last `find` are not hashed again."""
        hashes, ids = self._found, list(ids)
        if any(post_id not in hashes for post_id in ids):
            return hash_ids(ids, self.key)
        return np.fromiter((hashes[post_id] for post_id in ids), np.uint64, len(ids))

    def add(self, hashes: UInt64s, first: int) -> None:
        """Add the hashes of the next posts, and drop the hashes of posts before position ``first``."""
        self._hashes.add(hashes)
        self._hashes.forget_before(first)

    def read(self, connection: sqlite3.Connection, cleared: int, first: int, end: int) -> None:
        """Read the hashes of the posts before ``end`` that are not in the table yet, and add them.

        RowError if the database lacks the hash of a post at position ``first`` or later. Posts before ``cleared`` are
        no longer stored.
        """
        if self._hashes.end < cleared or not self._hashes.end:
            self._hashes = HashTable(queries.first_with_hash(connection, end))
        coming = queries.read_hashes(connection, self._hashes.end) if self._hashes.end < end else ()
        for begin, hashes in coming:
            n_known = self._hashes.end - begin  # batches may have been merged since
            if not 0 <= n_known <= len(hashes):
                raise RowError(f"the ids of the posts from {self._hashes.end} to {begin - 1} are missing")
            self._hashes.add(hashes[n_known:])
        if self._hashes.end != end or self._hashes.first > first:
            raise RowError(f"it has the ids of the posts {self._hashes.first} to {self._hashes.end - 1}")
        self._hashes.forget_before(first)

    def find(
        self, ids: Sequence[PostId], first: int, posts_at: Callable[[Int64s], list[StoredPost]]
    ) -> list[StoredPost | None]:
        """Return the post with each id; None if there is none at position ``first`` or later.

        ``posts_at`` reads the posts at some positions.
        """
        hashes = hash_ids(ids, self.key)
        self._found = dict(zip(ids, hashes.tolist(), strict=True))
        places = self._hashes.latest(hashes)
        found: list[StoredPost | None] = [None] * len(ids)
        hits = np.flatnonzero(places >= first)
        for hit, post in zip(hits.tolist(), posts_at(places[hits]), strict=True):
            if post.id == ids[hit] and not post.deleted:
                found[hit] = post
            else:  # a later id has the same hash, or the latest post with the id was deleted
                others = self._hashes.all(hashes[hit])
                same = (one for one in posts_at(others[others >= first]) if one.id == ids[hit] and not one.deleted)
                found[hit] = next(same, None)
        return found


def hash_ids(ids: Iterable[PostId], key: bytes) -> UInt64s:
    """Return uint64[n]: keyed hashes of ids; without the key, no client can construct ids with equal hashes."""
    keyed = blake2b(digest_size=8, key=key)  # taking in the key is half of the work

    def digest(post_id: PostId) -> bytes:
        hashed = keyed.copy()
        hashed.update(id_bytes(post_id))
        return hashed.digest()

    return np.frombuffer(b"".join(map(digest, ids)), "<u8").astype(np.uint64)


def id_bytes(post_id: PostId) -> bytes:
    """Encode an id, one-to-one: a text as UTF-8, a number as digits after a byte with which no UTF-8 text begins."""
    return post_id.encode("utf-8", "surrogatepass") if isinstance(post_id, str) else b"\xff%d" % post_id
