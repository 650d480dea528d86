"""Posts of one sender that a shared window decides together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import spread
from hybriddup.window.event_time import PostTimes, WindowTime
from hybriddup.window.preparing import Steps
from hybriddup.window.records import Decision, Evidence, Post, PostId, StoredPost, decision_of, made_id
from hybriddup.window.shared.encounter import Encounter
from hybriddup.window.shared.protocol import Contestants
from hybriddup.window.shared.store import Entries, Keyed, Record, State, Taken, entry_type


class SharedBatch(Contestants):
    """The posts of a batch, by place, of which no id stands twice."""

    def __init__(
        self, posts: Sequence[Post], steps: Steps, timing: WindowTime, now: float, normalized: Sequence[str]
    ) -> None:
        super().__init__([post.id for post in posts])
        self._posts, self._steps, self._timing, self._now, self._normalized = posts, steps, timing, now, normalized
        self.report = BlockReport()
        self.watermark = float("-inf")
        """Of the last post that was begun."""
        self.watermark_before = float("-inf")
        """What the store said then."""
        self.n_late = 0
        self.outcomes: list[tuple[str, str]] = []
        """Of the posts that were decided: what they are, and their length band."""
        self.kept_times: list[float] = []
        self._decisions: dict[int, Decision] = {}

    @property
    def undecided(self) -> set[int]:
        """The positions of those that are begun and not decided."""
        return {self.position[place] for place in self.open if place in self.position}

    def decisions(self) -> list[Decision]:
        """Return the decisions about all posts, when nothing is open."""
        repeated = {place: decision_of(one.post)._replace(repeated=True) for place, one in self.answers.items()}
        found = self._decisions | repeated
        return [found[place] for place in range(len(self._posts))]

    def records(self, taken: Taken) -> list[Record]:
        """Return the records of those that are open, and prepare their texts."""
        places = list(self.open)
        self._row_of = {place: row for row, place in enumerate(places)}
        posts = [self._posts[place] for place in places]
        self._times = self._timing.of_posts(posts, self._now, taken.watermark)
        self.watermark, self.watermark_before = float(self._times.watermarks[-1]), taken.watermark
        normalized = [self._normalized[place] for place in places]
        positions = np.arange(taken.first, taken.first + len(places), dtype=np.int64)
        self._prepared = self._steps.prepare([post.text for post in posts], normalized, positions)
        self._own_bands = self._steps.components.bands.names_of(self._prepared.lengths)
        return [self._record(place) for place in places]

    def _record(self, place: int) -> Record:
        row = self._row_of[place]
        time, watermark = float(self._times.times[row]), float(self._times.watermarks[row])
        stored = StoredPost(self.position[place], self._id_of(place), time, self._posts[place].text, None)
        return Record(State.PENDING, stored, watermark)

    def _id_of(self, place: int) -> PostId:
        post_id = self._ids[place]
        return made_id(self.position[place]) if post_id is None else post_id

    def is_forgotten(self, record: Record) -> bool:
        """Return whether a post is older than the window reaches."""
        return record.watermark <= self.watermark - self._timing.horizon

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
        texts, probes = self._prepared.take(rows), self._probes(rows)
        self._encounter = Encounter(texts, times, probes, found, self._steps, self._timing.horizon)
        return self._encounter.positions

    def rivals(self, positions: Int64s, records: Sequence[Record | None]) -> Mapping[int, State]:
        """Take note of candidates; return the undecided ones of all, by position, that match one that is open."""
        self._encounter.note(positions, records)
        return self._encounter.rivals()

    def _open_rows(self) -> Int64s:
        """Return int64[n]: the rows of those that are open among those that were begun last."""
        return np.array([self._row_of[place] for place in self.open], np.int64)

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

    def verdicts(self) -> dict[int, Evidence | None]:
        """Return what is to become of those that are open, by the candidates that are kept and by each other."""
        found, records = self._encounter.verdicts(self.report)
        keepers = [(one.post.id, one.post.position) for one in records]
        keepers += [(self._id_of(place), self.position[place]) for place in self.open]
        lengths = self._prepared.lengths[self._open_rows()]
        evidence = found.evidence(dict(enumerate(keepers)), self._steps.components.bands, lengths)
        return {place: evidence.get(row) for row, place in enumerate(self.open)}

    def settle(self, place: int, evidence: Evidence | None) -> None:
        """Take note that a post is decided, and count it."""
        super().settle(place, evidence)
        post, watermark = self._record(place)[1:]
        self._decisions[place] = decision_of(post._replace(evidence=evidence))
        if evidence is None:
            self.outcomes.append(("kept", self._own_bands[self._row_of[place]]))
            self.kept_times.append(post.time)
        else:
            self.outcomes.append((evidence.reason, evidence.length_band))
        self.n_late += post.time <= watermark - self._timing.horizon

    def duplicates_keyed(self) -> Keyed:
        """Return the duplicates of those that were begun last with their keys: they need not stand in buckets."""
        duplicates = [self.position[place] for place, evidence in self.decided.items() if evidence is not None]
        return self._keyed(np.flatnonzero(np.isin(self._prepared.positions, duplicates)))
