"""The buckets of a window in HBase: the posts with each block key.

A bucket is a row. A post that enters is a *single*: a column named by its position, with the rest of its entry as the
value. HBase takes some microseconds for each cell that it reads, so a process that reads a bucket with many singles
*packs* the oldest ones, 32 at a time: it writes a column with all of them, and then removes them. Only posts of
finished blocks are packed, since others may leave. A pack never changes and is named by a digest of its content, so
that two processes that pack the same entries write the same cell.

A post that leaves a bucket because it was deleted, or given up by another process, leaves a *mark*. The mark hides the
entry of the post, which may be in a pack, or may be written late by the process that the post belonged to.

Entries that are older than the newest ones of finished blocks are removed, packs as a whole. The others are dropped by
HBase when their time is over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt64s
from hybriddup.shared_windows import Entries, Keyed, Needs, entry_type
from hybriddup.shared_windows.packing import mix_keys, refusing_damage
from hybriddup.shared_windows.store import EntryArray
from hybriddup_hbase.table import FOR_GOOD, Place, Row, Table

PACKED = 32
"""Number of singles in a pack."""
SINGLE = len(b"d:") + 8
"""Length of the column name of a single, in bytes."""
PACK, MARK = b"d:+", b"d:-"


class Found(NamedTuple):
    """Entries of buckets, by bucket and then by position."""

    bucket: Int64s
    """int64[n]: number of the bucket of each entry, in ascending order."""
    entries: EntryArray
    """entry_type[n]: the entries."""

    def take(self, chosen: Bools) -> Found:
        """Return the chosen entries."""
        return Found(self.bucket[chosen], self.entries[chosen])


class Buckets:
    """Reads and writes the buckets of a window.

    Parameters
    ----------
    table
        Table of the window.
    needs
        Requirements of the window: the sizes of buckets and fingerprints.
    """

    def __init__(self, table: Table, needs: Needs) -> None:
        self._table, self._most = table, needs.max_bucket_size
        self._type = entry_type(needs.words)
        self._stored = np.dtype([("position", ">u8"), *entry_type(needs.words).descr[1:]])
        """Dtype of entries in HBase: the position has its highest byte first, as in the column of a single."""

    # ---- writing

    def enter(self, texts: Keyed) -> None:
        """Add posts to the buckets of their keys."""
        self._table.put(self._singles(texts))

    def remove(self, texts: Keyed) -> None:
        """Remove posts of an unfinished block from the buckets of their keys."""
        self._table.delete(list(self._singles(texts)), FOR_GOOD)

    def leave(self, texts: Keyed) -> None:
        """Remove posts of any block from the buckets of their keys."""
        self.remove(texts)
        self._table.put({Place(row, MARK + column[2:]): b"1" for row, column in self._singles(texts)})

    def _singles(self, texts: Keyed) -> dict[Place, bytes]:
        size, packed = self._type.itemsize, texts.entries.tobytes()
        rows, columns = np.nonzero(texts.keys != NO_KEY)
        names = bucket_rows(texts.keys[rows, columns])
        positions = texts.entries["position"].astype(">u8").tobytes()
        return {Place(name, b"d:" + positions[8 * row : 8 * row + 8]): packed[row * size + 8 : (row + 1) * size]
                for name, row in zip(names, rows.tolist(), strict=True)}  # fmt: skip

    # ---- reading

    def read(self, keys: UInt64s, settled: int) -> Entries:
        """Return the contents of buckets: the newest entries before the position ``settled``, and all others.

        Parameters
        ----------
        keys
            uint64[n]: the buckets, each once.
        settled
            Posts before this position are of finished blocks: many of them in one bucket are packed.
        """
        names = bucket_rows(keys)
        rows = self._table.rows(names)
        found = self.parse([rows.get(name, {}) for name in names])
        stays = self._stays(found, settled)
        self._tidy(names, rows, found.take(stays), settled)
        found = found.take(stays)
        return Entries(np.bincount(found.bucket, minlength=len(names)).astype(np.int64), found.entries)

    def parse(self, rows: Sequence[Row]) -> Found:
        """Parse the rows of buckets; return each entry once, without entries that a mark hides."""
        cells = [[column[2:] + value if len(column) == SINGLE else value
                  for column, value in row.items() if len(column) == SINGLE or column.startswith(PACK)]
                 for row in rows]  # fmt: skip
        n = np.array([sum(map(len, some)) for some in cells], np.int64) // self._type.itemsize
        with refusing_damage("a bucket"):
            if any(len(cell) % self._type.itemsize for some in cells for cell in some):
                raise ValueError
            entries = np.frombuffer(b"".join(cell for some in cells for cell in some), self._stored).astype(self._type)
        bucket = np.repeat(np.arange(len(rows)), n)
        order = np.lexsort((entries["position"], bucket))
        found = Found(bucket[order], entries[order])
        is_first = np.ones(len(order), np.bool_)
        is_first[1:] = (np.diff(found.bucket) != 0) | (np.diff(found.entries["position"]) != 0)
        return without_marked(found.take(is_first), rows)

    def _stays(self, found: Found, settled: int) -> Bools:
        """Return bool[n]: whether each entry stays: the newest settled ones of each bucket, and all unsettled ones."""
        is_settled = found.entries["position"] < settled
        if not self._most:
            return np.ones_like(is_settled)
        n_before = np.cumsum(is_settled)
        n_settled = n_before[np.searchsorted(found.bucket, found.bucket, "right") - 1]
        return ~is_settled | (n_settled - n_before < self._most)

    # ---- tidying

    def _tidy(self, names: Sequence[bytes], rows: Mapping[bytes, Row], found: Found, settled: int) -> None:
        """Pack the singles of buckets that have many, and remove entries that are too old.

        Parameters
        ----------
        names
            The row key of each bucket, in the order of bucket numbers.
        rows
            The buckets as they were read.
        found
            The entries that stay.
        settled
            Posts before this position are of finished blocks.
        """
        removed: list[Place] = []
        packs: dict[Place, bytes] = {}
        for number, name in enumerate(names):
            row = rows.get(name, {})
            if len(row) < PACKED:
                continue
            entries = found.entries[slice(*np.searchsorted(found.bucket, [number, number + 1]))]
            oldest = int(entries["position"].min(initial=settled))
            singles = sorted(column for column in row if len(column) == SINGLE and position_in(column) < settled)
            staying = [column for column in singles if position_in(column) >= oldest]
            for first in range(0, len(staying) - PACKED + 1, PACKED):
                packed = b"".join(column[2:] + row[column] for column in staying[first : first + PACKED])
                packs[Place(name, PACK + hashlib.blake2b(packed, digest_size=8).digest())] = packed
            gone = [*singles[: len(singles) - len(staying)], *staying[: len(staying) - len(staying) % PACKED]]
            removed += [Place(name, column) for column in [*gone, *self._old_packs(row, oldest)]]
        self._table.put(packs)
        self._table.delete(removed)

    def _old_packs(self, row: Row, oldest: int) -> list[bytes]:
        """Return the columns of the packs in ``row`` whose entries are all before the position ``oldest``."""
        return [column for column, value in row.items() if column.startswith(PACK) and len(column) != SINGLE
                and position_in(b"d:" + value[-self._type.itemsize :]) < oldest]  # fmt: skip


def without_marked(found: Found, rows: Sequence[Row]) -> Found:
    """Drop the entries that have a mark in the row of their bucket."""
    stays = np.ones(len(found.bucket), np.bool_)
    for number, row in enumerate(rows):
        for column in row:
            if column.startswith(MARK) and len(column) != SINGLE:
                stays &= (found.bucket != number) | (found.entries["position"] != position_in(b"d:" + column[3:]))
    return found.take(stays)


def bucket_rows(keys: UInt64s) -> list[bytes]:
    """Convert block keys to the row keys of their buckets."""
    packed = mix_keys(keys).astype(">u8").tobytes()
    return [b"b" + packed[first : first + 8] for first in range(0, len(packed), 8)]


def position_in(column: bytes) -> int:
    """Return the position that follows the family in a column name."""
    return int.from_bytes(column[2:10], "big")
