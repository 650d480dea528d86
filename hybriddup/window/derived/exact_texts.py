"""Exact repeats in the window: the hash of a text leads to the latest kept post that has it."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.token_table import find_hashes, insert_hashes

SMALLEST = 1024
FULLEST = 2 / 3
"""Share of the slots that may be taken."""


class ExactTexts:
    """Kept posts by the hash of what they must be equal in. Equal hashes are looked at, and unequal texts told apart.

    Of posts with one text only the latest can still match: while an earlier one did, the latest was not kept. Where the
    latest is removed, the one before takes its place.
    """

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        """The kept post before, by the position of one with the same text."""
        self._hold(SMALLEST)

    def _hold(self, n_slots: int) -> None:
        self._hashes: UInt64s = np.zeros(n_slots, np.uint64)
        self._positions: Int64s = np.zeros(n_slots, np.int64)
        self._n = 0

    @property
    def n_bytes(self) -> int:
        """Memory of the table."""
        return self._hashes.nbytes + self._positions.nbytes

    def find(self, hashes: UInt64s) -> Int64s:
        """Return int64[n]: the position of the latest kept post with each hash, -1 where there is none."""
        found: Int64s = find_hashes(self._hashes, self._positions, hashes)
        return found

    def add(self, hashes: UInt64s, positions: Int64s, first_remembered: int) -> None:
        """Make kept posts findable; those before ``first_remembered`` are dropped when room is needed."""
        if self._n + len(hashes) > FULLEST * len(self._hashes):
            self._make_room(len(hashes), first_remembered)
        n_new, before = insert_hashes(self._hashes, self._positions, hashes, positions)
        self._n += int(n_new)
        same = np.flatnonzero(before >= first_remembered)
        self._before.update(zip(positions[same].tolist(), before[same].tolist(), strict=True))

    def remove(self, hash_of_text: UInt64s, position: int) -> None:
        """Find a kept post no more; ``hash_of_text`` uint64[1] is that of its text."""
        before = self._before.pop(position, -1)
        if self.find(hash_of_text)[0] == position:
            insert_hashes(self._hashes, self._positions, hash_of_text, np.array([before]))
        for later, one in self._before.items():
            if one == position:
                self._before[later] = before

    def entries(self, first_remembered: int) -> tuple[UInt64s, Int64s]:
        """Return the hashes and positions from a position on."""
        stay = (self._hashes != 0) & (self._positions >= first_remembered)
        return self._hashes[stay], self._positions[stay]

    def _make_room(self, n_more: int, first_remembered: int) -> None:
        hashes, positions = self.entries(first_remembered)
        self._before = {later: one for later, one in self._before.items() if one >= first_remembered}
        n_slots = SMALLEST
        while FULLEST * n_slots < 1.5 * len(hashes) + n_more:
            n_slots *= 2
        self._hold(n_slots)
        self._n = int(insert_hashes(self._hashes, self._positions, hashes, positions)[0])
