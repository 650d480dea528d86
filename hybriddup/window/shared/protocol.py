"""How processes that share a window agree, though their store is atomic for one record at a time only.

1. A batch takes positions. Each post's record is written as *pending*, and the post made the holder of its id; whoever
   finds another holder gets that one's answer.
2. The posts enter their buckets, and only then read them. So of two posts with a key in common, whichever entered last
   sees the other.
3. A match that is kept makes a post a duplicate.
4. A match of an earlier batch that is undecided is waited for. Where its process shows no sign of life for a lease, it
   is *given up*, by a change of its record from undecided to gone. Batches wait for earlier ones only, so never in a
   circle.
5. A match of a later batch that is pending is *challenged*, by a change of its record from pending to challenged: it
   may not have seen the earlier post. Where it is kept already, that is a match as in 3.
6. What has no match left is kept, by a change of its record from pending to kept. Where it was challenged meanwhile, it
   becomes pending again, reads its buckets again, and goes on with 3. Where it was given up, it begins anew with 1.

Of two posts that match, one sees the other. If the later one does, it waits for the earlier one. If only the earlier
one does, it challenges the later one, which is kept already, or must look again and then sees the earlier one. So never
are both kept. A duplicate is written when its keeper is kept, for good. No clocks are compared: a lease is measured by
the one who waits.

The steps are a generator, which yields what it asks of the store. So the tests run these very steps in every order in
which several processes can come, and end, on a small store.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.records import Evidence
from hybriddup.window.shared.store import UNDECIDED, Change, Entries, Holder, Keyed, Record, State, Taken


class Call(NamedTuple):
    """What is asked of the store: a method of `hybriddup.window.shared.store.SharedStore`; its answer is sent back."""

    method: str
    arguments: tuple[Any, ...]


class Wait(NamedTuple):
    """A moment is to pass; sent back are those of the positions whose posts show no sign of life for a lease."""

    positions: tuple[int, ...]


class Verdict(NamedTuple):
    """What is to become of a post if nobody else changes it first."""

    place: int
    evidence: Evidence | None
    """None = it is to be kept."""


class Contestants(Protocol):
    """Posts that are decided together, by place. They are *open* until they are decided, or another has their id."""

    def open_places(self) -> Sequence[int]:
        """Return the places of those that are open, rising."""
        ...

    def begin(self, taken: Taken) -> tuple[list[Record], list[Holder]]:
        """Give those that are open these positions; return their records, and which ids they are to have."""
        ...

    def position_of(self, place: int) -> int:
        """Return the position that a post was given last."""
        ...

    def held(self, holders: Sequence[int]) -> None:
        """Take note of who has the ids; posts whose id another has are open no more."""
        ...

    def keyed(self) -> Keyed:
        """Return those that are open with their keys."""
        ...

    def probes(self) -> UInt64s:
        """Return uint64[n]: the keys by which those that are open look for others."""
        ...

    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of other posts that may match those that are open."""
        ...

    def rivals(self, positions: Int64s, records: Sequence[Record | None]) -> Mapping[int, State]:
        """Take note of candidates; return the undecided ones of all, by position, that match one that is open."""
        ...

    def verdicts(self) -> list[Verdict]:
        """Return what is to become of those that are open, by the candidates that are kept and by each other."""
        ...

    def settle(self, place: int, verdict: Verdict) -> None:
        """Take note that a post is decided."""
        ...

    def repeated(self) -> Mapping[int, int]:
        """Return the positions of the posts that have the ids of these, by place, of those without an answer."""
        ...

    def answer(self, place: int, record: Record) -> None:
        """Take note of the answer that a post gets because its id was decided before."""
        ...

    def reopen(self, place: int) -> None:
        """Open a post whose id is held by one that is gone or forgotten."""
        ...

    def is_forgotten(self, record: Record) -> bool:
        """Return whether a post is older than the window reaches."""
        ...


Steps = Generator[Call | Wait, Any, None]


def call(method: str, *arguments: Any) -> Call:
    """Return what to ask of the store."""
    return Call(method, arguments)


def decide(posts: Contestants) -> Steps:
    """Decide posts; in the end each is kept, a duplicate, or has the answer of the one with its id."""
    while posts.open_places() or posts.repeated():
        if posts.open_places():
            yield from announce(posts)
        else:
            yield from answer_repeated(posts)


def announce(posts: Contestants) -> Steps:
    """Have open posts be seen by others, and decide them, but for those that others give up meanwhile."""
    taken: Taken = yield call("take", len(posts.open_places()))
    records, holders = posts.begin(taken)
    posts.held((yield call("announce", records, holders)))
    if posts.open_places():
        yield from contest(posts, (yield call("enter", posts.keyed(), posts.probes())))


def contest(posts: Contestants, found: Entries) -> Steps:
    """Decide posts that stand in their buckets, until each is decided or was given up."""
    first = posts.position_of(posts.open_places()[0])
    while True:
        states = yield from heed_rivals(posts, found, first)
        left = [posts.position_of(place) for place in posts.open_places()]
        if not left:
            return
        if State.GONE in states.values():  # all that are left begin anew
            yield call("change", [Change(one, UNDECIDED, State.GONE) for one in left])
            return
        # to be pending again comes before looking again, so that no challenge is missed
        challenged = [posts.position_of(place) for place, state in states.items() if state is State.CHALLENGED]
        yield call("change", [Change(one, frozenset({State.CHALLENGED}), State.PENDING) for one in challenged])
        found = yield call("enter", nothing_of(posts.keyed()), posts.probes())


def heed_rivals(posts: Contestants, found: Entries, first: int) -> Generator[Call | Wait, Any, dict[int, State]]:
    """Decide what can be decided; return the states of the posts that were to be settled, by place."""
    asked = posts.candidates(found)
    while True:
        records = yield call("records", asked)
        rivals = posts.rivals(asked, records)
        asked = asked[[one is not None and one.state in UNDECIDED for one in records]]  # the others stay as they are
        pending = [one for one, state in rivals.items() if one > first and state is State.PENDING]
        if pending:
            challenges = [Change(one, frozenset({State.PENDING}), State.CHALLENGED) for one in pending]
            if any(state is State.KEPT for state in (yield call("change", challenges))):
                continue
        awaited = tuple(one for one in rivals if one < first)
        if not awaited:
            return (yield from settle(posts))
        yield from wait_for(awaited)


def wait_for(positions: Iterable[int]) -> Steps:
    """Let a moment pass, and give up those that show no sign of life."""
    lapsed: Sequence[int] = yield Wait(tuple(positions))
    if lapsed:
        yield call("change", [Change(one, UNDECIDED, State.GONE) for one in lapsed])


def settle(posts: Contestants) -> Generator[Call | Wait, Any, dict[int, State]]:
    """Write what is to become of the open posts: the keepers first, then what repeats them."""
    verdicts = {one.place: one for one in posts.verdicts()}
    own = {posts.position_of(place): place for place in verdicts}
    later = {place: own[one.evidence.of_position] for place, one in verdicts.items()
             if one.evidence is not None and one.evidence.of_position in own}  # fmt: skip
    states: dict[int, State] = {}
    for places in ([place for place in verdicts if place not in later], list(later)):
        due = [place for place in places if place not in later or states[later[place]] is State.KEPT]
        if due:
            answers = yield call("change", [change_of(posts, verdicts[place]) for place in due])
            states |= dict(zip(due, answers, strict=True))
    for place, state in states.items():
        if state is (State.KEPT if verdicts[place].evidence is None else State.DUPLICATE):
            posts.settle(place, verdicts[place])
    return {place: state for place, state in states.items() if place in posts.open_places()}


def change_of(posts: Contestants, verdict: Verdict) -> Change:
    """Return the change that a verdict asks for: one that was challenged may be a duplicate, and may not be kept."""
    position = posts.position_of(verdict.place)
    if verdict.evidence is None:
        return Change(position, frozenset({State.PENDING}), State.KEPT)
    return Change(position, UNDECIDED, State.DUPLICATE, verdict.evidence)


def nothing_of(texts: Keyed) -> Keyed:
    """Return no posts, with as many keys."""
    return Keyed(texts.entries[:0], texts.keys[:0])


def answer_repeated(posts: Contestants) -> Steps:
    """Give posts the answers of those with their ids, once these are decided; reopen those whose ids are free."""
    repeated = posts.repeated()
    holders = sorted(set(repeated.values()))
    records: list[Record | None] = yield call("records", np.array(holders, np.int64))
    found = dict(zip(holders, records, strict=True))
    awaited = set()
    for place, position in repeated.items():
        record = found[position]
        if record is None or record.state is State.GONE or posts.is_forgotten(record):
            posts.reopen(place)
        elif record.state in UNDECIDED:
            awaited.add(position)
        else:
            posts.answer(place, record)
    if awaited:
        yield from wait_for(sorted(awaited))
