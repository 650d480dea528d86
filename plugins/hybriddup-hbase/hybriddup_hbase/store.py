"""The posts of a shared window in HBase.

A window is a table. What goes by itself stands in the family `d`, whose cells HBase drops when their time is over; what
stays, in the family `m`. The first byte of a row's key says what it is:

- `b` and a block key: a bucket; see `hybriddup_hbase.buckets`.
- `r` and a position, its bits in reverse, so that all servers have a share of the newest: the post itself, and why it
  is a duplicate.
- `s` and the number of a group of positions, its bits in reverse: a digit for the state of each. A batch takes a group
  of its own, so that its states change by one atomic call, where HBase does some hundreds a second on a connection.
- `i` and an id: the position of the post that has it.
- `k`: how many posts were kept, by slices of time; by slices of the clock, how many bytes were written, and which group
  was the first.
- `m`: what all go by: the time of the window, the next group, and values by name. `v`: parts of large values.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.records import PostId
from hybriddup.window.shared import Change, Entries, Holder, Keyed, Needs, Record, State, Taken
from hybriddup.window.shared.packing import id_bytes, pack_evidence, pack_post, unpack_evidence, unpack_post
from hybriddup.window.shared.store import UNDECIDED
from hybriddup_hbase.buckets import Buckets
from hybriddup_hbase.table import Place, Row, Table

GROUP = 1024
"""Positions of a group."""
SLICES = 64
"""Into so many slices of time a horizon is divided, and of the clock the time for which HBase holds posts."""
SPARE = 1.5
"""HBase holds posts for so many horizons: a window whose time stands still for a while forgets nothing."""
OF_USE = 47
"""Slices of the clock: a tenth more than a horizon."""
UNDECIDED_GROUPS = 16
"""In so many groups, the last that were taken, posts may not be decided yet."""
PART = 2**20
"""Bytes of the parts of large values: HBase refuses cells of 10 MB."""
CELL = 24
"""Bytes that HBase needs for a cell besides its row, column and value."""
MOST_REMEMBERED = 100_000
"""Groups."""
NOT_THERE = 0
"""Stands for the state of a position that no post has."""
POST, EVIDENCE, STATES, HOLDER = b"d:p", b"d:e", b"d:s", b"d:h"
WATERMARK, NEXT = Place(b"m", b"m:w"), Place(b"m", b"m:n")
COUNTS = b"k"
NEVER = float("-inf")


class HBaseStore:
    """A `hybriddup.window.shared.SharedStore` in HBase.

    Parameters
    ----------
    ttl
        Seconds after which HBase drops what it holds.
    """

    def __init__(self, table: Table, needs: Needs, ttl: float) -> None:
        self._table, self._needs, self._ttl = table, needs, ttl
        self._buckets = Buckets(table, needs)
        self._known: dict[bytes, bytes] = {}
        """The states of the group that was announced last, as far as is known."""
        self._decided: dict[bytes, bytes] = {}
        """The states of groups whose posts are all decided, so that they stay."""
        self._group = 0
        """That was taken last."""
        self._oldest = 0
        """The position from which on posts may be there still."""
        self._slice = -1
        """The slice of the clock in which that was looked up."""
        self._n_bytes = 0
        """Written since they were last counted."""

    def close(self) -> None:
        """Let go of the connections."""
        self._table.close()

    def _put(self, values: Mapping[Place, bytes]) -> None:
        self._n_bytes += sum(size_of(place, value) for place, value in values.items())
        self._table.put(values)

    # ---- positions, records and ids

    def take(self, n: int) -> Taken:
        """Return positions that nobody else gets: those of a group, or of several."""
        n_groups = max(-(-n // GROUP), 1)
        self._group = self._table.add(NEXT, n_groups) - n_groups
        return Taken(self._group * GROUP, self.watermark())

    def announce(self, records: Sequence[Record], holders: Sequence[Holder]) -> list[int]:
        """Store records, and then make posts the holders of their ids."""
        self._put({Place(row_of(b"r", one.post.position), POST): pack_post(one.post, one.watermark) for one in records})
        by_group: dict[bytes, list[int]] = defaultdict(list)
        for one in records:
            by_group[group_row(one.post.position)].append(one.post.position % GROUP)
        self._known = {}
        self._table.each(self._begin_group, list(by_group.items()))
        return self._hold(holders)

    def _begin_group(self, group: tuple[bytes, list[int]]) -> None:
        """Note posts as pending that nobody else knows yet."""
        row, places = group
        held: bytes | None = None
        while True:
            states = bytearray(max(len(held or b""), max(places) + 1))
            states[: len(held or b"")] = held or b""
            for place in places:
                states[place] = State.PENDING
            if self._table.swap(Place(row, STATES), held, bytes(states)):
                self._known[row] = bytes(states)
                return
            held = self._table.row(row).get(STATES)

    def _hold(self, holders: Sequence[Holder]) -> list[int]:
        rows = [b"i" + id_bytes(one.post_id) for one in holders]
        found = self._table.rows(list(dict.fromkeys(rows)))
        held = [found.get(row, {}).get(HOLDER) for row in rows]
        return self._table.each(self._hold_one, list(zip(rows, holders, held, strict=True)))

    def _hold_one(self, asked: tuple[bytes, Holder, bytes | None]) -> int:
        row, one, held = asked
        wanted = b"%d" % one.position
        while held is None or int(held) == one.instead_of:
            if self._table.swap(Place(row, HOLDER), held, wanted):
                return one.position
            held = self._table.row(row).get(HOLDER)
        return int(held)

    def records(self, positions: Int64s) -> list[Record | None]:
        """Return the records at these positions: the states first, as a state says that the rest is there."""
        asked = positions.tolist()
        groups = self._states_of({group_row(one) for one in asked})
        posts = self._table.rows(sorted({row_of(b"r", one) for one in asked}))
        return [record_of(one, groups, posts) for one in asked]

    def _states_of(self, groups: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the states of those of the groups that there are; once all posts of a group are decided, they stay."""
        states = {row: self._decided[row] for row in groups if row in self._decided}
        for row, found in self._table.rows(sorted(set(groups) - set(states))).items():
            states[row] = found[STATES]
            if not UNDECIDED.intersection(found[STATES]):
                self._decided[row] = found[STATES]
        if len(self._decided) > MOST_REMEMBERED:
            self._decided = {}
        return states

    def remove(self, position: int, kept: float | None) -> None:
        """Remove a post, and count it no more; its state, which others may remember, says nothing without it."""
        row = row_of(b"r", position)
        self._table.delete([Place(row, POST), Place(row, EVIDENCE)])
        if kept is not None:
            self._table.add(Place(COUNTS, b"d:n%d" % self._time_slice(kept)), -1)

    def positions_of(self, ids: Sequence[PostId]) -> list[int | None]:
        """Return the position of the post that has each id."""
        rows = [b"i" + id_bytes(one) for one in ids]
        found = self._table.rows(list(dict.fromkeys(rows)))
        held = [found.get(row, {}).get(HOLDER) for row in rows]
        return [None if one is None else int(one) for one in held]

    # ---- states

    def change(self, changes: Sequence[Change]) -> list[State]:
        """Change states that are as expected, group by group; evidence is written before the state that needs it."""
        self._put({Place(row_of(b"r", one.position), EVIDENCE): pack_evidence(one.evidence)
                   for one in changes if one.evidence is not None})  # fmt: skip
        by_group: dict[bytes, list[Change]] = defaultdict(list)
        for one in changes:
            by_group[group_row(one.position)].append(one)
        states: dict[int, State] = {}
        for found in self._table.each(self._change_group, list(by_group.items())):
            states |= found
        return [states[one.position] for one in changes]

    def _change_group(self, group: tuple[bytes, list[Change]]) -> dict[int, State]:
        """Change states of one group; return them, by position."""
        row, changes = group
        held = self._known.pop(row, None) or self._table.row(row).get(STATES)
        while held is not None:
            states = bytearray(held)
            for position, expected, to, _ in changes:
                if state_in(states, position) in expected:
                    states[position % GROUP] = to
            if states == held or self._table.swap(Place(row, STATES), held, bytes(states)):
                self._known = {row: bytes(states)}
                return {one.position: state_in(states, one.position) for one in changes}
            held = self._table.row(row).get(STATES)
        return {one.position: State.GONE for one in changes}

    # ---- buckets

    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        """Put posts into their buckets, and then read buckets."""
        self._put(self._buckets.entries_of(texts))
        decided = max(self._group - UNDECIDED_GROUPS, 0) * GROUP
        return self._buckets.read(keys, self._oldest, decided)

    def leave(self, texts: Keyed) -> None:
        """Take posts out of their buckets."""
        entries = self._buckets.entries_of(texts)
        self._table.delete(list(entries))
        self._n_bytes -= sum(size_of(place, value) for place, value in entries.items())

    # ---- values and times

    def meta(self, key: str) -> bytes | None:
        """Return the value under a key, put together from its parts."""
        named = self._table.row(b"m").get(b"m:v" + key.encode())
        if named is None:
            return None
        token, n_parts = named[:16], int(named[16:])
        rows = [b"v" + token + b"%d" % part for part in range(n_parts)]
        found = self._table.rows(rows)
        return b"".join(found[row][b"m:v"] for row in rows)

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value under a key that has none: first its parts, then what names them."""
        stored = self.meta(key)
        if stored is not None:
            return stored
        token = os.urandom(16)
        parts = [value[first : first + PART] for first in range(0, len(value), PART)]
        for number, part in enumerate(parts):
            self._table.put({Place(b"v" + token + b"%d" % number, b"m:v"): part})
        if self._table.swap(Place(b"m", b"m:v" + key.encode()), None, token + b"%d" % len(parts)):
            return value
        self._table.delete([Place(b"v" + token + b"%d" % number, b"m:v") for number in range(len(parts))])
        return self.meta(key) or b""

    def note(self, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        """Move the time of the window on, count kept posts and bytes, and take others out of their buckets."""
        while True:
            held = self._table.row(WATERMARK.row).get(WATERMARK.column)
            is_due = held is None or read <= float(held) < watermark
            if not is_due or self._table.swap(WATERMARK, held, repr(watermark).encode()):
                break
        counts = Counter(b"d:n%d" % self._time_slice(time) for time in kept)
        this_slice = int(time.time() // (self._ttl / SLICES))
        counts[b"d:b%d" % this_slice], self._n_bytes = self._n_bytes, 0
        if this_slice != self._slice:
            self._slice = this_slice
            self._look_for_oldest()
        self._table.each(lambda one: self._table.add(Place(COUNTS, one[0]), one[1]), list(counts.items()))
        self.leave(leaving)

    def _look_for_oldest(self) -> None:
        """Note which group is the first of this slice of the clock, and find the first of those still of use."""
        self._table.swap(Place(COUNTS, b"d:g%d" % self._slice), None, b"%d" % self._group)
        ended = [n for one, n in self._counts(b"d:g", int) if one <= self._slice - OF_USE]
        self._oldest = max(ended, default=0) * GROUP

    def rewind(self, watermark: float) -> None:
        """Put the time of the window back."""
        while not self._table.swap(
            WATERMARK, self._table.row(WATERMARK.row).get(WATERMARK.column), repr(watermark).encode()
        ):
            pass

    def watermark(self) -> float:
        """Return the time of the window."""
        held = self._table.row(WATERMARK.row).get(WATERMARK.column)
        return NEVER if held is None else float(held)

    def n_kept_after(self, time: float) -> int:
        """Return about how many kept posts have a time after this one."""
        if time == NEVER:
            return 0
        edge = self._time_slice(time)
        return sum(n for one, n in self._counts(b"d:n", as_counter) if one >= edge)

    def n_bytes(self) -> int:
        """Return the bytes of what was written and not removed, and will not be dropped yet; not compressed."""
        return sum(n for _, n in self._counts(b"d:b", as_counter))

    def _counts(self, kind: bytes, number_of: Callable[[bytes], int]) -> list[tuple[int, int]]:
        """Return slices with their numbers."""
        counts = self._table.row(COUNTS)
        return [(int(one.removeprefix(kind)), number_of(n)) for one, n in counts.items() if one.startswith(kind)]

    def _time_slice(self, time: float) -> int:
        return int(time // (self._needs.horizon / SLICES))


def as_counter(value: bytes) -> int:
    """Return what a counter of HBase says."""
    return int.from_bytes(value, "big", signed=True)


def row_of(kind: bytes, number: int) -> bytes:
    """Return the key of a row for a number, in whose bits the lowest comes first."""
    return kind + int(f"{number:064b}"[::-1], 2).to_bytes(8, "big")


def group_row(position: int) -> bytes:
    """Return the key of the row with the state of a post."""
    return row_of(b"s", position // GROUP)


def state_in(states: bytes | bytearray, position: int) -> State:
    """Return the state of a post by those of its group."""
    place = position % GROUP
    state = states[place] if place < len(states) else NOT_THERE
    return State.GONE if state == NOT_THERE else State(state)


def record_of(position: int, groups: Mapping[bytes, bytes], posts: Mapping[bytes, Row]) -> Record | None:
    """Return a record by what was read; None where a part of it is not there."""
    states = groups.get(group_row(position))
    post = posts.get(row_of(b"r", position), {})
    if states is None or POST not in post:
        return None
    state = state_in(states, position)
    evidence = unpack_evidence(post[EVIDENCE]) if state is State.DUPLICATE else None
    return Record(state, *unpack_post(post[POST], evidence))


def size_of(place: Place, value: bytes) -> int:
    """Return about how many bytes a value takes in HBase."""
    return CELL + len(place.row) + len(place.column) + len(value)
