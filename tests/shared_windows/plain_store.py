"""A shared store in a few dictionaries, for tests: each method is what the protocol asks of one, and no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, RLock
from typing import Any, TypeVar, cast

import numpy as np

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.errors import StoreError
from hybriddup.shared_windows.opening import LEASE, open_shared
from hybriddup.shared_windows.store import Block, Change, Entries, Holder, Keyed, PostRecord, State, Taken, entry_type
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.window import Window
from tests.window.plugins import plugin, with_fault


@dataclass
class PlainContent:
    """What a store holds, for all who open it."""

    next: int = 0
    watermark: float = float("-inf")
    records: dict[int, PostRecord] = field(default_factory=dict)
    holders: dict[bytes, int] = field(default_factory=dict)
    unfinished: dict[int, int] = field(default_factory=dict)
    buckets: dict[int, dict[int, tuple[int, bytes]]] = field(default_factory=dict)
    left: set[tuple[int, int]] = field(default_factory=set)
    """Keys of buckets, and positions of posts that left them."""
    given_up: set[int] = field(default_factory=set)
    """Positions that were given up without a record."""
    meta: dict[str, bytes] = field(default_factory=dict)
    kept: list[float] = field(default_factory=list)
    lock: RLock = field(default_factory=RLock)


Method = TypeVar("Method", bound=Callable[..., Any])


def atomic(method: Method) -> Method:
    """Return a method during which no other thread reads or writes the content."""

    @wraps(method)
    def alone(self: PlainStore, *given: Any) -> Any:
        with self.content.lock:
            return method(self, *given)

    return cast("Method", alone)


class PlainStore:
    def __init__(self, content: PlainContent, words: int) -> None:
        self.content = content
        self.type = entry_type(words)
        self.is_closed = False

    @atomic
    def take(self, n: int) -> Taken:
        if self.is_closed:
            raise StoreError("the store is closed.")
        first = self.content.next
        self.content.next += n
        if n:
            self.content.unfinished[first] = n
        return Taken(first, self.content.watermark, tuple(map(Block._make, self.content.unfinished.items())))

    @atomic
    def announce(self, records: Sequence[PostRecord], holders: Sequence[Holder]) -> list[int]:
        if self.content.given_up.intersection(record.post.position for record in records):
            return []
        for record in records:
            self.content.records.setdefault(record.post.position, record)
        return self.hold(holders)

    @atomic
    def hold(self, holders: Sequence[Holder]) -> list[int]:
        for one in holders:
            if self.content.holders.get(one.name) in (None, one.instead_of):
                self.content.holders[one.name] = one.position
        return [self.content.holders[one.name] for one in holders]

    @atomic
    def positions_of(self, names: Sequence[bytes]) -> list[int | None]:
        return [self.content.holders.get(name) for name in names]

    @atomic
    def enter(self, texts: Keyed, keys: UInt64s) -> Entries:
        for entry, of_text in zip(texts.entries, texts.keys, strict=True):
            position, cell = int(entry["position"]), (int(entry["length"]), entry.tobytes())
            for key in of_text[of_text != NO_KEY].tolist():
                if (key, position) not in self.content.left:
                    self.content.buckets.setdefault(key, {})[position] = cell
        found = [[entry for _, entry in self.content.buckets.get(key, {}).values()] for key in keys.tolist()]
        counts = np.fromiter(map(len, found), np.int64, len(found))
        return Entries(counts, np.frombuffer(b"".join(one for each in found for one in each), self.type))

    @atomic
    def leave(self, texts: Keyed) -> None:
        for entry, of_text in zip(texts.entries, texts.keys, strict=True):
            for key in of_text[of_text != NO_KEY].tolist():
                self.content.buckets.get(key, {}).pop(int(entry["position"]), None)
                self.content.left.add((key, int(entry["position"])))

    @atomic
    def records(self, positions: Int64s) -> list[PostRecord | None]:
        return [self.content.records.get(position) for position in positions.tolist()]

    @atomic
    def change(self, changes: Sequence[Change]) -> list[State]:
        return [self.change_one(one) for one in changes]

    def change_one(self, one: Change) -> State:
        record = self.content.records.get(one.position)
        if record is None:
            if one.to is State.GONE:
                self.content.given_up.add(one.position)
            return State.GONE
        if record.state in one.expected:
            post = record.post if one.evidence is None else record.post._replace(evidence=one.evidence)
            record = self.content.records[one.position] = record._replace(state=one.to, post=post)
        return record.state

    @atomic
    def remove(self, position: int, kept: float | None) -> None:
        del self.content.records[position]
        if kept is not None:
            self.content.kept.remove(kept)

    def meta(self, key: str) -> bytes | None:
        return self.content.meta.get(key)

    @atomic
    def set_first(self, key: str, value: bytes) -> bytes:
        return self.content.meta.setdefault(key, value)

    @atomic
    def finish(self, first: int, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        if self.content.watermark >= read:
            self.content.watermark = max(self.content.watermark, watermark)
        if self.content.unfinished.pop(first, None):
            self.content.kept += kept
        self.leave(leaving)

    def rewind(self, watermark: float) -> None:
        self.content.watermark = watermark

    def watermark(self) -> float:
        return self.content.watermark

    def n_kept_after(self, time: float) -> int:
        return sum(one > time for one in self.content.kept)

    def n_bytes(self) -> int:
        return 0

    def close(self) -> None:
        self.is_closed = True


def loses(*_: object) -> Any:
    raise StoreError("the connection is lost")


UNDECIDED = with_fault(PlainStore, "change", loses)
"""A process that ends before its posts are decided."""
UNCOUNTED = with_fault(PlainStore, "finish", loses)
"""A process that ends when its posts are decided."""


class LetsNamesGo(PlainStore):
    """Gives a name to whoever claims it last."""

    def hold(self, holders: Sequence[Holder]) -> list[int]:
        held = self.positions_of([one.name for one in holders])
        return super().hold([one._replace(instead_of=of) for one, of in zip(holders, held, strict=True)])


class Opener:
    def __init__(self, make: Callable[[PlainContent, int], PlainStore] = PlainStore, lease: float = LEASE) -> None:
        self.contents: dict[str, PlainContent] = defaultdict(PlainContent)
        self.make, self.lease, self.lock = make, lease, Lock()
        self.plugin = plugin(self, "window", "plain")

    def open_window(self, url: str, options: WindowOptions) -> Window:
        with self.lock:  # two threads that ask a defaultdict at once may get two values
            content = self.contents[url]
        return open_shared(lambda needs: self.make(content, needs.words), options, self.lease)

    def __call__(self, name: str, **options: Any) -> Window:
        return Window.open(f"plain://{name}", plugins=[self.plugin], **options)
