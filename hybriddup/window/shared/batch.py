"""Posts of one sender that a shared window decides together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import (
    NO_KEY,
    Bools,
    CandidatePairs,
    Fingerprints,
    Float64s,
    Int64s,
    NearPairs,
    UInt64s,
    VerifiedPairs,
)
from hybriddup.data.removed import EQUAL
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import Verdicts, decide_batch
from hybriddup.window.event_time import PostTimes, WindowTime
from hybriddup.window.index import LiveTexts
from hybriddup.window.posts import made_id
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Decision, Evidence, Post, StoredPost
from hybriddup.window.shared.candidates import (
    Meetings,
    MetIndex,
    depths_of,
    meetings_of,
    near_pairs,
    nearest,
    newest,
)
from hybriddup.window.shared.protocol import Verdict
from hybriddup.window.shared.store import UNDECIDED, Entries, Holder, Keyed, Record, State, Taken, entry_type


class Met(NamedTuple):
    """Other posts that those of a batch met."""

    near: NearPairs
    """Rows of the batch's near texts with positions."""
    depths: Int64s
    """int64[n_pairs, n_keys]: as `depths_of` returns them."""
    equal: Meetings
    """Posts that may be equal, by place among the open ones."""
    positions: Int64s
    """int64[n], rising: of all of them."""


@dataclass(frozen=True)
class KeptPosts:
    """Kept posts that a batch met, by their number, in the order of their positions."""

    index: MetIndex
    times: Float64s
    """float64[n]."""
    horizon: float

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon when posts of the batch are decided."""
        return np.asarray(self.times[earlier] > times.edges(self.horizon)[places])


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
        self._open = list(range(len(self.posts)))
        self._position: dict[int, int] = {}
        self._holder: dict[int, int] = {}
        """By place, the position of the post that has the id, where that is another one."""
        self._instead_of: dict[int, int] = {}

    # ---- positions, records and ids

    def open_places(self) -> Sequence[int]:
        """Return the places of those that are open, rising."""
        return self._open

    def position_of(self, place: int) -> int:
        """Return the position that a post was given last."""
        return self._position[place]

    @property
    def positions(self) -> set[int]:
        """The positions of those that are begun and not decided."""
        return {self._position[place] for place in self._open if place in self._position}

    def begin(self, taken: Taken) -> tuple[list[Record], list[Holder]]:
        """Give those that are open these positions; return their records, and which ids they are to have."""
        places, first = self._open, taken.first
        before = dict(self._position)
        self._position |= {place: first + row for row, place in enumerate(places)}
        self._begun = list(places)
        self._times = self.timing.of_posts([self.posts[place] for place in places], self.now, taken.watermark)
        self.watermark, self.watermark_before = float(self._times.watermarks[-1]), taken.watermark
        texts = [self.posts[place].text for place in places]
        normalized = [self.normalized[place] for place in places]
        positions = np.arange(first, first + len(places), dtype=np.int64)
        self._prepared = self.steps.prepare(texts, normalized, positions)
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
        normalized = None if self.normalized[place] == post.text else self.normalized[place]
        post_id = made_id(position) if post.id is None else post.id
        stored = StoredPost(position, post_id, float(self._times.times[row]), post.text, normalized, None)
        return Record(State.PENDING, stored, float(self._times.watermarks[row]))

    def held(self, holders: Sequence[int]) -> None:
        """Take note of who has the ids; posts whose id another has are open no more."""
        with_ids = [place for place in self._open if self.posts[place].id is not None]
        for place, holder in zip(with_ids, holders, strict=True):
            if holder != self._position[place]:
                self._holder[place] = holder
        self._open = [place for place in self._open if place not in self._holder]

    def repeated(self) -> Mapping[int, int]:
        """Return the positions of the posts that have the ids of these, by place, of those without an answer."""
        return {place: holder for place, holder in self._holder.items() if place not in self.decisions}

    def answer(self, place: int, record: Record) -> None:
        """Take note of the answer that a post gets because its id was decided before."""
        self.decisions[place] = decision_of(record.post, record.post.evidence)._replace(repeated=True)

    def reopen(self, place: int) -> None:
        """Open a post whose id is held by one that is gone or forgotten."""
        self._instead_of[place] = self._holder.pop(place)
        self._open = sorted({*self._open, place})

    def is_forgotten(self, record: Record) -> bool:
        """Return whether a post is older than the window reaches."""
        return record.watermark <= self.watermark - self.timing.horizon

    # ---- candidates

    def _rows(self) -> Int64s:
        """Return int64[n]: the rows of those that are open among those that were begun last."""
        row_of = {place: row for row, place in enumerate(self._begun)}
        return np.array([row_of[place] for place in self._open], np.int64)

    def keyed(self) -> Keyed:
        """Return those that are open with their keys, that of equal texts last."""
        return self._keyed(self._rows())

    def _keyed(self, rows: Int64s) -> Keyed:
        prepared = self._prepared
        entries = np.zeros(len(rows), entry_type(prepared.live.prints.bits.shape[1]))
        entries["position"], entries["length"] = prepared.positions[rows], prepared.lengths[rows]
        live_row = self._live_rows()[rows]
        near = live_row >= 0
        entries["bits"][near] = prepared.live.prints.bits[live_row[near]]
        return Keyed(entries, self._with_exact(prepared.live.keys, rows))

    def probes(self) -> UInt64s:
        """Return uint64[n]: the keys by which those that are open look for others."""
        probes = self._probes()
        return np.asarray(probes[probes != NO_KEY])

    def _probes(self) -> UInt64s:
        return self._with_exact(self._prepared.live.probes, self._rows())

    def _live_rows(self) -> Int64s:
        live_rows = np.full(len(self._prepared.positions), -1, np.int64)
        live_rows[self._prepared.places] = np.arange(len(self._prepared.places))
        return live_rows

    def _with_exact(self, keys: UInt64s, rows: Int64s) -> UInt64s:
        """Return uint64[n, n_keys + 1]: the keys of some texts by row, and last that of equal texts."""
        live_row = self._live_rows()[rows]
        made = np.full((len(rows), keys.shape[1] + 1), NO_KEY, np.uint64)
        made[live_row >= 0, :-1] = keys[live_row[live_row >= 0]]
        made[:, -1] = self._prepared.hashes[rows]
        return made

    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of other posts that may match those that are open."""
        probes = self._probes()
        met = meetings_of(probes, *found)
        own = np.array([self._position[place] for place in self._open], np.int64)
        met = met.take(~np.isin(met.entries["position"].astype(np.int64), own))
        is_near = met.key < probes.shape[1] - 1
        near_met, live = self._of_live(met.take(is_near))
        near_met, numbers = newest(near_met, self.steps.components.block_index.max_bucket_size)
        near = near_pairs(live, near_met, numbers, self.steps.components.bands)
        near = near.take(nearest(near, self.steps.components.limits.most_pairs(live.prints.limits.lengths)))
        depths = depths_of(near, near_met, numbers, probes.shape[1] - 1)
        equal = met.take(~is_near)
        positions = np.unique(np.concatenate([near.earlier, equal.entries["position"].astype(np.int64)]))
        self._met = Met(near, depths, equal, positions)
        return positions

    def _of_live(self, met: Meetings) -> tuple[Meetings, LiveTexts]:
        """Return meetings by row among the near texts of those that are open, and these texts."""
        rows, live_row = self._rows(), self._live_rows()
        chosen = live_row[rows]
        place_of = np.cumsum(chosen >= 0) - 1
        return met._replace(later=place_of[met.later]), self._prepared.live.take(chosen[chosen >= 0])

    def rivals(self, records: Sequence[Record | None]) -> Mapping[int, State]:
        """Return the undecided ones of the candidates, by position, that match one that is open; take note of all."""
        found = zip(self._met.positions.tolist(), records, strict=True)
        self._records = {position: record for position, record in found if record is not None}
        undecided = {position: one.state for position, one in self._records.items() if one.state in UNDECIDED}
        if not undecided:
            return {}
        numbered = self._numbered(sorted(undecided))
        matched = {numbered.positions[number] for number in numbered.equal[numbered.equal >= 0].tolist()}
        pairs = CandidatePairs(
            numbered.near.earlier, numbered.prepared.live.prints.positions[numbered.near.later], numbered.near.distances
        )
        if len(pairs):
            accepted, _ = self.steps.verify(pairs, numbered.prepared, numbered.texts)
            matched |= {numbered.positions[number] for number in pairs.earlier[accepted].tolist()}
        return {position: undecided[position] for position in sorted(matched)}

    # ---- verdicts

    def verdicts(self) -> list[Verdict]:
        """Return what is to become of those that are open, by the candidates that are kept and by each other."""
        kept = sorted(position for position, one in self._records.items() if one.state is State.KEPT)
        numbered = self._numbered(kept)

        def verify(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
            return self.steps.verify(pairs, numbered.prepared, numbered.texts)

        index = MetIndex(numbered.prepared.live.prints.positions, numbered.near, numbered.depths)
        kept_posts = KeptPosts(index, numbered.times_of_others, self.timing.horizon)
        verdicts = decide_batch(
            numbered.prepared, numbered.equal, numbered.times, kept_posts, self.steps, verify, self.report
        )
        return self._with_evidence(numbered, verdicts)

    def _numbered(self, positions: Sequence[int]) -> Numbered:
        """Return the open posts and some others, numbered from 0, these before those."""
        rows = self._rows()
        others = np.array(positions, np.int64)
        near, depths = self._met.near, self._met.depths
        chosen = np.isin(near.earlier, others)
        records = [self._records[position] for position in positions]
        numbered = Numbered(
            positions=list(positions),
            records=records,
            prepared=renumbered(self._prepared, rows, len(positions)),
            times=PostTimes(self._times.times[rows], self._times.watermarks[rows]),
            near=near.take(chosen)._replace(earlier=np.searchsorted(others, near.earlier[chosen])),
            depths=depths[chosen],
            equal=np.full(len(rows), -1, np.int64),
        )
        self._find_equal(numbered)
        return numbered

    def _find_equal(self, numbered: Numbered) -> None:
        """Note for each post the latest of the others that is equal and still matches."""
        number_of = {position: number for number, position in enumerate(numbered.positions)}
        edges = numbered.times.edges(self.timing.horizon).tolist()
        met = zip(self._met.equal.later.tolist(), self._met.equal.entries["position"].tolist(), strict=True)
        for row, position in sorted(met):
            number = number_of.get(position)
            if number is None or numbered.records[number].post.time <= edges[row]:
                continue
            post = numbered.records[number].post
            says, text = numbered.prepared.keys[row]
            if text == (post.normalized_text if says else post.text):
                numbered.equal[row] = number

    def _with_evidence(self, numbered: Numbered, verdicts: Verdicts) -> list[Verdict]:
        n, bands = len(numbered.positions), self.steps.components.bands
        own_bands = bands.of_lengths(numbered.prepared.lengths).tolist()

        def keeper(number: int) -> tuple[str | int, int]:
            if number < n:
                return numbered.records[number].post.id, numbered.positions[number]
            place = self._open[number - n]
            post_id, position = self.posts[place].id, self._position[place]
            return made_id(position) if post_id is None else post_id, position

        found: list[Verdict] = []
        for row, place in enumerate(self._open):
            evidence = None
            if row in verdicts.exact:
                of = keeper(verdicts.exact[row])
                evidence = Evidence(*of, "exact", 0, EQUAL, 1.0, 1.0, bands.names[own_bands[row]])
            elif row in verdicts.near:
                number, distance, score, threshold, verifier, band = verdicts.near[row]
                name = bands.plan.names[verifier]
                evidence = Evidence(*keeper(number), "near", distance, name, score, threshold, bands.names[band])
            found.append(Verdict(place, evidence))
        return found

    def settle(self, place: int, verdict: Verdict) -> None:
        """Take note that a post is decided."""
        row = self._begun.index(place)
        stored = self._record(row, place).post
        self.decisions[place] = decision_of(stored, verdict.evidence)
        if verdict.evidence is None:
            bands = self.steps.components.bands
            self.outcomes.append(("kept", bands.names[int(bands.of_lengths(self._prepared.lengths[row : row + 1])[0])]))
            self.kept_times.append(stored.time)
        else:
            self.outcomes.append((verdict.evidence.reason, verdict.evidence.length_band))
            self.duplicates.append(stored.position)
        self.n_late += int(stored.time <= self._times.watermarks[row] - self.timing.horizon)
        self._open = [one for one in self._open if one != place]

    def duplicates_keyed(self) -> Keyed:
        """Return the duplicates of those that were begun last with their keys."""
        rows = np.flatnonzero(np.isin(self._prepared.positions, self.duplicates))
        return self._keyed(rows)


@dataclass
class Numbered:
    """Open posts of a batch and others that they met, numbered in one row: the others from 0, then the open ones."""

    positions: list[int]
    """Of the others, rising."""
    records: list[Record]
    prepared: PreparedTexts
    """The open ones, by their numbers."""
    times: PostTimes
    near: NearPairs
    """Rows of the near texts of the open ones with numbers of the others."""
    depths: Int64s
    equal: Int64s
    """int64[n_open]: the number of an equal one of the others, -1 = none."""

    @property
    def times_of_others(self) -> Float64s:
        """float64[n]: the times of the others."""
        return np.array([record.post.time for record in self.records], np.float64)

    def texts(self, numbers: Int64s) -> list[str]:
        """Return the normalized texts of some of the others."""
        return [self.records[number].post.normalized_text for number in numbers.tolist()]


def renumbered(prepared: PreparedTexts, rows: Int64s, first: int) -> PreparedTexts:
    """Return some of the texts, by consecutive numbers."""
    numbers = np.arange(first, first + len(rows), dtype=np.int64)
    chosen = np.flatnonzero(np.isin(prepared.places, rows))
    places = np.searchsorted(rows, prepared.places[chosen])
    live = prepared.live.take(chosen)
    prints = Fingerprints(numbers[places], live.prints.bits, live.prints.limits)
    at = rows.tolist()
    return PreparedTexts(
        numbers,
        [prepared.normalized[row] for row in at],
        [prepared.compared[row] for row in at],
        [prepared.keys[row] for row in at],
        prepared.hashes[rows],
        prepared.lengths[rows],
        replace(live, prints=prints),
        places,
    )


def decision_of(post: StoredPost, evidence: Evidence | None) -> Decision:
    """Return the answer about a post."""
    return Decision(post.id, post.position, "kept" if evidence is None else "duplicate", False, evidence)
