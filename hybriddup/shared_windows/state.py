"""An open shared window: decides batches and answers queries. Not thread-safe: one call at a time."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import monotonic, sleep
from typing import Any

import numpy as np

from hybriddup.data.records import Int64s, NearPairs
from hybriddup.errors import StoreError, UnsupportedError
from hybriddup.shared_windows.batch import SharedBatch, distinct_keys, keyed_posts, no_posts
from hybriddup.shared_windows.candidates import near_meetings, near_pairs
from hybriddup.shared_windows.packing import id_name, text_name
from hybriddup.shared_windows.protocol import Call, Wait, decide
from hybriddup.shared_windows.store import SharedStore, State, Taken
from hybriddup.shared_windows.sweeping import Sweeper
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch
from hybriddup.window.event_time import NEVER, PostTimes, WindowTime
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import MADE_ID, AuditCounts, Counts, Decision, Post, PostId, PostList, StoredPost
from hybriddup.window.states import WindowSizes

logger = logging.getLogger("hybriddup")

PATIENCE = 0.002, 0.05
"""First and longest pause between two checks of another process's undecided post, in seconds."""
LARGEST_BATCH = 1024
"""Maximum number of posts per batch, limited because other processes may wait for a whole batch."""
LEASES_UNTIL_SWEPT = 10
"""Age in leases at which an unfinished batch of another process is cleaned up: its undecided posts become gone."""
LOOKING = 2**62
"""First position assigned to query texts, larger than the positions of all posts."""


@dataclass
class SharedState:
    """A window over a store that several processes share."""

    steps: Steps
    timing: WindowTime
    shared: SharedStore
    lease: float
    """Seconds for which a post of another process may be undecided before it is marked as gone."""
    weights_learn: bool = False
    """Always False: the learned data of a shared window does not change."""
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        self._awaited: dict[int, float] = {}
        """By position of each awaited post: when the waiting for it began, in seconds on a monotonic clock."""
        self._taken: deque[tuple[float, int]] = deque()
        """Time, on a monotonic clock, and first position of each recent block of this process, oldest first.

        A block is the range of positions that a batch reserved at once. The first entry is the latest block that was
        reserved more than a lease ago, if there is one: all posts at smaller positions are older than a lease, too.
        """
        self._sweeper = Sweeper(self.shared, self.steps, LEASES_UNTIL_SWEPT * self.lease)

    # ---- deciding

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Decide posts in order, and return the decisions once they are stored."""
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
            decided[first] if place == first else replace(decided[first], repeated=True)
            for place, first in enumerate(of)
        ]
        self._count(answers, batch)
        return answers

    def _settle(self, posts: Sequence[Post]) -> SharedBatch:
        """Decide posts with distinct ids."""
        with self.counts.timed("normalize"):
            normalized = self.steps.normalize([post.text for post in posts])
        batch = SharedBatch(posts, self.steps, self.timing, self.timing.now(), normalized)
        try:
            self._run(batch)
        except BaseException:
            self._sweeper.abandon(batch.blocks)
            raise
        self._sweeper.abandon(batch.blocks[:-1])
        return batch

    def _run(self, batch: SharedBatch) -> None:
        """Run the protocol until all posts of a batch are decided; mark the last positions taken for it as finished.

        Then clean up overdue batches of other processes.
        """
        protocol, answer = decide(batch), None
        while True:
            try:
                with self.counts.timed("decide"):
                    step = protocol.send(answer)
            except StopIteration:
                break
            with self.counts.timed("store"):
                answer = self._lapsed(step) if isinstance(step, Wait) else self._call(step)
        if batch.blocks:
            with self.counts.timed("store"):
                self._finish(batch)
                self._sweeper.sweep_overdue(monotonic())

    def _call(self, call: Call) -> Any:
        """Call a method of the store, and return its result.

        If the result is a `Taken`, also record its positions and its unfinished blocks.
        """
        answer = getattr(self.shared, call.method)(*call.arguments)
        if isinstance(answer, Taken):
            now = monotonic()
            self._taken.append((now, answer.first))
            while len(self._taken) > 1 and self._taken[1][0] < now - self.lease:
                self._taken.popleft()
            self._sweeper.note(answer.unfinished, now)
        return answer

    def _finish(self, batch: SharedBatch) -> None:
        """Tell the store that all positions in the last block of a batch are decided.

        If that fails, the decisions remain valid, and a later call tries again.
        """
        leaving = batch.duplicates_keyed() if batch.entered else no_posts(self.steps)
        block, times = batch.blocks[-1], (batch.watermark_before, batch.watermark)
        try:
            self.shared.finish(block.first, *times, batch.kept_times, leaving)
        except StoreError as error:
            self._sweeper.abandon([block])
            logger.warning(
                "posts were decided, but the time of the window may not have advanced, and duplicates may still take "
                "space in the store; the next call tries again: %s",
                error,
            )

    def _lapsed(self, wait: Wait) -> list[int]:
        """Pause, and return the awaited positions whose posts have been undecided for longer than a lease."""
        now = monotonic()
        self._awaited = {position: self._awaited.get(position, now) for position in wait.positions}
        since, first = self._taken[0]
        if since < now - self.lease and (overdue := [one for one in wait.positions if one < first]):
            return overdue
        waited = now - min(self._awaited.values())
        sleep(min(max(waited / 2, PATIENCE[0]), PATIENCE[1]))
        return [position for position, since in self._awaited.items() if now - since > self.lease]

    def _count(self, answers: Sequence[Decision], batch: SharedBatch) -> None:
        self.counts.posts["late"] += batch.n_late
        self.counts.limits_hit.update(batch.report.limits_hit)
        self.counts.posts["repeated_id"] += sum(one.repeated for one in answers)
        self.counts.decided(batch.outcomes)

    # ---- queries

    def moment(self) -> tuple[float, float]:
        """Return the time to assign to a query text, and the watermark; here, both are the watermark."""
        watermark = self.shared.watermark()
        return watermark, watermark

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Prepare query texts, with positions larger than the positions of all posts."""
        return self.steps.prepare(texts, self.steps.normalize(texts), np.arange(LOOKING, LOOKING + len(texts)))

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: for each text, the position of the unexpired kept post with an equal text; -1 = none."""
        held = self.shared.positions_of(list(map(text_name, prepared.keys)))
        time_of = self._kept_times(np.array([one for one in held if one is not None], np.int64))
        edges = times.edges(self.timing.horizon).tolist()
        found = [-1 if one is None or time_of.get(one, NEVER) <= edge else one
                 for one, edge in zip(held, edges, strict=True)]  # fmt: skip
        return np.array(found, np.int64)

    def near_posts(self, text: Batch, now: PostTimes) -> NearPairs:
        """Pair a text with the kept posts within the horizon that have similar fingerprints.

        In the pairs, ``earlier`` is the position of the kept post.
        """
        bands, index = self.steps.components.bands, self.steps.components.block_index
        found = self.shared.enter(no_posts(self.steps), distinct_keys(text.probes))
        near, _ = near_pairs(near_meetings(text, found, bands, index.max_bucket_size))
        time_of, edge = self._kept_times(near.earlier), now.edges(self.timing.horizon)[0]
        times = np.array([time_of.get(position, NEVER) for position in near.earlier.tolist()], np.float64)
        return near.take(times > edge)

    def _kept_times(self, positions: Int64s) -> dict[int, float]:
        """Return the times of the kept posts at these positions, by position."""
        records = self.shared.records(np.unique(positions))
        return {one.post.position: one.post.time for one in records if one is not None and one.state is State.KEPT}

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id, if it is decided and not forgotten."""
        is_made = isinstance(post_id, str) and MADE_ID.fullmatch(post_id)
        # 19 digits suffice for any position, and Python refuses to parse thousands of digits
        position = int(str(post_id)[1:20]) if is_made else self.shared.positions_of([id_name(post_id)])[0]
        if position is None or position >= LOOKING:
            return None
        record, edge = self.shared.records(np.array([position]))[0], self.shared.watermark() - self.timing.horizon
        if record is None or record.state not in (State.KEPT, State.DUPLICATE) or record.watermark <= edge:
            return None
        return record.post if record.post.id == post_id else None

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in this order; StoreError if one is no longer stored."""
        found = self.shared.records(positions)
        posts = [one.post for one in found if one is not None]
        if len(posts) < len(found):
            raise StoreError("posts of the window expired while they were read. Try again.")
        return posts

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order of ``positions``."""
        return self.steps.normalize([post.text for post in self.posts_at(positions)])

    def posts_before(self, position: int | None, n: int) -> PostList:  # noqa: ARG002
        """Raise UnsupportedError: positions have gaps, and a shared store cannot scan for posts."""
        raise UnsupportedError(
            "a window that several processes share cannot list its posts. Get posts by id, or search for similar ones."
        )

    def delete(self, post_id: PostId) -> bool:
        """Delete a post: remove its record, which takes effect at once, then its entries in buckets.

        Nothing matches a post without a record, and its id is free. A batch that read the record earlier is decided as
        if it had come before the deletion.
        """
        post = self.post_with(post_id)
        if post is None:
            return False
        self.shared.remove(post.position, post.time if post.kept else None)
        self.counts.posts["deleted"] += 1
        if post.kept:
            try:
                self.shared.leave(keyed_posts([post], self.steps))
            except StoreError as error:
                logger.warning("a deleted post still takes space in the store, but matches nothing: %s", error)
        return True

    def rewind(self, to: float | None) -> float:
        """Set the watermark back; see `hybriddup.Window.rewind`."""
        moment = self.timing.rewound_to(to)
        seconds = max(self.shared.watermark() - moment, 0.0)
        if seconds:
            self.shared.rewind(moment)
        return seconds

    def sizes(self, now: float) -> WindowSizes:
        """Return counts and sizes; they are approximate, because no process knows all posts. Audit counts are 0."""
        shape = f"{self.steps.components.block_index.describe()}, shared"
        n_kept = self.shared.n_kept_after(now - self.timing.horizon)
        return WindowSizes(n_kept, 0, self.shared.n_bytes(), BlockReport(shape), AuditCounts())

    def close(self) -> None:
        """Release the store."""
        self.shared.close()
