"""A hash table that maps hashes to consecutive numbers, assigned in the order in which hashes are added.

A window uses it to look up posts by id, and kept posts by text. The table consists of segments; a segment is freed when
all of its numbers are forgotten.
"""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.live.id_slots import fill_slots, find_latest

SMALLEST_SEGMENT = 1 << 14
LARGEST_SEGMENT = 1 << 24
SHARE = 4
"""Ratio of the size of the table to the size of a new segment. With a quarter of the table per segment, there are at
most a few dozen segments, and the memory of forgotten hashes is freed soon."""


class Segment:
    """The part of a hash table with the hashes numbered ``first`` to ``end - 1``."""

    def __init__(self, first: int, capacity: int) -> None:
        self.first = first
        self.end = first
        self.hashes: UInt64s = np.empty(capacity, np.uint64)
        self.slots: UInt32s = np.zeros(2 * capacity, np.uint32)

    @property
    def room(self) -> int:
        """Number of hashes that can still be added."""
        return self.first + len(self.hashes) - self.end

    def add(self, hashes: UInt64s) -> None:
        """Add up to ``room`` hashes, which get the next numbers."""
        place = self.end - self.first
        self.hashes[place : place + len(hashes)] = hashes
        fill_slots(self.slots, self.hashes, place, place + len(hashes))
        self.end += len(hashes)

    def all(self, wanted: np.uint64) -> Int64s:
        """Return all numbers of a hash, ascending; scans the whole segment."""
        held = self.hashes[: self.end - self.first]
        return np.flatnonzero(held == wanted).astype(np.int64) + self.first


class HashTable:
    """Maps each hash to its numbers: a hash gets the next number each time it is added."""

    def __init__(self, first: int = 0) -> None:
        self._segments = [Segment(first, SMALLEST_SEGMENT)]

    @property
    def first(self) -> int:
        """The smallest number in the table."""
        return self._segments[0].first

    @property
    def end(self) -> int:
        """The number that the next hash will get."""
        return self._segments[-1].end

    @property
    def n_bytes(self) -> int:
        """Memory that the table takes, in bytes."""
        return sum(segment.hashes.nbytes + segment.slots.nbytes for segment in self._segments)

    def add(self, hashes: UInt64s) -> None:
        """Add hashes, which get the next numbers."""
        while len(hashes):
            room = self._segments[-1].room
            self._segments[-1].add(hashes[:room])
            hashes = hashes[room:]
            if len(hashes):
                n = 1 << ((self.end - self.first) // SHARE).bit_length()
                self._segments.append(Segment(self.end, min(max(n, SMALLEST_SEGMENT), LARGEST_SEGMENT)))

    def latest(self, wanted: UInt64s) -> Int64s:
        """Return int64[n]: the largest number of each hash, -1 if the hash is not in the table."""
        found = np.full(len(wanted), -1, np.int64)
        for segment in self._segments:
            find_latest(segment.slots, segment.hashes, wanted, segment.first, found)
        return found

    def all(self, wanted: np.uint64) -> Int64s:
        """Return all numbers of a hash, ascending; scans the whole table."""
        return np.concatenate([segment.all(wanted) for segment in self._segments])

    def forget_before(self, number: int) -> None:
        """Free the segments whose numbers are all smaller than ``number``."""
        while len(self._segments) > 1 and self._segments[0].end <= number:
            del self._segments[0]
