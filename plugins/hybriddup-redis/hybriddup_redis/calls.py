"""Calls of scripts and commands over the keys of a window: many in one round trip, those of one partition in order."""

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
"""The partition of what all partitions have in common."""
MOST_KEYS = 1024
"""Keys of one call, at most: it takes some milliseconds, in which Redis serves nobody else."""
MOVING_FOR = 10.0
"""Seconds for which the keys of a partition are sent one by one, since its slot was being moved."""
MOVING = AskError, TryAgainError, ClusterError
"""Errors of a call of several keys while their slot is moved to another server."""

RunInTurn = Callable[..., list[list[Any]]]
"""Runs parts of calls, those of one part after all of the part before; returns the answers of each part."""
PACKED = frozenset({"ENTER", "READ", "LEAVE", "HOLD", "HELD"})
"""Scripts whose arguments are joined, column by column: the client takes longer to send many than few."""


class KeyedCall(NamedTuple):
    """A call over keys of one partition."""

    kind: str
    """The name of a script, or a command that has keys only, such as MGET."""
    partition: int
    keys: Sequence[bytes]
    first: Sequence[Any] = ()
    """The arguments before those of the keys."""
    columns: Sequence[Sequence[bytes]] = ()
    """Arguments of the keys, each column with one for each key. Scripts may make keys from these, if none is named."""

    @property
    def arguments(self) -> list[Any]:
        """What follows the keys."""
        if self.kind in PACKED:
            return [*self.first, *map(b"".join, self.columns)]
        return [*self.first, *chain.from_iterable(zip(*self.columns, strict=True))]

    def take(self, chosen: slice) -> KeyedCall:
        """Return the call for some of the keys."""
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
        Of one server or of a cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._made: dict[str, Any] = {kind: client.register_script(source) for kind, source in SCRIPTS.items()}
        self._moving: dict[int, float] = {}
        """By partition, until when its keys are sent one by one, in seconds of `time.monotonic`."""

    def run(self, calls: Sequence[KeyedCall]) -> list[Any]:
        """Run calls in one round trip, those of one partition in order; return their answers.

        A server that was started anew has no scripts. It gets them, and then runs what it did not run, with what
        follows on the same partition, which may have come too early. A call of several keys whose slot is being moved
        is split.
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
    """Return the answer of a call, from those of its parts: a script's column by column, a command's as one list."""
    if len(answers) == 1:
        return answers[0]
    if kind not in SCRIPTS:
        return list(chain.from_iterable(answers))
    return [reduce(add, column) for column in zip(*answers, strict=True)]


def not_run(calls: Sequence[KeyedCall], answers: Sequence[Any]) -> list[int]:
    """Return the places of the calls that are to be run again, as the server did not have a script.

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
    """Calls over keys, of which each has a place."""

    places: list[Int64s]
    """The places of the keys of each call."""
    calls: list[KeyedCall]

    def in_order(self, answers: Iterable[Sequence[Any]]) -> list[Any]:
        """Return a part of the answers for each key, in the order of the keys; an answer has a part for each key."""
        parts = list(chain.from_iterable(answers))
        if len(self.places) <= 1:
            return parts
        order = np.argsort(np.concatenate(self.places))
        return [parts[place] for place in order.tolist()]

    def in_one_column(self, answers: Iterable[Sequence[Any]]) -> list[Any]:
        """Return the parts of the only column of the answers of a script, in the order of the keys."""
        return self.in_order(column for (column,) in answers)


class Keys(NamedTuple):
    """Keys of a window, each with its partition."""

    partitions: Int64s
    keys: Sequence[bytes]
    """Empty if scripts make them."""

    def calls(
        self, kind: str, *columns: Sequence[bytes], first: Sequence[Any] = (), most: int = MOST_KEYS
    ) -> ByPartition:
        """Return the calls of a script or a command over these keys.

        Parameters
        ----------
        kind
            The name of a script, or a command that has keys only.
        columns
            Arguments, one for each key.
        first
            Arguments that every call begins with.
        most
            Number of keys per call.
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
    """Return parts of the same size."""
    return [packed[at : at + size] for at in range(0, len(packed), size)]
