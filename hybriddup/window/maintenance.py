"""The store of a window and the memory derived from it: kept in step, learning, forgetting, deleting, looking."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.errors import StoreError
from hybriddup.run.recipe import WEIGHTS, Arrays
from hybriddup.window.derived import DerivedState
from hybriddup.window.derived.deriving import build_derived_state, kept_posts, prepare_stored
from hybriddup.window.event_time import NEVER, Edges, WindowTime
from hybriddup.window.learning import FIT_AT, fitted_weights, learn_parts, pack_learned, pack_recipe
from hybriddup.window.live_audit import LiveAudit
from hybriddup.window.preparing import Steps
from hybriddup.window.records import Counts, PostId, PostList, StoredPost
from hybriddup.window.stores import (
    DELETED,
    EDGES,
    LEARNED,
    RECIPE,
    WATERMARK,
    WindowStore,
    deleted_positions,
    packed,
    stored_watermark,
)

MOST_AHEAD = 300.0
"""Seconds by which the watermark may be ahead of the clock without a warning."""
NOTHING = -1
"""Next to no position: what is in memory has to be derived anew."""

logger = logging.getLogger("hybriddup")


@dataclass
class MaintainedState:
    """A window that is open, apart from deciding: its store, and what it holds in memory. One call at a time."""

    steps: Steps
    timing: WindowTime
    store: WindowStore
    derived: DerivedState
    edges: Edges
    read_only: bool = False
    """Whether the store is another process's to write."""
    weights_learn: bool = False
    """Whether the weights of tokens are still to be fitted."""
    verifiers_learn: bool = False
    """Whether a verifier is still to learn what is then kept."""
    blocks_learn: bool = False
    """Whether the block index is still to learn."""
    learned: dict[str, Arrays] = field(default_factory=dict)
    """What was learned, by part."""
    unsaved: dict[str, bytes] = field(default_factory=dict)
    """What was learned and could not be written yet."""
    n_remembered: int = 0
    """The next position when what is in memory was brought up to date."""
    watermark: float = NEVER
    last_time: float = NEVER
    """Of the post that was decided last."""
    is_ahead: bool = False
    """Whether the watermark was last seen to be ahead of the clock by more than `MOST_AHEAD`."""
    counts: Counts = field(default_factory=Counts)
    live_audit: LiveAudit = field(default_factory=LiveAudit)

    def __post_init__(self) -> None:
        self.earlier = self.steps.earlier_texts(self.texts)
        """Those of the window that were met last."""

    def catch_up(self) -> None:
        """Derive anew what is in memory where an interrupt came after writing and before taking note of it."""
        if self.n_remembered == self.store.next_position:
            return
        self.n_remembered = NOTHING  # until all of it is there again
        # no limit is forgotten with the index that is given up
        self.counts.limits_hit.update(self.derived.index.report.limits_hit)
        self.derived = build_derived_state(self.steps, self.store, self.timing.horizon, writes=not self.read_only)
        self.n_remembered = self.store.next_position
        self.watermark = self.last_time = stored_watermark(self.store)

    def change_or_derive(self, change: Callable[[], None]) -> None:
        """Have memory follow the store. Where that fails no caller is told: memory is derived anew."""
        try:
            change()
        except Exception as error:
            logger.warning("the index is built anew from the store: %s: %s", type(error).__name__, error)
            self.n_remembered = NOTHING
            self.catch_up()

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id, None where there is none or it is forgotten."""
        return self.store.find_ids([post_id])[0]

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in the order asked."""
        return self.store.posts(positions)

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return the posts at the ``n`` positions before one, but for those deleted; None = the latest."""
        first, end = self.store.first_position, self.store.next_position
        end = end if position is None else max(min(position, end), first)
        start = max(end - n, first)
        posts = self.store.posts(np.arange(end - 1, start - 1, -1, dtype=np.int64))
        return PostList([post for post in posts if not post.deleted], start if start > first else None)

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order of their positions in the query."""
        wanted, texts = positions.tolist(), self.store.normalized(positions)
        if missing := [position for position in wanted if position not in texts]:
            posts = self.store.posts(np.array(missing, np.int64))
            texts.update(zip(missing, self.steps.normalize([post.text for post in posts]), strict=True))
        return [texts[position] for position in wanted]

    @property
    def is_learning(self) -> bool:
        """Whether something is still to be learned from the first posts."""
        return self.weights_learn or self.verifiers_learn or self.blocks_learn

    def n_until_learning(self, n: int) -> int:
        """Return how many of the next ``n`` posts come before the window learns."""
        return FIT_AT - self.store.next_position if self.is_learning else n

    def learn_if_due(self) -> None:
        """Learn from the posts when enough are there. These are on disk, so where that fails no caller is told."""
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
        """Learn from the posts so far, for good: weights of tokens, and what the block index and verifiers keep."""
        weights_learn = self.weights_learn
        if weights_learn or self.blocks_learn:
            self.n_remembered = NOTHING  # whatever comes of the rest: fingerprints or keys are others from here on
        self.weights_learn = self.verifiers_learn = self.blocks_learn = False
        try:
            if weights_learn:
                every = kept_posts(self.store, 0, self.store.next_position)
                texts = [post.text for posts in every for post in posts]
                self.steps.fit(self.steps.normalize(texts))
                self.learned[WEIGHTS] = fitted_weights(self.steps.components)
            learn_parts(self.store, self.steps, self.learned)
        finally:
            components = self.steps.components
            self.unsaved = {RECIPE: pack_recipe(components.recipe()), LEARNED: pack_learned(components, self.learned)}
            self.save_learned()
            self.catch_up()

    def save_learned(self) -> None:
        """Write what was learned; where that fails, it is written with the next posts, which are decided by it."""
        try:
            self.store.set_meta(self.unsaved)
            self.unsaved = {}
        except StoreError as error:
            logger.warning("what the window learned is written with the next posts: %s", error)

    def forget(self) -> None:
        """Forget what is older than the horizon, here and in the store."""
        self.counts.posts["expired"] += self.derived.forget(self.watermark)
        if edge := self.edges.first_after(self.watermark - self.timing.horizon):
            # a post may be ahead of the watermark, and matches for longer then
            self.store.forget_before(min(edge, self.derived.kept.first_position))

    def rewind(self, to: float | None) -> float:
        """Put the watermark back, in the store as well; see `hybriddup.Window.rewind`."""
        moment = self.timing.rewound_to(to)
        self.catch_up()
        seconds = max(self.watermark - moment, 0.0)
        if seconds:
            self.edges.forget_after(moment)
            self.store.set_meta({WATERMARK: packed(moment), EDGES: self.edges.pack()})
            self.watermark = self.last_time = moment
        return seconds

    def delete(self, post_id: PostId) -> bool:
        """Take a post out, of the store as well; see `hybriddup.Window.delete`."""
        self.catch_up()
        post = self.post_with(post_id)
        if post is None:
            return False
        gone = np.union1d(deleted_positions(self.store), [post.position] if post.kept else [])
        self.earlier.forget(post.position)
        self.store.delete(post.position, {DELETED: gone.astype("<i8").tobytes()})
        if post.kept:
            self.change_or_derive(lambda: self.derived.delete(prepare_stored(self.steps, [post])))
        self.counts.posts["deleted"] += 1
        return True

    def warn_if_ahead(self, now: float) -> None:
        """Say in the log, once, that the watermark is far ahead of the clock."""
        was_ahead, self.is_ahead = self.is_ahead, self.watermark - now > MOST_AHEAD
        if self.is_ahead and not was_ahead:
            logger.warning(
                "the time of the window is %.0f s ahead of the clock, and nothing expires until the clock has caught "
                "up. If the clock is right now, put the window's time back with Window.rewind(), or start the "
                "command with --rewind.",
                self.watermark - now,
            )

    def n_stored_bytes(self) -> int:
        """Return the size of the store in bytes."""
        return self.store.n_bytes()

    def close(self) -> None:
        """Close the store."""
        self.store.close()
