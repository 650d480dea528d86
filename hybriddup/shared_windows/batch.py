"""A batch of posts in a shared window: makes the posts' records and keys, and collects the decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hybriddup.data.records import NO_KEY, Int64s, UInt64s
from hybriddup.data.removed import EQUAL
from hybriddup.shared_windows.contestants import Contestants
from hybriddup.shared_windows.encounter import Encounter
from hybriddup.shared_windows.packing import text_name
from hybriddup.shared_windows.store import Block, Entries, Keyed, PostRecord, State, Taken, entry_type
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.derived.deriving import prepare_stored
from hybriddup.window.event_time import NEVER, WindowTime
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Decision, Evidence, Post, StoredPost, decision_of, id_at


class SharedBatch(Contestants):
    """A batch of posts with distinct ids. A *place* is the index of a post in the batch."""

    def __init__(
        self, posts: Sequence[Post], steps: Steps, timing: WindowTime, now: float, normalized: Sequence[str]
    ) -> None:
        super().__init__([post.id for post in posts])
        self._posts, self._steps, self._timing, self._now, self._normalized = posts, steps, timing, now, normalized
        self.report = BlockReport()
        self.blocks: list[Block] = []
        """Ranges of positions reserved for this batch: one at each start and restart of the protocol."""
        self.watermark = NEVER
        """The window's watermark after the posts that were prepared last, in seconds since 1970."""
        self.watermark_before = NEVER
        """The watermark in the store when the newest range of `blocks` was reserved, in seconds since 1970."""
        self.n_late = 0
        self.outcomes: list[tuple[str, str]] = []
        """Outcome ("kept", "exact" or "near") and length band of each decided post."""
        self._unfinished: Sequence[Block] = ()
        self._row_of: dict[int, int] = {}
        """Row of each post in the texts that were prepared last, by the post's index in the batch."""
        self._decisions: dict[int, Decision] = {}

    @property
    def kept_times(self) -> list[float]:
        """Times, in seconds since 1970, of the kept posts whose positions are in the newest range of `blocks`."""
        first = self.blocks[-1].first
        return [float(self._times.times[row]) for place, row in self._row_of.items()
                if self.keeps(place) and self.position[place] >= first]  # fmt: skip

    def decisions(self) -> list[Decision]:
        """Return the decisions on all posts, in order.

        Every post must be decided already, or have the answer of an earlier post with its id.
        """
        repeated = {place: replace(decision_of(one.post), repeated=True) for place, one in self.answers.items()}
        found = self._decisions | repeated
        return [found[place] for place in range(len(self._posts))]

    # ---- records

    def begin(self, taken: Taken) -> dict[int, bytes]:
        """Assign the positions ``taken`` to the open (undecided) posts.

        Return, by index in the batch, the encoded id of each open post that was sent with an id.
        """
        self.blocks.append(Block(taken.first, len(self.open)))
        self._unfinished = taken.unfinished
        self.watermark = self.watermark_before = taken.watermark
        return super().begin(taken)

    def records(self, taken: Taken) -> list[PostRecord]:
        """Prepare the texts of the open (undecided) posts, and return their records."""
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
            PostRecord(State.PENDING, StoredPost(position, id_at(position, post), time, post.text, None), watermark)
            for post, position, time, watermark in zip(posts, *columns, strict=True)
        ]
        return self._records

    def is_forgotten(self, record: PostRecord) -> bool:
        """Return whether the time of the window has advanced by at least the horizon since the post arrived."""
        return record.watermark <= self.watermark - self._timing.horizon

    # ---- keys and others

    def text_name(self, place: int) -> bytes:
        """Return the name for the text of the post at index ``place`` in the store; equal texts have the same name.

        The first post to claim the name, by compare-and-set, becomes the holder of the text.
        """
        return self._text_names[self._row_of[place]]

    def keyed(self) -> Keyed:
        """Return the bucket entries and block keys of the leading posts, which are being decided."""
        return keyed_texts(self._prepared, self._leading_rows())

    def probes(self) -> UInt64s:
        """Return uint64[n]: the distinct keys that the leading posts, which are being decided, look up."""
        return distinct_keys(self._prepared.batch.take(self._leading_rows()).probes)

    def candidates(self, found: Entries) -> Int64s:
        """Return int64[n]: the positions of posts in the buckets ``found`` that may match a leading post.

        Leading posts are the posts of this batch that are being decided.
        """
        rows = self._leading_rows()
        times, edges = self._times.times[rows], self._edges[rows]
        self._encounter = Encounter(self._prepared.take(rows), times, edges, found, self._unfinished, self._steps)
        return self._encounter.positions

    def rivals(self, positions: Int64s, records: Sequence[PostRecord | None]) -> Mapping[int, State]:
        """Record the candidates at ``positions``; return the states of all rivals recorded so far, by position.

        A leading post is a post of this batch that is being decided; a rival is an undecided candidate that matches
        a leading post.
        """
        self._encounter.note(positions, records)
        return self._encounter.rivals()

    def _leading_rows(self) -> Int64s:
        """Return int64[n], ascending: the rows of the leading posts, which are being decided, in the prepared texts."""
        return np.array([self._row_of[place] for place in sorted(self.leading)], np.int64)

    # ---- verdicts

    def verdicts(self) -> dict[int, Evidence | None]:
        """Decide the leading posts against the kept candidates and each other, without writing the decisions.

        Return, by index in the batch, the evidence that a post is a duplicate; None = the post is kept.
        """
        found, records = self._encounter.verdicts(self.report)
        places, rows = sorted(self.leading), self._leading_rows()
        records += [self._records[row] for row in rows.tolist()]
        keepers = [(one.post.id, one.post.position) for one in records]
        lengths = self._prepared.lengths[rows]
        evidence = found.evidence(dict(enumerate(keepers)), self._steps.components.bands, lengths)
        return {place: evidence.get(row) for row, place in enumerate(places)}

    def repeats(self, place: int, holder: PostRecord, keeper: PostRecord | None) -> Evidence | None:
        """Return the evidence that the post at index ``place`` repeats ``holder`` or ``keeper``; None if it does not.

        ``holder`` is a decided post with the same text. If ``holder`` is a duplicate, ``keeper`` is the post that it
        repeats; if ``holder`` is kept, ``keeper`` is None.
        """
        row, kept = self._row_of[place], keeper or holder
        if kept.state is not State.KEPT or kept.post.time <= self._edges[row]:
            return None
        if holder.post.evidence is not None:  # the texts are equal, so its evidence holds for this post too
            return holder.post.evidence
        return Evidence(kept.post.id, kept.post.position, "exact", 0, EQUAL, 1.0, 1.0, self._own_bands[row])

    def settle(self, place: int, evidence: Evidence | None) -> None:
        """Record and count the post at index ``place`` as kept if ``evidence`` is None, else as a duplicate."""
        super().settle(place, evidence)
        _, post, watermark = self._records[self._row_of[place]]
        self._decisions[place] = decision_of(post if evidence is None else post._replace(evidence=evidence))
        own_band = self._own_bands[self._row_of[place]]
        self.outcomes.append(("kept", own_band) if evidence is None else (evidence.reason, evidence.length_band))
        self.n_late += post.time <= watermark - self._timing.horizon

    def duplicates_keyed(self) -> Keyed:
        """Return the bucket entries and block keys of the duplicates among the posts that were added to buckets."""
        rows = [self._row_of[place] for place in sorted(self.entered) if self.decided.get(place) is not None]
        return keyed_texts(self._prepared, np.array(rows, np.int64))


def keyed_texts(prepared: PreparedTexts, rows: Int64s) -> Keyed:
    """Return the bucket entries and block keys of the prepared texts at the indices ``rows``."""
    some = prepared.batch.take(rows)
    entries = np.zeros(len(rows), entry_type(some.columns.bits.shape[1]))
    entries["position"], entries["length"], entries["bits"] = some.positions, some.columns.lengths, some.columns.bits
    return Keyed(entries, some.keys)


def keyed_posts(posts: Sequence[StoredPost], steps: Steps) -> Keyed:
    """Return the bucket entries and block keys of posts, which must be in order of position."""
    return keyed_texts(prepare_stored(steps, posts), np.arange(len(posts)))


def no_posts(steps: Steps) -> Keyed:
    """Return a `Keyed` without posts, for store calls that neither add nor remove posts."""
    n_words = steps.components.settings.fingerprint.bits // 64
    return Keyed(np.zeros(0, entry_type(n_words)), np.zeros((0, 1), np.uint64))


def distinct_keys(probes: UInt64s) -> UInt64s:
    """Return uint64[n], ascending: the distinct keys in ``probes``, without `NO_KEY`."""
    return np.unique(probes[probes != NO_KEY])
