"""What a window that several processes share needs of its store. Nothing but single records is atomic.

A store holds *records*, one a post, by position; *holders*, the position of the post that has an id; *buckets*, the
posts with a block key; and *values* by name, such as the recipe. Every call is for many, so that a batch of posts takes
few round trips.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.records import Evidence, PostId, StoredPost

EntryArray = NDArray[np.void]


class State(IntEnum):
    """What became of a post so far."""

    PENDING = 1
    """It is being decided."""
    CHALLENGED = 2
    """It is being decided, and an earlier post has seen it: it must look again before it may be kept."""
    KEPT = 3
    DUPLICATE = 4
    GONE = 5
    """It was given up, or is not there: it takes part in nothing."""


UNDECIDED = frozenset({State.PENDING, State.CHALLENGED})


class Record(NamedTuple):
    """A post as the store holds it."""

    state: State
    post: StoredPost
    """Its evidence is None unless its state is `State.DUPLICATE`."""
    watermark: float
    """The time of the window when the post came; a horizon later it is forgotten."""


class Taken(NamedTuple):
    """Positions for a batch."""

    first: int
    """The position of its first post; the others follow."""
    watermark: float
    """The time of the window; minus infinity in a new one."""


class Holder(NamedTuple):
    """An id that a post is to have."""

    post_id: PostId
    position: int
    """Of the post that is to have it."""
    instead_of: int | None
    """The position of the post that may have it so far, because that is forgotten or gone; None = no post may."""


class Keyed(NamedTuple):
    """Posts with their block keys."""

    entries: EntryArray
    """entry_type[n]: one a post, as `entry_type` describes them."""
    keys: UInt64s
    """uint64[n, n_keys]: the buckets that each stands in; `hybriddup.data.records.NO_KEY` = none."""


class Entries(NamedTuple):
    """What some buckets hold."""

    counts: Int64s
    """int64[n_keys]: the entries of each bucket that was asked for, in that order."""
    entries: EntryArray
    """entry_type[counts.sum()]: those of one bucket after those of another, in any order within."""


class Change(NamedTuple):
    """A change of a post's state, if that is still as expected."""

    position: int
    expected: frozenset[State]
    to: State
    evidence: Evidence | None = None
    """Of a duplicate."""


class Needs(NamedTuple):
    """What a window asks of its store."""

    words: int
    """Of a fingerprint: entries of buckets are of `entry_type` of so many."""
    max_bucket_size: int
    """So many of the newest entries a bucket must hold; 0 = all."""
    horizon: float
    """Seconds for which records, holders and entries must stay, at least."""


def entry_type(words: int) -> np.dtype[np.void]:
    """Return the type of the entries of buckets, for fingerprints of so many words: 28 bytes for 128 bits."""
    return np.dtype([("position", "<u8"), ("length", "<u4"), ("bits", "<u8", (words,))])


class SharedStore(Protocol):
    """Holds the posts of a shared window. Calls come from one thread at a time.

    Ids are compared with their type: ``"1"`` is not ``1``, and numbers have 64 bits. Texts and ids may hold any
    character, lone surrogates and NUL among them. What cannot be read or written raises
    `hybriddup.errors.StoreError`; the store can be used again as soon as its cause is gone, and what was returned
    without an error stays.

    Each record, holder, bucket and value is read and written by itself, atomically and in one order for all processes;
    nothing more is asked of the store. A record is there before its position stands in a bucket.
    """

    def take(self, n: int) -> Taken:
        """Return ``n`` positions that nobody else gets, larger than any before."""
        ...

    def announce(self, records: Sequence[Record], holders: Sequence[Holder]) -> list[int]:
        """Store new records, and make posts the holders of their ids; return which post each id has then."""
        ...

    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        """Put posts into the buckets of their keys; then return what the buckets of ``keys`` uint64[n] hold.

        A bucket holds at least the newest `max_bucket_size` entries that were not taken out, for a horizon; older ones
        may be gone.
        """
        ...

    def leave(self, texts: Keyed) -> None:
        """Take posts out of the buckets of their keys."""
        ...

    def records(self, positions: Int64s) -> list[Record | None]:
        """Return the records at these positions, in the order asked; None where there is none."""
        ...

    def change(self, changes: Sequence[Change]) -> list[State]:
        """Change states that are as expected; return the state of each post then, `State.GONE` where it is not there.

        What is returned as kept or as a duplicate lasts as long as the store says.
        """
        ...

    def remove(self, position: int, kept: float | None) -> None:
        """Remove the record of a post that is decided, with its text; its position stays unused.

        Parameters
        ----------
        kept
            The time of a kept post, which is counted no more; None = the post is a duplicate.
        """
        ...

    def positions_of(self, ids: Sequence[PostId]) -> list[int | None]:
        """Return the position of the post that has each id; None where none has."""
        ...

    def meta(self, key: str) -> bytes | None:
        """Return the value under a key; None where there is none."""
        ...

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value under a key that has none; return the value that is there then."""
        ...

    def note(self, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        """Move the time of the window on, count kept posts, and take others out of the buckets of their keys.

        Parameters
        ----------
        read
            The watermark that `take` returned. Where the store's is smaller by now, it was put back, and stays.
        watermark
            The store's is at least this then.
        kept
            The times of posts that were kept.
        leaving
            As `leave` takes them.
        """
        ...

    def rewind(self, watermark: float) -> None:
        """Put the time of the window back."""
        ...

    def watermark(self) -> float:
        """Return the time of the window; minus infinity in a new one."""
        ...

    def n_kept_after(self, time: float) -> int:
        """Return about how many kept posts have a time after this one."""
        ...

    def n_bytes(self) -> int:
        """Return how many bytes the window takes in the store, about."""
        ...

    def close(self) -> None:
        """Let go of the store; a second call does nothing."""
        ...
