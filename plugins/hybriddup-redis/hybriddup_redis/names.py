"""The names of a window in Redis, which are ids and texts, and the posts that hold them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hybriddup.shared_windows import Holder
from hybriddup_redis.calls import KeyedCall, Keys, RunInTurn, parts_of

HASHES = 2**14
"""Number of hashes of ids, and of texts: with two million of each, Redis stores each hash as one block of memory."""
CLAIM = np.dtype([("name", "V17"), ("position", "<i8"), ("instead_of", "<i8")])
"""Argument of the script `HOLD` for each claim: a digest, a position, and the holder that it may replace, -1 = none."""


class Digests(NamedTuple):
    """Digests of names, and the Redis keys of the hashes that contain them."""

    digests: list[bytes]
    """The kind of each name in one byte, and a digest of 16 bytes."""
    keys: Keys
    """Redis key and partition for each digest; on one server, scripts derive the keys."""


class Names:
    """Claims names, and looks up their holders.

    Parameters
    ----------
    run_in_turn
        Runs groups of calls, one group after the other; returns the answers of each group.
    prefixes
        Prefix of the keys of each partition.
    ttl
        Milliseconds after the last write until a key expires.
    """

    def __init__(self, run_in_turn: RunInTurn, prefixes: Sequence[bytes], ttl: int) -> None:
        self._run_in_turn, self._prefixes, self._ttl = run_in_turn, prefixes, ttl

    def claim(
        self, holders: Sequence[Holder], oldest: int, before: Sequence[KeyedCall] = ()
    ) -> tuple[list[int], list[Any]]:
        """Run the calls ``before``, then claim names; return the position that holds each name, and the calls' answers.

        Holders before the position ``oldest`` have expired.
        """
        named = self._digests([one.name for one in holders])
        claims = np.zeros(len(holders), CLAIM)
        claims["name"] = np.frombuffer(b"".join(named.digests), CLAIM["name"])
        claims["position"] = [one.position for one in holders]
        claims["instead_of"] = [-1 if one.instead_of is None else one.instead_of for one in holders]
        first = self._prefixes[0], oldest, self._ttl
        asked = named.keys.calls("HOLD", parts_of(claims.tobytes(), CLAIM.itemsize), first=first)
        answers_before, answers = self._run_in_turn(before, asked.calls)
        return asked.in_one_column(answers), answers_before

    def holders(self, names: Sequence[bytes], oldest: int) -> list[int | None]:
        """Return the position that holds each name; None if no post from position ``oldest`` on holds it."""
        named = self._digests(names)
        asked = named.keys.calls("HELD", named.digests, first=(self._prefixes[0], oldest))
        (answers,) = self._run_in_turn(asked.calls)
        return asked.in_one_column(answers)

    def _digests(self, names: Sequence[bytes]) -> Digests:
        """Hash names, and determine the Redis keys of the hashes that contain them."""
        digests = list(map(digest_of, names))
        packed = np.frombuffer(b"".join(digests), np.uint8).reshape(len(digests), 17).astype(np.int64)
        hashes = (packed[:, 1] * 256 + packed[:, 2]) % HASHES
        partitions, keys = hashes % len(self._prefixes), list[bytes]()
        if len(self._prefixes) > 1:
            rows = zip(digests, hashes.tolist(), partitions.tolist(), strict=True)
            keys = [b"%s%s%d" % (self._prefixes[partition], one[:1], number) for one, number, partition in rows]
        return Digests(digests, Keys(partitions, keys))


def digest_of(name: bytes) -> bytes:
    """Shorten a name to its kind, one byte, and a digest of 16 bytes; the name of a text has this form already."""
    return name if name[:1] == b"x" else name[:1] + hashlib.blake2b(name, digest_size=16).digest()
