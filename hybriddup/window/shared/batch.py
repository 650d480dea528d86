"""Posts of one sender that a shared window decides together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import spread
from hybriddup.window.event_time import PostTimes, WindowTime
from hybriddup.window.posts import made_id
from hybriddup.window.preparing import Steps
from hybriddup.window.records import Decision, Post, PostId, StoredPost, decision_of
from hybriddup.window.shared.encounter import Encounter, OpenPosts
from hybriddup.window.shared.protocol import Verdict
from hybriddup.window.shared.store import Entries, Holder, Keyed, Record, State, Taken, entry_type


@dataclass
class SharedBatch:
    """The posts of a batch, by place; see `hybriddup.window.shared.protocol.Contestants`."""

    posts: Sequence[Post]
    steps: Steps
    timing: WindowTime
    now: float
    normalized: Sequence[str]
    report: BlockReport = field(default_factory=BlockReport)
    decisions: dict[int, Decision] = field(default_factory=dict)
    watermark: float = float("-inf")
    """Of the last post that was begun."""
    watermark_before: float = float("-inf")
    """What the store said then."""
    n_late: int = 0
    outcomes: list[tuple[str, str]] = field(default_factory=list)
    """Of the posts that were decided: what they are, and their length band."""
    kept_times: list[float] = field(default_factory=list)
    duplicates: list[int] = field(default_factory=list)
    """Positions of duplicates, which need not stand in buckets."""

    def __post_init__(self) -> None:
        self._open = dict.fromkeys(range(len(self.posts)))
        self._position: dict[int, int] = {}
        self._holder: dict[int, int] = {}
        """By place, the position of the post that has the id, where that is another one."""
        self._instead_of: dict[int, int] = {}

    # ---- positions, records and ids

    def open_places(self) -> Sequence[int]:
        """Return the places of those that are open, rising."""
        return list(self._open)

    def position_of(self, place: int) -> int:
        """Return the position that a post was given last."""
        return self._position[place]

    @property
    def positions(self) -> set[int]:
        """The positions of those that are begun and not decided."""
        return {self._position[place] for place in self._open if place in self._position}

    def begin(self, taken: Taken) -> tuple[list[Record], list[Holder]]:
        """Give those that are open these positions; return their records, and which ids they are to have."""
        places, first = list(self._open), taken.first
        before = dict(self._position)
        self._position |= {place: first + row for row, place in enumerate(places)}
        self._row_of = {place: row for row, place in enumerate(places)}
        self._times = self.timing.of_posts([self.posts[place] for place in places], self.now, taken.watermark)
        self.watermark, self.watermark_before = float(self._times.watermarks[-1]), taken.watermark
        texts = [self.posts[place].text for place in places]
        normalized = [self.normalized[place] for place in places]
        positions = np.arange(first, first + len(places), dtype=np.int64)
        self._prepared = self.steps.prepare(texts, normalized, positions)
        self._own_bands = self.steps.components.bands.names_of(self._prepared.lengths)
        records = [self._record(row, place) for row, place in enumerate(places)]
        holders = []
        for place in places:
            post_id = self.posts[place].id
            if post_id is not None:
                instead_of = self._instead_of.get(place, before.get(place))
                holders.append(Holder(post_id, self._position[place], instead_of))
        return records, holders

    def _record(self, row: int, place: int) -> Record:
        post, position = self.posts[place], self._position[place]
        stored = StoredPost(position, self._id_of(place), float(self._times.times[row]), post.text, None)
        return Record(State.PENDING, stored, float(self._times.watermarks[row]))

    def held(self, holders: Sequence[int]) -> None:
        """Take note of who has the ids; posts whose id another has are open no more."""
        with_ids = [place for place in self._open if self.posts[place].id is not None]
        for place, holder in zip(with_ids, holders, strict=True):
            if holder != self._position[place]:
                self._holder[place] = holder
        self._open = dict.fromkeys(place for place in self._open if place not in self._holder)

    def repeated(self) -> Mapping[int, int]:
        """Return the positions of the posts that have the ids of these, by place, of those without an answer."""
        return {place: holder for place, holder in self._holder.items() if place not in self.decisions}

    def answer(self, place: int, record: Record) -> None:
        """Take note of the answer that a post gets because its id was decided before."""
        self.decisions[place] = decision_of(record.post)._replace(repeated=True)

    def reopen(self, place: int) -> None:
        """Open a post whose id is held by one that is gone or forgotten."""
        self._instead_of[place] = self._holder.pop(place)
        self._open = dict.fromkeys(sorted([*self._open, place]))

    def is_forgotten(self, record: Record) -> bool:
        """Return whether a post is older than the window reaches."""
        return record.watermark <= self.watermark - self.timing.horizon

    # ---- keys and others

    def keyed(self) -> Keyed:
        """Return those that are open with their keys, that of equal texts last."""
        return self._keyed(self._open_rows())

    def probes(self) -> UInt64s:
        """Return uint64[n]: the keys by which those that are open look for others."""
        probes = self._probes(self._open_rows())
        return np.asarray(probes[probes != NO_KEY])

    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of other posts that may match those that are open."""
        rows = self._open_rows()
        times = PostTimes(self._times.times[rows], self._times.watermarks[rows])
        texts = self._prepared.take(rows)
        posts = OpenPosts(texts, times, self._probes(rows))
        self._encounter = Encounter(posts, found, self.steps, self.timing.horizon)
        return self._encounter.positions

    def rivals(self, positions: Int64s, records: Sequence[Record | None]) -> Mapping[int, State]:
        """Take note of candidates; return the undecided ones of all, by position, that match one that is open."""
        self._encounter.note(positions, records)
        return self._encounter.rivals()

    def _open_rows(self) -> Int64s:
        """Return int64[n]: the rows of those that are open among those that were begun last."""
        return np.array([self._row_of[place] for place in self._open], np.int64)

    def _keyed(self, rows: Int64s) -> Keyed:
        prepared = self._prepared
        entries = np.zeros(len(rows), entry_type(prepared.live.prints.bits.shape[1]))
        entries["position"], entries["length"] = prepared.positions[rows], prepared.lengths[rows]
        entries["bits"] = spread(prepared.live.prints.bits, prepared.live_rows[rows], np.uint64(0))
        return Keyed(entries, self._with_exact(prepared.live.keys, rows))

    def _probes(self, rows: Int64s) -> UInt64s:
        return self._with_exact(self._prepared.live.probes, rows)

    def _with_exact(self, keys: UInt64s, rows: Int64s) -> UInt64s:
        """Return uint64[n, n_keys + 1]: the keys of some texts by row, and last that of equal texts."""
        of_near = spread(keys, self._prepared.live_rows[rows], np.uint64(NO_KEY))
        return np.column_stack([of_near, self._prepared.hashes[rows]])

    # ---- verdicts

    def verdicts(self) -> list[Verdict]:
        """Return what is to become of those that are open, by the candidates that are kept and by each other."""
        found, records = self._encounter.verdicts(self.report)
        keepers = [(one.post.id, one.post.position) for one in records]
        keepers += [(self._id_of(place), self._position[place]) for place in self._open]
        lengths = self._prepared.lengths[self._open_rows()]
        evidence = found.evidence(dict(enumerate(keepers)), self.steps.components.bands, lengths)
        return [Verdict(place, evidence.get(row)) for row, place in enumerate(self._open)]

    def _id_of(self, place: int) -> PostId:
        post_id = self.posts[place].id
        return made_id(self._position[place]) if post_id is None else post_id

    def settle(self, place: int, verdict: Verdict) -> None:
        """Take note that a post is decided."""
        row, evidence = self._row_of[place], verdict.evidence
        record = self._record(row, place)
        self.decisions[place] = decision_of(record.post._replace(evidence=evidence))
        if evidence is None:
            self.outcomes.append(("kept", self._own_bands[row]))
            self.kept_times.append(record.post.time)
        else:
            self.outcomes.append((evidence.reason, evidence.length_band))
            self.duplicates.append(record.post.position)
        self.n_late += record.post.time <= record.watermark - self.timing.horizon
        del self._open[place]

    def duplicates_keyed(self) -> Keyed:
        """Return the duplicates of those that were begun last with their keys."""
        rows = np.flatnonzero(np.isin(self._prepared.positions, self.duplicates))
        return self._keyed(rows)
