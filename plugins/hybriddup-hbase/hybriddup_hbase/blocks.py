"""Positions and their blocks, finished or not; counts of kept posts; the time of the window.

Positions come in groups of 1,024; a block is a group, so that the states of its posts are one cell. A counter hands out
groups. A group is unfinished until it is recorded in one of eight *ledgers*, each for every eighth group. A ledger is
one cell, so that a group is finished and its kept posts are counted by one compare-and-set, and only once.

The counter, the time of the window and its token are one row. A window that was emptied or made anew has no token, or
another one.
"""

from __future__ import annotations

import json
import os
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hybriddup.errors import StoreError
from hybriddup.shared_windows import Block, Taken
from hybriddup.shared_windows.packing import damaged, refusing_damage
from hybriddup_hbase.table import Place, Row, Table

GROUP = 1024
"""Number of positions in a group."""
N_LEDGERS = 8
SLICES = 64
"""Number of slices of time in a horizon."""
SLICES_COUNTED = 160
"""Number of newest slices whose counts are stored: more slices than HBase has posts for."""
NEVER = float("-inf")
NEXT, WATERMARK, TOKEN = Place(b"m", b"m:n"), Place(b"m", b"m:w"), Place(b"m", b"m:t")
LEDGERS = tuple(Place(b"f%d" % number, b"m:f") for number in range(N_LEDGERS))


@dataclass
class Ledger:
    """Records which groups are finished, for every eighth group, and how many posts they kept per time slice."""

    low: int
    """The first group that is unfinished, or was not handed out yet."""
    done: set[int] = field(default_factory=set)
    """Finished groups after ``low``."""
    kept: Counter[int] = field(default_factory=Counter)
    """Number of kept posts by time slice."""

    def has(self, group: int) -> bool:
        """Return whether a group is finished."""
        return group < self.low or group in self.done

    def finish(self, group: int) -> None:
        """Record a group as finished."""
        self.done.add(group)
        while self.low in self.done:
            self.done.remove(self.low)
            self.low += N_LEDGERS

    def unfinished(self, end: int) -> list[int]:
        """Return the unfinished groups before ``end``."""
        return [group for group in range(self.low, end, N_LEDGERS) if group not in self.done]

    def pack(self) -> bytes:
        """Serialize the ledger, with the counts of the newest slices only."""
        edge = max(self.kept, default=0) - SLICES_COUNTED
        kept = {one: n for one, n in self.kept.items() if one > edge}
        return json.dumps([self.low, sorted(self.done), kept], separators=(",", ":")).encode()


def unpack_ledger(packed: bytes) -> Ledger:
    """Deserialize a ledger."""
    with refusing_damage("the list of finished batches"):
        low, done, kept = json.loads(packed)
        return Ledger(int(low), set(map(int, done)), Counter({int(one): int(n) for one, n in kept.items()}))


class Blocks:
    """The blocks, the counts and the time of a window.

    Parameters
    ----------
    table
        Table of the window.
    horizon
        Horizon with which the window was created, in seconds.
    """

    def __init__(self, table: Table, horizon: float) -> None:
        self._table, self._slice = table, horizon / SLICES
        self._token = self._join()

    def _join(self) -> bytes:
        """Return the token of the window; a new window gets ledgers, and then a token."""
        held = self._table.row(TOKEN.row).get(TOKEN.column)
        if held is None:
            for number, ledger in enumerate(LEDGERS):
                self._table.swap(ledger, None, Ledger(number).pack())
            self._table.swap(TOKEN, None, os.urandom(16))
            held = self._table.row(TOKEN.row)[TOKEN.column]
        return held

    def _read(self, *ledgers: Place) -> tuple[Row, list[bytes]]:
        """Return the common row and ledgers; StoreError if the table is another window by now."""
        rows = self._table.rows([TOKEN.row, *(one.row for one in ledgers)])
        common = rows.get(TOKEN.row, {})
        if common.get(TOKEN.column) != self._token:
            raise StoreError(
                "the table of the window was emptied or replaced while the window was open, so posts that it kept are "
                "gone. Restore a backup of the table, or open the window again to begin a new one."
            )
        return common, [rows.get(one.row, {}).get(one.column, b"") for one in ledgers]

    def _ledgers(self) -> list[Ledger]:
        return list(map(unpack_ledger, self._read(*LEDGERS)[1]))

    # ---- blocks

    def take(self, n: int) -> Taken:
        """Reserve a group of positions for ``n`` posts, at most `GROUP`; reserve none if ``n`` is 0."""
        if n > GROUP:
            raise ValueError(f"a block has at most {GROUP} positions; got {n}")
        taken = self._table.add(NEXT, 1) - 1 if n else None
        common, packed = self._read(*LEDGERS)
        ledgers, end = list(map(unpack_ledger, packed)), counter_in(common)
        group = end if taken is None else taken
        if ledgers[group % N_LEDGERS].has(group):
            raise damaged("the counter of positions, which went back")
        unfinished = sorted(one for ledger in ledgers for one in ledger.unfinished(end))
        return Taken(GROUP * group, watermark_in(common), tuple(Block(GROUP * one, GROUP) for one in unfinished))

    def finish(self, group: int, kept: Sequence[float]) -> None:
        """Finish a group and count its posts kept at the times ``kept``, unless the group is finished already."""

        def add(ledger: Ledger) -> bool:
            if ledger.has(group):
                return False
            ledger.finish(group)
            ledger.kept.update(map(self._slice_of, kept))
            return True

        self._change(group, add)

    def uncount(self, group: int, time: float) -> None:
        """Subtract a post of a group, kept at ``time``, from the counts."""

        def subtract(ledger: Ledger) -> bool:
            ledger.kept[self._slice_of(time)] -= 1
            return True

        self._change(group, subtract)

    def _change(self, group: int, change: Callable[[Ledger], bool]) -> None:
        """Apply ``change`` to the ledger of a group, and store the ledger if it returns True."""
        place = LEDGERS[group % N_LEDGERS]
        while True:
            _, (held,) = self._read(place)
            ledger = unpack_ledger(held)
            if not change(ledger) or self._table.swap(place, held, ledger.pack()):
                return

    def _slice_of(self, time: float) -> int:
        return int(time // self._slice)

    # ---- counts

    def n_kept_after(self, time: float) -> int:
        """Return the number of kept posts in slices that end after a time."""
        counts = [one.kept for one in self._ledgers()]
        return sum(n for some in counts for one, n in some.items() if (one + 1) * self._slice > time)

    # ---- the time of the window

    def watermark(self) -> float:
        """Return the time of the window; minus infinity in a new one."""
        return watermark_in(self._read()[0])

    def move_on(self, read: float, watermark: float) -> None:
        """Advance the time of the window to ``watermark``, unless it was set back below ``read`` meanwhile."""
        held, moved = None if read == NEVER else repr(read).encode(), repr(watermark).encode()
        while read < watermark and not self._table.swap(WATERMARK, held, moved):
            common, _ = self._read()
            held = common.get(WATERMARK.column)
            if not read <= watermark_in(common) < watermark:
                return

    def rewind(self, watermark: float) -> None:
        """Set the time of the window back to ``watermark``."""
        while not self._table.swap(WATERMARK, self._read()[0].get(WATERMARK.column), repr(watermark).encode()):
            pass


def watermark_in(common: Row) -> float:
    """Return the time of the window in the common row."""
    with refusing_damage("the time of the window"):
        return float(common.get(WATERMARK.column, NEVER))


def counter_in(common: Row) -> int:
    """Return the number of the next group to hand out, from the common row."""
    with refusing_damage("the counter of positions"):
        return int(struct.unpack(">q", common.get(NEXT.column, bytes(8)))[0])
