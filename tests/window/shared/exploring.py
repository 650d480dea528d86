"""Every order in which several processes can come, stop and end, while they decide posts by the steps of the protocol.

A state is what the store holds and what each process was answered so far: that fixes what it does next. The steps are
those of `hybriddup.window.shared.protocol` themselves; here is only what they are given. Each atomic access of the
store is a step of its own, between which any other process may come.

Processes whose posts could be exchanged without changing what matches begin in order: any other order is one of these
with other names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.window.records import Evidence, StoredPost
from hybriddup.window.shared import protocol
from hybriddup.window.shared.protocol import Call, Contestants, Steps, Wait
from hybriddup.window.shared.store import UNDECIDED, Change, Entries, Holder, Keyed, Record, State, Taken, entry_type

ENTRY = entry_type(1)
KEY = np.uint64(7)
"""The one bucket in which all posts stand: whatever matches meets."""


class ToyBatch(Contestants):
    """Posts with names; which of them match is given."""

    def __init__(self, names: tuple[str, ...], matching: frozenset[frozenset[str]], ids: Mapping[str, str]) -> None:
        super().__init__([ids.get(name) for name in names])
        self.names, self.matching = names, matching

    def records(self, taken: Taken) -> list[Record]:  # noqa: ARG002
        begun = [(self.position[place], self.names[place]) for place in self.open]
        return [Record(State.PENDING, StoredPost(at, name, 0.0, name, None), 0.0) for at, name in begun]

    def keyed(self) -> Keyed:
        entries = np.zeros(len(self.open), ENTRY)
        entries["position"] = [self.position[place] for place in self.open]
        return Keyed(entries, np.full((len(self.open), 1), KEY))

    def probes(self) -> UInt64s:
        return np.array([KEY])

    def candidates(self, found: Entries) -> Int64s:
        own = {self.position[place] for place in self.open}
        self.known: dict[int, Record | None] = {}
        return np.array(sorted(set(found.entries["position"].tolist()) - own), np.int64)

    def rivals(self, positions: Int64s, records: Sequence[Record | None]) -> Mapping[int, State]:
        self.known |= dict(zip(positions.tolist(), records, strict=True))
        names = {self.names[place] for place in self.open}
        return {
            one.post.position: one.state
            for one in self.known.values()
            if one is not None and one.state in UNDECIDED and any(self.match(one.post.text, name) for name in names)
        }

    def match(self, a: str, b: str) -> bool:
        return frozenset((a, b)) in self.matching

    def verdicts(self) -> dict[int, Evidence | None]:
        kept = [(one.post.position, one.post.text) for one in self.known.values() if one and one.state is State.KEPT]
        found: dict[int, Evidence | None] = {}
        for place in self.open:
            name = self.names[place]
            of = next((position for position, other in sorted(kept) if self.match(name, other)), None)
            found[place] = None if of is None else evidence(of)
            if of is None:
                kept.append((self.position[place], name))
        return found

    def is_forgotten(self, record: Record) -> bool:  # noqa: ARG002
        return False


def evidence(of: int) -> Evidence:
    """Evidence that names a keeper."""
    return Evidence(f"{of}", of, "near", 0, "toy", 1.0, 0.5, "0-")


class Content(NamedTuple):
    """What the store holds."""

    next: int = 0
    records: tuple[Record, ...] = ()
    """By position; a position that was taken and not written yet has one that is gone."""
    bucket: frozenset[int] = frozenset()
    holders: tuple[tuple[str, int], ...] = ()


class Process(NamedTuple):
    """A process: what it was answered, and how far the call is that goes on."""

    answers: tuple[Any, ...] = ()
    partly: tuple[Any, ...] = ()
    is_gone: bool = False


class World(NamedTuple):
    """A state of all."""

    content: Content
    processes: tuple[Process, ...]
    crashes: int
    lapses: int
    deletions: int
    deleted: tuple[tuple[int, int], ...] = ()
    """The positions of posts that were deleted, each with the next one that was to be taken then."""


def local_state(steps: Steps | None) -> str:
    """Return where a process is and what it knows there, of each generator that another one waits for."""
    described = []
    while steps is not None and steps.gi_frame is not None:
        known = {name: value for name, value in steps.gi_frame.f_locals.items() if name != "posts"}
        described.append(f"{steps.gi_code.co_name} {steps.gi_frame.f_lasti} {known}")
        steps = steps.gi_yieldfrom  # type: ignore[assignment]  # another such generator
    return "; ".join(described)


Accesses = Sequence[Callable[[Content], tuple[Content, Any]]]


class Explorer:
    """Goes through all states that can be reached."""

    def __init__(
        self,
        batches: Sequence[tuple[str, ...]],
        matching: Sequence[str],
        ids: Mapping[str, str] | None = None,
        decide: Callable[[ToyBatch], Steps] = protocol.decide,
    ) -> None:
        self.batches, self.ids, self.decide = batches, ids or {}, decide
        self.matching = frozenset(frozenset(pair) for pair in matching)
        self.replayed = cache(self._replay)
        self.with_answers = cache(self._with_answers)
        self.same_state: dict[str, tuple[Any, ...]] = {}
        self.first_alike = [self._first_alike(number) for number in range(len(batches))]
        """Of each process, the number of the first that is as it is."""

    def _first_alike(self, number: int) -> int:
        """Return the first process that could be exchanged with this one: itself where posts have ids."""
        if self.ids:
            return number
        own, sizes = self.batches[number], [len(batch) for batch in self.batches]
        for other, batch in enumerate(self.batches[:number]):
            exchanged = dict(zip((*own, *batch), (*batch, *own), strict=True)) if sizes[other] == len(own) else {}
            if (
                exchanged
                and {frozenset(exchanged.get(one, one) for one in pair) for pair in self.matching} == self.matching
            ):
                return other
        return number

    def may_begin(self, world: World, number: int) -> bool:
        """Return whether a process has begun, or all before it that are as it is have."""
        alike = [one for one in range(number) if self.first_alike[one] == self.first_alike[number]]
        return world.processes[number] != Process() or all(world.processes[one] != Process() for one in alike)

    def _with_answers(self, number: int, answers: tuple[Any, ...]) -> Process:
        """Return a process after these answers; after others that leave it in the same state it is the same."""
        _, batch, steps = self.replayed(number, answers)
        described = f"{number} {local_state(steps)} {batch.__dict__}"
        return Process(self.same_state.setdefault(described, answers))

    def _replay(self, number: int, answers: tuple[Any, ...]) -> tuple[Call | Wait | None, ToyBatch, Steps]:
        """Return what a process asks after these answers, None = it is done, its posts, and where it is."""
        batch = ToyBatch(self.batches[number], self.matching, self.ids)
        steps, asked = self.decide(batch), None
        try:
            asked = next(steps)
            for one in answers:
                asked = steps.send(thawed(one))
        except StopIteration:
            asked = None
        return asked, batch, steps

    def explore(self, crashes: int = 0, lapses: int = 0, deletions: int = 0) -> int:
        """Go through all states, checking each; return how many there are."""
        first = World(Content(), tuple(Process() for _ in self.batches), crashes, lapses, deletions)
        seen, left = {first}, [first]
        while left:
            world = left.pop()
            self.check(world)
            coming = list(self.next_worlds(world))
            if not coming:
                self.check_end(world)
            for one in coming:
                if one not in seen:
                    seen.add(one)
                    left.append(one)
        return len(seen)

    def next_worlds(self, world: World) -> Iterator[World]:
        """Yield every state that one step leads to.

        A step that no other process can notice, and that nothing others do can change, is taken at once, and alone.
        """
        for number, process in enumerate(world.processes):
            if not process.is_gone and self.is_unnoticed(world, number):
                yield from self.steps_of(world, number)
                return
        for number, process in enumerate(world.processes):
            if process.is_gone or not self.may_begin(world, number):
                continue
            if world.crashes and self.is_seen(world, number):
                gone = Process(is_gone=True)
                yield self.with_process(world, number, gone)._replace(crashes=world.crashes - 1)
            yield from self.steps_of(world, number)
        for one in world.content.records if world.deletions else ():
            if one.state in (State.KEPT, State.DUPLICATE):
                yield self.without(world, one)

    def without(self, world: World, one: Record) -> World:
        """Return a state in which a post is deleted: it is to all as one that was given up."""
        content = written(world.content, one._replace(state=State.GONE))
        deleted = (*world.deleted, (one.post.position, content.next))
        return world._replace(content=content, deletions=world.deletions - 1, deleted=deleted)

    def is_unnoticed(self, world: World, number: int) -> bool:
        """Return whether the next step writes a record that nobody can know of, or asks for what is settled."""
        process, content = world.processes[number], world.content
        asked, _, _ = self.replayed(number, process.answers)
        if not isinstance(asked, Call):
            return False
        if asked.method == "announce":
            return len(process.partly) < len(asked.arguments[0])
        if world.deletions:
            return False
        if asked.method not in ("records", "change") or not len(asked.arguments[0]):
            return asked.method in ("records", "change")
        one = asked.arguments[0][len(process.partly)]
        return content.records[one.position if isinstance(one, Change) else int(one)].state not in UNDECIDED

    def is_seen(self, world: World, number: int) -> bool:
        """Return whether a post of a process is undecided where others see it: its end matters to nobody otherwise."""
        _, batch, _ = self.replayed(number, world.processes[number].answers)
        content, seen = world.content, {position for _, position in world.content.holders} | world.content.bucket
        own = {one.post.position for one in content.records if one.post.text in batch.names}
        return any(content.records[position].state in UNDECIDED for position in own & seen)

    def steps_of(self, world: World, number: int) -> Iterator[World]:
        """Yield what the next step of a process leads to."""
        process = world.processes[number]
        asked, _, _ = self.replayed(number, process.answers)
        if asked is None:
            return
        if isinstance(asked, Wait):
            yield from self.waited(world, number, asked)
            return
        content, partly, accesses = world.content, process.partly, accesses_of(asked)
        if accesses:
            content, answer = accesses[len(partly)](content)
            partly = (*partly, answer)
        if len(partly) == len(accesses):
            process = self.with_answers(number, (*process.answers, (asked.method, partly)))
        else:
            process = process._replace(partly=partly)
        yield self.with_process(world._replace(content=content), number, process)

    def with_process(self, world: World, number: int, process: Process) -> World:
        """Return a state with another process in this place."""
        others = world.processes
        return world._replace(processes=(*others[:number], process, *others[number + 1 :]))

    def waited(self, world: World, number: int, asked: Wait) -> Iterator[World]:
        """Yield what may come of waiting: a post is decided, or not waited for any more, whether its process lives."""
        process = world.processes[number]
        undecided = [one for one in asked.positions if world.content.records[one].state in UNDECIDED]
        if len(undecided) < len(asked.positions):
            yield self.with_process(world, number, self.with_answers(number, (*process.answers, ("wait", ()))))
            return
        dead = tuple(one for one in undecided if self.is_dead(world, one))
        if dead:
            yield self.with_process(world, number, self.with_answers(number, (*process.answers, ("wait", dead))))
        elif world.lapses:
            lapsed = self.with_answers(number, (*process.answers, ("wait", tuple(undecided))))
            yield self.with_process(world, number, lapsed)._replace(lapses=world.lapses - 1)

    def is_dead(self, world: World, position: int) -> bool:
        """Return whether no living process has this position."""
        for number, process in enumerate(world.processes):
            asked, batch, _ = self.replayed(number, process.answers)
            if not process.is_gone and asked is not None and position in batch.position.values():
                return False
        return True

    # ---- what must hold

    def check(self, world: World) -> None:
        """Of posts that match each other, no two are kept; a duplicate names a kept post that it matches.

        Or one that was kept, and deleted when the duplicate was being decided or later.
        """
        records = world.content.records
        kept = {one.post.position: one.post.text for one in records if one.state is State.KEPT}
        names = list(kept.values())
        for place, name in enumerate(names):
            for other in names[place + 1 :]:
                assert frozenset((name, other)) not in self.matching, f"both {name} and {other} are kept"
        for one in records:
            if one.state is State.DUPLICATE:
                assert one.post.evidence is not None
                next_then = dict(world.deleted).get(one.post.evidence.of_position)
                if next_then is not None:
                    assert one.post.position < next_then, f"{one.post.text} names a post that was deleted before"
                    continue
                keeper = kept.get(one.post.evidence.of_position)
                assert keeper is not None, f"{one.post.text} names a post that is not kept"
                assert frozenset((one.post.text, keeper)) in self.matching

    def check_end(self, world: World) -> None:
        """Each process that did not end before has an answer for each post, and it is what the store has."""
        by_id: dict[str, set[tuple[int, bool]]] = {}
        for number, process in enumerate(world.processes):
            asked, batch, _ = self.replayed(number, process.answers)
            if process.is_gone:
                continue
            assert asked is None, f"process {number} waits for ever: {asked}"
            assert sorted([*batch.decided, *batch.answers]) == list(range(len(batch.names)))
            for place, outcome in batch.decided.items():
                record = world.content.records[batch.position[place]]
                if record.post.position in dict(world.deleted):
                    continue
                assert record.state is (State.KEPT if outcome is None else State.DUPLICATE)
                assert record.post.evidence == outcome
                self.note_answer(by_id, batch, place, record)
            for place, record in batch.answers.items():
                self.note_answer(by_id, batch, place, record)
        assert world.deleted or all(len(answers) == 1 for answers in by_id.values()), by_id

    def note_answer(self, by_id: dict[str, set[tuple[int, bool]]], batch: ToyBatch, place: int, record: Record) -> None:
        """Note the answer that an id got."""
        post_id = self.ids.get(batch.names[place])
        if post_id is not None:
            by_id.setdefault(post_id, set()).add((record.post.position, record.state is State.KEPT))


# ---- accesses of the store, each by itself


def accesses_of(asked: Call) -> Accesses:
    """Return the single accesses that a call makes, one after another."""
    made: Accesses = ACCESSES[asked.method](*asked.arguments)
    return made


def of_take(n: int) -> Accesses:
    def take(content: Content) -> tuple[Content, Any]:
        blank = tuple(Record(State.GONE, StoredPost(content.next + row, "", 0.0, "", None), 0.0) for row in range(n))
        return content._replace(next=content.next + n, records=content.records + blank), content.next

    return [take]


def of_announce(records: Sequence[Record], holders: Sequence[Holder]) -> Accesses:
    return [*(lambda content, one=one: (written(content, one), None) for one in records),
            *(lambda content, one=one: hold(content, one) for one in holders)]  # fmt: skip


def written(content: Content, record: Record) -> Content:
    """Return the content with a record."""
    records, at = content.records, record.post.position
    return content._replace(records=(*records[:at], record, *records[at + 1 :]))


def hold(content: Content, one: Holder) -> tuple[Content, Any]:
    """Return the content after an id was asked for, and who has it."""
    holders = dict(content.holders)
    if holders.get(str(one.post_id)) == one.instead_of:
        holders[str(one.post_id)] = one.position
    return content._replace(holders=tuple(sorted(holders.items()))), holders[str(one.post_id)]


def of_enter(texts: Keyed, keys: UInt64s) -> Accesses:
    def add(content: Content, position: int) -> tuple[Content, Any]:
        return content._replace(bucket=content.bucket | {position}), None

    added = [lambda content, one=one: add(content, one) for one in texts.entries["position"].tolist()]
    return [*added, *(lambda content: (content, tuple(sorted(content.bucket))) for _ in keys)]


def of_records(positions: Int64s) -> Accesses:
    return [lambda content, one=one: (content, content.records[one]) for one in positions.tolist()]


def of_change(changes: Sequence[Change]) -> Accesses:
    def change(content: Content, one: Change) -> tuple[Content, Any]:
        record = content.records[one.position]
        if record.state not in one.expected:
            return content, record.state
        changed = replace_post(record, one)
        return written(content, changed), changed.state

    return [lambda content, one=one: change(content, one) for one in changes]


def replace_post(record: Record, change: Change) -> Record:
    """Return a record after a change."""
    return record._replace(state=change.to, post=record.post._replace(evidence=change.evidence))


ACCESSES: dict[str, Callable[..., Accesses]] = {
    "take": of_take,
    "announce": of_announce,
    "enter": of_enter,
    "records": of_records,
    "change": of_change,
}


def thawed(answer: tuple[str, tuple[Any, ...]]) -> Any:
    """Return the answer to a call, of those to its accesses."""
    method, parts = answer
    if method == "take":
        return Taken(parts[0], 0.0)
    if method == "announce":
        return [one for one in parts if one is not None]
    if method == "enter":
        entries = np.zeros(len(parts[-1]), ENTRY)
        entries["position"] = parts[-1]
        return Entries(np.array([len(entries)], np.int64), entries)
    return list(parts)
