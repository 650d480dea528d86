"""The posts of a shared window in Redis.

All keys begin with the window's name. Two hashes contain the data that all partitions share: `m` has the layout, the
token of the store, the next position, the clock, the watermark, the unfinished blocks, marks of time, and the counts of
kept posts by time slice; `v` has values such as the recipe. The other keys are divided among partitions: `r` and a
position is a record; `i` and a number is a hash with the holders of some ids, `x` and a number one with the holders of
some texts; `b` is a shard of buckets, or an overflow. `hybriddup_redis.scripts` describes them.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import redis
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.shared_windows import (
    Block,
    Change,
    Entries,
    Holder,
    Keyed,
    Needs,
    PostRecord,
    State,
    Taken,
)
from hybriddup.shared_windows.packing import damaged, pack_evidence, refusing_damage
from hybriddup_redis.buckets import Buckets
from hybriddup_redis.calls import COMMON, Calls, KeyedCall, Keys
from hybriddup_redis.names import Names
from hybriddup_redis.packing import LEFT, pack_record, unpack_record, without_left
from hybriddup_redis.scripts import DAMAGED, LOST
from hybriddup_redis.tables import Tables

logger = logging.getLogger("hybriddup")

SLICES = 64
"""Number of time slices in a horizon; kept posts are counted by slice."""
NEVER = float("-inf")
GIVEN_UP = b"%d" % State.GONE
"""The record of a post that was given up before it was announced."""


class Layout(NamedTuple):
    """Layout of a window, which is the same for all processes that open it."""

    n_partitions: int
    """Number of parts of the keys, a power of 2 up to 256; each is on one server."""
    horizon: int
    """The longest horizon, in milliseconds."""


class RedisStore:
    """A `hybriddup.shared_windows.SharedStore` in Redis.

    Parameters
    ----------
    client
        Client of one server or of a cluster; its answers are bytes.
    name
        Name of the window.
    layout
        Layout with which the window was created.
    token
        Random token from the creation of the window: a store that was emptied or replaced has another one or none.
    needs
        Requirements of the window.
    """

    def __init__(self, client: Any, name: str, layout: Layout, token: bytes, needs: Needs) -> None:
        self._client, self._name, self._token, self._needs = client, name, token, needs
        self._n_partitions = layout.n_partitions
        self._horizon, self._ttl = layout.horizon, 2 * layout.horizon
        self._prefixes = [b"{%s}" % tag.encode() for tag in tags(name, layout.n_partitions)]
        self._meta, self._values = meta_key(name), meta_prefix(name) + b"v"
        self._calls = Calls(client)
        layout_of = Tables if needs.segments else Buckets
        self._buckets = layout_of(self._run_in_turn, self._prefixes, self._ttl, needs)
        self._names = Names(self._run_in_turn, self._prefixes, self._ttl)
        self._settled, self._oldest = 0, 0
        """At the last `take`: the position before which posts were settled, and the position before which they were no
        longer needed."""
        self._is_closed = False

    # ---- keys

    def _record_key(self, position: int) -> bytes:
        return b"%sr%d" % (self._prefixes[position % self._n_partitions], position)

    def _records(self, positions: Int64s, are_made: bool = False) -> Keys:
        """Return the keys of records; leave them empty if ``are_made`` and a script derives them, as on one server."""
        keys = [] if are_made and self._n_partitions == 1 else list(map(self._record_key, positions.tolist()))
        return Keys(positions % self._n_partitions, keys)

    # ---- calls

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raise StoreError if Redis fails."""
        if self._is_closed:
            raise StoreError("the store is closed.")
        try:
            yield
        except redis.exceptions.RedisError as error:
            raise self._reported(error) from error

    def _reported(self, error: redis.exceptions.RedisError) -> StoreError:
        """Convert an error of Redis to a StoreError with advice."""
        if LOST in str(error):
            return lost(self._name)
        if DAMAGED in str(error):
            return damaged("a bucket, or the holder of an id or a text")
        if isinstance(error, redis.exceptions.OutOfMemoryError):
            return StoreError(f"Redis is out of memory: {error}. Give it more, or shorten the horizon.")
        return StoreError(
            f"Redis failed: {type(error).__name__}: {error}. Check the server and the network, and send the posts "
            "again."
        )

    def _run_in_turn(self, *parts: Sequence[KeyedCall]) -> list[list[Any]]:
        """Run groups of calls, each group after the one before; on one server, all in one round trip."""
        if self._n_partitions == 1:
            answers = iter(self._calls.run([one for part in parts for one in part]))
            return [[next(answers) for _ in part] for part in parts]
        return [self._calls.run(part) if part else [] for part in parts]

    # ---- positions, records and names

    def take(self, n: int) -> Taken:
        """Reserve ``n`` positions as an unfinished block."""
        with self._reporting():
            ((first, watermark, oldest, unfinished),) = self._calls.run([self._of_meta("TAKE", n, self._horizon)])
        with refusing_damage("the time of the window, or the list of unfinished blocks,"):
            blocks = tuple(Block(*map(int, one.split(b":"))) for one in unfinished.split())
            taken = Taken(int(first), float(watermark) if watermark else NEVER, blocks)
        self._settled, self._oldest = taken.settled, int(oldest)
        return taken

    def _of_meta(self, kind: str, *arguments: Any) -> KeyedCall:
        partition = 0 if self._n_partitions == 1 else COMMON  # on one server, in order with all other calls
        return KeyedCall(kind, partition, [self._meta], [self._token, *arguments])

    def announce(self, records: Sequence[PostRecord], holders: Sequence[Holder]) -> list[int]:
        """Store records, then claim names as `hold` does; return an empty list if a post was given up before."""
        positions = np.array([one.post.position for one in records], np.int64)
        packed, first = list(map(pack_record, records)), (self._prefixes[0], self._ttl)
        writes = self._records(positions, are_made=True).calls("WRITE", packed, first=first)
        with self._reporting():
            held, answers = self._names.claim(holders, self._oldest, writes.calls)
        return [] if GIVEN_UP[0] in writes.in_one_column(answers) else held

    def hold(self, holders: Sequence[Holder]) -> list[int]:
        """Claim names; return the position that holds each name."""
        with self._reporting():
            return self._names.claim(holders, self._oldest)[0]

    def positions_of(self, names: Sequence[bytes]) -> list[int | None]:
        """Return the position that holds each name; None if no post holds it."""
        with self._reporting():
            return self._names.holders(names, self._oldest)

    def records(self, positions: Int64s) -> list[PostRecord | None]:
        """Return the record at each position; None if there is none."""
        asked = self._records(positions).calls("MGET")
        with self._reporting():
            found = asked.in_order(self._calls.run(asked.calls))
        return [None if one in (None, GIVEN_UP) else unpack_record(one) for one in found]

    def change(self, changes: Sequence[Change]) -> list[State]:
        """Change each state that is as expected; return every post's state afterwards."""
        arguments = [
            b"%d %d%s,%s" % (one.position, one.to, digits_of(one.expected), evidence_of(one)) for one in changes
        ]
        keys = self._records(np.array([one.position for one in changes], np.int64), are_made=True)
        asked = keys.calls("CHANGE", arguments, first=(self._prefixes[0], self._ttl))
        with self._reporting():
            digits = asked.in_one_column(self._calls.run(asked.calls))
        with refusing_damage("the state of a post"):
            return [State.GONE if one == ord("0") else State(one - ord("0")) for one in digits]

    def remove(self, position: int, kept: float | None) -> None:
        """Remove the record of a post; unless ``kept`` is None, count one kept post less at that time.

        If counting fails, the record stays removed.
        """
        with self._reporting():
            was_there = self._client.delete(self._record_key(position))
        try:
            if was_there and kept is not None:
                self._client.hincrby(self._meta, b"k%d" % self._time_slice(kept), -1)
        except redis.exceptions.RedisError as error:
            logger.warning("a post was deleted, but still counts as kept in this window: %s", error)

    # ---- buckets and blocks

    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        """Add posts to the buckets of their keys, then return the contents of the buckets of ``keys``."""
        with self._reporting(), refusing_damage("a bucket"):
            if not len(texts.entries):
                return without_left(self._buckets.read(keys))
            return without_left(self._buckets.enter(texts, keys, self._settled, self._oldest))

    def leave(self, texts: Keyed) -> None:
        """Remove posts from their buckets, and add marks there that hide entries of these posts that arrive late."""
        if len(texts.entries):
            marks = texts.entries.copy()
            marks["length"] = LEFT
            with self._reporting():
                self._buckets.leave(texts)
                self._buckets.enter(texts._replace(entries=marks), np.zeros(0, np.uint64), self._settled, self._oldest)

    def finish(self, first: int, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        """Remove the posts ``leaving`` from their buckets, then finish the block that begins at ``first``."""
        slices = Counter(self._time_slice(time) for time in kept)
        oldest = self._time_slice(watermark - self._needs.horizon) - 1 if watermark > NEVER else NEVER
        numbers = [one for pair in slices.items() for one in pair]
        with self._reporting():
            self._buckets.leave(leaving, self._of_meta("FINISH", first, repr(read), repr(watermark), oldest, *numbers))

    # ---- values and times

    def meta(self, key: str) -> bytes | None:
        """Return the value of a key; None if it has none."""
        with self._reporting():
            value: bytes | None = self._client.hget(self._values, key)
        return value

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value if the key has none; return the value that it has afterwards."""
        with self._reporting():
            self._client.hsetnx(self._values, key, value)
            stored: bytes = self._client.hget(self._values, key)
        return stored

    def _time_slice(self, time: float) -> int:
        return int(time // (self._needs.horizon / SLICES))

    def rewind(self, watermark: float) -> None:
        """Set the time of the window back to ``watermark``."""
        with self._reporting():
            self._client.hset(self._meta, "w", repr(watermark))

    def watermark(self) -> float:
        """Return the time of the window; minus infinity in a new one."""
        with self._reporting():
            token, held = self._client.hmget(self._meta, "token", "w")
        if token != self._token:
            raise lost(self._name)
        with refusing_damage("the time of the window"):
            return float(held) if held else NEVER

    def n_kept_after(self, time: float) -> int:
        """Return the approximate number of kept posts with a later time."""
        if time == NEVER:
            return 0
        with self._reporting():
            held = self._client.hgetall(self._meta)
        edge = self._time_slice(time)
        with refusing_damage("the number of kept posts"):
            counts = {int(field[1:]): int(n) for field, n in held.items() if field[:1] == b"k"}
        return sum(n for one, n in counts.items() if one >= edge)

    def n_bytes(self) -> int:
        """Return the memory that Redis uses for everything that it stores, in bytes, summed over all servers."""
        with self._reporting():
            memory = self._client.info("memory")
        servers = [memory] if "used_memory" in memory else list(memory.values())
        return sum(int(one["used_memory"]) for one in servers)

    def close(self) -> None:
        """Release the connections."""
        if not self._is_closed:
            self._is_closed = True
            self._client.close()


def lost(name: str) -> StoreError:
    """Return the error for a store that was emptied or replaced since it was opened."""
    return StoreError(
        f"the window {name} was removed from Redis, or made anew, since it was opened here: the server was flushed, "
        "restarted without its data, or replaced. Nothing was decided. Restore the data, or open the window anew to "
        "begin with an empty one."
    )


@cache
def digits_of(states: frozenset[State]) -> bytes:
    """Return the digits of states in ascending order, joined."""
    return b"".join(b"%d" % state for state in sorted(states))


def evidence_of(change: Change) -> bytes:
    """Serialize the evidence of a change; empty if it has none."""
    return b"" if change.evidence is None else pack_evidence(change.evidence)


def meta_prefix(name: str) -> bytes:
    """Return the prefix of the keys that all partitions of a window share."""
    return b"{%s}" % name.encode()


def meta_key(name: str) -> bytes:
    """Return the key of the hash with the layout, the token and the counters of a window."""
    return meta_prefix(name) + b"m"


def tags(name: str, n_partitions: int) -> list[str]:
    """Return the hash tag of each partition of a window, chosen to spread partitions evenly over a cluster's slots.

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
