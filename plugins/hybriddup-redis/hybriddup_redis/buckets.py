"""The buckets of a window in Redis: which posts have a block key. `hybriddup_redis.scripts` says how they are stored.

Posts enter in the slice of time of their block, which the store's clock determined when the block was taken; the clock
never goes back. Whoever entered reads that slice, the one before, and any that began before all entries were made. So
of two posts with a key in common, whichever entered last sees the other, whatever slices they entered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt64s
from hybriddup.window.shared import Entries, Keyed, Needs, entry_type
from hybriddup.window.shared.packing import mix_keys
from hybriddup_redis.calls import ByPartition, KeyedCall, by_partition

SLACK = 64
"""Settled entries that a bucket holds in addition: it is in the order in which posts entered, which is not quite that
of their positions."""
OVERFLOWS = 128
"""In the byte that describes a bucket: it continues in its overflow."""

RunInTurn = Callable[..., list[list[Any]]]


class Places(NamedTuple):
    """Where keys are stored."""

    prefixes: Sequence[bytes]
    """What the keys of each partition begin with."""
    slice_length: int
    """Milliseconds of a slice of time."""

    def shard(self, name: bytes, time_slice: int) -> tuple[int, bytes]:
        """Return the partition and the key of the shard of a bucket."""
        partition = name[0] % len(self.prefixes)
        return partition, b"%sb%d:%s" % (self.prefixes[partition], time_slice, name[:2])

    def overflow(self, name: bytes, time_slice: int) -> tuple[int, bytes]:
        """Return the partition and the key of the overflow of a bucket."""
        partition, shard = self.shard(name, time_slice)
        return partition, shard + name[2:]


class Pieces:
    """Entries of buckets, read piece by piece; a bucket is known by its row, -1 = nobody looks into it."""

    def __init__(self, kind: np.dtype[np.void]) -> None:
        self._type = kind
        self._rows: list[Int64s] = []
        self._held: list[bytes] = []

    def add_flagged(self, rows: Int64s, flags: bytes, held: bytes) -> Bools:
        """Add what a script returned of some buckets; return bool[n]: which of these overflow."""
        described = np.frombuffer(flags, np.uint8)
        self._rows.append(np.repeat(rows, described % OVERFLOWS))
        self._held.append(held)
        return np.asarray(described >= OVERFLOWS)

    def add_overflows(self, rows: Int64s, held: Iterable[bytes | None]) -> None:
        """Add overflows; None = there is none."""
        values = [one or b"" for one in held]
        self._rows.append(np.repeat(rows, [len(one) // self._type.itemsize for one in values]))
        self._held += values

    def entries(self, n_rows: int) -> Entries:
        """Return the entries, bucket after bucket."""
        rows = np.concatenate([np.zeros(0, np.int64), *self._rows])
        # chosen as bytes: field by field it takes four times as long
        held = np.frombuffer(b"".join(self._held), np.dtype((np.void, self._type.itemsize)))
        order = np.argsort(rows, kind="stable")
        order = order[np.searchsorted(rows[order], 0) :]
        return Entries(np.bincount(rows[order], minlength=n_rows), held[order].view(self._type))


class Buckets:
    """Reads and writes buckets.

    Parameters
    ----------
    run_in_turn
        Runs parts of calls, one after the other; returns the answers of each part.
    places
        Where keys are stored.
    needs
        Requirements of the window.
    clock
        A call whose answer is the clock of the store, in milliseconds; None = no batch has come yet.
    """

    def __init__(self, run_in_turn: RunInTurn, places: Places, needs: Needs, clock: KeyedCall) -> None:
        self._run_in_turn, self._places, self._clock = run_in_turn, places, clock
        self._type = entry_type(needs.words)
        self._ttl = 2 * places.slice_length
        self._most = (needs.max_bucket_size + SLACK) * self._type.itemsize if needs.max_bucket_size else 0

    # ---- entering and reading

    def enter(self, texts: Keyed, keys: UInt64s, now: int, settled: int) -> Entries:
        """Add posts to their buckets in a slice of time, then read the buckets of ``keys``, which are distinct.

        ``settled`` is the position before which posts are settled.
        """
        asked, pieces = names_of(keys), Pieces(self._type)
        row_of = {name: row for row, name in enumerate(asked)}
        added, entries = self._grouped(texts.keys, texts.entries)
        rows = np.array([row_of.get(name, -1) for name in added], np.int64)
        full = np.flatnonzero(self._enter_shards(added, entries, rows, now, pieces))
        overflows = self._overflowing(added, entries, full, now, settled)
        others = list(set(asked).difference(added))
        appended, time = self._read(pieces, row_of, [(asked, now - 1), (others, now)], overflows.calls)
        pieces.add_overflows(rows[full], overflows.in_order(held for (held,) in appended))
        for begun in range(now + 1, time // self._places.slice_length + 1):
            self._read(pieces, row_of, [(asked, begun)])
        return pieces.entries(len(asked))

    def read(self, keys: UInt64s) -> Entries:
        """Read the buckets of ``keys``, which are distinct."""
        ((time,),) = self._run_in_turn([self._clock])
        asked, pieces = names_of(keys), Pieces(self._type)
        row_of = {name: row for row, name in enumerate(asked)}
        now = int(time or 0) // self._places.slice_length
        self._read(pieces, row_of, [(asked, now - 1), (asked, now)])
        return pieces.entries(len(asked))

    def _grouped(self, keys: UInt64s, items: NDArray[Any]) -> tuple[list[bytes], list[bytes]]:
        """Return the names of the buckets of posts, each once, and what belongs to each: the items of its posts."""
        rows, columns = np.nonzero(keys != NO_KEY)
        of_posts = keys[rows, columns]
        order = np.argsort(of_posts, kind="stable")
        distinct, first = np.unique(of_posts[order], return_index=True)
        packed, size = items[rows[order]].tobytes(), items.dtype.itemsize
        bounds = (size * np.append(first, len(rows))).tolist()
        return names_of(distinct), [packed[begin:end] for begin, end in pairwise(bounds)]

    def _enter_shards(self, names: list[bytes], entries: list[bytes], rows: Int64s, now: int, pieces: Pieces) -> Bools:
        """Add entries in shards that have room; return bool[n]: which buckets overflow."""
        arguments = [name[2:] + added for name, added in zip(names, entries, strict=True)]
        entering = self._in_shards("ENTER", names, now, arguments, self._type.itemsize, self._ttl)
        overflows = np.zeros(len(names), np.bool_)
        (answers,) = self._run_in_turn(entering.calls)
        for places, (flags, held) in zip(entering.places, answers, strict=True):
            overflows[places] = pieces.add_flagged(rows[places], flags, held)
        return overflows

    def _overflowing(
        self, names: list[bytes], entries: list[bytes], full: Int64s, now: int, settled: int
    ) -> ByPartition:
        """Return the calls that add entries to overflows."""
        keyed = [self._places.overflow(names[place], now) for place in full.tolist()]
        first = self._type.itemsize, self._ttl, self._most, settled
        return by_partition("OVERFLOW", keyed, [entries[place] for place in full.tolist()], *first)

    def _read(
        self,
        pieces: Pieces,
        row_of: dict[bytes, int],
        wanted: Sequence[tuple[list[bytes], int]],
        before: Sequence[KeyedCall] = (),
    ) -> tuple[list[Any], int]:
        """Read buckets in slices of time, after other calls; return the answers of these, and the clock after them."""
        parts = [(names, one, self._in_shards("READ", names, one, [name[2:] for name in names], self._type.itemsize))
                 for names, one in wanted]  # fmt: skip
        calls = [call for _, _, part in parts for call in part.calls]
        answers_before, (*answers, time) = self._run_in_turn(before, [*calls, self._clock])
        rows, larger, left = list[int](), list[tuple[int, bytes]](), iter(answers)
        for names, time_slice, part in parts:
            for places in part.places:
                own = np.array([row_of[names[place]] for place in places], np.int64)
                overflows = pieces.add_flagged(own, *next(left))
                rows += own[overflows].tolist()
                chosen = [names[place] for place, flag in zip(places, overflows.tolist(), strict=True) if flag]
                larger += [self._places.overflow(name, time_slice) for name in chosen]
        asked = by_partition("MGET", larger, [])
        (held,) = self._run_in_turn(asked.calls)
        pieces.add_overflows(np.array(rows, np.int64), asked.in_order(held))
        return answers_before, int(time or 0)

    # ---- leaving

    def leave(self, texts: Keyed, slices: Sequence[int]) -> None:
        """Remove posts from their buckets in slices of time."""
        names, positions = self._grouped(texts.keys, texts.entries["position"].copy())
        arguments = [name[2:] + leaving for name, leaving in zip(names, positions, strict=True)]
        for one in slices if names else ():
            leaving = self._in_shards("LEAVE", names, one, arguments, self._type.itemsize)
            (answers,) = self._run_in_turn(leaving.calls)
            left = leaving.in_order(flags for (flags,) in answers)
            larger = [place for place, flag in enumerate(left) if flag == ord("+")]
            keyed = [self._places.overflow(names[place], one) for place in larger]
            chosen = [positions[place] for place in larger]
            self._run_in_turn(by_partition("LEAVE_OVERFLOW", keyed, chosen, self._type.itemsize).calls)

    def _in_shards(
        self, kind: str, names: Sequence[bytes], time_slice: int, arguments: Sequence[bytes], *first: Any
    ) -> ByPartition:
        """Return the calls of a script over the shards of buckets."""
        return by_partition(kind, [self._places.shard(name, time_slice) for name in names], arguments, *first)


def names_of(keys: UInt64s) -> list[bytes]:
    """Return the names of buckets, 8 bytes each, whose first bits are evenly spread."""
    packed = mix_keys(keys).astype(">u8").tobytes()
    return [packed[first : first + 8] for first in range(0, len(packed), 8)]
