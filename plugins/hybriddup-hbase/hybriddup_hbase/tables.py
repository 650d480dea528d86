"""The classic tables of a window in HBase: a row for each table and fingerprint, read by scans of a prefix.

The key of a row has 13 bytes: a block of the fingerprint, the *segment*, in 4 bytes; the number of the table in 1; the
fingerprint in 8; each with the highest byte first. A cell is a post: its column is ``b:`` and the position in 8 bytes,
its value the length in 4. Together they are a cell of `hybriddup.shared_windows.classic`.

The rows are in a column family of their own, which HBase stores and scans without the other rows of the window. Each
post has cells of its own, so that posts enter and leave without regard to others. HBase drops them in time.
"""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.shared_windows import Entries, Keyed
from hybriddup.shared_windows.classic import CELL, cells_of, entries_of
from hybriddup.shared_windows.packing import refusing_damage
from hybriddup_hbase.table import FOR_GOOD, Place, Table

FAMILY = b"b:"


class Tables:
    """Reads and writes the rows of the tables.

    Parameters
    ----------
    table
        Table of the window.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def enter(self, texts: Keyed) -> None:
        """Add posts to the rows of their fingerprints."""
        self._table.put(places_of(texts))

    def leave(self, texts: Keyed) -> None:
        """Remove posts from the rows of their fingerprints."""
        self._table.delete(list(places_of(texts)), FOR_GOOD)

    remove = leave

    def read(self, keys: UInt64s, settled: int) -> Entries:  # noqa: ARG002  (nothing is packed)
        """Return the posts in the rows that begin with the segments and tables of ``keys``, which are distinct."""
        found = self._table.scan(prefixes_of(keys), b"b")
        cells = [[key[5:] + column[len(FAMILY) :] + value for key, row in rows for column, value in row.items()]
                 for rows in found]  # fmt: skip
        with refusing_damage("a row of a fingerprint"):
            if any(len(cell) != CELL.itemsize for some in cells for cell in some):
                raise ValueError
        packed = np.frombuffer(b"".join(cell for some in cells for cell in some), CELL)
        return entries_of(np.array(list(map(len, cells)), np.int64), packed)


def places_of(texts: Keyed) -> dict[Place, bytes]:
    """Return the cells of posts: the value of each by its row and column."""
    keys, cells = cells_of(texts)
    packed, size = cells.tobytes(), CELL.itemsize
    return {
        Place(prefix + packed[at : at + 8], FAMILY + packed[at + 8 : at + 16]): packed[at + 16 : at + size]
        for prefix, at in zip(prefixes_of(keys), range(0, len(packed), size), strict=True)
    }


def prefixes_of(keys: UInt64s) -> list[bytes]:
    """Convert keys to prefixes of row keys; a key is a segment above a byte with the number of the table."""
    packed = keys.astype(">u8").tobytes()
    return [packed[first + 3 : first + 8] for first in range(0, len(packed), 8)]
