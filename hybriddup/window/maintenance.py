"""Keeps the data of a window in memory consistent with its store: learning, forgetting, deleting, and queries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from hybriddup.data.records import Int64s, NearPairs
from hybriddup.errors import StoreError
from hybriddup.run.recipe import WEIGHTS, Arrays
from hybriddup.steps.candidates import Batch
from hybriddup.steps.weighters import FittedWeighter
from hybriddup.window.derived.deriving import build_derived_state, kept_posts, prepare_stored
from hybriddup.window.event_time import Edges, PostTimes, WindowTime
from hybriddup.window.learning import FIT_AT, blocks_learn, learn_parts, pack_learned, pack_recipe
from hybriddup.window.live_audit import LiveAudit
from hybriddup.window.preparing import Steps
from hybriddup.window.records import Counts, Post, PostId, PostList, StoredPost
from hybriddup.window.renewals import Renewals
from hybriddup.window.states import WindowSizes
from hybriddup.window.stores import DELETED, EDGES, LEARNED, RECIPE, WATERMARK, packed
from hybriddup.window.stores.store import WindowStore

MOST_AHEAD = 300.0
"""Seconds by which the watermark may be ahead of the clock without a warning."""
STALE = -1
"""Value of `MaintainedState.n_remembered` if the data in memory must be rebuilt from the store."""

logger = logging.getLogger("hybriddup")


@dataclass
class MaintainedState:
    """An open window without the methods that decide posts: its store, and the data in memory derived from the store.

    Only one thread at a time may call it.
    """

    steps: Steps
    timing: WindowTime
    store: WindowStore
    edges: Edges
    weights_learn: bool = False
    """Whether the weights of tokens have yet to be fitted."""
    is_learning: bool = False
    """Whether something has yet to be learned from the first posts."""
    learned: dict[str, Arrays] = field(default_factory=dict)
    """Learned arrays by part (weights, block index, or one verifier); see `hybriddup.window.learning.Learned`."""
    unsaved: dict[str, bytes] = field(default_factory=dict)
    """Learned data that could not be stored yet."""
    is_ahead: bool = False
    """Whether the watermark was last seen to be ahead of the clock by more than `MOST_AHEAD`."""
    counts: Counts = field(default_factory=Counts)
    live_audit: LiveAudit = field(default_factory=LiveAudit)
    replaced: list[StoredPost] = field(default_factory=list)
    """The stored post that the next decided post replaces, once for each of its positions; empty = none."""

    def __post_init__(self) -> None:
        self.earlier = self.steps.earlier_texts(self.texts)
        """A cache of texts that were compared recently."""
        self.derive()

    def derive(self) -> None:
        """Load the data that the window holds in memory, such as the kept posts, from the store."""
        self.derived = build_derived_state(self.steps, self.store, self.timing.horizon)
        self.renewals = Renewals(self.store.renewals(0))
        self.n_remembered = self.store.next_position
        """The next position of the store when the data in memory was last brought up to date."""
        self.watermark = self.last_time = self.store.watermark()
        """``last_time`` is the time of the post that was decided last."""

    def catch_up(self) -> None:
        """Rebuild the data in memory from the store if it lacks a batch that was written to the store."""
        if self.n_remembered == self.store.next_position:
            return
        self.n_remembered = STALE  # until everything is there again
        # keep the counts of the index that is dropped
        self.counts.limits_hit.update(self.derived.index.report.limits_hit)
        self.derive()

    def change_or_derive(self, change: Callable[[], None]) -> None:
        """Call ``change``, which updates the data in memory from the store; if it fails, log why, and call `derive`."""
        try:
            change()
        except Exception as error:
            logger.warning("the index is built anew from the store: %s: %s", type(error).__name__, error)
            self.n_remembered = STALE
            self.catch_up()

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id; None if there is none or it is forgotten."""
        post = self.store.find_ids([post_id])[0]
        return None if post is None else self.shown(post)

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in this order."""
        return self.store.posts(positions)

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return the posts at the ``n`` positions before ``position``; None = at the latest ``n`` positions.

        Deleted posts, and earlier positions of renewed posts, are skipped, so there may be fewer than ``n`` posts.
        """
        first, end = self.store.first_position, self.store.next_position
        end = end if position is None else max(min(position, end), first)
        start = max(end - n, first)
        posts = self.store.posts(np.arange(end - 1, start - 1, -1, dtype=np.int64))
        shown = [self.shown(post) for post in posts if not post.deleted and not self.renewals.is_old(post.position)]
        return PostList(shown, start if start > first else None)

    def shown(self, post: StoredPost) -> StoredPost:
        """Return a post with current data: a kept post gets its ``copies``, if copies are counted.

        The evidence of a duplicate gets the latest position of the kept post, which may have been renewed.
        """
        of = self.repeated_by(post)
        if of is not None:
            return post.repeating(of)
        return post.counted() if self.store.counts else post

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order of ``positions``."""
        wanted, texts = positions.tolist(), self.store.normalized(positions)
        if missing := [position for position in wanted if position not in texts]:
            posts = self.store.posts(np.array(missing, np.int64))
            texts.update(zip(missing, self.steps.normalize([post.text for post in posts]), strict=True))
        return [texts[position] for position in wanted]

    def cut(self, posts: Sequence[Post]) -> list[Sequence[Post]]:
        """Split posts into those before and after the window learns, so that decisions do not depend on batch sizes."""
        n_first = FIT_AT - self.store.next_position if self.is_learning else len(posts)
        return [part for part in (posts[:n_first], posts[n_first:]) if part]

    def learn_if_due(self) -> None:
        """Let the components learn from the stored posts, such as weights of tokens, as soon as there are enough posts.

        If learning fails, a warning is logged, and the window goes on without the learned data.
        """
        if not self.is_learning or self.store.next_position < FIT_AT:
            return
        try:
            with self.counts.timed("fit"):
                self.learn()
        except Exception as error:
            logger.warning(
                "the window could not learn from its posts and goes on without; the next opening tries again: %s: %s",
                type(error).__name__,
                error,
            )

    def learn(self) -> None:
        """Learn from the posts so far, only once: token weights, and the learned data of block index and verifiers."""
        components, weights_learn = self.steps.components, self.weights_learn
        if weights_learn or blocks_learn(components, self.learned):
            self.n_remembered = STALE  # even if the rest fails: fingerprints or keys are different from here on
        self.weights_learn = self.is_learning = False
        try:
            if weights_learn:
                texts = [post.text for post in kept_posts(self.store, 0, self.store.next_position)]
                self.steps.fit(self.steps.normalize(texts))
                weighter = components.fingerprinter.weighter
                assert isinstance(weighter, FittedWeighter)  # noqa: S101  see `check_weights`
                self.learned[WEIGHTS] = weighter.table.arrays()
            learn_parts(self.store, self.steps, self.learned)
        finally:
            self.unsaved = {RECIPE: pack_recipe(components.recipe()), LEARNED: pack_learned(components, self.learned)}
            self.save_learned()
            self.catch_up()

    def save_learned(self) -> None:
        """Store the learned data; if that fails, log a warning, and store the data with the next posts."""
        try:
            self.store.set_meta(self.unsaved)
            self.unsaved = {}
        except StoreError as error:
            logger.warning("the learned data of the window will be stored with the next posts: %s", error)

    def forget(self) -> None:
        """Forget posts older than the horizon, in memory and in the store."""
        self.counts.posts["expired"] += self.derived.forget(self.watermark)
        if edge := self.edges.first_after(self.watermark - self.timing.horizon):
            # a post may be ahead of the watermark, and matches for longer then
            self.store.forget_before(min(edge, self.derived.kept.first_position))
            self.renewals.forget_before(self.store.first_position)

    def rewind(self, to: float | None) -> float:
        """Set the watermark back, in the store as well; see `hybriddup.Window.rewind`."""
        moment = self.timing.rewound_to(to)
        self.catch_up()
        seconds = max(self.watermark - moment, 0.0)
        if seconds:
            self.edges.forget_after(moment)
            self.store.set_meta({WATERMARK: packed(moment), EDGES: self.edges.pack()})
            self.watermark = self.last_time = moment
        return seconds

    def delete(self, post_id: PostId) -> bool:
        """Delete a post, from the store as well; see `hybriddup.Window.delete`."""
        self.catch_up()
        post = self.post_with(post_id)
        if post is None:
            return False
        for one in self.all_positions(post):  # the latest position last: until all are deleted, the post is there
            self.store.delete(one.position, self.meta_without([one]), self.repeated_by(one))
            self.change_or_derive(partial(self.forget_post, one))
        self.counts.posts["deleted"] += 1
        return True

    def all_positions(self, post: StoredPost) -> list[StoredPost]:
        """Return the post at each position where it is stored, the latest position last."""
        held = [one for one in self.renewals.all_of(post.position) if one >= self.store.first_position]
        return self.store.posts(np.array(held, np.int64))

    def repeated_by(self, post: StoredPost) -> int | None:
        """Return the latest position of the kept post that ``post`` repeats; None if ``post`` itself was kept."""
        return None if post.evidence is None else self.renewals.newest(post.evidence.of_position)

    def meta_without(self, posts: Sequence[StoredPost]) -> dict[str, bytes]:
        """Return the metadata to store when ``posts`` are deleted: positions of all deleted kept posts, old and new."""
        gone = np.union1d(self.store.deleted_positions(), [post.position for post in posts if post.kept])
        return {DELETED: gone.astype("<i8").tobytes()}

    def forget_post(self, post: StoredPost) -> None:
        """Remove a post from the data in memory, because it is deleted or replaced in the store."""
        self.earlier.forget(post.position)
        if post.kept:
            self.derived.delete(prepare_stored(self.steps, [post]))

    def warn_if_ahead(self, now: float) -> None:
        """Log a warning when the watermark gets far ahead of the clock, but not again while it stays ahead."""
        was_ahead, self.is_ahead = self.is_ahead, self.watermark - now > MOST_AHEAD
        if self.is_ahead and not was_ahead:
            logger.warning(
                "the time of the window is %.0f s ahead of the clock, and nothing expires until the clock has caught "
                "up. If the clock is right now, put the window's time back with Window.rewind(), or start the "
                "command with --rewind.",
                self.watermark - now,
            )

    def moment(self) -> tuple[float, float]:
        """Return two times: the time of the last decided post, to assign to a query text; and the watermark."""
        return self.last_time, self.watermark

    def near_posts(self, text: Batch, now: PostTimes) -> NearPairs:
        """Pair a text with the kept posts within the horizon that have similar fingerprints.

        Character sketches are not used, so pairs with few characters in common are included.
        """
        near = self.derived.index.look_up(text, counts_characters=False)
        still = self.derived.still_match(near.earlier, now.edges(self.timing.horizon).repeat(len(near.earlier)))
        return near.take(still & ~np.isin(near.earlier, self.renewals.old()))

    def sizes(self, now: float) -> WindowSizes:
        """Return counts and sizes of the window at the time ``now``."""
        derived = self.derived
        edge = now - self.timing.horizon
        n_kept = derived.kept.n_after(edge) - int((derived.kept.times_of(self.renewals.old()) > edge).sum())
        return WindowSizes(
            n_kept, derived.n_bytes, self.store.n_bytes(), derived.index.report, self.live_audit.counts()
        )

    def close(self) -> None:
        """Close the store."""
        self.store.close()
