"""A table in a dictionary, whose calls take turns at random: for the steps of several processes in many orders."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random
from time import sleep
from typing import Any

from hybriddup_hbase.table import Place, Row


class KilledError(Exception):
    """A process has ended."""


class Content:
    """What a table holds, for all who have it open."""

    def __init__(self) -> None:
        self.rows: dict[bytes, Row] = defaultdict(dict)
        self.lock = threading.Lock()


class PlainTable:
    """A `hybriddup_hbase.table.Table` of one process, which ends after a number of calls; None = never.

    As in HBase, a call for several rows handles one after the other.
    """

    def __init__(self, content: Content, seed: int, n_calls: int | None = None) -> None:
        self._content, self._random, self._left = content, Random(seed), n_calls

    def _turn(self) -> None:
        """Let others have their turn."""
        sleep(self._random.choice([0, 0, 1e-5, 1e-4, 1e-3]))
        if self._left is not None:
            if self._left == 0:
                raise KilledError
            self._left -= 1

    def each(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Return what a function returns for each item."""
        return list(map(function, items))

    def row(self, key: bytes) -> Row:
        """Return a row."""
        with self._content.lock:
            return dict(self._content.rows.get(key, {}))

    def rows(self, keys: Sequence[bytes]) -> dict[bytes, Row]:
        """Return rows, one after the other."""
        self._turn()
        found = {}
        for key in self._random.sample(list(keys), len(keys)):
            sleep(0)
            if row := self.row(key):
                found[key] = row
        return found

    def put(self, values: Mapping[Place, bytes]) -> None:
        """Write values, one after the other."""
        for place, value in self._random.sample(list(values.items()), len(values)):
            self._turn()
            with self._content.lock:
                self._content.rows[place.row][place.column] = value

    def delete(self, places: Sequence[Place]) -> None:
        """Remove values."""
        for place in places:
            self._turn()
            with self._content.lock:
                self._content.rows[place.row].pop(place.column, None)

    def swap(self, place: Place, expected: bytes | None, value: bytes) -> bool:
        """Compare and set."""
        self._turn()
        with self._content.lock:
            is_due = self._content.rows[place.row].get(place.column) == expected
            if is_due:
                self._content.rows[place.row][place.column] = value
            return is_due
