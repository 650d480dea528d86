"""A window that is open: its store, what it holds in memory, and how a batch is decided. One call at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, compress

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.errors import StoreError
from hybriddup.run.recipe import WEIGHTS, Arrays
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import Verdicts, decide_batch
from hybriddup.window.derived import DerivedState
from hybriddup.window.derived.deriving import build_derived_state, kept_posts, prepare_stored
from hybriddup.window.derived.kept_posts import KeptColumns, columns_of
from hybriddup.window.event_time import NEVER, Edges, PostTimes, WindowTime
from hybriddup.window.learning import FIT_AT, fitted_weights, learn_from, pack_learned, pack_recipe
from hybriddup.window.live_audit import LiveAudit
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Counts, Decision, Post, PostId, PostList, StoredPost, decision_of, made_id
from hybriddup.window.stores import (
    DELETED,
    EDGES,
    LEARNED,
    RECIPE,
    WATERMARK,
    Derived,
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
class WindowState:
    """A window that is open."""

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

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Return the decisions about posts, when they are on disk."""
        self.catch_up()
        known = self.known_ids(posts)
        new = [post for place, post in enumerate(posts) if place not in known]
        decided = chain.from_iterable(map(self.decide_new, self.cut(new)))
        answers: list[Decision] = []
        for place in range(len(posts)):
            before = known.get(place)
            if before is None:
                answers.append(decision_of(next(decided)))
            else:
                same = answers[before] if isinstance(before, int) else decision_of(before)
                answers.append(same._replace(repeated=True))
        self.counts.posts["repeated_id"] += len(known)
        return answers

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

    def known_ids(self, posts: Sequence[Post]) -> dict[int, StoredPost | int]:
        """Return, by place, the posts whose id was decided before, or stands before in this batch (then its place)."""
        places = [place for place, post in enumerate(posts) if post.id is not None]
        ids: list[PostId] = [posts[place].id for place in places]  # type: ignore[misc]  # None was left out
        with self.counts.timed("store"):
            stored = self.store.find_ids(ids) if ids else []
        first_with: dict[tuple[type, PostId], int] = {}
        known: dict[int, StoredPost | int] = {}
        for place, post_id, found in zip(places, ids, stored, strict=True):
            before = first_with.setdefault((type(post_id), post_id), place)
            if found is not None:
                known[place] = found
            elif before != place:
                known[place] = before
        return known

    def cut(self, posts: Sequence[Post]) -> list[Sequence[Post]]:
        """Return the posts in batches: where the weights are fitted cannot depend on how posts are sent."""
        if not posts:
            return []
        n_first = FIT_AT - self.store.next_position if self.is_learning else len(posts)
        return [part for part in (posts[:n_first], posts[n_first:]) if part]

    def decide_new(self, posts: Sequence[Post]) -> list[StoredPost]:
        """Decide posts whose ids are new, write them, and make those kept findable."""
        now = self.timing.now()
        times = self.timing.of_posts(posts, now, self.watermark)
        prepared = self.prepare([post.text for post in posts])
        verdicts = self.decide_batch(prepared, times)
        stored = self.describe(posts, prepared, times, verdicts)
        kept = np.array([post.kept for post in stored], np.bool_)
        columns = columns_of(prepared, times, kept)
        with self.counts.timed("store"):
            self.store.append(stored, self.meta_after(times), self.pack(stored, prepared, columns))
        self.unsaved = {}
        self.audit(prepared, times, verdicts)
        # what is in memory changes only now, so that a batch that could not be written leaves no trace
        with self.counts.timed("index"):
            self.change_or_derive(partial(self.remember, prepared, times, verdicts, columns))
        self.count(stored, prepared, times)
        self.warn_if_ahead(now)
        self.learn_if_due()
        return stored

    def audit(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts) -> None:
        """Sample decided posts and go on comparing them with all of the window, as it was when they were decided."""
        if self.steps.components.settings.audit.sample and not self.is_learning:
            with self.counts.timed("audit"):
                self.live_audit.follow(prepared, times, verdicts, self)

    def meta_after(self, times: PostTimes) -> dict[str, bytes]:
        """Return what the store has to remember together with a batch."""
        meta = {WATERMARK: packed(float(times.watermarks[-1])), **self.unsaved}
        if self.watermark > NEVER and self.edges.note(self.store.next_position, self.watermark):
            meta[EDGES] = self.edges.pack()
        return meta

    def pack(self, stored: Sequence[StoredPost], prepared: PreparedTexts, columns: KeptColumns) -> Derived | None:
        """Return the derived data of a batch, of which the columns are of the kept posts; None = the store has none."""
        form = self.derived.form
        if form is None:
            return None
        normalized = [
            text if post.kept and text != post.text else None
            for post, text in zip(stored, prepared.normalized, strict=True)
        ]
        return form.derived(columns, stored[0].position, stored[-1].position + 1, normalized)

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Return texts ready to be looked up, at the next positions."""
        with self.counts.timed("normalize"):
            normalized = self.steps.normalize(texts)
        with self.counts.timed("fingerprint"):
            first = self.store.next_position
            return self.steps.prepare(texts, normalized, np.arange(first, first + len(texts)))

    def decide_batch(self, prepared: PreparedTexts, times: PostTimes) -> Verdicts:
        """Return what is decided of the posts, against the window and among themselves."""
        seconds = self.counts.seconds["verify"]
        report = BlockReport()
        with self.counts.timed("look up"):
            equal = self.equal_posts(prepared, times)
            verify = partial(self.verify, prepared)
            verdicts = decide_batch(prepared, equal, times, self.derived, self.steps, verify, report)
        self.counts.seconds["look up"] -= self.counts.seconds["verify"] - seconds
        self.counts.limits_hit.update(report.limits_hit)
        return verdicts

    def verify(self, prepared: PreparedTexts, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Return which pairs of posts with earlier ones the verifiers accept, and these."""
        with self.counts.timed("verify"):
            return self.steps.verify(pairs, prepared, self.earlier)

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id, None where there is none or it is forgotten."""
        return self.store.find_ids([post_id])[0]

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in the order asked."""
        return self.store.posts(positions)

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order of their positions in the query."""
        wanted, texts = positions.tolist(), self.store.normalized(positions)
        missing = np.array([position for position in wanted if position not in texts], np.int64)
        normalized = self.steps.normalize([post.text for post in self.store.posts(missing)])
        texts.update(zip(missing.tolist(), normalized, strict=True))
        return [texts[position] for position in wanted]

    def describe(
        self, posts: Sequence[Post], prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts
    ) -> list[StoredPost]:
        """Return the posts as they are stored, with what was decided of each."""
        positions = prepared.positions.tolist()
        ids = [
            made_id(position) if post.id is None else post.id for post, position in zip(posts, positions, strict=True)
        ]
        keepers = self.keepers(ids, prepared, verdicts)
        evidence = verdicts.evidence(keepers, self.steps.components.bands, prepared.lengths)
        texts, reasons = (post.text for post in posts), map(evidence.get, range(len(posts)))
        return list(map(StoredPost, positions, ids, times.times.tolist(), texts, reasons))

    def keepers(
        self, ids: Sequence[PostId], prepared: PreparedTexts, verdicts: Verdicts
    ) -> dict[int, tuple[PostId, int]]:
        """Return the id and the position of each keeper by its position."""
        first = int(prepared.positions[0])
        positions = sorted({*verdicts.exact.values(), *verdicts.near.values()})
        of_window = self.store.posts(np.array([position for position in positions if position < first], np.int64))
        keepers = [post.id for post in of_window]
        keepers += [ids[position - first] for position in positions if position >= first]
        return dict(zip(positions, zip(keepers, positions, strict=True), strict=True))

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        return self.derived.equal_posts(prepared, times, self.texts, self.store)

    def change_or_derive(self, change: Callable[[], None]) -> None:
        """Have memory follow the store. Where that fails no caller is told: memory is derived anew."""
        try:
            change()
        except Exception as error:
            logger.warning("the index is built anew from the store: %s: %s", type(error).__name__, error)
            self.n_remembered = NOTHING
            self.catch_up()

    def remember(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts, columns: KeptColumns) -> None:
        """Make the kept posts of a written batch findable, and forget those that are too old."""
        chosen = np.isin(prepared.positions, columns.positions).tolist()
        normalized, compared = (list(compress(texts, chosen)) for texts in (prepared.normalized, prepared.compared))
        self.earlier.hold(columns.positions.tolist(), normalized, compared)
        self.derived.add(columns, verdicts.looked_up, verdicts.is_kept)
        self.watermark, self.last_time = float(times.watermarks[-1]), float(times.times[-1])
        self.n_remembered = self.store.next_position
        self.forget()

    @property
    def is_learning(self) -> bool:
        """Whether something is still to be learned from the first posts."""
        return self.weights_learn or self.verifiers_learn or self.blocks_learn

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
            learn_from(self.store, self.steps, self.learned)
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

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return the posts at the ``n`` positions before one, but for those deleted; None = the latest."""
        first, end = self.store.first_position, self.store.next_position
        end = end if position is None else max(min(position, end), first)
        start = max(end - n, first)
        posts = self.store.posts(np.arange(end - 1, start - 1, -1, dtype=np.int64))
        return PostList([post for post in posts if not post.deleted], start if start > first else None)

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

    def count(self, stored: Sequence[StoredPost], prepared: PreparedTexts, times: PostTimes) -> None:
        """Count what became of posts."""
        self.counts.posts["late"] += int((times.times <= times.watermarks - self.timing.horizon).sum())
        own_bands = self.steps.components.bands.names_of(prepared.lengths)
        self.counts.decided(
            ("kept", band) if post.evidence is None else (post.evidence.reason, post.evidence.length_band)
            for post, band in zip(stored, own_bands, strict=True)
        )

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def n_stored_bytes(self) -> int:
        """Return the size of the store in bytes."""
        return self.store.n_bytes()
