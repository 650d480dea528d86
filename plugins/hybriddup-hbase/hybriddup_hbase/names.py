"""The holders of names: which post holds an id or a text.

HBase changes a cell by compare-and-set, but one cell a call, some hundreds a second. So a batch claims all of its names
by one compare-and-set:

1. It writes a *claim* for each name that it may have, into the row of the name. All these claims belong to one
   *transaction*, which is undecided so far.
2. It reads the rows again. A claim is *contested* if the row has a claim of another transaction that is undecided.
3. It decides its transaction by compare-and-set, from nothing to a list of the claims that lost: those that are
   contested, and those whose name has another holder by now. All others have won. An outcome never changes.
4. Claims that lost are removed and tried again after a pause. From the fifth attempt on, step 2 gives up undecided
   transactions of other processes, which may have ended: it sets their outcome, by compare-and-set, to one in which all
   claims lost.

The holder of a name is the post whose claim has won and that no other winner replaced.

Two claims to a free name never both win. Let the claim of batch B be the one that was written last. B read the row
after that, and found the claim of batch A. If A was undecided, B lost, or B gave A up and A lost. If A was decided, B
read the outcome, and lost if A had won. The same holds for two claims that replace one holder.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from random import uniform
from time import sleep
from typing import NamedTuple

from hybriddup.shared_windows import Holder
from hybriddup.shared_windows.packing import refusing_damage
from hybriddup_hbase.table import Place, Row, Table

OUTCOME = b"d:o"
"""The column of the outcome of a transaction."""
GIVEN_UP = b"-"
DECIDED = b"+"
"""First byte of a decided outcome; the numbers of the claims that lost follow."""
PATIENT_ATTEMPTS = 4
"""Number of attempts before undecided transactions of other processes are given up."""
PAUSE = 0.008
"""Maximum pause after the first attempt, in seconds; it doubles with each attempt, up to `LONGEST_PAUSE`."""
LONGEST_PAUSE = 0.25
CLAIM = struct.Struct(">HQ")
"""The number of a claim in its transaction, and its position. The position of a holder that it replaces may follow."""
POSITION = struct.Struct(">Q")


class Claim(NamedTuple):
    """A claim of a post to a name."""

    transaction: bytes
    number: int
    position: int
    replaces: int | None

    def has_won(self, outcome: bytes) -> bool:
        """Return whether the claim has won, given the outcome of its transaction."""
        return outcome != GIVEN_UP and self.number not in struct.unpack(f">{len(outcome) // 2}H", outcome[1:])


class Standing(NamedTuple):
    """The result of all claims to a name so far."""

    holder: int | None
    """The position of the post that holds the name; None if the name is free."""
    undecided: frozenset[bytes]
    """Transactions that claim the name and are undecided."""


class Names:
    """Claims names, and looks up their holders.

    Parameters
    ----------
    table
        Table of the window.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def positions_of(self, names: Sequence[bytes]) -> list[int | None]:
        """Return the position of the holder of each name; None if it has none."""
        found = self._standings(dict.fromkeys(names))
        return [found[name].holder for name in names]

    def hold(self, holders: Sequence[Holder]) -> list[int]:
        """Claim names; return the position of the holder of each name afterwards."""
        left: dict[bytes, Holder] = {}
        for one in holders:
            left.setdefault(one.name, one)
        held: dict[bytes, int] = {}
        attempt = 0
        while left:
            found = self._standings(left)
            for name, one in list(left.items()):
                holder = found[name].holder
                if holder not in (None, one.instead_of):
                    held[name] = holder
                    del left[name]
            for name in self._claim([(one, found[name].holder) for name, one in left.items()], attempt):
                held[name] = left.pop(name).position
            if left:
                sleep(uniform(0, min(PAUSE * 2**attempt, LONGEST_PAUSE)))  # noqa: S311  no secret
                attempt += 1
        return [held[one.name] for one in holders]

    # ---- claims

    def _claim(self, wanted: Sequence[tuple[Holder, int | None]], attempt: int) -> list[bytes]:
        """Claim each name in place of its present holder, None = the name is free; return the names that were won."""
        if not wanted:
            return []
        transaction = os.urandom(8)
        claims = {Place(row_of(one.name), b"d:" + transaction): pack_claim(number, one.position, instead_of)
                  for number, (one, instead_of) in enumerate(wanted)}  # fmt: skip
        self._table.put(claims)
        found = self._standings([one.name for one, _ in wanted], without=transaction)
        given_up = self._give_up(found.values()) if attempt >= PATIENT_ATTEMPTS else frozenset[bytes]()
        lost = [number for number, (one, instead_of) in enumerate(wanted)
                if found[one.name].holder != instead_of or found[one.name].undecided - given_up]  # fmt: skip
        outcome = DECIDED + struct.pack(f">{len(lost)}H", *lost)
        if not self._table.swap(Place(b"t" + transaction, OUTCOME), None, outcome):
            lost = list(range(len(wanted)))
        places = list(claims)
        self._table.delete([places[number] for number in lost])
        return [one.name for number, (one, _) in enumerate(wanted) if number not in set(lost)]

    def _give_up(self, found: Iterable[Standing]) -> frozenset[bytes]:
        """Give up the undecided transactions in ``found``; return the ones that nobody had decided before."""
        undecided = sorted(frozenset[bytes]().union(*(one.undecided for one in found)))
        are_given_up = self._table.each(
            lambda one: self._table.swap(Place(b"t" + one, OUTCOME), None, GIVEN_UP), undecided
        )
        return frozenset(one for one, is_given_up in zip(undecided, are_given_up, strict=True) if is_given_up)

    def _standings(self, names: Iterable[bytes], without: bytes = b"") -> dict[bytes, Standing]:
        """Return the `Standing` of each name, ignoring the claims of the transaction ``without``.

        Outcomes are read after claims.
        """
        row_of_name = {name: row_of(name) for name in names}
        rows = self._table.rows(list(row_of_name.values()))
        claims = {name: [one for one in claims_in(rows.get(row, {})) if one.transaction != without]
                  for name, row in row_of_name.items()}  # fmt: skip
        transactions = {one.transaction for some in claims.values() for one in some}
        found = self._table.rows([b"t" + one for one in sorted(transactions)])
        outcomes = {key[1:]: row[OUTCOME] for key, row in found.items()}
        return {name: standing_of(some, outcomes) for name, some in claims.items()}


def row_of(name: bytes) -> bytes:
    """Return the row key of a name, a cryptographic digest, so that names are spread evenly over the regions."""
    return b"n" + hashlib.blake2b(name, digest_size=16).digest()


def pack_claim(number: int, position: int, replaces: int | None) -> bytes:
    """Serialize a claim to the value of its cell."""
    return CLAIM.pack(number, position) + (b"" if replaces is None else POSITION.pack(replaces))


def claims_in(row: Row) -> list[Claim]:
    """Return the claims in the row of a name."""
    with refusing_damage("a claim to an id or a text"):
        return [claim_of(column, value) for column, value in row.items()]


def claim_of(column: bytes, value: bytes) -> Claim:
    """Deserialize a claim from its column, which names the transaction, and its value."""
    number, position = CLAIM.unpack(value[: CLAIM.size])
    replaces = value[CLAIM.size :]
    return Claim(column[2:], number, position, POSITION.unpack(replaces)[0] if replaces else None)


def standing_of(claims: Sequence[Claim], outcomes: Mapping[bytes, bytes]) -> Standing:
    """Determine the holder of a name and its undecided claims, given all outcomes by transaction."""
    with refusing_damage("the outcome of claims to ids and texts"):
        won = [one for one in claims if one.transaction in outcomes and one.has_won(outcomes[one.transaction])]
    replaced = {one.replaces for one in won}
    holders = [one.position for one in won if one.position not in replaced]
    undecided = frozenset(one.transaction for one in claims if one.transaction not in outcomes)
    return Standing(min(holders, default=None), undecided)
