"""A shared window that is open: how its batches are decided, and what it answers. One call at a time."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import numpy as np

from hybriddup.data.records import Bools, Int64s, NearPairs
from hybriddup.errors import StoreError, UnsupportedError
from hybriddup.shared_windows.batch import SharedBatch, distinct_keys, keyed_posts, no_posts
from hybriddup.shared_windows.candidates import buckets_of, near_meetings, near_pairs
from hybriddup.shared_windows.packing import id_name, text_name
from hybriddup.shared_windows.protocol import Call, Wait, decide
from hybriddup.shared_windows.store import Keyed, PostRecord, SharedStore, State, Taken
from hybriddup.shared_windows.sweeping import Sweeper
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.event_time import NEVER, PostTimes, WindowTime
from hybriddup.window.index import LiveTexts
from hybriddup.window.live_audit import LiveAudit
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import MADE_ID, Counts, Decision, Post, PostId, PostList, StoredPost

logger = logging.getLogger("hybriddup")

PATIENCE = 0.002, 0.05
"""Seconds between two looks at a post of another process that is being decided: at first, and at most."""
LARGEST_BATCH = 1024
"""Posts that are decided together: others wait for all of them."""
LEASES_UNTIL_SWEPT = 10
"""Leases for which the batch of another process may take: then its posts are given up and leave their buckets."""
LOOKING = 2**62
"""The position of a text that is only looked for: after all posts."""


@dataclass
class SharedState:
    """A window over a store that other processes use, too."""

    steps: Steps
    timing: WindowTime
    shared: SharedStore
    lease: float
    """Seconds without a sign of life after which an undecided post of another process is given up."""
    weights_learn: bool = False
    """Never: what a shared window goes by does not change."""
    counts: Counts = field(default_factory=Counts)
    live_audit: LiveAudit = field(default_factory=LiveAudit)
    """Samples nothing: no process knows all posts."""

    def __post_init__(self) -> None:
        self._awaited: dict[int, float] = {}
        """When posts of others that are being decided were first waited for."""
        self._taken: deque[tuple[float, int]] = deque()
        """When positions were taken, within the last lease, and once before: which posts are older than these tells."""
        self._sweeper = Sweeper(self.shared, self.steps, LEASES_UNTIL_SWEPT * self.lease)

    # ---- deciding

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Return the decisions about posts, when the store has them."""
        self._sweeper.sweep_abandoned()
        decisions: list[Decision] = []
        for first in range(0, len(posts), LARGEST_BATCH):
            decisions += self._decide(posts[first : first + LARGEST_BATCH])
        return decisions

    def _decide(self, posts: Sequence[Post]) -> list[Decision]:
        first_with: dict[tuple[type, PostId | None], int] = {}
        of = [
            place if post.id is None else first_with.setdefault((type(post.id), post.id), place)
            for place, post in enumerate(posts)
        ]
        chosen = [place for place, first in enumerate(of) if place == first]
        batch = self._settle([posts[place] for place in chosen])
        decided = dict(zip(chosen, batch.decisions(), strict=True))
        answers = [
            decided[first] if place == first else decided[first]._replace(repeated=True)
            for place, first in enumerate(of)
        ]
        self._count(answers, batch)
        return answers

    def _settle(self, posts: Sequence[Post]) -> SharedBatch:
        """Decide posts, no id twice."""
        with self.counts.timed("normalize"):
            normalized = self.steps.normalize([post.text for post in posts])
        batch = SharedBatch(posts, self.steps, self.timing, self.timing.now(), normalized)
        try:
            self._follow(batch)
        except BaseException:
            self._sweeper.abandon(batch.blocks)
            raise
        self._sweeper.abandon(batch.blocks[:-1])
        return batch

    def _follow(self, batch: SharedBatch) -> None:
        """Do what the protocol asks, until all is decided."""
        course, answer = decide(batch), None
        while True:
            try:
                with self.counts.timed("decide"):
                    asked = course.send(answer)
            except StopIteration:
                break
            with self.counts.timed("store"):
                answer = self._lapsed(asked) if isinstance(asked, Wait) else self._ask(asked)
        if batch.blocks:
            with self.counts.timed("store"):
                self._finish(batch)
                self._sweeper.sweep_overdue(monotonic())

    def _ask(self, asked: Call) -> Any:
        """Return the answer of the store."""
        answer = getattr(self.shared, asked.method)(*asked.arguments)
        if isinstance(answer, Taken):
            now = monotonic()
            self._taken.append((now, answer.first))
            while len(self._taken) > 1 and self._taken[1][0] < now - self.lease:
                self._taken.popleft()
            self._sweeper.note(answer.unfinished, now)
        return answer

    def _finish(self, batch: SharedBatch) -> None:
        """Finish the last block of a batch. What was decided stands if that fails; the block is swept later."""
        leaving = batch.duplicates_keyed() if batch.entered else no_posts(self.steps)
        block, times = batch.blocks[-1], (batch.watermark_before, batch.watermark)
        try:
            self.shared.finish(block.first, *times, batch.kept_times, leaving)
        except StoreError as error:
            self._sweeper.abandon([block])
            logger.warning(
                "posts were decided, but the time of the window may not have moved on, and duplicates may still take "
                "room in the store: %s",
                error,
            )

    def _lapsed(self, asked: Wait) -> list[int]:
        """Wait a moment; return the positions whose posts have been undecided for longer than a lease."""
        now = monotonic()
        self._awaited = {position: self._awaited.get(position, now) for position in asked.positions}
        since, first = self._taken[0]
        if since < now - self.lease and (overdue := [one for one in asked.positions if one < first]):
            return overdue
        waited = now - min(self._awaited.values())
        sleep(min(max(waited / 2, PATIENCE[0]), PATIENCE[1]))
        return [position for position, since in self._awaited.items() if now - since > self.lease]

    def _count(self, answers: Sequence[Decision], batch: SharedBatch) -> None:
        self.counts.posts["late"] += batch.n_late
        self.counts.limits_hit.update(batch.report.limits_hit)
        self.counts.posts["repeated_id"] += sum(one.repeated for one in answers)
        self.counts.decided(batch.outcomes)

    # ---- looking

    @property
    def watermark(self) -> float:
        """The time of the window."""
        return self.shared.watermark()

    @property
    def last_time(self) -> float:
        """The time at which a text is looked for: that of the window."""
        return self.watermark

    @property
    def derived(self) -> SharedView:
        """What the window finds, of one question."""
        return SharedView(self)

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Return texts ready to be looked up, after all posts."""
        return self.steps.prepare(texts, self.steps.normalize(texts), np.arange(LOOKING, LOOKING + len(texts)))

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        held = self.shared.positions_of(list(map(text_name, prepared.keys)))
        view = SharedView(self)
        view.kept_of(np.array([one for one in held if one is not None], np.int64))
        times_of = {position: one.post.time for position, one in view.records.items()}
        edges = times.edges(self.timing.horizon).tolist()
        found = [-1 if one is None or times_of.get(one, NEVER) <= edge else one
                 for one, edge in zip(held, edges, strict=True)]  # fmt: skip
        return np.array(found, np.int64)

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id, if it is decided and not forgotten."""
        is_made = isinstance(post_id, str) and MADE_ID.fullmatch(post_id)
        # a number of more digits is no position, and Python refuses to read one of thousands
        position = int(str(post_id)[1:20]) if is_made else self.shared.positions_of([id_name(post_id)])[0]
        if position is None or position >= LOOKING:
            return None
        record, edge = self.shared.records(np.array([position]))[0], self.watermark - self.timing.horizon
        if record is None or record.state not in (State.KEPT, State.DUPLICATE) or record.watermark <= edge:
            return None
        return record.post if record.post.id == post_id else None

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in the order asked; StoreError where one is not there any more."""
        found = self.shared.records(positions)
        posts = [one.post for one in found if one is not None]
        if len(posts) < len(found):
            raise StoreError("posts of the window expired while they were looked at. Ask again.")
        return posts

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order asked."""
        return self.steps.normalize([post.text for post in self.posts_at(positions)])

    def posts_before(self, position: int | None, n: int) -> PostList:  # noqa: ARG002
        """Raise UnsupportedError: a store has its posts by position, many of which nobody uses."""
        raise UnsupportedError(
            "a window that several processes share cannot list its posts. Get posts by id, or look for similar ones."
        )

    def delete(self, post_id: PostId) -> bool:
        """Remove the record of a post, which decides; then take the post out of its buckets.

        A post without a record is to all processes as one that was given up: it takes part in nothing, and its id is
        free. A batch that read the record before is decided as if it had come before the deletion.
        """
        post = self.post_with(post_id)
        if post is None:
            return False
        self.shared.remove(post.position, post.time if post.kept else None)
        self.counts.posts["deleted"] += 1
        if post.kept:
            self._leave(keyed_posts([post], self.steps))
        return True

    def _leave(self, texts: Keyed) -> None:
        """Take posts out of their buckets. What was decided, or deleted, stands if that fails."""
        try:
            self.shared.leave(texts)
        except StoreError as error:
            logger.warning("posts that no other can match still take room in the store: %s", error)

    def rewind(self, to: float | None) -> float:
        """Put the watermark back; see `hybriddup.Window.rewind`."""
        moment = self.timing.rewound_to(to)
        seconds = max(self.watermark - moment, 0.0)
        if seconds:
            self.shared.rewind(moment)
        return seconds

    def n_stored_bytes(self) -> int:
        """Return the bytes of the window in the store."""
        return self.shared.n_bytes()

    def close(self) -> None:
        """Let go of the store."""
        self.shared.close()


class SharedView:
    """The kept posts of a shared window that texts meet, as looking into it asks for them."""

    def __init__(self, state: SharedState) -> None:
        self._state = state
        self.kept = self
        self.index = self
        self.n_bytes = 0
        self.records: dict[int, PostRecord] = {}

    def n_after(self, time: float) -> int:
        """Return about how many kept posts have a time after this one."""
        return self._state.shared.n_kept_after(time)

    def look_up(self, texts: LiveTexts) -> NearPairs:
        """Return the pairs of texts with kept posts; ``earlier`` are positions."""
        steps = self._state.steps
        found = self._state.shared.enter(no_posts(steps), distinct_keys(texts.probes))
        met = buckets_of(texts.probes, found, np.zeros(0, np.int64))
        most = steps.components.block_index.max_bucket_size
        near, _ = near_pairs(near_meetings(texts, met, steps.components.bands, most))
        kept = self.kept_of(near.earlier)
        return near.take(np.isin(near.earlier, kept))

    def kept_of(self, positions: Int64s) -> Int64s:
        """Return which of some positions are those of kept posts."""
        asked = np.unique(positions)
        records = zip(asked.tolist(), self._state.shared.records(asked), strict=True)
        self.records |= {position: one for position, one in records if one is not None and one.state is State.KEPT}
        return np.array([position for position in asked.tolist() if position in self.records], np.int64)

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon of texts."""
        at = np.array([self.records[position].post.time for position in earlier.tolist()], np.float64)
        return np.asarray(at > times.edges(self._state.timing.horizon)[places])

    @property
    def report(self) -> BlockReport:
        """What the index is."""
        return BlockReport(f"{self._state.steps.components.block_index.describe()}, shared")
