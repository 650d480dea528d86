"""Calls of scripts and commands on the keys of a window: many in one round trip, in order within each partition."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np
from redis.exceptions import AskError, ClusterError, NoScriptError, RedisError, TryAgainError

from hybriddup.data.records import Int64s
from hybriddup_redis.scripts import SCRIPTS

COMMON = -1
"""Partition number of the keys that all partitions share."""
MOST_KEYS = 1024
"""Maximum number of keys in a call: it takes some milliseconds, during which Redis serves nobody else."""
MOVING_FOR = 10.0
"""Seconds for which the keys of a partition are sent one by one, after a call found its slot being moved."""
MOVING = AskError, TryAgainError, ClusterError
"""Errors of a call of several keys while their slot is moved to another server."""

RunInTurn = Callable[..., list[list[Any]]]
"""Runs groups of calls, each group after the one before; returns the answers of each group."""
PACKED = frozenset({"ENTER", "READ", "LEAVE", "HOLD", "HELD"})
"""Scripts that get each column of arguments joined to one, because the client takes longer to send many arguments."""


class KeyedCall(NamedTuple):
    """A call of a script or command on keys of one partition."""

    kind: str
    """Name of a script, or of a command whose only arguments are keys, such as MGET."""
    partition: int
    keys: Sequence[bytes]
    first: Sequence[Any] = ()
    """Arguments of the whole call, before the columns."""
    columns: Sequence[Sequence[bytes]] = ()
    """Columns of arguments, each with one value per key. Scripts may derive the keys from them if ``keys`` is empty."""

    @property
    def arguments(self) -> list[Any]:
        """All arguments after the keys, in the order in which they are sent."""
        if self.kind in PACKED:
            return [*self.first, *map(b"".join, self.columns)]
        return [*self.first, *chain.from_iterable(zip(*self.columns, strict=True))]

    def take(self, chosen: slice) -> KeyedCall:
        """Return the same call for the chosen keys only."""
        return self._replace(keys=self.keys[chosen], columns=[column[chosen] for column in self.columns])

    def split(self, size: int) -> list[KeyedCall]:
        """Return calls of up to ``size`` keys."""
        n = max(len(self.keys), *map(len, self.columns), 0)
        return [self] if n <= size else [self.take(slice(first, first + size)) for first in range(0, n, size)]


class Calls:
    """Sends calls to one server, or to all of a cluster.

    Parameters
    ----------
    client
        Client of one server or of a cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._made: dict[str, Any] = {kind: client.register_script(source) for kind, source in SCRIPTS.items()}
        self._moving: dict[int, float] = {}
        """Time until which the keys of a partition are sent one by one, by partition, in `time.monotonic`."""

    def run(self, calls: Sequence[KeyedCall]) -> list[Any]:
        """Run calls in one round trip, in order within each partition; return their answers.

        A restarted server has no scripts. Then the scripts are loaded, and the failed calls are repeated, with all
        later calls on their partitions, which may have run too early. A call on several keys is split while their slot
        is being moved.
        """
        if not calls:
            return []
        moving = {one for one, until in self._moving.items() if until > time.monotonic()}
        parts = [one.split(1) if one.partition in moving else [one] for one in calls]
        sent = [part for some in parts for part in some]
        answers = iter(self._run(sent))
        return [merged(one.kind, [next(answers) for _ in some]) for one, some in zip(calls, parts, strict=True)]

    def _run(self, calls: Sequence[KeyedCall]) -> list[Any]:
        with self._client.pipeline(transaction=False) as pipe:
            for one in calls:
                pipe.execute_command(*self._command(one))
            answers: list[Any] = pipe.execute(raise_on_error=False)
        for place, (one, answer) in enumerate(zip(calls, answers, strict=True)):
            if isinstance(answer, MOVING) and len(one.keys) > 1:
                self._moving[one.partition] = time.monotonic() + MOVING_FOR
                answers[place] = merged(one.kind, self._run(one.split(1)))
        if again := not_run(calls, answers):
            for script in self._made.values():
                self._client.script_load(script.script)
            for place, answer in zip(again, self._run([calls[place] for place in again]), strict=True):
                answers[place] = answer
        return answers

    def _command(self, one: KeyedCall) -> list[Any]:
        script = self._made.get(one.kind)
        if script is None:
            return [one.kind, *one.keys, *one.arguments]
        return ["EVALSHA", script.sha, len(one.keys), *one.keys, *one.arguments]


def merged(kind: str, answers: Sequence[Any]) -> Any:
    """Merge the answers of the parts of a split call: column by column for a script, to one list for a command."""
    if len(answers) == 1:
        return answers[0]
    if kind not in SCRIPTS:
        return list(chain.from_iterable(answers))
    return [reduce(add, column) for column in zip(*answers, strict=True)]


def not_run(calls: Sequence[KeyedCall], answers: Sequence[Any]) -> list[int]:
    """Return the indices of the calls to repeat: a script was missing for them, or before on their partition.

    Raises
    ------
    redis.exceptions.RedisError
        The first of the answers that is another error.
    """
    late, again = set[int](), list[int]()
    for place, (one, answer) in enumerate(zip(calls, answers, strict=True)):
        if isinstance(answer, NoScriptError):
            late.add(one.partition)
        elif isinstance(answer, RedisError):
            raise answer
        if one.partition in late:
            again.append(place)
    return again


class ByPartition(NamedTuple):
    """The calls for a sequence of keys, each call with keys of one partition."""

    places: list[Int64s]
    """For each call, the indices of its keys in the sequence."""
    calls: list[KeyedCall]

    def in_order(self, answers: Iterable[Sequence[Any]]) -> list[Any]:
        """Flatten the answers, each with one item per key of its call, to the order of the sequence of keys."""
        parts = list(chain.from_iterable(answers))
        if len(self.places) <= 1:
            return parts
        order = np.argsort(np.concatenate(self.places))
        return [parts[place] for place in order.tolist()]

    def in_one_column(self, answers: Iterable[Sequence[Any]]) -> list[Any]:
        """Flatten the answers of a script that returns a single column to the order of the sequence of keys."""
        return self.in_order(column for (column,) in answers)


class Keys(NamedTuple):
    """Keys of a window, each with its partition."""

    partitions: Int64s
    keys: Sequence[bytes]
    """Empty if scripts derive them."""

    def calls(
        self, kind: str, *columns: Sequence[bytes], first: Sequence[Any] = (), most: int = MOST_KEYS
    ) -> ByPartition:
        """Return the calls of a script or a command over these keys.

        Parameters
        ----------
        kind
            Name of a script, or of a command whose only arguments are keys.
        columns
            Columns of arguments, each with one value per key.
        first
            Arguments that every call begins with.
        most
            Maximum number of keys per call.
        """
        found = ByPartition([], [])
        for partition in np.unique(self.partitions).tolist():
            places = np.flatnonzero(self.partitions == partition)
            whole = KeyedCall(kind, partition, self.keys, first, columns)
            if len(places) < len(self.partitions):
                chosen = places.tolist()
                own = [[column[place] for place in chosen] for column in columns]
                whole = whole._replace(keys=[self.keys[place] for place in chosen], columns=own)
            for at, part in enumerate(whole.split(most)):
                found.places.append(places[at * most : (at + 1) * most])
                found.calls.append(part)
        return found


def parts_of(packed: bytes, size: int) -> list[bytes]:
    """Split bytes into parts of ``size`` bytes."""
    return [packed[at : at + size] for at in range(0, len(packed), size)]
