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

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.records import Evidence, PostId
from hybriddup.window.shared.store import UNDECIDED, Change, Entries, Holder, Keyed, Record, State, Taken


class Call(NamedTuple):
    """What is asked of the store: a method of `hybriddup.window.shared.store.SharedStore`; its answer is sent back."""

    method: str
    arguments: tuple[Any, ...]


class Wait(NamedTuple):
    """A moment is to pass; sent back are those of the positions whose posts show no sign of life for a lease."""

    positions: tuple[int, ...]


class Contestants(ABC):
    """Posts that are decided together, by place. They are *open* until they are decided, or another has their id."""

    def __init__(self, ids: Sequence[PostId | None]) -> None:
        self._ids = ids
        self.open = dict.fromkeys(range(len(ids)))
        """The places of those that are open, rising."""
        self.position: dict[int, int] = {}
        """That each was given last, by place."""
        self.decided: dict[int, Evidence | None] = {}
        """What became of posts, by place."""
        self.answers: dict[int, Record] = {}
        """The posts whose answers others get because their ids were decided before, by place of the others."""
        self._holder: dict[int, int] = {}
        """By place, the position of the post that has the id, where that is another one."""
        self._instead_of: dict[int, int] = {}

    def begin(self, taken: Taken) -> tuple[list[Record], list[Holder]]:
        """Give those that are open these positions; return their records, and which ids they are to have."""
        before = dict(self.position)
        self.position |= {place: taken.first + row for row, place in enumerate(self.open)}
        holders = []
        for place in self.open:
            post_id = self._ids[place]
            if post_id is not None:
                instead_of = self._instead_of.get(place, before.get(place))
                holders.append(Holder(post_id, self.position[place], instead_of))
        return self.records(taken), holders

    def held(self, holders: Sequence[int]) -> None:
        """Take note of who has the ids; posts whose id another has are open no more."""
        with_ids = [place for place in self.open if self._ids[place] is not None]
        for place, holder in zip(with_ids, holders, strict=True):
            if holder != self.position[place]:
                self._holder[place] = holder
                del self.open[place]

    def repeated(self) -> Mapping[int, int]:
        """Return the positions of the posts that have the ids of these, by place, of those without an answer."""
        return {place: holder for place, holder in self._holder.items() if place not in self.answers}

    def reopen(self, place: int) -> None:
        """Open a post whose id is held by one that is gone or forgotten."""
        self._instead_of[place] = self._holder.pop(place)
        self.open = dict.fromkeys(sorted([*self.open, place]))

    def settle(self, place: int, evidence: Evidence | None) -> None:
        """Take note that a post is decided: it is a duplicate for this reason, or kept."""
        self.decided[place] = evidence
        del self.open[place]

    @abstractmethod
    def records(self, taken: Taken) -> list[Record]:
        """Return the records of those that are open, which have positions now."""

    @abstractmethod
    def keyed(self) -> Keyed:
        """Return those that are open with their keys."""

    @abstractmethod
    def probes(self) -> UInt64s:
        """Return uint64[n]: the keys by which those that are open look for others."""

    @abstractmethod
    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of other posts that may match those that are open."""

    @abstractmethod
    def rivals(self, positions: Int64s, records: Sequence[Record | None]) -> Mapping[int, State]:
        """Take note of candidates; return the undecided ones of all, by position, that match one that is open."""

    @abstractmethod
    def verdicts(self) -> dict[int, Evidence | None]:
        """Return what is to become of those that are open, by place, if nobody else changes them first.

        It goes by the candidates that are kept and by each other. None = the post is to be kept.
        """

    @abstractmethod
    def is_forgotten(self, record: Record) -> bool:
        """Return whether a post is older than the window reaches."""


Steps = Generator[Call | Wait, Any, None]


def call(method: str, *arguments: Any) -> Call:
    """Return what to ask of the store."""
    return Call(method, arguments)


def decide(posts: Contestants) -> Steps:
    """Decide posts; in the end each is kept, a duplicate, or has the answer of the one with its id."""
    while posts.open or posts.repeated():
        if posts.open:
            yield from announce(posts)
        else:
            yield from answer_repeated(posts)


def announce(posts: Contestants) -> Steps:
    """Have open posts be seen by others, and decide them, but for those that others give up meanwhile."""
    taken: Taken = yield call("take", len(posts.open))
    records, holders = posts.begin(taken)
    posts.held((yield call("announce", records, holders)))
    if posts.open:
        yield from contest(posts, (yield call("enter", posts.keyed(), posts.probes())))


def contest(posts: Contestants, found: Entries) -> Steps:
    """Decide posts that stand in their buckets, until each is decided or was given up."""
    first = min(posts.position[place] for place in posts.open)
    while True:
        states = yield from heed_rivals(posts, found, first)
        left = [posts.position[place] for place in posts.open]
        if not left:
            return
        if State.GONE in states.values():  # all that are left begin anew
            yield call("change", [Change(one, UNDECIDED, State.GONE) for one in left])
            return
        # to be pending again comes before looking again, so that no challenge is missed
        challenged = [posts.position[place] for place, state in states.items() if state is State.CHALLENGED]
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
    verdicts = posts.verdicts()
    own = {posts.position[place]: place for place in verdicts}
    later = {place: own[one.of_position] for place, one in verdicts.items()
             if one is not None and one.of_position in own}  # fmt: skip
    states: dict[int, State] = {}
    for places in ([place for place in verdicts if place not in later], list(later)):
        due = [place for place in places if place not in later or states[later[place]] is State.KEPT]
        if due:
            answers = yield call("change", [change_of(posts.position[place], verdicts[place]) for place in due])
            states |= dict(zip(due, answers, strict=True))
    for place, state in states.items():
        if state is (State.KEPT if verdicts[place] is None else State.DUPLICATE):
            posts.settle(place, verdicts[place])
    return {place: state for place, state in states.items() if place in posts.open}


def change_of(position: int, evidence: Evidence | None) -> Change:
    """Return the change that a verdict asks for: one that was challenged may be a duplicate, and may not be kept."""
    if evidence is None:
        return Change(position, frozenset({State.PENDING}), State.KEPT)
    return Change(position, UNDECIDED, State.DUPLICATE, evidence)


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
            posts.answers[place] = record
    if awaited:
        yield from wait_for(sorted(awaited))
