"""The buckets of a window in Redis: the posts with each block key. See `hybriddup_redis.scripts.buckets`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt64s
from hybriddup.shared_windows import Entries, Keyed, Needs, entry_type
from hybriddup.shared_windows.candidates import stable_order
from hybriddup.shared_windows.packing import mix_keys
from hybriddup_redis.calls import MOST_KEYS, ByPartition, KeyedCall, Keys, RunInTurn, parts_of

SLACK = 64
"""Number of additional settled entries in a bucket, because it is in the order in which posts entered, which differs a
little from the order of their positions."""
OVERFLOWS = 128
"""Flag in the byte that describes a bucket: the bucket continues in its overflow."""


class Grouped(NamedTuple):
    """Items of posts, grouped by bucket: the entries of posts, or their positions."""

    keys: UInt64s
    """The distinct block keys of the buckets, in ascending order."""
    bounds: Int64s
    """int64[n_buckets + 1]: the index of the first item of each bucket, then the number of items."""
    items: NDArray[Any]
    """The items, bucket by bucket."""

    @property
    def numbers(self) -> NDArray[np.uint16]:
        """The number of items in each bucket, in two bytes with the lower one first, as scripts read it."""
        return np.diff(self.bounds).astype("<u2")

    def joined(self, part: slice) -> list[list[bytes]]:
        """Return the names of the buckets in ``part``, the numbers of their items, and the items, each joined."""
        first, last = self.bounds[part.start], self.bounds[part.stop]
        return [[joined_names(self.keys[part])], [self.numbers[part].tobytes()], [self.items[first:last].tobytes()]]

    def columns(self) -> list[list[bytes]]:
        """Return the names of all buckets, the numbers of their items, and the items, each by bucket."""
        counts = parts_of(self.numbers.tobytes(), 2)
        return [names_of(self.keys), counts, self.items_of(range(len(self.keys)))]

    def items_of(self, rows: Iterable[int]) -> list[bytes]:
        """Return the items of each bucket in ``rows``, serialized."""
        packed, bounds = self.items.tobytes(), (self.items.dtype.itemsize * self.bounds).tolist()
        return [packed[bounds[row] : bounds[row + 1]] for row in rows]


class Pieces:
    """Collects the entries of buckets from several answers. A bucket is known by its row; -1 = it was not requested."""

    def __init__(self, kind: np.dtype[np.void]) -> None:
        self._type = kind
        self._rows: list[Int64s] = []
        self._held: list[bytes] = []

    def add_answer(self, rows: Int64s, flags: bytes, held: bytes, counts: bytes, larger: bytes) -> Bools:
        """Add a script's answer about the buckets ``rows``; return bool[n]: whether each has an overflow to read."""
        described = np.frombuffer(flags, np.uint8)
        overflows = np.asarray(described >= OVERFLOWS)
        self._rows.append(np.repeat(rows, described % OVERFLOWS))
        self._held.append(held)
        if not counts:
            return overflows
        self._rows.append(np.repeat(rows[overflows], np.frombuffer(counts, "<u4")))
        self._held.append(larger)
        return np.zeros_like(overflows)

    def add_overflows(self, rows: Int64s, held: Iterable[bytes | None]) -> None:
        """Add the overflows of the buckets ``rows``; None = the bucket has none."""
        values = [one or b"" for one in held]
        self._rows.append(np.repeat(rows, [len(one) // self._type.itemsize for one in values]))
        self._held += values

    def entries(self, n_rows: int) -> Entries:
        """Return the entries of the ``n_rows`` requested buckets, bucket by bucket."""
        rows = np.concatenate([np.zeros(0, np.int64), *self._rows])
        # chosen as bytes: field by field it takes four times as long
        held = np.frombuffer(b"".join(self._held), np.dtype((np.void, self._type.itemsize)))
        counts = np.bincount(rows + 1, minlength=n_rows + 1)
        order = stable_order(rows + 1, n_rows + 1)[counts[0] :]
        return Entries(counts[1:], held[order].view(self._type))


class Buckets:
    """Reads and writes buckets.

    Parameters
    ----------
    run_in_turn
        Runs groups of calls, one group after the other; returns the answers of each group.
    prefixes
        Prefix of the keys of each partition.
    ttl
        Milliseconds after the last write until a key expires.
    needs
        Requirements of the window.
    """

    def __init__(self, run_in_turn: RunInTurn, prefixes: Sequence[bytes], ttl: int, needs: Needs) -> None:
        self._run_in_turn, self._ttl = run_in_turn, ttl
        self._begins = [prefix + b"b" for prefix in prefixes]
        self._type = entry_type(needs.words)
        self._first = self._type.itemsize, self._begins[0]
        """First arguments of all scripts: bytes of an entry, prefix of the keys of shards."""
        self._most = needs.max_bucket_size + SLACK if needs.max_bucket_size else 0

    def _calls(self, kind: str, grouped: Grouped, *first: Any) -> ByPartition:
        """Return the calls of the script ``kind`` for buckets and their items; on one server, it derives the keys."""
        first = *self._first, *first
        if len(self._begins) > 1:
            columns = grouped.columns()
            return self._shards(columns[0]).calls(kind, *columns, first=first)
        n = len(grouped.keys)
        parts = [slice(begin, min(begin + MOST_KEYS, n)) for begin in range(0, n, MOST_KEYS)]
        calls = [KeyedCall(kind, 0, [], first, grouped.joined(part)) for part in parts]
        return ByPartition([np.arange(part.start, part.stop) for part in parts], calls)

    def _shards(self, names: Sequence[bytes]) -> Keys:
        """Return the keys of the shards of buckets."""
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

        Posts before the position ``settled`` are settled; posts before the position ``oldest`` are no longer needed.
        """
        added, pieces = grouped(texts, texts.entries), Pieces(self._type)
        first = self._ttl, oldest, self._most, settled
        rows, others = rows_of(added.keys, keys)
        full = np.flatnonzero(self._enter_shards(added, rows, first, pieces)).tolist()
        overflows = self._overflows(names_of(added.keys[full]))
        appending = overflows.calls("OVERFLOW", added.items_of(full), first=(*self._first, *first))
        appended = self._read(keys, others, pieces, appending.calls)
        pieces.add_overflows(rows[full], appending.in_one_column(appended))
        return pieces.entries(len(keys))

    def read(self, keys: UInt64s) -> Entries:
        """Read the buckets of ``keys``, which are distinct."""
        pieces = Pieces(self._type)
        self._read(keys, np.arange(len(keys)), pieces, [])
        return pieces.entries(len(keys))

    def leave(self, texts: Keyed, *after: KeyedCall) -> None:
        """Remove posts from their buckets, then run the calls ``after``."""
        leaving = grouped(texts, texts.entries["position"].copy())
        asked = self._calls("LEAVE", leaving)
        if len(self._begins) == 1:
            self._run_in_turn(asked.calls, after)
            return
        flags = asked.in_one_column(*self._run_in_turn(asked.calls))
        larger = [place for place, flag in enumerate(flags) if flag == ord("+")]
        keys = self._overflows(names_of(leaving.keys[larger]))
        removing = keys.calls("LEAVE_OVERFLOW", leaving.items_of(larger), first=self._first)
        self._run_in_turn(removing.calls, after)

    def _enter_shards(self, added: Grouped, rows: Int64s, first: tuple[Any, ...], pieces: Pieces) -> Bools:
        """Add entries to shards; return bool[n]: whether each bucket's entries are left to be added to its overflow."""
        entering = self._calls("ENTER", added, *first)
        overflows = np.zeros(len(rows), np.bool_)
        (answers,) = self._run_in_turn(entering.calls)
        for places, answer in zip(entering.places, answers, strict=True):
            overflows[places] = pieces.add_answer(rows[places], *answer)
        return overflows

    def _read(self, keys: UInt64s, rows: Int64s, pieces: Pieces, before: Sequence[KeyedCall]) -> list[Any]:
        """Run the calls ``before``, then read the buckets of ``keys[rows]`` into ``pieces``; return the answers."""
        names = names_of(keys[rows])
        reading = self._calls("READ", nothing_in(keys[rows]))
        answers_before, answers = self._run_in_turn(before, reading.calls)
        larger: list[int] = []
        for places, answer in zip(reading.places, answers, strict=True):
            larger += places[pieces.add_answer(rows[places], *answer)].tolist()
        overflows = self._overflows([names[place] for place in larger]).calls("MGET")
        (held_there,) = self._run_in_turn(overflows.calls)
        pieces.add_overflows(rows[larger], overflows.in_order(held_there))
        return answers_before


def grouped(texts: Keyed, items: NDArray[Any]) -> Grouped:
    """Group items, one for each post, by bucket; an item is in all buckets of its post."""
    rows, columns = np.nonzero(texts.keys != NO_KEY)
    keys = texts.keys[rows, columns]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return Grouped(keys[first], np.append(first, len(keys)), items[rows[order]])


def nothing_in(keys: UInt64s) -> Grouped:
    """Return buckets without items."""
    return Grouped(keys, np.zeros(len(keys) + 1, np.int64), np.zeros(0, np.int64))


def rows_of(keys: UInt64s, among: UInt64s) -> tuple[Int64s, Int64s]:
    """Return int64[n], the row of each key in ``among`` or -1, and the rows of ``among`` that are not in ``keys``.

    Both arrays have distinct values.
    """
    if np.array_equal(keys, among):
        return np.arange(len(keys)), np.zeros(0, np.int64)
    rows = np.full(len(keys), -1, np.int64)
    _, of_keys, of_among = np.intersect1d(keys, among, assume_unique=True, return_indices=True)
    rows[of_keys] = of_among
    return rows, np.delete(np.arange(len(among)), of_among)


def joined_names(keys: UInt64s) -> bytes:
    """Return the joined names of buckets, 8 bytes each: their keys, mixed so that the first bits are evenly spread."""
    return mix_keys(keys).astype(">u8").tobytes()


def names_of(keys: UInt64s) -> list[bytes]:
    """Return the names of buckets."""
    return parts_of(joined_names(keys), 8)
