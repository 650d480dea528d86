"""The buckets of a window in HBase: who has a block key.

A bucket is a row. A post that enters is a *single*: a column named by its position, with the rest of its entry as its
value. HBase takes some microseconds for each cell that it reads, so whoever reads many singles *packs* them: writes a
column with all of them, and then removes them. Where two do that at once, both of their packs stay, until the next one
packs those; nothing is removed that does not stand elsewhere. Only posts that were long decided are packed, as the
others may leave.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt64s
from hybriddup.window.shared import Entries, Keyed, Needs, entry_type
from hybriddup.window.shared.packing import mix_keys
from hybriddup.window.shared.store import EntryArray
from hybriddup_hbase.table import Place, Row, Table

SLACK = 64
"""So many entries more than asked for a bucket holds, for posts that are being decided, and those that leave."""
FEWEST_PACKED = 32
"""Singles: fewer are left as they are."""
SINGLE = len(b"d:") + 8
"""Bytes of the column of a single."""
PACK = b"d:+"


class Found(NamedTuple):
    """Entries of buckets, by bucket and then by position."""

    bucket: Int64s
    """int64[n]: numbers of buckets, rising."""
    entries: EntryArray
    """[n]."""

    def take(self, chosen: Bools) -> Found:
        """Return some of them."""
        return Found(self.bucket[chosen], self.entries[chosen])


class Buckets:
    """Who has which block key.

    Parameters
    ----------
    table
        The window's.
    needs
        How many entries a bucket must hold, and of what.
    """

    def __init__(self, table: Table, needs: Needs) -> None:
        self._table = table
        self._most = needs.max_bucket_size + SLACK if needs.max_bucket_size else 0
        self._type = entry_type(needs.words)
        self._stored = np.dtype([("position", ">u8"), *entry_type(needs.words).descr[1:]])
        """As bytes stand in HBase: first the position, as in the column of a single."""

    # ---- writing

    def entries_of(self, texts: Keyed) -> dict[Place, bytes]:
        """Return where the entries of posts stand as singles, and what stands there."""
        size, packed = self._type.itemsize, texts.entries.tobytes()
        rows, _ = np.nonzero(texts.keys != NO_KEY)
        values = [packed[row * size + 8 : (row + 1) * size] for row in range(len(texts.entries))]
        return {place: values[row] for place, row in zip(self._singles(texts), rows.tolist(), strict=True)}

    def _singles(self, texts: Keyed) -> Iterator[Place]:
        rows, columns = np.nonzero(texts.keys != NO_KEY)
        positions = texts.entries["position"][rows].astype(">u8").tobytes()
        for place, row in enumerate(bucket_rows(texts.keys[rows, columns])):
            yield Place(row, b"d:" + positions[8 * place : 8 * place + 8])

    # ---- reading

    def read(self, keys: UInt64s, oldest: int, decided: int) -> Entries:
        """Return what buckets hold, the newest of them.

        Parameters
        ----------
        keys
            uint64[n]: the buckets, each any number of times.
        oldest
            The position from which on entries are of any use.
        decided
            Posts before this position are decided: many of them in one bucket are packed.
        """
        different, of_key = np.unique(keys, return_inverse=True)
        names = bucket_rows(different)
        rows = self._table.rows(names)
        found = self._newest(self.parse([rows.get(name, {}) for name in names]), oldest)
        self.tidy(names, rows, found, decided)
        counts = np.bincount(found.bucket, minlength=len(names)).astype(np.int64)
        first = np.cumsum(counts) - counts
        asked = counts[of_key]
        places = np.arange(asked.sum()) + np.repeat(first[of_key] - (np.cumsum(asked) - asked), asked)
        return Entries(asked, found.entries[places])

    def parse(self, rows: Sequence[Row]) -> Found:
        """Return the entries of buckets as they were read, each once."""
        parts = [b"".join([value if len(column) != SINGLE else column[2:] + value for column, value in row.items()])
                 for row in rows]  # fmt: skip
        n = np.array([len(part) // self._type.itemsize for part in parts], np.int64)
        entries = np.frombuffer(b"".join(parts), self._stored).astype(self._type)
        bucket = np.repeat(np.arange(len(rows)), n)
        order = np.lexsort((entries["position"], bucket))
        found = Found(bucket[order], entries[order])
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (np.diff(found.bucket) != 0) | (np.diff(found.entries["position"]) != 0)
        return found.take(is_first)

    def _newest(self, found: Found, oldest: int) -> Found:
        """Return those that are not too old, and of each bucket no more than are to be there."""
        found = found.take(found.entries["position"] >= oldest)
        if not self._most:
            return found
        ends = np.searchsorted(found.bucket, found.bucket, "right")
        return found.take(ends - np.arange(len(ends)) <= self._most)

    # ---- tidying

    def tidy(self, names: Sequence[bytes], rows: Mapping[bytes, Row], found: Found, decided: int) -> None:
        """Pack the singles of buckets that have many, and remove entries of which there are too many.

        Parameters
        ----------
        names
            Those of the buckets, by their numbers.
        rows
            As they were read.
        found
            What is to stay of them.
        decided
            As `read` takes it.
        """
        removed: list[Place] = []
        packs: dict[Place, bytes] = {}
        for number, name in enumerate(names):
            row = rows.get(name, {})
            if len(row) < FEWEST_PACKED:
                continue
            singles = sorted(column for column in row if len(column) == SINGLE)
            done = [column for column in singles if position_of(column) < decided]
            if len(done) >= FEWEST_PACKED:
                gone = set(done)
                first, last = np.searchsorted(found.bucket, [number, number + 1])
                packs[Place(name, PACK + os.urandom(8))] = self._pack(found.entries[first:last], decided)
                removed += [Place(name, column) for column in row if len(column) != SINGLE or column in gone]
            elif self._most and len(singles) > 2 * self._most:
                removed += [Place(name, column) for column in singles[: -self._most]]
        self._table.put({place: pack for place, pack in packs.items() if pack})
        self._table.delete(removed)

    def _pack(self, entries: EntryArray, decided: int) -> bytes:
        """Return those of the entries whose posts are decided as the value of a pack."""
        return entries[entries["position"] < decided].astype(self._stored).tobytes()


def bucket_rows(keys: UInt64s) -> list[bytes]:
    """Return the keys of the rows of buckets."""
    packed = mix_keys(keys).astype(">u8").tobytes()
    return [b"b" + packed[first : first + 8] for first in range(0, len(packed), 8)]


def position_of(column: bytes) -> int:
    """Return the position of a single."""
    return int.from_bytes(column[2:], "big")
