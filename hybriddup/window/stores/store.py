"""The store of a window: its posts in an SQLite database in memory, in the order of their positions.

`hybriddup.window.stores.sqlite` puts the same tables into a file. Ids are first looked up in a hash table in memory, so
that only ids in the store cause a query of the database.
"""

from __future__ import annotations

import logging
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.window.event_time import NEVER
from hybriddup.window.records import PostId, StoredPost
from hybriddup.window.stores import COUNTS, DELETED, FEWEST_CLEARED, WATERMARK, Derived, Span, check_held, size_of
from hybriddup.window.stores import sqlite_queries as queries
from hybriddup.window.stores.ids import StoredIds
from hybriddup.window.stores.rows import RowError
from hybriddup.window.stores.sqlite_file import connect_to_memory, damaged, explained, transaction

IN_MEMORY = Path("the window in memory")
"""Name of the store in messages."""

logger = logging.getLogger("hybriddup")


class WindowStore:
    """Holds the posts of a window, and its metadata, such as the watermark.

    One call at a time, from any thread: the window holds a lock. Ids are compared with their type: ``"1"`` is not
    ``1``, and numbers have 64 bits. Texts and ids may contain any character, including lone surrogates and NUL. A
    failed read or write raises `StoreError`; the store can be used again as soon as the cause is gone.
    """

    keeps_derived = False
    """Whether derived data is stored; if not, callers need not compute it."""
    is_read_only = False
    counts = False
    """Whether the number of copies of each kept post is counted and stored; see `count_copies`."""

    def __init__(self, connection: sqlite3.Connection | None = None, path: Path = IN_MEMORY) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = connect_to_memory() if connection is None else connection
        self._first = self._next = 0
        self._cleared = 0
        """Position of the first post that is still in the database."""
        self._ids = StoredIds()
        self._until_merged = 0
        """Number of further batches after which the latest batches may be merged."""
        self._agrees = False
        """Whether this object's fields are known to agree with the database; False while another process may write."""

    @property
    def first_position(self) -> int:
        """The position of the oldest post that is not forgotten; equal to ``next_position`` if no post is left."""
        with self.reading():
            return self._first

    @property
    def next_position(self) -> int:
        """The position of the next post to append, even if all posts are forgotten; 0 in a new store."""
        if self._agrees:
            return self._next
        with self.reading():
            return self._next

    def append(
        self,
        posts: Sequence[StoredPost],
        meta: Mapping[str, bytes] | None = None,
        derived: Derived | None = None,
        keepers: Sequence[StoredPost] = (),
        renewals: Sequence[tuple[int, int]] = (),
        replaced: Sequence[tuple[StoredPost, int | None]] = (),
    ) -> None:
        """Store posts, values and derived data together: all are durable when it returns, or none is and it raises.

        Parameters
        ----------
        posts
            Posts at consecutive positions from ``next_position``, with new ids.
        meta
            Values that must agree with the posts, such as the watermark.
        derived
            Derived data of these posts; None = there is none.
        keepers
            Posts of the store that the new posts repeat, as `WindowStore.posts` returned them. If copies are counted,
            repeated posts that are missing here are read from the database.
        renewals
            Pairs of the new and the previous position of each kept post that is stored again.
        replaced
            Posts to delete, each with the position of the kept post that it repeats; None = as in its evidence.
        """
        with self._changing() as connection:
            assert not posts or posts[0].position == self._next, "posts follow one another"  # noqa: S101  our own logic
            hashes, end = self._ids.hashed(post.id for post in posts), self._next + len(posts)
            cleared = min(self._first, self._cleared + max(FEWEST_CLEARED, 2 * len(posts)))
            self._agrees = False  # until the fields have followed
            self._insert(connection, posts, hashes, derived)
            if self.counts:
                queries.count_copies(connection, posts, [*keepers, *posts])
            queries.insert_renewals(connection, renewals)
            for post, of in replaced:
                self._delete(connection, post, of)
            queries.insert_meta(connection, meta or {})
            queries.delete_posts(connection, cleared)
            queries.write_state(connection, self._first, end)
        self._acknowledge(end)
        self._next, self._cleared = end, cleared
        self._ids.add(hashes, self._first)
        self._agrees = True
        self._until_merged -= 1
        with explained(self._path):
            self._committed(connection, size_of(posts, derived))

    def _insert(
        self, connection: sqlite3.Connection, posts: Sequence[StoredPost], hashes: UInt64s, derived: Derived | None
    ) -> None:
        """Insert a batch, and merge the latest batches now and then."""
        if not posts:
            return
        queries.insert_posts(connection, posts)
        if derived is not None:
            queries.insert_normalized(connection, posts[0].position, derived.normalized)
        queries.insert_batches(connection, posts[0].position, hashes.astype("<u8").tobytes(), derived)
        if self._until_merged <= 0:
            queries.merge_latest(connection, posts[-1].position + 1)
            self._until_merged = queries.MERGED

    def find_ids(self, ids: Sequence[PostId]) -> list[StoredPost | None]:
        """Return the post of each id, in this order; None if there is none or it is forgotten."""
        with self.reading():
            return self._ids.find(ids, self._first, self.posts) if ids else []

    def posts(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in this order; StoreError if a post is forgotten or does not exist."""
        if not len(positions):
            self._usable()
            return []
        with self.reading() as connection:
            check_held(positions, self._first, self._next)
            wanted = positions.tolist()
            found = queries.posts_at(connection, wanted)
        missing = [position for position in wanted if position not in found]
        if missing:
            raise damaged(self._path, f"the post at position {missing[0]} is missing")
        return [found[position] for position in wanted]

    def normalized(self, positions: Int64s) -> dict[int, str]:
        """Return the normalized texts of posts, by position; texts that are not stored or are damaged are left out."""
        with self.reading() as connection:
            return queries.normalized_at(connection, positions.tolist())

    def spans(self, position: int, made_with: str) -> Iterator[Span]:
        """Yield consecutive spans, which together contain all posts from ``position`` on that are not forgotten.

        The records of a span are None unless they were computed from the settings and data with the id ``made_with``.
        The first span may begin before ``position``. Other methods may be called between two spans.
        """
        position = max(position, self.first_position)
        while position < self.next_position:
            with self.reading() as connection:
                found = queries.read_span(connection, position, made_with)
            if found is None:
                raise damaged(self._path, f"the batches from position {position} on are missing")
            span, bad = found
            if bad:
                logger.warning(
                    "%s: records of the posts from position %d on are damaged; they are derived from the posts",
                    self._path,
                    bad[0],
                )
            yield span
            position = span.end

    def put_derived(self, first: int, derived: Derived) -> None:
        """Replace the records of whole spans, from the span that begins at ``first`` to the end of ``derived``."""
        with self._changing() as connection:
            queries.replace_batches(connection, first, derived)

    def forget_before(self, position: int) -> None:
        """Forget the posts before a position: from now on, they are not found.

        Each later `append` deletes some of these posts, in proportion to the posts appended, so no call takes long.
        Forgetting is durable with the next `append` or `close`. A position before ``first_position`` changes nothing.
        """
        self._first = max(self.first_position, min(position, self._next))

    def renewals(self, first: int) -> list[tuple[int, int]]:
        """Return pairs of the new and the previous position of posts that were stored again at ``first`` or later."""
        with self.reading() as connection:
            return queries.read_renewals(connection, max(first, self._first))

    def delete(self, position: int, meta: Mapping[str, bytes], of: int | None = None) -> None:
        """Replace a post by its tombstone (`hybriddup.window.records.mark_of`) and store values, in one transaction.

        The post's text is erased from the store, and its id can be used again. If copies are counted, the number of
        copies of the kept post that the deleted post repeats decreases by one; ``of`` is the position of this kept
        post, None = the position in the evidence of the deleted post. Raises the same errors as `posts`.
        """
        post = self.posts(np.array([position]))[0]
        with self._changing() as connection:
            self._delete(connection, post, of)
            queries.insert_meta(connection, meta)

    def _delete(self, connection: sqlite3.Connection, post: StoredPost, of: int | None) -> None:
        queries.delete_post(connection, post)
        if self.counts:
            queries.count_copies(connection, [post if of is None else post.repeating(of)], sign=-1)

    def count_copies(self) -> None:
        """Count the copies in the store, and all later copies, even after the store is closed and opened again."""
        if self.counts:
            return
        if n_posts := self.next_position - self.first_position:
            logger.info("%s: counting the copies among %s posts, once", self._path, f"{n_posts:,}")
        with self._changing() as connection:
            queries.count_old_copies(connection)
            queries.insert_meta(connection, {COUNTS: b"1"})
        self.counts = True

    def meta(self, key: str) -> bytes | None:
        """Return the value last stored under a key, None if there is none."""
        with self.reading() as connection:
            return queries.read_meta(connection, key)

    def set_meta(self, values: Mapping[str, bytes]) -> None:
        """Store values under their keys: all of them are durable when it returns, or none is and it raises."""
        with self._changing() as connection:
            queries.insert_meta(connection, values)

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value unless the key has one already; return the value that the key then has."""
        if (stored := self.meta(key)) is not None:
            return stored
        self.set_meta({key: value})
        return value

    def watermark(self) -> float:
        """Return the watermark that is stored with the posts; minus infinity if there is none."""
        watermark = self.meta(WATERMARK)
        return NEVER if watermark is None else float(struct.unpack("<d", watermark)[0])

    def deleted_positions(self) -> Int64s:
        """Return int64[n], ascending: the positions of kept posts that were deleted and are not forgotten."""
        positions = np.frombuffer(self.meta(DELETED) or b"", "<i8").astype(np.int64)
        return positions[positions >= self.first_position]

    def n_bytes(self) -> int:
        """Return the size of the store in bytes."""
        with self.reading() as connection:
            return queries.n_bytes(connection)

    def close(self) -> None:
        """Release all resources. Afterwards, a second call does nothing, and any other call raises `StoreError`."""
        if self._connection is not None:
            self._connection.close()
            self._connection, self._agrees = None, False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, after bringing the fields of this object up to date with the database.

        If another process may write, all calls in the block see one state of the database.
        """
        connection = self._usable()
        with explained(self._path):
            if not self._agrees and not connection.in_transaction:
                with transaction(connection, "DEFERRED"):
                    self._read_changes(connection)
                    if self.is_read_only:
                        yield connection
                        return
                self._agrees = True
            yield connection

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction: the changes are durable when the block ends."""
        with self.reading() as connection:
            if self.is_read_only:
                raise StoreError(f"{self._path}: the store was opened for reading only")
            with transaction(connection):
                yield connection
                self._check_place()
            self._check_place()

    def _usable(self) -> sqlite3.Connection:
        """Return the connection; StoreError if the store was closed, removed or replaced."""
        if self._connection is None:
            raise StoreError(f"{self._path}: the store is closed; open a new window")
        return self._connection

    def _check_place(self) -> None:
        """Raise StoreError if the changes would be lost, because files of the store were removed or replaced."""

    def _acknowledge(self, end: int) -> None:
        """Record, outside the database, that the posts before position ``end`` are acknowledged."""

    def _committed(self, connection: sqlite3.Connection, n_bytes: int) -> None:
        """Called after posts of about ``n_bytes`` were committed; a store in a file may start a checkpoint."""

    def _read_changes(self, connection: sqlite3.Connection) -> None:
        """Bring the fields of this object up to date with the database; RowError if the database is inconsistent."""
        state = queries.read_state(connection)
        id_key = queries.read_meta(connection, queries.ID_KEY)
        if state is None or id_key is None:
            raise RowError("it does not say which posts it holds")
        (first, self._next), self._ids.key = state, id_key
        self._first = max(self._first, first)
        self.counts = queries.read_meta(connection, COUNTS) is not None
        self._cleared, end = queries.read_held(connection) or (self._next, self._next)
        if end != self._next or self._cleared > self._first:
            held = f"it holds the posts from {self._cleared} to {end - 1}"
            raise RowError(f"{held}, instead of those from {self._first} to {self._next - 1}")
        self._ids.read(connection, self._cleared, self._first, self._next)
