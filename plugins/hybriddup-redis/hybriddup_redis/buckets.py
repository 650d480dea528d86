"""The buckets of a window in Redis: which posts have a block key. `hybriddup_redis.scripts` describes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt64s
from hybriddup.window.shared import Entries, Keyed, Needs, entry_type
from hybriddup.window.shared.packing import mix_keys
from hybriddup_redis.calls import KeyedCall, Keys

SLACK = 64
"""Settled entries that a bucket holds in addition: it is in the order in which posts entered, which is not quite that
of their positions."""
OVERFLOWS = 128
"""In the byte that describes a bucket: it continues in its overflow."""

RunInTurn = Callable[..., list[list[Any]]]


class Grouped(NamedTuple):
    """Items of posts, grouped by bucket."""

    names: list[bytes]
    """The names of the buckets, each once."""
    counts: list[bytes]
    """The number of items of each, in two bytes."""
    items: list[bytes]
    """The items of each: the entries of posts, or their positions."""


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
    prefixes
        The beginning of the keys of each partition.
    ttl
        Milliseconds after which what nobody writes to expires.
    needs
        Requirements of the window.
    """

    def __init__(self, run_in_turn: RunInTurn, prefixes: Sequence[bytes], ttl: int, needs: Needs) -> None:
        self._run_in_turn, self._ttl = run_in_turn, ttl
        self._begins = [prefix + b"b" for prefix in prefixes]
        self._type = entry_type(needs.words)
        self._first = self._type.itemsize, self._begins[0]
        """What the arguments of all scripts begin with."""
        self._most = needs.max_bucket_size + SLACK if needs.max_bucket_size else 0

    def _shards(self, names: Sequence[bytes]) -> Keys:
        """Return the keys of the shards of buckets; on one server, scripts make them."""
        if len(self._begins) == 1:
            return Keys(np.zeros(len(names), np.int64), [])
        partitions = np.fromiter((name[0] for name in names), np.int64, len(names)) % len(self._begins)
        begins = map(self._begins.__getitem__, partitions.tolist())
        return Keys(partitions, [begin + name[:2] for begin, name in zip(begins, names, strict=True)])

    def _overflows(self, names: Sequence[bytes]) -> Keys:
        """Return the keys of the overflows of buckets."""
        partitions = np.array([name[0] % len(self._begins) for name in names], np.int64)
        begins = map(self._begins.__getitem__, partitions.tolist())
        return Keys(partitions, [begin + name for begin, name in zip(begins, names, strict=True)])

    def enter(self, texts: Keyed, keys: UInt64s, settled: int, oldest: int) -> Entries:
        """Add posts to their buckets, then read the buckets of ``keys``, which are distinct.

        ``settled`` is the position before which posts are settled, ``oldest`` that before which they are of no use.
        """
        asked, added, pieces = names_of(keys), self._grouped(texts, texts.entries), Pieces(self._type)
        row_of, rows = dict[bytes, int](), np.arange(len(asked))
        if asked != added.names:
            row_of = {name: row for row, name in enumerate(asked)}
            rows = np.array([row_of.get(name, -1) for name in added.names], np.int64)
        full = np.flatnonzero(self._enter_shards(added, rows, oldest, pieces)).tolist()
        first = *self._first, self._ttl, oldest, self._most, settled
        overflows = self._overflows([added.names[place] for place in full])
        appending = overflows.calls("OVERFLOW", [added.items[place] for place in full], first=first)
        others = list(row_of.keys() - set(added.names))
        appended = self._read(others, np.array([row_of[name] for name in others], np.int64), pieces, appending.calls)
        pieces.add_overflows(rows[full], appending.in_one_column(appended))
        return pieces.entries(len(asked))

    def read(self, keys: UInt64s) -> Entries:
        """Read the buckets of ``keys``, which are distinct."""
        pieces = Pieces(self._type)
        self._read(names_of(keys), np.arange(len(keys)), pieces, [])
        return pieces.entries(len(keys))

    def leave(self, texts: Keyed) -> None:
        """Remove posts from their buckets."""
        leaving, first = self._grouped(texts, texts.entries["position"].copy()), self._first
        names, positions = leaving.names, leaving.items
        asked = self._shards(names).calls("LEAVE", names, leaving.counts, positions, first=first)
        flags = asked.in_one_column(*self._run_in_turn(asked.calls))
        larger = [place for place, flag in enumerate(flags) if flag == ord("+")]
        keys = self._overflows([names[place] for place in larger])
        self._run_in_turn(keys.calls("LEAVE_OVERFLOW", [positions[place] for place in larger], first=first).calls)

    def _grouped(self, texts: Keyed, items: NDArray[Any]) -> Grouped:
        """Return items of posts, grouped by the buckets of their posts."""
        rows, columns = np.nonzero(texts.keys != NO_KEY)
        keys = texts.keys[rows, columns]
        order = np.argsort(keys, kind="stable")
        distinct, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
        packed, size = items[rows[order]].tobytes(), items.dtype.itemsize
        bounds = (size * np.append(first, len(rows))).tolist()
        packed_counts = counts.astype("<u2").tobytes()
        return Grouped(
            names_of(distinct),
            [packed_counts[at : at + 2] for at in range(0, len(packed_counts), 2)],
            [packed[begin:end] for begin, end in pairwise(bounds)],
        )

    def _enter_shards(self, added: Grouped, rows: Int64s, oldest: int, pieces: Pieces) -> Bools:
        """Add entries in shards that have room; return bool[n]: which buckets overflow."""
        keys, first = self._shards(added.names), (*self._first, self._ttl, oldest)
        entering = keys.calls("ENTER", added.names, added.counts, added.items, first=first)
        overflows = np.zeros(len(added.names), np.bool_)
        (answers,) = self._run_in_turn(entering.calls)
        for places, (flags, held) in zip(entering.places, answers, strict=True):
            overflows[places] = pieces.add_flagged(rows[places], flags, held)
        return overflows

    def _read(self, names: list[bytes], rows: Int64s, pieces: Pieces, before: Sequence[KeyedCall]) -> list[Any]:
        """Read buckets, by row, after other calls; return the answers of these."""
        reading = self._shards(names).calls("READ", names, first=self._first)
        answers_before, answers = self._run_in_turn(before, reading.calls)
        larger: list[int] = []
        for places, (flags, held) in zip(reading.places, answers, strict=True):
            larger += places[pieces.add_flagged(rows[places], flags, held)].tolist()
        overflows = self._overflows([names[place] for place in larger]).calls("MGET")
        (held_there,) = self._run_in_turn(overflows.calls)
        pieces.add_overflows(rows[larger], overflows.in_order(held_there))
        return answers_before


def names_of(keys: UInt64s) -> list[bytes]:
    """Return the names of buckets, 8 bytes each, whose first bits are evenly spread."""
    packed = mix_keys(keys).astype(">u8").tobytes()
    return [packed[first : first + 8] for first in range(0, len(packed), 8)]
