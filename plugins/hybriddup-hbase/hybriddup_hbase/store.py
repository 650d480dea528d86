"""The posts of a shared window in HBase.

A window is a table. HBase drops the cells of the family `d` when their time to live is over, and keeps the cells of the
family `m`. The first byte of a row's key is the kind of the row:

- `b` and a block key: a bucket; see `hybriddup_hbase.buckets`.
- `r` and a position, its bits in reverse, so that the newest posts are spread over all servers: the post itself, and
  why it is a duplicate.
- `s` and the number of a group of positions, its bits in reverse: a byte for the state of each. A batch has a group of
  its own, so that its states change by one atomic call: HBase does some hundreds a second on a connection.
- `n` and a digest of a name, `t` and a transaction: which post has an id or a text; see `hybriddup_hbase.names`.
- `m` and `f`: the counter of positions, the time of the window, finished batches and counts; see
  `hybriddup_hbase.blocks`.
- `v`: values by name; see `hybriddup_hbase.values`.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.shared_windows import Change, Entries, Holder, Keyed, Needs, PostRecord, State, Taken
from hybriddup.shared_windows.packing import (
    damaged,
    pack_evidence,
    pack_post,
    refusing_damage,
    unpack_evidence,
    unpack_post,
)
from hybriddup.shared_windows.store import UNDECIDED
from hybriddup_hbase.blocks import GROUP, Blocks
from hybriddup_hbase.buckets import Buckets
from hybriddup_hbase.names import Names
from hybriddup_hbase.table import Place, Row, Table
from hybriddup_hbase.tables import Tables
from hybriddup_hbase.values import Values

logger = logging.getLogger("hybriddup")

SPARE = 1.5
"""Number of horizons for which HBase keeps posts, so that nothing is forgotten if a window's time stops for a while."""
NOT_THERE, GIVEN_UP = 0, 6
"""The states of a position without a post: one may still be announced, or the position was given up before that."""
NONCE = 4
"""Random bytes in front of the states of a group."""
POST, EVIDENCE, STATES = b"d:p", b"d:e", b"d:s"


class HBaseStore:
    """A `hybriddup.shared_windows.SharedStore` in HBase.

    Parameters
    ----------
    table
        Table of the window.
    horizon
        Horizon with which the window was created, in seconds.
    needs
        Requirements of the window: the sizes of buckets and fingerprints.
    """

    def __init__(self, table: Table, horizon: float, needs: Needs) -> None:
        self._table, self._horizon = table, horizon
        self._blocks = Blocks(table, horizon)
        self._buckets = Tables(table) if needs.segments else Buckets(table, needs)
        self._names, self._values = Names(table), Values(table)
        self._settled = 0
        """The position before which every post was decided when positions were taken last."""

    def close(self) -> None:
        """Release the connections; a second call does nothing."""
        self._table.close()

    # ---- records

    def take(self, n: int) -> Taken:
        """Reserve positions for ``n`` posts as an unfinished block."""
        taken = self._blocks.take(n)
        self._settled = taken.settled
        return taken

    def announce(self, records: Sequence[PostRecord], holders: Sequence[Holder]) -> list[int]:
        """Store new records, then claim names, unless a post was given up before.

        States are read after the posts were written: a process that gives posts up later finds their texts.
        """
        positions = [one.post.position for one in records]
        self._table.each(self._begin, list(by_group(positions).items()))
        self._table.put({Place(row_of(b"r", one.post.position), POST): pack_post(one.post, one.watermark)
                         for one in records})  # fmt: skip
        is_undecided = UNDECIDED.issuperset(self._states(positions).values())
        return self._names.hold(holders) if is_undecided else []

    def _begin(self, group: tuple[bytes, list[int]]) -> None:
        """Set the states of posts of a group to pending, unless they were given up; StoreError if they have states."""
        row, positions = group
        held: bytes | None = None
        while True:
            states = states_in(held, max(positions))
            for position in positions:
                if states[position % GROUP] not in (NOT_THERE, GIVEN_UP):
                    raise damaged("the counter of positions, which handed out positions of other posts")
                if states[position % GROUP] == NOT_THERE:
                    states[position % GROUP] = State.PENDING
            if self._table.swap(Place(row, STATES), held, packed_states(states)):
                return
            held = self._table.row(row).get(STATES)

    def _states(self, positions: Sequence[int]) -> dict[int, State | None]:
        """Return the states of posts, by position; None = there is none."""
        rows = self._table.rows(list(by_group(positions)))
        groups = {row: states_in(found.get(STATES)) for row, found in rows.items()}
        return {one: state_in(groups.get(group_row(one), bytearray()), one) for one in positions}

    def records(self, positions: Int64s) -> list[PostRecord | None]:
        """Return the records at these positions; states are read first, as they are written after evidence."""
        asked = positions.tolist()
        states = self._states(asked)
        posts = self._table.rows([row_of(b"r", one) for one, state in states.items() if state is not None])
        return [record_of(states[one], posts.get(row_of(b"r", one), {})) for one in asked]

    def change(self, changes: Sequence[Change]) -> list[State]:
        """Store the evidence of duplicates, then change states, atomically for each group; return them afterwards."""
        self._table.put({Place(row_of(b"r", one.position), EVIDENCE): pack_evidence(one.evidence)
                         for one in changes if one.evidence is not None})  # fmt: skip
        wanted = {one.position: one for one in changes}
        groups = [(row, [wanted[one] for one in positions]) for row, positions in by_group(wanted).items()]
        states: dict[int, State] = {}
        for found in self._table.each(self._change_group, groups):
            states |= found
        return [states[one.position] for one in changes]

    def _change_group(self, group: tuple[bytes, list[Change]]) -> dict[int, State]:
        """Change states of one group; return them, by position."""
        row, changes = group
        while True:
            held = self._table.row(row).get(STATES)
            states = states_in(held, max(one.position for one in changes))
            before = bytes(states)
            for position, expected, to, _ in changes:
                if state_in(states, position) in expected:
                    states[position % GROUP] = to
                elif to is State.GONE and states[position % GROUP] == NOT_THERE:
                    states[position % GROUP] = GIVEN_UP
            if states == before or self._table.swap(Place(row, STATES), held, packed_states(states)):
                return {one.position: state_in(states, one.position) or State.GONE for one in changes}

    def remove(self, position: int, kept: float | None) -> None:
        """Remove the record of a decided post; unless ``kept`` is None, count one kept post less at that time.

        The state of the post stays, but means nothing without the record.
        """
        row = row_of(b"r", position)
        self._table.delete([Place(row, POST), Place(row, EVIDENCE)])
        if kept is not None:
            try:
                self._blocks.uncount(position // GROUP, kept)
            except StoreError as error:
                logger.warning("a post was deleted, but still counts as kept: %s", error)

    # ---- names and buckets

    def hold(self, holders: Sequence[Holder]) -> list[int]:
        """Claim names; return the position of the holder of each name afterwards."""
        return self._names.hold(holders)

    def positions_of(self, names: Sequence[bytes]) -> list[int | None]:
        """Return the position of the holder of each name; None if it has none."""
        return self._names.positions_of(names)

    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        """Add posts to the buckets of their keys, then return the contents of the buckets of ``keys``."""
        self._buckets.enter(texts)
        return self._buckets.read(keys, self._settled)

    def leave(self, texts: Keyed) -> None:
        """Remove posts from the buckets of their keys."""
        self._buckets.leave(texts)

    # ---- values and times

    def meta(self, key: str) -> bytes | None:
        """Return the value of a key; None if it has none."""
        return self._values.get(key)

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value if the key has none; return the value that it has afterwards."""
        return self._values.set_first(key, value)

    def finish(self, first: int, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        """Remove the posts ``leaving`` from their buckets, advance the time of the window, and finish the block."""
        self._buckets.remove(leaving)
        self._blocks.move_on(read, watermark)
        self._blocks.finish(first // GROUP, kept)

    def rewind(self, watermark: float) -> None:
        """Set the time of the window back to ``watermark``."""
        self._blocks.rewind(watermark)

    def watermark(self) -> float:
        """Return the time of the window; minus infinity in a new one."""
        return self._blocks.watermark()

    def n_kept_after(self, time: float) -> int:
        """Return the approximate number of kept posts with a later time."""
        return self._blocks.n_kept_after(time)

    def n_bytes(self) -> None:
        """Return None: the Thrift server does not report the size of a table."""


def row_of(kind: bytes, number: int) -> bytes:
    """Return the row key for a number: the kind of row, then the 64 bits of the number in reverse."""
    return kind + int(f"{number:064b}"[::-1], 2).to_bytes(8, "big")


def group_row(position: int) -> bytes:
    """Return the key of the row with the state of a post."""
    return row_of(b"s", position // GROUP)


def by_group(positions: Iterable[int]) -> dict[bytes, list[int]]:
    """Group positions by the row that has their states."""
    found: dict[bytes, list[int]] = defaultdict(list)
    for position in positions:
        found[group_row(position)].append(position)
    return found


def packed_states(states: bytes | bytearray) -> bytes:
    """Serialize the states of a group to a cell. Random bytes make it unique, even among cells with equal states."""
    return os.urandom(NONCE) + states


def states_in(cell: bytes | None, position: int = 0) -> bytearray:
    """Return the states in a cell, one byte each, filled up with `NOT_THERE` to include the state of ``position``."""
    return bytearray((cell or b"")[NONCE:].ljust(position % GROUP + 1, bytes([NOT_THERE])))


def state_in(states: bytearray, position: int) -> State | None:
    """Look up the state of a post among the states of its group; return None if it has none."""
    place = position % GROUP
    state = states[place] if place < len(states) else NOT_THERE
    with refusing_damage("the state of a post"):
        return None if state in (NOT_THERE, GIVEN_UP) else State(state)


def record_of(state: State | None, row: Row) -> PostRecord | None:
    """Build a record from its state and its row; return None if either is missing."""
    if state is None or POST not in row:
        return None
    evidence = unpack_evidence(row.get(EVIDENCE, b"")) if state is State.DUPLICATE else None
    return PostRecord(state, *unpack_post(row[POST], evidence))
