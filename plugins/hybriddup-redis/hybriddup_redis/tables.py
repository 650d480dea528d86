"""The classic tables of a window in Redis: for each block of a fingerprint, a set per value with all fingerprints.

The key of a set is ``{window:number}t``, the number of the table, a colon, and the value of the block, its *segment*,
in hexadecimal digits, such as ``{news:0}t2:9fa3``. A member is a cell of `hybriddup.shared_windows.classic`: the
fingerprint, the position of the post and its length, in 8, 8 and 4 bytes with the highest byte first.

Each post has members of its own. So posts enter and leave sets without regard to others, by plain commands. Members of
posts that are too old are removed by clients that read them, and sets expire when nothing was added for a while.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import UInt64s
from hybriddup.shared_windows import Entries, Keyed, Needs
from hybriddup.shared_windows.candidates import stable_order
from hybriddup.shared_windows.classic import CELL, cells_of, entries_of
from hybriddup.shared_windows.packing import mix_keys
from hybriddup_redis.calls import KeyedCall, Keys, RunInTurn, parts_of

READ_AT_ONCE = 64
"""Sets per call of a script: with 50 million posts, a set of a 16-bit block has some 800 members."""


class Tables:
    """Reads and writes the sets of the tables.

    Parameters
    ----------
    run_in_turn
        Runs groups of calls, one group after the other; returns the answers of each group.
    prefixes
        Prefix of the keys of each partition.
    ttl
        Milliseconds after which a set expires.
    needs
        Requirements of the window.
    """

    def __init__(self, run_in_turn: RunInTurn, prefixes: Sequence[bytes], ttl: int, needs: Needs) -> None:
        self._run_in_turn, self._ttl = run_in_turn, ttl
        self._begins = [prefix + b"t" for prefix in prefixes]
        self._digits = [-(-bits // 4) for bits in needs.segments]

    def enter(self, texts: Keyed, keys: UInt64s, settled: int, oldest: int) -> Entries:  # noqa: ARG002  (no limit)
        """Add posts to their sets, then read the sets of ``keys``, which are distinct.

        Posts before the position ``oldest`` are no longer needed, and are removed from these sets.
        """
        added, members = cells_of(texts)
        adding = self._sets(added).calls("ADD", parts_of(members.tobytes(), CELL.itemsize), first=(self._ttl,))
        counts, found = self._read(keys, adding.calls)
        if (is_old := found["position"] < oldest).any():
            self._remove(np.repeat(keys, counts)[is_old], found[is_old])
        return entries_of(counts, found)

    def read(self, keys: UInt64s) -> Entries:
        """Read the sets of ``keys``, which are distinct."""
        return entries_of(*self._read(keys))

    def leave(self, texts: Keyed, *after: KeyedCall) -> None:
        """Remove posts from their sets, then run the calls ``after``."""
        self._remove(*cells_of(texts), *after)

    def _read(self, keys: UInt64s, before: Sequence[KeyedCall] = ()) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Run the calls ``before``, then read sets; return the number of members of each, and all members, by set."""
        reading = self._sets(keys).calls("MEMBERS", most=READ_AT_ONCE)
        _, answers = self._run_in_turn(before, reading.calls)
        sizes = [np.frombuffer(counts, "<u4") for counts, _ in answers]
        rows = np.concatenate([np.zeros(0, np.int64), *map(np.repeat, reading.places, sizes)])
        found = np.frombuffer(b"".join(members for _, members in answers), CELL)
        return np.bincount(rows, minlength=len(keys)), found[stable_order(rows, len(keys))]

    def _remove(self, keys: UInt64s, members: NDArray[np.void], *after: KeyedCall) -> None:
        removing = self._sets(keys).calls("REMOVE", parts_of(members.tobytes(), CELL.itemsize))
        self._run_in_turn(removing.calls, after)

    def _sets(self, keys: UInt64s) -> Keys:
        """Convert keys of posts to the Redis keys of their sets, with their partitions."""
        partitions = (mix_keys(keys) >> np.uint64(56)).astype(np.int64) % len(self._begins)
        rows = zip(partitions.tolist(), (keys & np.uint64(255)).tolist(), (keys >> np.uint64(8)).tolist(), strict=True)
        names = [b"%s%d:%0*x" % (self._begins[at], table, self._digits[table], segment) for at, table, segment in rows]
        return Keys(partitions, names)
