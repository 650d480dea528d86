"""Calls of scripts and commands over the keys of a window: many in one round trip, those of one partition in order."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

from redis.exceptions import AskError, ClusterError, NoScriptError, RedisError, TryAgainError

from hybriddup_redis import scripts

SCRIPTS = "ENTER", "READ", "OVERFLOW", "LEAVE", "LEAVE_OVERFLOW", "CHANGE", "HOLD", "WRITE", "TAKE", "FINISH"
"""The names of the scripts in `hybriddup_redis.scripts`."""
COMMON = -1
"""The partition of what all partitions have in common."""
MOST_KEYS = 1024
"""Keys of one call, at most: it takes some milliseconds, in which Redis serves nobody else."""
MOVING_FOR = 10.0
"""Seconds for which the keys of a partition are sent one by one, since its slot was being moved."""
MOVING = AskError, TryAgainError, ClusterError
"""Errors of a call of several keys while their slot is moved to another server."""


class KeyedCall(NamedTuple):
    """A call over keys of one partition."""

    kind: str
    """The name of a script, or a command that has keys only, such as MGET."""
    partition: int
    keys: Sequence[bytes]
    first: Sequence[Any] = ()
    """The arguments before those of the keys."""
    arguments: Sequence[Any] = ()
    """One for each key; for a command, and for a script over what all partitions have in common, the rest of them."""

    @property
    def can_be_split(self) -> bool:
        """Whether the keys are independent of each other."""
        return len(self.keys) > 1

    def split(self) -> list[KeyedCall]:
        """Return calls of one key each."""
        arguments = [[one] for one in self.arguments] or [[] for _ in self.keys]
        return [self._replace(keys=[key], arguments=own) for key, own in zip(self.keys, arguments, strict=True)]


class Calls:
    """Sends calls to one server, or to all of a cluster.

    Parameters
    ----------
    client
        Of one server or of a cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._made: dict[str, Any] = {kind: client.register_script(getattr(scripts, kind)) for kind in SCRIPTS}
        self._moving: dict[int, float] = {}
        """By partition, until when its keys are sent one by one, in seconds of `time.monotonic`."""

    def run(self, calls: Sequence[KeyedCall]) -> list[Any]:
        """Run calls in one round trip, those of one partition in order; return their answers.

        A server that was started anew has no scripts. It gets them, and then runs what it did not run, with what
        follows on the same partition, which may have come too early. A call of several keys whose slot is being moved
        is split.
        """
        moving = {one for one, until in self._moving.items() if until > time.monotonic()}
        parts = [one.split() if one.partition in moving and one.can_be_split else [one] for one in calls]
        sent = [part for some in parts for part in some]
        answers = iter(self._run(sent))
        return [merged(one.kind, [next(answers) for _ in some]) for one, some in zip(calls, parts, strict=True)]

    def _run(self, calls: Sequence[KeyedCall]) -> list[Any]:
        with self._client.pipeline(transaction=False) as pipe:
            for one in calls:
                pipe.execute_command(*self._command(one))
            answers: list[Any] = pipe.execute(raise_on_error=False)
        for place, (one, answer) in enumerate(zip(calls, answers, strict=True)):
            if isinstance(answer, MOVING) and one.can_be_split:
                self._moving[one.partition] = time.monotonic() + MOVING_FOR
                answers[place] = merged(one.kind, self._run(one.split()))
        if again := not_run(calls, answers):
            for script in self._made.values():
                self._client.script_load(script.script)
            for place, answer in zip(again, self._run([calls[place] for place in again]), strict=True):
                answers[place] = answer
        return answers

    def _command(self, one: KeyedCall) -> list[Any]:
        rest = [*one.keys, *one.first, *one.arguments]
        script = self._made.get(one.kind)
        return [one.kind, *rest] if script is None else ["EVALSHA", script.sha, len(one.keys), *rest]


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

    places: list[list[int]]
    """The places of the keys of each call."""
    calls: list[KeyedCall]

    def in_order(self, answers: Iterable[Sequence[Any]]) -> list[Any]:
        """Return a part of the answers for each key, in the order of the keys; an answer has a part for each key."""
        parts = {place: part for places, answer in zip(self.places, answers, strict=True)
                 for place, part in zip(places, answer, strict=True)}  # fmt: skip
        return [parts[place] for place in range(len(parts))]


def by_partition(kind: str, keyed: Sequence[tuple[int, bytes]], arguments: Sequence[Any], *first: Any) -> ByPartition:
    """Return the calls of a script over keys, each with its partition and its argument.

    Parameters
    ----------
    keyed
        Partitions and keys.
    arguments
        One for each key, or none at all.
    first
        Arguments that every call begins with.
    """
    of_partition: dict[int, list[int]] = defaultdict(list)
    for place, (partition, _) in enumerate(keyed):
        of_partition[partition].append(place)
    found = ByPartition([], [])
    for partition, places in of_partition.items():
        for begin in range(0, len(places), MOST_KEYS):
            some = places[begin : begin + MOST_KEYS]
            own = [arguments[place] for place in some] if arguments else []
            found.places.append(some)
            found.calls.append(KeyedCall(kind, partition, [keyed[place][1] for place in some], first, own))
    return found
