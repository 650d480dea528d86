"""Posts of one sender that a shared window decides together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.data.removed import EQUAL
from hybriddup.shared_windows.contestants import Contestants
from hybriddup.shared_windows.encounter import Encounter
from hybriddup.shared_windows.packing import text_name
from hybriddup.shared_windows.store import Block, Entries, Keyed, PostRecord, State, Taken, entry_type
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import spread
from hybriddup.window.event_time import NEVER, PostTimes, WindowTime
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Decision, Evidence, Post, PostId, StoredPost, decision_of, made_id


class SharedBatch(Contestants):
    """The posts of a batch, by place, each id once."""

    def __init__(
        self, posts: Sequence[Post], steps: Steps, timing: WindowTime, now: float, normalized: Sequence[str]
    ) -> None:
        super().__init__([post.id for post in posts])
        self._posts, self._steps, self._timing, self._now, self._normalized = posts, steps, timing, now, normalized
        self.report = BlockReport()
        self.blocks: list[Block] = []
        """The positions that it took: one block, and one more each time that posts begin anew."""
        self.watermark = NEVER
        """The watermark at the last post that was begun."""
        self.watermark_before = NEVER
        """The watermark of the store then."""
        self.n_late = 0
        self.outcomes: list[tuple[str, str]] = []
        """What decided posts are, and their length band."""
        self._unfinished: Sequence[Block] = ()
        self._row_of: dict[int, int] = {}
        """By place, the row of a post among those that were prepared last."""
        self._decisions: dict[int, Decision] = {}

    @property
    def kept_times(self) -> list[float]:
        """The times of the kept posts of the last block."""
        first = self.blocks[-1].first
        return [float(self._times.times[row]) for place, row in self._row_of.items()
                if self.keeps(place) and self.position[place] >= first]  # fmt: skip

    def decisions(self) -> list[Decision]:
        """Return the decisions about all posts, when nothing is open."""
        repeated = {place: decision_of(one.post)._replace(repeated=True) for place, one in self.answers.items()}
        found = self._decisions | repeated
        return [found[place] for place in range(len(self._posts))]

    # ---- records

    def begin(self, taken: Taken) -> dict[int, bytes]:
        """Give the open posts these positions; return the names of their ids, by place."""
        self.blocks.append(Block(taken.first, len(self.open)))
        self._unfinished = taken.unfinished
        self.watermark = self.watermark_before = taken.watermark
        return super().begin(taken)

    def records(self, taken: Taken) -> list[PostRecord]:
        """Return the records of the open posts, and prepare their texts."""
        places = list(self.open)
        self._row_of = {place: row for row, place in enumerate(places)}
        posts = [self._posts[place] for place in places]
        self._times = self._timing.of_posts(posts, self._now, taken.watermark)
        self._edges = self._times.edges(self._timing.horizon)
        self.watermark = float(self._times.watermarks[-1])
        normalized = [self._normalized[place] for place in places]
        positions = np.fromiter((self.position[place] for place in places), np.int64, len(places))
        self._prepared = self._steps.prepare([post.text for post in posts], normalized, positions)
        self._text_names = list(map(text_name, self._prepared.keys))
        self._own_bands = self._steps.components.bands.names_of(self._prepared.lengths)
        columns = positions.tolist(), self._times.times.tolist(), self._times.watermarks.tolist()
        self._records = [
            PostRecord(State.PENDING, StoredPost(position, self._id_of(place), time, post.text, None), watermark)
            for place, post, position, time, watermark in zip(places, posts, *columns, strict=True)
        ]
        return self._records

    def _id_of(self, place: int) -> PostId:
        post_id = self._ids[place]
        return made_id(self.position[place]) if post_id is None else post_id

    def is_forgotten(self, record: PostRecord) -> bool:
        """Return whether a post is older than the window reaches."""
        return record.watermark <= self.watermark - self._timing.horizon

    # ---- keys and others

    def text_name(self, place: int) -> bytes:
        """Return the name of the text of a post."""
        return self._text_names[self._row_of[place]]

    def keyed(self) -> Keyed:
        """Return the leading posts with their keys."""
        return keyed_texts(self._prepared, self._leading_rows())

    def probes(self) -> UInt64s:
        """Return uint64[n]: the distinct keys by which the leading posts look for others."""
        return distinct_keys(self._prepared.take(self._leading_rows()).live.probes)

    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of other posts that may match those that lead."""
        rows = self._leading_rows()
        times = PostTimes(self._times.times[rows], self._times.watermarks[rows])
        texts = self._prepared.take(rows)
        self._encounter = Encounter(texts, times, found, self._unfinished, self._steps, self._timing.horizon)
        return self._encounter.positions

    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        """Note candidates; return the undecided ones of all, by position, that match one that leads."""
        self._encounter.note(positions, records)
        return self._encounter.rivals()

    def _leading_rows(self) -> Int64s:
        """Return int64[n], rising: the rows of the leading posts among those that were prepared."""
        return np.array([self._row_of[place] for place in sorted(self.leading)], np.int64)

    # ---- verdicts

    def verdicts(self) -> dict[int, Evidence | None]:
        """Return the verdicts on the leading posts, against the kept candidates and each other."""
        found, records = self._encounter.verdicts(self.report)
        places, rows = sorted(self.leading), self._leading_rows()
        records += [self._records[row] for row in rows.tolist()]
        keepers = [(one.post.id, one.post.position) for one in records]
        lengths = self._prepared.lengths[rows]
        evidence = found.evidence(dict(enumerate(keepers)), self._steps.components.bands, lengths)
        return {place: evidence.get(row) for row, place in enumerate(places)}

    def repeats(self, place: int, holder: PostRecord, keeper: PostRecord | None) -> Evidence | None:
        """Return why a post repeats the decided holder of its text, or what that repeats; None if it does not."""
        row, kept = self._row_of[place], keeper or holder
        if kept.state is not State.KEPT or kept.post.time <= self._edges[row]:
            return None
        if holder.post.evidence is not None:  # a pair with the same texts
            return holder.post.evidence
        return Evidence(kept.post.id, kept.post.position, "exact", 0, EQUAL, 1.0, 1.0, self._own_bands[row])

    def settle(self, place: int, evidence: Evidence | None) -> None:
        """Note that a post is decided, and count it."""
        super().settle(place, evidence)
        _, post, watermark = self._records[self._row_of[place]]
        self._decisions[place] = decision_of(post if evidence is None else post._replace(evidence=evidence))
        if evidence is None:
            self.outcomes.append(("kept", self._own_bands[self._row_of[place]]))
        else:
            self.outcomes.append((evidence.reason, evidence.length_band))
        self.n_late += post.time <= watermark - self._timing.horizon

    def duplicates_keyed(self) -> Keyed:
        """Return the duplicates of the last block that are in buckets, with their keys."""
        rows = [self._row_of[place] for place in sorted(self.entered) if self.decided.get(place) is not None]
        return keyed_texts(self._prepared, np.array(rows, np.int64))


def keyed_texts(prepared: PreparedTexts, rows: Int64s) -> Keyed:
    """Return the texts in some rows with their keys."""
    live, live_rows = prepared.live, prepared.live_rows[rows]
    entries = np.zeros(len(rows), entry_type(live.prints.bits.shape[1]))
    entries["position"], entries["length"] = prepared.positions[rows], prepared.lengths[rows]
    entries["bits"] = spread(live.prints.bits, live_rows, np.uint64(0))
    return Keyed(entries, spread(live.keys, live_rows, np.uint64(NO_KEY)))


def keyed_posts(posts: Sequence[StoredPost], steps: Steps) -> Keyed:
    """Return posts of a window with their keys; they are at rising positions."""
    texts = [post.text for post in posts]
    positions = np.fromiter((post.position for post in posts), np.int64, len(posts))
    prepared = steps.prepare(texts, steps.normalize(texts), positions)
    return keyed_texts(prepared, np.arange(len(posts)))


def no_posts(steps: Steps) -> Keyed:
    """Return no posts with keys, for calls that only look."""
    n_words = steps.components.settings.fingerprint.bits // 64
    return Keyed(np.zeros(0, entry_type(n_words)), np.zeros((0, 1), np.uint64))


def distinct_keys(probes: UInt64s) -> UInt64s:
    """Return uint64[n], rising: the keys among probes."""
    found: UInt64s = np.unique(probes[probes != NO_KEY])
    return found
