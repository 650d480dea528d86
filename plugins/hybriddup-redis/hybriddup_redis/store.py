"""The posts of a shared window in Redis."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import redis
import xxhash
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.window.records import PostId
from hybriddup.window.shared import Change, Entries, Holder, Keyed, Needs, Record, State, Taken, entry_type
from hybriddup.window.shared.packing import id_bytes, mix_keys, pack_evidence
from hybriddup_redis.calls import ScriptCall, Scripts, by_partition
from hybriddup_redis.packing import pack_record, unpack_record

SLICES = 64
"""Into so many slices of time kept posts are counted, of each horizon."""
SLACK = 64
"""So many entries more than asked for a bucket holds, for posts that are being decided, and those that leave."""
NEVER = float("-inf")
GONE = 2**64 - 1
"""In place of the position of an entry that has left its bucket."""

Piece = tuple[int, bytes]
"""The row of a bucket, and entries of it."""


class Layout(NamedTuple):
    """How a window is laid out, for all who open it."""

    n_partitions: int
    """Into so many parts the keys are divided, a power of 2 up to 256; each lies on one server."""
    slice_length: int
    """Milliseconds of a slice of time: the longest horizon."""


class RedisStore:
    """A `hybriddup.window.shared.SharedStore` in Redis.

    Parameters
    ----------
    client
        Of one server or of a cluster; its answers are bytes.
    name
        Of the window.
    """

    def __init__(self, client: Any, name: str, layout: Layout, needs: Needs) -> None:
        self._client, self._name, self._needs = client, name, needs
        self._n_partitions = layout.n_partitions
        self._type = entry_type(needs.words)
        self._ttl = 2 * layout.slice_length
        self._shape = layout.slice_length, self._type.itemsize
        """What scripts over buckets begin with: milliseconds of a slice, and bytes of an entry."""
        self._prefixes = [f"{{{tag}}}" for tag in tags(name, layout.n_partitions)]
        self._most = (needs.max_bucket_size + SLACK) * self._type.itemsize if needs.max_bucket_size else 0
        self._scripts = Scripts(client)
        self._is_closed = False

    # ---- keys

    def _key(self, name: str) -> str:
        return meta_prefix(self._name) + name

    def _record_key(self, position: int) -> tuple[int, str]:
        partition = position % self._n_partitions
        return partition, f"{self._prefixes[partition]}r{position}"

    def _holder_key(self, post_id: PostId) -> tuple[int, bytes]:
        named = id_bytes(post_id)
        partition = xxhash.xxh3_64_intdigest(named) % self._n_partitions
        return partition, self._prefixes[partition].encode() + b"i" + named

    def _rows_by_partition(self, keys: UInt64s) -> list[tuple[int, Int64s]]:
        """Return each partition that keys are of, mixed ones, with the rows of its keys."""
        partitions = (keys >> np.uint64(56)).astype(np.int64) % self._n_partitions
        return [(one, np.flatnonzero(partitions == one)) for one in np.unique(partitions).tolist()]

    # ---- calls

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise StoreError where Redis fails."""
        if self._is_closed:
            raise StoreError("the store is closed.")
        try:
            yield
        except redis.exceptions.OutOfMemoryError as error:
            raise StoreError(f"Redis is out of memory: {error}. Give it more, or shorten the horizon.") from error
        except redis.exceptions.RedisError as error:
            raise StoreError(
                f"Redis does not do what is asked: {type(error).__name__}: {error}. Look to server and network, "
                "and send the posts again."
            ) from error

    def _run_in_turn(self, calls: list[ScriptCall], then: list[ScriptCall]) -> list[Any]:
        """Run scripts, and after all of them others, in one round trip if on one server; return answers of those."""
        if self._n_partitions == 1:  # it does them in order
            return self._scripts.run(calls + then)[len(calls) :]
        self._scripts.run(calls)
        return self._scripts.run(then)

    # ---- what a window asks

    def take(self, n: int) -> Taken:
        """Return positions that nobody else gets."""
        with self._told():
            ((first, watermark),) = self._scripts.run([ScriptCall("TAKE", -1, [self._key("n"), self._key("w")], [n])])
        return Taken(int(first), float(watermark) if watermark else NEVER)

    def announce(self, records: Sequence[Record], holders: Sequence[Holder]) -> list[int]:
        """Store records, and then make posts the holders of their ids."""
        written = [(*self._record_key(one.post.position), [pack_record(one)]) for one in records]
        asked = [(*self._holder_key(one.post_id), [one.position, "" if one.instead_of is None else one.instead_of])
                 for one in holders]  # fmt: skip
        writes, holds = by_partition("WRITE", written, self._ttl), by_partition("HOLD", asked, self._ttl)
        with self._told():
            answers = self._run_in_turn(writes.calls, holds.calls)
        return list(map(int, holds.in_order(answers)))

    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        """Put posts into their buckets, and read buckets."""
        rows, columns = np.nonzero(texts.keys != NO_KEY)
        added = np.zeros(len(rows), [("key", ">u8"), ("entry", self._type)])
        added["key"], added["entry"] = mix_keys(texts.keys[rows, columns]), texts.entries[rows]
        keys = mix_keys(keys)
        read = self._rows_by_partition(keys)
        with self._told():
            if np.array_equal(added["key"], keys):
                answers = self._scripts.run(self._over_buckets("ENTER", added, read))
            else:
                answers = self._add_and_read(added, keys, read)
            return entries_of(self._pieces(read, answers), len(keys), self._type)

    def _add_and_read(self, added: Any, keys: UInt64s, read: Sequence[tuple[int, Int64s]]) -> list[Any]:
        """Put entries into all of their buckets, and only then read others; return what buckets held, part by part."""
        adding = self._over_buckets("ADD", added, self._rows_by_partition(added["key"].astype(np.uint64)))
        reading = self._over_buckets("READ", keys.astype(">u8"), read)
        return self._run_in_turn(adding, reading)

    def _over_buckets(self, kind: str, items: Any, parts: Sequence[tuple[int, Int64s]]) -> list[ScriptCall]:
        """Return runs of a script over items that begin with the key of a bucket, one for each part of them."""
        first = [*self._shape, self._most]
        return [ScriptCall(kind, one, [self._prefixes[one]], [*first, items[some].tobytes()]) for one, some in parts]

    def _pieces(self, read: Sequence[tuple[int, Int64s]], answers: Sequence[Any]) -> list[Piece]:
        """Return what buckets hold: entries that a script has read, and those of the larger buckets that it names.

        Parameters
        ----------
        read, answers
            The partition and the rows of the keys that were read together, and what the script has answered of them.
        """
        pieces: list[Piece] = []
        larger: list[tuple[int, tuple[int, bytes]]] = []
        for (partition, places), (counts, held, named) in zip(read, answers, strict=True):
            pieces += cut(rows := places.tolist(), counts, held, self._type.itemsize)
            larger += [(rows[at - 1], (partition, key)) for at, key in zip(named[::2], named[1::2], strict=True)]
        values = self._values([keyed for _, keyed in larger])
        return pieces + [(row, value) for (row, _), value in zip(larger, values, strict=True) if value is not None]

    def leave(self, texts: Keyed) -> None:
        """Take posts out of their buckets."""
        with self._told():
            self._scripts.run(self._leaving(texts))

    def _leaving(self, texts: Keyed) -> list[ScriptCall]:
        """Return what takes posts out of their buckets."""
        rows, columns = np.nonzero(texts.keys != NO_KEY)
        leaving = np.zeros(len(rows), [("key", ">u8"), ("position", "<u8")])
        leaving["key"], leaving["position"] = mix_keys(texts.keys[rows, columns]), texts.entries["position"][rows]
        return self._over_buckets("LEAVE", leaving, self._rows_by_partition(leaving["key"].astype(np.uint64)))

    def records(self, positions: Int64s) -> list[Record | None]:
        """Return the records at these positions."""
        keyed = [self._record_key(position) for position in positions.tolist()]
        with self._told():
            return [None if one is None else unpack_record(one) for one in self._values(keyed)]

    def _values(self, keyed: Sequence[tuple[int, Any]]) -> list[bytes | None]:
        """Return what is under keys, in their order."""
        places: dict[int, list[int]] = defaultdict(list)
        for place, (partition, _) in enumerate(keyed):
            places[partition].append(place)
        with self._client.pipeline(transaction=False) as pipe:
            for some in places.values():
                pipe.execute_command("MGET", *(keyed[place][1] for place in some))
            answers = pipe.execute() if places else []
        values: list[bytes | None] = [None] * len(keyed)
        for some, answer in zip(places.values(), answers, strict=True):
            for place, value in zip(some, answer, strict=True):
                values[place] = value
        return values

    def change(self, changes: Sequence[Change]) -> list[State]:
        """Change states that are as expected; return those that there are then."""
        keyed = [
            (
                *self._record_key(one.position),
                [
                    "".join(str(int(state)) for state in one.expected),
                    int(one.to),
                    b"" if one.evidence is None else pack_evidence(one.evidence),
                ],
            )
            for one in changes
        ]
        asked = by_partition("CHANGE", keyed)
        with self._told():
            states = asked.in_order([answer.split(b",") for answer in self._scripts.run(asked.calls)])
        return [State(int(state)) if state else State.GONE for state in states]

    def remove(self, position: int, kept: float | None) -> None:
        """Remove the record of a post, and count it no more."""
        with self._told():
            was_there = self._client.delete(self._record_key(position)[1])
            if was_there and kept is not None:
                self._client.hincrby(self._key("k"), str(self._time_slice(kept)), -1)

    def positions_of(self, ids: Sequence[PostId]) -> list[int | None]:
        """Return the position of the post that has each id."""
        with self._told():
            found = self._values([self._holder_key(one) for one in ids])
        return [None if one is None else int(one) for one in found]

    def meta(self, key: str) -> bytes | None:
        """Return the value under a key."""
        with self._told():
            value: bytes | None = self._client.hget(self._key("m"), key)
        return value

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value under a key that has none; return the one that is there then."""
        with self._told():
            self._client.hsetnx(self._key("m"), key, value)
            stored: bytes = self._client.hget(self._key("m"), key)
        return stored

    def note(self, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        """Move the time of the window on, count kept posts, and take others out of their buckets."""
        slices = Counter(self._time_slice(time) for time in kept)
        oldest = self._time_slice(watermark - self._needs.horizon) - 1
        numbers = [str(one) for pair in slices.items() for one in pair]
        arguments = [repr(read), repr(watermark), oldest, *numbers]
        with self._told():
            self._scripts.run(
                [ScriptCall("NOTE", -1, [self._key("w"), self._key("k")], arguments), *self._leaving(leaving)]
            )

    def _time_slice(self, time: float) -> int:
        return int(time // (self._needs.horizon / SLICES))

    def rewind(self, watermark: float) -> None:
        """Put the time of the window back."""
        with self._told():
            self._client.set(self._key("w"), repr(watermark))

    def watermark(self) -> float:
        """Return the time of the window."""
        with self._told():
            held = self._client.get(self._key("w"))
        return float(held) if held else NEVER

    def n_kept_after(self, time: float) -> int:
        """Return about how many kept posts have a time after this one."""
        if time == NEVER:
            return 0
        with self._told():
            counted = self._client.hgetall(self._key("k"))
        edge = self._time_slice(time)
        return sum(int(n) for one, n in counted.items() if int(one) >= edge)

    def n_bytes(self) -> int:
        """Return the bytes that the server has in use, for all that it holds; of a cluster, the sum."""
        with self._told():
            told = self._client.info("memory")
        servers = [told] if "used_memory" in told else list(told.values())
        return sum(int(one["used_memory"]) for one in servers)

    def close(self) -> None:
        """Let go of the connections."""
        if not self._is_closed:
            self._is_closed = True
            self._client.close()


def meta_prefix(name: str) -> str:
    """Return how the keys begin of what all partitions of a window have in common."""
    return f"{{{name}}}"


def tags(name: str, n_partitions: int) -> list[str]:
    """Return what names the partitions of a window, so that they lie evenly among the slots of a cluster.

    Examples
    --------
    >>> [key_slot(tag.encode()) // (2**14 // 4) for tag in tags("weibo", 4)]
    [0, 1, 2, 3]
    """
    width = REDIS_CLUSTER_HASH_SLOTS // n_partitions
    found: dict[int, str] = {}
    for number in count():
        tag = f"{name}:{number}"
        found.setdefault(key_slot(tag.encode()) // width, tag)
        if len(found) == n_partitions:
            return [found[partition] for partition in range(n_partitions)]
    raise AssertionError


def cut(rows: Sequence[int], counts: Sequence[int], held: bytes, size: int) -> Iterator[Piece]:
    """Yield the entries of each bucket that has any, of ``held``, where so many of each follow one another."""
    begin = 0
    for row, n in zip(rows, counts, strict=True):
        if n:
            yield row, held[begin : begin + n * size]
            begin += n * size


def entries_of(pieces: list[Piece], n_keys: int, kind: np.dtype[np.void]) -> Entries:
    """Return the entries of buckets, of which each may be in several pieces."""
    pieces.sort(key=itemgetter(0))
    rows = np.repeat([row for row, _ in pieces], [len(piece) // kind.itemsize for _, piece in pieces]).astype(np.int64)
    held = np.frombuffer(b"".join([piece for _, piece in pieces]), np.dtype((np.void, kind.itemsize)))
    if (stays := held.view(kind)["position"] != GONE).all():
        return Entries(np.bincount(rows, minlength=n_keys), held.view(kind))
    # chosen as bytes: field by field it takes four times as long
    return Entries(np.bincount(rows[stays], minlength=n_keys), held[stays].view(kind))
