"""A window's posts in an SQLite file: a batch is a transaction, on disk when it is acknowledged.

The file grows at its end and is cleared at its beginning, and the pages cleared are filled again. Ids are found by a
table in memory, made from hashes that the file holds with each batch. With them are the records of the kept posts, from
which a window fills its memory when it is opened. Batches of few posts are merged as more of them come.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.window.hash_table import HashTable
from hybriddup.window.records import PostId, StoredPost, mark_of
from hybriddup.window.stores import (
    FEWEST_CLEARED,
    Derived,
    Span,
    check_consecutive,
    check_edge,
    check_held,
    check_ids_new,
)
from hybriddup.window.stores import sqlite_queries as queries
from hybriddup.window.stores.checkpoints import Checkpoints
from hybriddup.window.stores.ids import hash_ids
from hybriddup.window.stores.opened_files import OpenedFiles
from hybriddup.window.stores.private_files import WriterLock
from hybriddup.window.stores.sqlite_file import (
    BUSY_TIMEOUT,
    FILE,
    LOCK,
    connect,
    connect_again,
    damaged,
    explained,
    files_of,
    log_of,
    make_folder,
    opened_files,
    remove_old_files,
    snapshot,
    transaction,
    warn_of_lost_posts,
)

BYTES_A_POST = 200
"""Besides its texts and its record, in the file."""

logger = logging.getLogger("hybriddup")


class SqliteStore:
    """Holds posts in the file ``posts.sqlite3`` of a directory; see `WindowStore` and `open`."""

    keeps_derived = True

    def __init__(self, path: Path, connection: sqlite3.Connection, files: OpenedFiles, lock: WriterLock | None) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = connection
        self._files = files
        self._lock = lock
        """None = opened for reading."""
        self._first = self._next = 0
        self._cleared = 0
        """Posts before this position are no longer in the file."""
        self._id_key = b""
        self._ids = HashTable(0)
        self._absent: dict[PostId, int] = {}
        """The hashes of the ids that were looked for last and not found; forgotten when posts are appended."""
        self._until_merged = 0
        """Number of batches after which it is looked whether the latest can be merged."""
        self._agrees = False
        """Whether what is in memory is known to agree with the file: where no other process writes."""
        self._checkpoints = Checkpoints(partial(connect_again, path), BUSY_TIMEOUT)

    @classmethod
    def open(cls, folder: str | Path, *, read_only: bool = False) -> SqliteStore:
        """Return the store in a directory; both are made where there is none, unless it is only to be looked at."""
        path = Path(folder) / FILE
        with ExitStack() as undoing:
            lock = None
            if not read_only:
                make_folder(path.parent)
                lock = WriterLock(path.parent / LOCK)
                undoing.callback(lock.release)
            files = opened_files(path, read_only=read_only)
            with explained(path):
                connection = connect(path, read_only=read_only)
            undoing.callback(connection.close)
            store = cls(path, connection, files, lock)
            with store.reading():
                pass  # now memory agrees with the file
            if lock is not None:
                store._begin_writing(lock, connection)
            undoing.pop_all()
            return store

    def _begin_writing(self, lock: WriterLock, connection: sqlite3.Connection) -> None:
        """Say if acknowledged posts are missing, and leave nothing in the log of a window that was not closed."""
        if lock.end > self._next:
            warn_of_lost_posts(self._path, self._next, lock.end)
            lock.note(self._next)
        if (log := log_of(self._path)).exists():  # not where the file system has no shared memory
            self._files.add(log)
        self._checkpoints.empty(connection)
        remove_old_files(self._path.parent)

    @property
    def first_position(self) -> int:
        """The first position that is not forgotten."""
        with self.reading():
            return self._first

    @property
    def next_position(self) -> int:
        """The position of the next post to append."""
        if self._agrees:
            return self._next
        with self.reading():
            return self._next

    def append(
        self, posts: Sequence[StoredPost], meta: Mapping[str, bytes] | None = None, derived: Derived | None = None
    ) -> None:
        """Have posts, values and derived data on disk, all or none; see `WindowStore`."""
        with self._writing() as connection:
            check_consecutive(posts, self._next)
            hashes = self._hashes_of_new(posts)
            end = self._next + len(posts)
            cleared = min(self._first, self._cleared + max(FEWEST_CLEARED, 2 * len(posts)))
            self._agrees = False  # until the memory has followed
            with transaction(connection):
                self._insert(connection, posts, hashes, derived)
                queries.insert_meta(connection, meta or {})
                queries.delete_posts(connection, cleared)
                queries.write_state(connection, self._first, end)
                self._files.check()  # nothing is written to files that are gone
            self._files.check()  # nor acknowledged, if they went meanwhile
            self._lock.note(end)  # type: ignore[union-attr]  # `_writing` has looked
            self._next, self._cleared = end, cleared
            self._ids.add(hashes)
            self._ids.forget_before(self._first)
            self._absent = {}
            self._agrees = True
            self._until_merged -= 1
            self._checkpoints.committed(connection, size_of(posts, derived))

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
        """Return the post of each id, or None."""
        with self.reading():
            hashes = hash_ids(ids, self._id_key)
            found = self._find(ids, hashes)
            looked_up = zip(ids, hashes.tolist(), found, strict=True)
            self._absent = {each: hashed for each, hashed, post in looked_up if post is None}
            return found

    def posts(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions."""
        if not len(positions):
            self._check_usable()
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
        """Return the normalized texts that are stored of the posts at these positions."""
        with self.reading() as connection:
            return queries.normalized_at(connection, positions.tolist())

    def spans(self, position: int, made_with: str) -> Iterator[Span]:
        """Yield the posts from a position on as spans; see `WindowStore`."""
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
        """Replace the records of posts; see `WindowStore`."""
        with self._changing() as connection:
            queries.replace_batches(connection, first, derived)

    def forget_before(self, position: int) -> None:
        """Have posts before a position found no more; see `WindowStore`. The next `append` clears some of them."""
        with self._writing():
            check_edge(position, self._next)
            self._first = max(self._first, position)

    def delete(self, position: int, meta: Mapping[str, bytes]) -> None:
        """Write a mark over a post; see `WindowStore`."""
        post = self.posts(np.array([position]))[0]
        with self._changing() as connection:
            queries.replace_post(connection, mark_of(post))
            queries.insert_meta(connection, meta)
        self._checkpoints.empty(connection)

    def meta(self, key: str) -> bytes | None:
        """Return the value under a key."""
        with self.reading() as connection:
            return queries.read_meta(connection, key)

    def set_meta(self, values: Mapping[str, bytes]) -> None:
        """Have values on disk under their keys, all or none."""
        with self._changing() as connection:
            queries.insert_meta(connection, values)

    def n_bytes(self) -> int:
        """Return how many bytes the files take."""
        with self.reading():
            return sum(file.stat().st_size for file in files_of(self._path) if file.exists())

    def close(self) -> None:
        """Close the file and let others write to it; a second call does nothing."""
        if self._connection is None:
            return
        with suppress(StoreError):  # without this note, the posts forgotten last are found again: nothing is lost
            if self._lock is not None:
                with self._changing() as connection:
                    queries.write_state(connection, self._first, self._next)
        self._checkpoints.close()
        self._connection.close()
        self._connection, self._agrees = None, False
        if self._lock is not None:
            self._lock.release()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection, with what is in memory made to agree with the file.

        Where another process may write, all calls in the block go by one state of the file.
        """
        connection = self._check_usable()
        with explained(self._path):
            if not self._agrees and not connection.in_transaction:
                with snapshot(connection):
                    self._read_changes(connection)
                    if self._lock is None:
                        yield connection
                        return
                self._agrees = True
            yield connection

    def _check_usable(self) -> sqlite3.Connection:
        """Return the connection; StoreError if the store was closed, removed or replaced."""
        if self._connection is None:
            raise StoreError(f"{self._path}: the store is closed; open a new window")
        self._files.check(1)  # of the log, only what is written depends
        self._checkpoints.retry(self._connection)
        return self._connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self.reading() as connection:
            if self._lock is None:
                raise StoreError(f"{self._path}: the store was opened for reading only")
            yield connection

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection in a transaction: what is done is at the path of the store, on disk, when it ends."""
        with self._writing() as connection:
            with transaction(connection):
                yield connection
                self._files.check()
            self._files.check()

    def _read_changes(self, connection: sqlite3.Connection) -> None:
        """Read what the file holds and memory does not; all of it at first."""
        state = queries.read_state(connection)
        id_key = queries.read_meta(connection, queries.ID_KEY)
        if state is None or id_key is None:
            raise damaged(self._path, "it does not say which posts it holds")
        (first, self._next), self._id_key = state, id_key
        self._first = max(self._first, first)
        self._read_cleared(connection)
        self._read_ids(connection)

    def _read_cleared(self, connection: sqlite3.Connection) -> None:
        """Find out which posts the file still holds; they must be those that it says it holds."""
        self._cleared, end = queries.read_held(connection) or (self._next, self._next)
        if end != self._next or self._cleared > self._first:
            held = f"it holds the posts from {self._cleared} to {end - 1}"
            raise damaged(self._path, f"{held}, instead of those from {self._first} to {self._next - 1}")

    def _read_ids(self, connection: sqlite3.Connection) -> None:
        """Enter the hashes that are not in the table yet; together they must be those of all posts."""
        if self._ids.end < self._cleared or not self._ids.end:
            self._ids = HashTable(queries.first_with_hash(connection, self._next))
        coming = queries.read_hashes(connection, self._ids.end) if self._ids.end < self._next else ()
        for begin, hashes in coming:
            n_known = self._ids.end - begin  # batches may have been merged since
            if not 0 <= n_known <= len(hashes):
                raise damaged(self._path, f"the ids of the posts from {self._ids.end} to {begin - 1} are missing")
            self._ids.add(hashes[n_known:])
        if self._ids.end != self._next or self._ids.first > self._first:
            raise damaged(self._path, f"it has the ids of the posts {self._ids.first} to {self._ids.end - 1}")
        self._ids.forget_before(self._first)

    def _find(self, ids: Sequence[PostId], hashes: UInt64s) -> list[StoredPost | None]:
        """Return the post of each id, not forgotten; the file is asked for those only whose hashes are there."""
        if not ids:
            return []
        places = self._ids.latest(hashes)
        found: list[StoredPost | None] = [None] * len(ids)
        hits = np.flatnonzero(places >= self._first)
        for hit, post in zip(hits.tolist(), self.posts(places[hits]), strict=True):
            is_it = post.id == ids[hit] and not post.deleted
            found[hit] = post if is_it else self._find_among_equal(ids[hit], hashes[hit])
        return found

    def _find_among_equal(self, post_id: PostId, hash_of_id: np.uint64) -> StoredPost | None:
        """Return the post of an id whose hash another, later id has as well, or whose latest post was deleted."""
        places = self._ids.all(hash_of_id)
        posts = self.posts(places[places >= self._first])
        return next((post for post in posts if post.id == post_id and not post.deleted), None)

    def _hashes_of_new(self, posts: Sequence[StoredPost]) -> UInt64s:
        """Return the hashes of the ids of posts, after checking that no id is there already."""
        ids = [post.id for post in posts]
        unknown = [each for each in ids if each not in self._absent]
        hashes_of_unknown = hash_ids(unknown, self._id_key)
        check_ids_new(ids, self._find(unknown, hashes_of_unknown))
        hashes = self._absent | dict(zip(unknown, hashes_of_unknown.tolist(), strict=True))
        return np.fromiter(map(hashes.__getitem__, ids), np.uint64, len(ids))


def size_of(posts: Sequence[StoredPost], derived: Derived | None) -> int:
    """Return about how many bytes a batch takes in the file."""
    size = sum(BYTES_A_POST + 4 * len(post.text) for post in posts)
    if derived is not None:
        size += sum(len(records) for _, records in derived.parts)
        size += sum(4 * len(text) for text in derived.normalized if text is not None)
    return size
