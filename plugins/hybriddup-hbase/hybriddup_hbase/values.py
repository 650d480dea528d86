"""Values by name that all processes of a window use, such as its recipe."""

from __future__ import annotations

import os

from hybriddup.shared_windows.packing import refusing_damage
from hybriddup_hbase.table import Place, Table

PART = 2**20
"""Maximum size of a part of a value, in bytes: HBase refuses cells of 10 MB."""
NAMED = b"m"
"""Row with a cell for each value, which names its parts: a token of 16 bytes, and the number of parts."""


class Values:
    """The values of a window.

    Parameters
    ----------
    table
        Table of the window.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: str) -> bytes | None:
        """Return the value of a key, put together from its parts; None if it has none."""
        named = self._table.row(NAMED).get(b"m:v" + key.encode())
        if named is None:
            return None
        with refusing_damage(f"the value of {key}"):
            rows = [place.row for place in parts_of(named[:16], int(named[16:]))]
            found = self._table.rows(rows)
            return b"".join(found[row][b"m:v"] for row in rows)

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value if the key has none; return the value that it has afterwards.

        The parts of the value are written first, then the cell that names them.
        """
        stored = self.get(key)
        if stored is not None:
            return stored
        token, parts = os.urandom(16), [value[first : first + PART] for first in range(0, len(value), PART)]
        places = parts_of(token, len(parts))
        for place, part in zip(places, parts, strict=True):
            self._table.put({place: part})
        if not self._table.swap(Place(NAMED, b"m:v" + key.encode()), None, token + b"%d" % len(parts)):
            self._table.delete(places)
        return self.get(key) or b""


def parts_of(token: bytes, n: int) -> list[Place]:
    """Return the places of the ``n`` parts of a value, which is identified by its token."""
    return [Place(b"v" + token + b"%d" % number, b"m:v") for number in range(n)]
