"""The store interface of a shared window, which plugins implement. Only operations on single items are atomic.

A store has four kinds of items. A *record* is a post with its state, by position. A *holder* maps a name, which is an
id or a text, to the position of the one post that has it, and changes by compare-and-set. A *bucket* lists the posts
with a block key. A *value* is metadata such as the recipe. Every call takes many items, so that a batch needs few round
trips.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.records import Evidence, StoredPost

EntryArray = NDArray[np.void]


class State(IntEnum):
    """State of a post in the protocol."""

    PENDING = 1
    """The post is being decided."""
    CHALLENGED = 2
    """The post is being decided, and matches an earlier post, so it must read its buckets again before it is kept."""
    KEPT = 3
    DUPLICATE = 4
    GONE = 5
    """The post has no record, or was undecided when its process seemed to be dead; either way, nothing matches it."""
    __hash__ = int.__hash__  # Enum's is a Python function, called for every set lookup


UNDECIDED = frozenset({State.PENDING, State.CHALLENGED})


class PostRecord(NamedTuple):
    """A post with its state, as a store has it."""

    state: State
    post: StoredPost
    """The post; its evidence is None unless the state is `State.DUPLICATE`."""
    watermark: float
    """The watermark when the post came, in seconds since 1970; the post is forgotten a horizon later."""


class Block(NamedTuple):
    """A range of consecutive positions that one batch took."""

    first: int
    n: int


class Taken(NamedTuple):
    """Positions for a batch, and the state of the window when they were reserved."""

    first: int
    """The first position of the batch; the other positions follow."""
    watermark: float
    """The watermark when the positions were reserved, in seconds since 1970; minus infinity in a new window."""
    unfinished: tuple[Block, ...] = ()
    """The blocks of batches that are not finished, including this batch."""

    @property
    def settled(self) -> int:
        """The position before which every post is decided."""
        return min((block.first for block in self.unfinished), default=self.first)


class Holder(NamedTuple):
    """A post's claim to a name in the store: its id or its text."""

    name: bytes
    """An id or a text, as `hybriddup.shared_windows.packing` encodes it."""
    position: int
    """The position of the claiming post."""
    instead_of: int | None
    """The claim also succeeds if this position holds the name; None = it succeeds only if no position holds it."""


class Keyed(NamedTuple):
    """Posts with their block keys."""

    entries: EntryArray
    """entry_type[n]: the bucket entry of each post; see `entry_type`."""
    keys: UInt64s
    """uint64[n, n_keys]: block keys of each post; `hybriddup.data.records.NO_KEY` = none."""


class Entries(NamedTuple):
    """The contents of some buckets."""

    counts: Int64s
    """int64[n_keys]: number of entries in each bucket, in the order of the query."""
    entries: EntryArray
    """entry_type[counts.sum()]: the entries, bucket by bucket, in any order within a bucket."""


class Change(NamedTuple):
    """A change of a post's state, which the store makes only if the post's current state is one of ``expected``."""

    position: int
    expected: frozenset[State]
    to: State
    evidence: Evidence | None = None
    """Evidence to store if the new state is `State.DUPLICATE`."""


class Needs(NamedTuple):
    """What a window requires of its store."""

    words: int
    """Number of 64-bit integers in a fingerprint; bucket entries have the dtype `entry_type(words)`."""
    max_bucket_size: int
    """Number of the newest kept posts that a bucket must hold; 0 = all."""
    horizon: float
    """Minimum time for which records, holders and entries must be stored, in seconds."""
    segments: tuple[int, ...] = ()
    """Number of bits in the segment of each key of a post; empty = keys are hashes, without segments. A segment is a
    block of the fingerprint. A key has the number of the block in its lowest byte, and the segment above it. A window
    whose keys have segments has fingerprints of 64 bits."""


def entry_type(words: int) -> np.dtype[np.void]:
    """Return the dtype of bucket entries whose fingerprints are ``words`` 64-bit integers; 28 bytes for 128 bits."""
    return np.dtype([("position", "<u8"), ("length", "<u4"), ("bits", "<u8", (words,))])


class SharedStore(Protocol):
    """The posts of a shared window. Calls come from one thread at a time.

    Texts and ids may contain any character, including lone surrogates and NUL. A failed read or write raises
    `hybriddup.errors.StoreError`; the store can be used again as soon as the cause is gone, and results returned
    without an error are durable.

    Each record, holder, bucket and value is read and written atomically, and all processes see these operations in the
    same order; nothing else has to be atomic. A record is written before its position appears in a bucket or as a
    holder.

    `take` and `watermark` raise StoreError if the store was emptied, or replaced by another one, since it was opened.
    """

    def take(self, n: int) -> Taken:
        """Reserve ``n`` positions, larger than all positions taken before, as the block of an unfinished batch."""

    def announce(self, records: Sequence[PostRecord], holders: Sequence[Holder]) -> list[int]:
        """Store new records, then claim names and return positions, as `hold` does.

        Return an empty list instead if a post is already marked as gone.

        If a store retries by itself, it keeps the records of the first attempt, because other processes may have
        changed them since.
        """

    def hold(self, holders: Sequence[Holder]) -> list[int]:
        """Claim names; return the position that holds each name afterwards."""

    def positions_of(self, names: Sequence[bytes]) -> list[int | None]:
        """Return the position of the post that holds each name; None if no post holds it."""

    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        """Add posts to the buckets of their keys, then return the contents of the buckets of ``keys``, uint64[n].

        Posts are added by the process that took their positions. ``keys`` are distinct. For at least
        `Needs.horizon` seconds, a bucket must keep all entries of batches for which `finish` was not called yet and, of
        the other entries, the newest `Needs.max_bucket_size`; it may drop the rest.
        """

    def leave(self, texts: Keyed) -> None:
        """Remove posts from the buckets of their keys; a later call of `enter` does not add these posts again."""

    def records(self, positions: Int64s) -> list[PostRecord | None]:
        """Return the records at these positions, in this order; None if there is none."""

    def change(self, changes: Sequence[Change]) -> list[State]:
        """Change the posts whose state is one of the expected states; return the state that each post has afterwards.

        The state of a post without a record is `State.GONE`. If a post without a record is changed to `State.GONE`, it
        cannot get a record any more. A state returned as kept or as a duplicate is durable.
        """

    def remove(self, position: int, kept: float | None) -> None:
        """Remove the record of a decided post, with its text; its position stays unused.

        Parameters
        ----------
        position
            The position of the post.
        kept
            The time of a kept post, by which the count of kept posts is corrected; None = the post is a duplicate.
        """

    def meta(self, key: str) -> bytes | None:
        """Return the value of a key; None if it has none."""

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value unless the key has one already; return the value that the key then has."""

    def finish(self, first: int, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        """Finish a block: remove posts from their buckets, count the kept posts, and raise the watermark.

        Posts are removed first, because entries of finished blocks count towards `max_bucket_size`. Kept posts are
        counted only if the block was not finished before, so a call may be repeated.

        Parameters
        ----------
        first
            The first position of the block.
        read
            The watermark that `take` returned. If the store's watermark is smaller by now, it was set back, and is not
            changed.
        watermark
            The store's watermark is raised to this value if it is lower; minus infinity leaves it unchanged.
        kept
            The times of the posts that were kept.
        leaving
            Posts to remove from their buckets, as for `leave`.
        """

    def rewind(self, watermark: float) -> None:
        """Set the window's watermark back to ``watermark``."""

    def watermark(self) -> float:
        """Return the watermark of the window, in seconds since 1970; minus infinity in a new window."""

    def n_kept_after(self, time: float) -> int:
        """Return the approximate number of kept posts whose time is after ``time``."""

    def n_bytes(self) -> int | None:
        """Return the approximate size of the window in the store, in bytes; None if the store does not report it."""

    def close(self) -> None:
        """Release the connections; a second call does nothing."""
