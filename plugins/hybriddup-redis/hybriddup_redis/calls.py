"""Calls of the scripts that a window has in Redis: many in one round trip, those of one partition in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from redis.exceptions import NoScriptError, RedisError

from hybriddup_redis import scripts

KINDS = "ENTER", "ADD", "READ", "LEAVE", "CHANGE", "HOLD", "WRITE", "TAKE", "NOTE"
"""The names of the scripts in `hybriddup_redis.scripts`."""


class ScriptCall(NamedTuple):
    """One run of a script."""

    kind: str
    partition: int
    """The one that all keys are of; -1 = what all partitions have in common."""
    keys: Sequence[Any]
    arguments: Sequence[Any]


class ByPartition(NamedTuple):
    """Runs of a script over many keys, one for each partition."""

    places: list[list[int]]
    """Those of the keys of each run."""
    calls: list[ScriptCall]

    def in_order(self, answers: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the answers of all runs, one a key, in the order of the keys."""
        found = chain.from_iterable(map(zip, self.places, answers))
        return [answer for _, answer in sorted(found, key=itemgetter(0))]


class Scripts:
    """The scripts of a window, on one server or on all of a cluster.

    Parameters
    ----------
    client
        Of one server or of a cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._made: dict[str, Any] = {kind: client.register_script(getattr(scripts, kind)) for kind in KINDS}

    def run(self, calls: Sequence[ScriptCall]) -> list[Any]:
        """Run scripts in one round trip, those of one partition in order; return the answers.

        A server that was started anew has no scripts. It gets them, and what it did not run is run then, with what
        follows on the same partition, which may have come too early.
        """
        with self._client.pipeline(transaction=False) as pipe:
            for one in calls:
                pipe.execute_command("EVALSHA", self._made[one.kind].sha, len(one.keys), *one.keys, *one.arguments)
            answers: list[Any] = pipe.execute(raise_on_error=False)
        if again := not_run(calls, answers):
            for script in self._made.values():
                self._client.script_load(script.script)
            for place, answer in zip(again, self.run([calls[place] for place in again]), strict=True):
                answers[place] = answer
        return answers


def not_run(calls: Sequence[ScriptCall], answers: Sequence[Any]) -> list[int]:
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


def by_partition(kind: str, keyed: Sequence[tuple[int, Any, Sequence[Any]]], *first: Any) -> ByPartition:
    """Return the runs of a script over keys, each with its partition and its own arguments; ``first`` stand before."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, (partition, _, _) in enumerate(keyed):
        places[partition].append(place)
    calls = [ScriptCall(kind, partition, [keyed[at][1] for at in some],
                        [*first, *(one for at in some for one in keyed[at][2])])
             for partition, some in places.items()]  # fmt: skip
    return ByPartition(list(places.values()), calls)
