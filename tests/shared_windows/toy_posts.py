"""Posts of a few letters, and a store whose content can be compared, for exploring the protocol of shared windows.

A post is named by its text, one letter, and whatever tells it from others with the text: ``a`` and ``a2`` are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.shared_windows.contestants import Contestants
from hybriddup.shared_windows.packing import id_name
from hybriddup.shared_windows.protocol import Call
from hybriddup.shared_windows.store import (
    UNDECIDED,
    Change,
    Entries,
    Holder,
    Keyed,
    PostRecord,
    State,
    Taken,
    entry_type,
)
from hybriddup.window.records import Evidence, StoredPost

ENTRY = entry_type(1)
KEY = np.uint64(7)
"""The one bucket, in which all leading posts meet."""
HORIZON = 10
NOT_ANNOUNCED, GIVEN_UP = "", "given up"
"""Texts of the records of positions that no post was announced at: it may still be, or was given up before."""


@dataclass(frozen=True)
class Scene:
    """The posts that processes send, and which of them match."""

    batches: Sequence[tuple[str, ...]]
    """The names of the posts of each process."""
    near: Sequence[str] = ()
    """Pairs of texts that nearly match, such as ``ab``."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """The ids of posts, by name."""
    times: Mapping[str, int] = field(default_factory=dict)
    """When posts were made, by name; else at 0."""

    def relation(self, a: str, b: str) -> str | None:
        """Return why two posts match, None = they do not."""
        if a[0] == b[0]:
            return "exact"
        return "near" if a[0] + b[0] in self.near or b[0] + a[0] in self.near else None

    def time(self, name: str) -> int:
        return self.times.get(name, 0)

    def is_too_old(self, kept: str, name: str) -> bool:
        return self.time(kept) <= self.time(name) - HORIZON

    def names_of(self, number: int) -> set[bytes]:
        """Return the names, of ids and texts, that a process may claim."""
        batch = self.batches[number]
        return {text_name(name) for name in batch} | {id_name(self.ids[name]) for name in batch if name in self.ids}

    def first_alike(self, number: int) -> int:
        """Return the first process that could be exchanged with this one."""
        for other, batch in enumerate(self.batches[:number]):
            if len(batch) == len(self.batches[number]) and self._is_alike(batch, self.batches[number]):
                return other
        return number

    def _is_alike(self, one: Sequence[str], other: Sequence[str]) -> bool:
        exchanged = dict(zip((*one, *other), (*other, *one), strict=True))
        posts = sorted({name for batch in self.batches for name in batch})
        same = [
            (self.relation(a, b), self.ids.get(a) is not None and self.ids.get(a) == self.ids.get(b))
            for names in (posts, [exchanged.get(name, name) for name in posts])
            for a, b in combinations(names, 2)
        ]
        half = len(same) // 2
        times = all(self.time(a) == self.time(b) for a, b in exchanged.items())
        has_ids = all((a in self.ids) == (b in self.ids) for a, b in exchanged.items())
        return times and has_ids and same[:half] == same[half:]


def text_name(name: str) -> bytes:
    return b"x" + name[0].encode()


class ToyBatch(Contestants):
    """The posts of one process.

    Equal texts do not meet in the bucket, so that nothing but their holder decides them. They do if posts have times:
    when a post has taken over the text of one that is too old, and is gone itself, only the bucket has the older one.
    """

    def __init__(self, scene: Scene, number: int) -> None:
        self.names, self.scene = scene.batches[number], scene
        super().__init__([scene.ids.get(name) for name in self.names])
        self.known: dict[int, PostRecord] = {}

    def __repr__(self) -> str:
        return repr([(key, value) for key, value in self.__dict__.items() if key not in ("scene", "names")])

    def records(self, taken: Taken) -> list[PostRecord]:  # noqa: ARG002
        return [record(State.PENDING, self.position[place], self.names[place]) for place in self.open]

    def text_name(self, place: int) -> bytes:
        return text_name(self.names[place])

    def keyed(self) -> Keyed:
        entries = np.zeros(len(self.leading), ENTRY)
        entries["position"] = [self.position[place] for place in sorted(self.leading)]
        return Keyed(entries, np.full((len(entries), 1), KEY))

    def probes(self) -> UInt64s:
        return np.array([KEY])

    def candidates(self, found: Entries) -> Int64s:
        own = {self.position[place] for place in self.leading}
        self.known = {}
        return np.array(sorted(set(found.entries["position"].tolist()) - own), np.int64)

    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        self.known |= {at: one for at, one in zip(positions.tolist(), records, strict=True) if one is not None}
        return {
            at: one.state
            for at, one in self.known.items()
            if one.state in UNDECIDED and any(self.is_met(one.post.text, place) for place in self.leading)
        }

    def is_met(self, other: str, place: int) -> bool:
        return self.scene.relation(other, self.names[place]) in ("near", self.scene.times and "exact")

    def verdicts(self) -> dict[int, Evidence | None]:
        kept = [(at, one.post.text) for at, one in sorted(self.known.items()) if one.state is State.KEPT]
        found: dict[int, Evidence | None] = {}
        for place in sorted(self.leading):
            name = self.names[place]
            of = [at for at, other in kept if self.is_met(other, place) and not self.scene.is_too_old(other, name)]
            found[place] = evidence(of[0], "near") if of else None
            if not of:
                kept.append((self.position[place], name))
        return found

    def repeats(self, place: int, holder: PostRecord, keeper: PostRecord | None) -> Evidence | None:
        kept = keeper or holder
        if kept.state is not State.KEPT or self.scene.is_too_old(kept.post.text, self.names[place]):
            return None
        return holder.post.evidence or evidence(kept.post.position, "exact")

    def is_forgotten(self, record: PostRecord) -> bool:  # noqa: ARG002
        return False


def evidence(of: int, reason: str) -> Evidence:
    return Evidence(f"{of}", of, reason, 0, "toy", 1.0, 0.5, "0-")


def record(state: State, position: int, name: str) -> PostRecord:
    return PostRecord(state, StoredPost(position, name, 0.0, name, None), 0.0)


# ---- the store


class Content(NamedTuple):
    next: int = 0
    records: tuple[PostRecord, ...] = ()
    """By position; a position that was taken and not written yet has one that is gone."""
    bucket: frozenset[int] = frozenset()
    holders: tuple[tuple[bytes, int], ...] = ()

    def written(self, one: PostRecord) -> Content:
        at = one.post.position
        return self._replace(records=(*self.records[:at], one, *self.records[at + 1 :]))


Access = Callable[[Content], tuple[Content, Any]]


def accesses_of(asked: Call) -> list[tuple[object, Access]]:
    """Return the atomic accesses of the store that a call makes, each with the item that it reads or writes.

    An item is a position of a record, a name, or a key of a bucket; None = the counter.
    """
    made: list[tuple[object, Access]] = ACCESSES[asked.method](*asked.arguments)
    return made


def of_take(n: int) -> list[tuple[object, Access]]:
    def take(content: Content) -> tuple[Content, Any]:
        blank = tuple(record(State.GONE, content.next + row, NOT_ANNOUNCED) for row in range(n))
        return content._replace(next=content.next + n, records=content.records + blank), content.next

    return [(None, take)]


def of_positions_of(names: Sequence[bytes]) -> list[tuple[object, Access]]:
    return [(name, lambda content, name=name: (content, dict(content.holders).get(name))) for name in names]


def of_announce(records: Sequence[PostRecord], holders: Sequence[Holder]) -> list[tuple[object, Access]]:
    def write(content: Content, one: PostRecord) -> tuple[Content, Any]:
        is_given_up = content.records[one.post.position].post.text == GIVEN_UP
        return (content, GIVEN_UP) if is_given_up else (content.written(one), None)

    written = [(one.post.position, lambda content, one=one: write(content, one)) for one in records]
    return [*written, *of_hold(holders)]


def of_hold(holders: Sequence[Holder]) -> list[tuple[object, Access]]:
    def hold(content: Content, one: Holder) -> tuple[Content, Any]:
        held = dict(content.holders)
        if held.get(one.name) in (None, one.instead_of):
            held[one.name] = one.position
        return content._replace(holders=tuple(sorted(held.items()))), held[one.name]

    return [(one.name, lambda content, one=one: hold(content, one)) for one in holders]


def of_enter(texts: Keyed, keys: UInt64s) -> list[tuple[object, Access]]:
    def add(content: Content, position: int) -> tuple[Content, Any]:
        return content._replace(bucket=content.bucket | {position}), None

    positions = texts.entries["position"].tolist()
    added: list[tuple[object, Access]] = [(KEY, lambda content, one=one: add(content, one)) for one in positions]
    return [*added, *((KEY, lambda content: (content, tuple(sorted(content.bucket)))) for _ in keys)]


def of_records(positions: Int64s) -> list[tuple[object, Access]]:
    return [(one, lambda content, one=one: (content, content.records[one])) for one in positions.tolist()]


def of_change(changes: Sequence[Change]) -> list[tuple[object, Access]]:
    def change(content: Content, one: Change) -> tuple[Content, Any]:
        before = content.records[one.position]
        if before.state not in one.expected:
            return content, before.state
        after = before._replace(state=one.to, post=before.post._replace(evidence=one.evidence))
        return content.written(after), after.state

    return [(one.position, lambda content, one=one: change(content, one)) for one in changes]


ACCESSES: dict[str, Callable[..., list[tuple[object, Access]]]] = {
    "take": of_take,
    "positions_of": of_positions_of,
    "announce": of_announce,
    "hold": of_hold,
    "enter": of_enter,
    "records": of_records,
    "change": of_change,
}


def answer_of(method: str, parts: Sequence[Any]) -> Any:
    if method == "take":
        return Taken(parts[0], 0.0)
    if method == "announce":
        return [] if GIVEN_UP in parts else [one for one in parts if one is not None]
    if method == "enter":
        positions = next((part for part in reversed(parts) if part is not None), ())
        entries = np.zeros(len(positions), ENTRY)
        entries["position"] = positions
        return Entries(np.array([len(entries)], np.int64), entries)
    return list(parts)
