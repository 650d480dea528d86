"""From ids to positions, in memory: hashes of the ids, in segments that are given back when all of theirs is forgotten.

An index in the file would have each batch write a page of it for every post whose ids come in no order. Here a look-up
costs no access to the file unless the id is there, and the file gets the hashes of a batch as one row.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.live.id_slots import fill_slots, find_latest
from hybriddup.window.records import PostId

SMALLEST_SEGMENT = 1 << 14
LARGEST_SEGMENT = 1 << 24
SHARE = 4
"""A new segment has room for a quarter of what is held, so that there are some dozen of them at most and the memory of
forgotten ids is given back in time."""


def hash_ids(ids: Iterable[PostId], key: bytes) -> UInt64s:
    """Return uint64[n]: hashes that only the holder of the key can foresee, so that no client can have them clash."""
    keyed = blake2b(digest_size=8, key=key)  # taking in the key is half of the work

    def digest(post_id: PostId) -> bytes:
        hashed = keyed.copy()
        hashed.update(id_bytes(post_id))
        return hashed.digest()

    return np.frombuffer(b"".join(map(digest, ids)), "<u8").astype(np.uint64)


def id_bytes(post_id: PostId) -> bytes:
    """Return bytes that differ where ids do: a text's own, a number's digits after a byte that begins no text."""
    return post_id.encode("utf-8", "surrogatepass") if isinstance(post_id, str) else b"\xff%d" % post_id


class Segment:
    """The hashes of consecutive positions."""

    def __init__(self, first_position: int, capacity: int) -> None:
        self.first_position = first_position
        self.end = first_position
        self.hashes: UInt64s = np.empty(capacity, np.uint64)
        self.slots: UInt32s = np.zeros(2 * capacity, np.uint32)

    @property
    def room(self) -> int:
        """How many more hashes it can hold."""
        return self.first_position + len(self.hashes) - self.end

    def add(self, hashes: UInt64s) -> None:
        """Hold the hashes of the next positions; no more than there is room for."""
        first = self.end - self.first_position
        self.hashes[first : first + len(hashes)] = hashes
        fill_slots(self.slots, self.hashes, first, first + len(hashes))
        self.end += len(hashes)

    def all(self, wanted: np.uint64) -> Int64s:
        """Return every position of a hash, rising; looks at all that is held."""
        held = self.hashes[: self.end - self.first_position]
        return np.flatnonzero(held == wanted).astype(np.int64) + self.first_position


class IdTable:
    """The hashes of the ids of consecutive positions."""

    def __init__(self, first_position: int) -> None:
        self._segments = [Segment(first_position, SMALLEST_SEGMENT)]

    @property
    def first_position(self) -> int:
        """The first position that is held."""
        return self._segments[0].first_position

    @property
    def end(self) -> int:
        """The position after the last one that is held."""
        return self._segments[-1].end

    @property
    def n_bytes(self) -> int:
        """Memory of the table."""
        return sum(segment.hashes.nbytes + segment.slots.nbytes for segment in self._segments)

    def add(self, hashes: UInt64s) -> None:
        """Hold the hashes of the next positions."""
        while len(hashes):
            room = self._segments[-1].room
            self._segments[-1].add(hashes[:room])
            hashes = hashes[room:]
            if len(hashes):
                self._segments.append(Segment(self.end, self._next_capacity()))

    def latest(self, wanted: UInt64s) -> Int64s:
        """Return int64[n]: the last position of each hash, -1 where it is not held."""
        found = np.full(len(wanted), -1, np.int64)
        for segment in self._segments:
            find_latest(segment.slots, segment.hashes, wanted, segment.first_position, found)
        return found

    def all(self, wanted: np.uint64) -> Int64s:
        """Return every position of a hash, rising; looks at all that is held."""
        return np.concatenate([segment.all(wanted) for segment in self._segments])

    def forget_before(self, position: int) -> None:
        """Give back segments all of whose positions are before this one."""
        while len(self._segments) > 1 and self._segments[0].end <= position:
            del self._segments[0]

    def _next_capacity(self) -> int:
        wanted = (self.end - self.first_position) // SHARE
        return min(max(1 << wanted.bit_length(), SMALLEST_SEGMENT), LARGEST_SEGMENT)
