"""Every order in which several processes can come, stop and end, while they decide posts by the steps of the protocol.

A state is what the store holds and what each process was answered so far: that fixes what it does next. The steps are
those of `hybriddup.shared_windows.protocol` themselves; here is only what they are given. Each atomic access of the
store is a step of its own, between which any other process may come.

Processes whose posts could be exchanged without changing what matches begin in order: any other order is one of these
with other names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import combinations
from types import GeneratorType
from typing import Any, NamedTuple

from hybriddup.shared_windows import protocol
from hybriddup.shared_windows.protocol import Call, Steps, Wait
from hybriddup.shared_windows.store import UNDECIDED, PostRecord, State
from tests.shared_windows.toy_posts import (
    GIVEN_UP,
    HORIZON,
    NOT_ANNOUNCED,
    Content,
    Scene,
    ToyBatch,
    accesses_of,
    answer_of,
    record,
)

DECIDED = frozenset({State.KEPT, State.DUPLICATE})


class Process(NamedTuple):
    """A process: what it was answered, and how far the call is that goes on."""

    answers: tuple[Any, ...] = ()
    partly: tuple[Any, ...] = ()
    is_gone: bool = False


class Events(NamedTuple):
    """What may still happen, at any moment."""

    crashes: int = 0
    """Processes that end."""
    lapses: int = 0
    """Times that a process gives up posts of a living one, for which it waits."""
    sweeps: int = 0
    """Posts of living processes that are given up by somebody else, announced or not."""
    deletions: int = 0


class World(NamedTuple):
    content: Content
    processes: tuple[Process, ...]
    events: Events
    deleted: tuple[tuple[int, int], ...] = ()
    """The positions of posts that were deleted, each with the next one that was to be taken then."""

    def less(self, event: str) -> World:
        return self._replace(events=self.events._replace(**{event: getattr(self.events, event) - 1}))

    def with_process(self, number: int, process: Process) -> World:
        return self._replace(processes=(*self.processes[:number], process, *self.processes[number + 1 :]))


def local_state(steps: Any) -> str:
    """Return where a process is and what it knows there, of each generator that another one waits for."""
    described = []
    while steps is not None and steps.gi_frame is not None:
        known = [
            (name, local_state(value) if isinstance(value, GeneratorType) else value)
            for name, value in steps.gi_frame.f_locals.items()
            if name not in ("posts", "exchange")
        ]
        described.append(f"{steps.gi_code.co_name} {steps.gi_frame.f_lasti} {known}")
        steps = steps.gi_yieldfrom
    return "; ".join(described)


class Explorer:
    """Goes through all states that can be reached."""

    def __init__(
        self,
        scene: Scene,
        decide: Callable[[ToyBatch], Steps] = protocol.decide,
        batch: Callable[[Scene, int], ToyBatch] = ToyBatch,
    ) -> None:
        self.scene, self.decide, self.batch = scene, decide, batch
        self.numbers = range(len(scene.batches))
        self.replayed = cache(self._replay)
        self.with_answers = cache(self._with_answers)
        self.same_state: dict[str, tuple[Any, ...]] = {}
        self.first_alike = [scene.first_alike(number) for number in self.numbers]
        """Of each process, the number of the first that is as it is."""
        names = [scene.names_of(number) for number in self.numbers]
        self.contested = {name for some, others in combinations(names, 2) for name in some & others}
        """The names that several processes may claim."""

    def may_begin(self, world: World, number: int) -> bool:
        """Return whether a process has begun, or all before it that are as it is have."""
        alike = [one for one in range(number) if self.first_alike[one] == self.first_alike[number]]
        return world.processes[number] != Process() or all(world.processes[one] != Process() for one in alike)

    def _with_answers(self, number: int, answers: tuple[Any, ...]) -> Process:
        """Return a process after these answers; after others that leave it in the same state it is the same."""
        _, batch, steps = self.replayed(number, answers)
        return Process(self.same_state.setdefault(f"{number} {local_state(steps)} {batch}", answers))

    def _replay(self, number: int, answers: tuple[Any, ...]) -> tuple[Call | Wait | None, ToyBatch, Steps]:
        """Return what a process asks after these answers, None = it is done, its posts, and where it is."""
        batch = self.batch(self.scene, number)
        steps, asked = self.decide(batch), None
        try:
            asked = next(steps)
            for method, parts in answers:
                asked = steps.send(answer_of(method, parts))
        except StopIteration:
            asked = None
        return asked, batch, steps

    def explore(self, **events: int) -> int:
        """Go through all states, checking each; return how many there are."""
        first = World(Content(), tuple(Process() for _ in self.numbers), Events(**events))
        coming: dict[World, list[World]] = {}
        left = [first]
        while left:
            world = left.pop()
            if world in coming:
                continue
            self.check(world)
            coming[world] = list(self.next_worlds(world))
            if not coming[world]:
                self.check_end(world)
            left += coming[world]
        check_ends(coming)
        return len(coming)

    def next_worlds(self, world: World) -> Iterator[World]:
        """Yield every state that one step leads to.

        A step that no other process can notice, and that nothing others do can change, is taken at once, and alone.
        """
        living = [number for number in self.numbers if not world.processes[number].is_gone]
        for number in living:
            if self.is_unnoticed(world, number):
                yield from self.steps_of(world, number)
                return
        for number in living:
            if self.may_begin(world, number):
                if world.events.crashes and self.matters(world, number):
                    yield world.with_process(number, Process(is_gone=True)).less("crashes")
                yield from self.steps_of(world, number)
        for one in world.content.records:
            if world.events.sweeps and one.state in UNDECIDED:
                yield world.less("sweeps")._replace(content=world.content.written(one._replace(state=State.GONE)))
            if world.events.sweeps and one.post.text == NOT_ANNOUNCED:
                given_up = record(State.GONE, one.post.position, GIVEN_UP)
                yield world.less("sweeps")._replace(content=world.content.written(given_up))
            if world.events.deletions and one.state in DECIDED:
                yield self.without(world, one)

    def without(self, world: World, one: PostRecord) -> World:
        """Return a state in which a post is deleted: it is to all as one that was given up."""
        content = world.content.written(one._replace(state=State.GONE))
        deleted = (*world.deleted, (one.post.position, content.next))
        return world.less("deletions")._replace(content=content, deleted=deleted)

    def is_unnoticed(self, world: World, number: int) -> bool:
        """Return whether the next step is about what no other process can know of, or what is settled."""
        process, content = world.processes[number], world.content
        asked, _, _ = self.replayed(number, process.answers)
        if not isinstance(asked, Call):
            return False
        accesses = accesses_of(asked)
        item = accesses[len(process.partly)][0] if accesses else b""
        if isinstance(item, bytes):
            return item not in self.contested
        if not isinstance(item, int) or (world.events.deletions and asked.method != "announce"):
            return False
        is_own = not world.events.sweeps and (asked.method == "announce" or item not in self.seen(content))
        return is_own or content.records[item].state not in UNDECIDED

    def seen(self, content: Content) -> set[int]:
        """Return the positions that other processes may know."""
        return content.bucket | {position for name, position in content.holders if name in self.contested}

    def matters(self, world: World, number: int) -> bool:
        """Return whether a post of a process is undecided where others see it: its end matters to nobody otherwise."""
        names, content = self.scene.batches[number], world.content
        undecided = {one.post.position for one in content.records if one.post.text in names and one.state in UNDECIDED}
        return bool(undecided & self.seen(content))

    def steps_of(self, world: World, number: int) -> Iterator[World]:
        """Yield what the next step of a process leads to."""
        process = world.processes[number]
        asked, _, _ = self.replayed(number, process.answers)
        if isinstance(asked, Wait):
            yield from self.waited(world, number, asked)
        if not isinstance(asked, Call):
            return
        content, partly, accesses = world.content, process.partly, accesses_of(asked)
        if accesses:
            content, answer = accesses[len(partly)][1](content)
            partly = (*partly, answer)
            self.check_holders(world.content, content)
        if len(partly) == len(accesses):
            process = self.with_answers(number, (*process.answers, (asked.method, partly)))
        else:
            process = process._replace(partly=partly)
        yield world._replace(content=content).with_process(number, process)

    def waited(self, world: World, number: int, asked: Wait) -> Iterator[World]:
        """Yield what may come of waiting: a post is decided, or not waited for any more, whether its process lives."""

        def after(lapsed: Sequence[int]) -> World:
            answers = (*world.processes[number].answers, ("wait", tuple(lapsed)))
            return world.with_process(number, self.with_answers(number, answers))

        undecided = [one for one in asked.positions if world.content.records[one].state in UNDECIDED]
        dead = [one for one in undecided if self.is_dead(world, one)]
        if len(undecided) < len(asked.positions):
            yield after(())
        elif dead:
            yield after(dead)
        elif world.events.lapses:
            yield after(undecided).less("lapses")

    def is_dead(self, world: World, position: int) -> bool:
        """Return whether no living process has this position."""
        for number, process in enumerate(world.processes):
            asked, batch, _ = self.replayed(number, process.answers)
            if not process.is_gone and asked is not None and position in batch.position.values():
                return False
        return True

    # ---- what must hold

    def check(self, world: World) -> None:
        """Of posts that match, no two are kept; a duplicate names a kept post that it matches; an id has one post.

        Or one that was kept, and deleted when the duplicate was being decided or later.
        """
        decided = [one for one in world.content.records if one.state in DECIDED]
        kept = {one.post.position: one.post.text for one in decided if one.state is State.KEPT}
        for a, b in combinations(kept.values(), 2):
            is_near_in_time = abs(self.scene.time(a) - self.scene.time(b)) < HORIZON
            assert not (self.scene.relation(a, b) and is_near_in_time), f"both {a} and {b} are kept"
        ids = [self.scene.ids[one.post.text] for one in decided if one.post.text in self.scene.ids]
        assert len(ids) == len(set(ids)), f"an id has two posts: {decided}"
        for one in decided:
            if one.state is State.DUPLICATE:
                self.check_duplicate(one, kept, dict(world.deleted))

    def check_duplicate(self, one: PostRecord, kept: dict[int, str], deleted: dict[int, int]) -> None:
        evidence, name = one.post.evidence, one.post.text
        if evidence.of_position in deleted:
            assert one.post.position < deleted[evidence.of_position], f"{name} names a post that was deleted before"
            return
        keeper = kept.get(evidence.of_position)
        assert keeper is not None, f"{name} names a post that is not kept"
        assert self.scene.relation(name, keeper) in ("exact", evidence.reason), f"{name} is said to repeat {keeper}"
        assert not self.scene.is_too_old(keeper, name)

    def check_holders(self, before: Content, after: Content) -> None:
        """A name is taken only from a post that is gone, and a text from one that the other cannot repeat, too."""
        holders = dict(after.holders)
        for name, position in before.holders:
            if holders[name] == position or before.records[position].state is State.GONE:
                continue
            holder, taker = before.records[position], after.records[holders[name]]
            assert name[:1] == b"x", f"an id is taken from {holder}"
            assert holder.state in DECIDED, f"a text is taken from {holder}, which is not decided"
            of = holder.post.evidence
            keeper = before.records[of.of_position] if of else holder
            stands = keeper.state is State.KEPT and not self.scene.is_too_old(keeper.post.text, taker.post.text)
            assert not stands, f"a text is taken from {holder}, which {taker} repeats"

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

    def note_answer(
        self, by_id: dict[str, set[tuple[int, bool]]], batch: ToyBatch, place: int, record: PostRecord
    ) -> None:
        post_id = self.scene.ids.get(batch.names[place])
        if post_id is not None:
            by_id.setdefault(post_id, set()).add((record.post.position, record.state is State.KEPT))


def check_ends(coming: dict[World, list[World]]) -> None:
    """From every state an end can be reached: no processes go round in a circle."""
    before: dict[World, list[World]] = {world: [] for world in coming}
    for world, after in coming.items():
        for one in after:
            before[one].append(world)
    left = [world for world, after in coming.items() if not after]
    reaching = set(left)
    while left:
        found = [one for one in before[left.pop()] if one not in reaching]
        reaching.update(found)
        left += found
    assert len(reaching) == len(coming), "some processes go round in a circle"
