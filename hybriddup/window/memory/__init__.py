"""What the window holds in memory of its kept posts, all of it derived from the store."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hybriddup.records import CandidatePairs, Int64s
from hybriddup.window.event_time import PostTimes
from hybriddup.window.index import LiveIndex, fill
from hybriddup.window.memory.exact_texts import ExactTexts
from hybriddup.window.memory.kept_columns import KeptColumns
from hybriddup.window.memory.kept_posts import KeptPosts
from hybriddup.window.steps import PreparedTexts
from hybriddup.window.stores import WindowStore


@dataclass
class Growth:
    """A larger index that is to take the place of another one, and how many of its texts it has."""

    larger: LiveIndex
    next_position: int
    """Texts before it have moved."""


@dataclass
class Memory:
    """The kept posts that may still match: their fingerprints, the hashes of their texts, and their times."""

    index: LiveIndex
    horizon: float
    kept: KeptPosts = field(default_factory=KeptPosts)
    exact: ExactTexts = field(default_factory=ExactTexts)
    growth: Growth | None = None

    @property
    def n_bytes(self) -> int:
        """Memory of all of it."""
        n_larger = self.growth.larger.report().n_bytes if self.growth else 0
        return self.index.report().n_bytes + n_larger + self.kept.n_bytes + self.exact.n_bytes

    def candidates(self, prepared: PreparedTexts, times: PostTimes) -> CandidatePairs:
        """Return the pairs with kept posts that are within the horizon when the later post is decided."""
        pairs = self.index.candidates(prepared.prints, prepared.sketches, prepared.shingles)
        if not len(pairs):
            return pairs
        # next to all are of posts that are young enough for every post of the batch
        unsure = np.flatnonzero(pairs.earlier < self.kept.first_after(float(times.watermarks[-1]) - self.horizon))
        if not len(unsure):
            return pairs
        edges = times.watermarks[pairs.later[unsure] - prepared.positions[0]] - self.horizon
        stay = np.ones(len(pairs), np.bool_)
        stay[unsure] = self.kept.times_of(pairs.earlier[unsure]) > edges
        return pairs.take(stay)

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes, store: WindowStore) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        found = self.exact.find(prepared.hashes)
        matches = (found >= 0) & (self.kept.times_of(found) > times.watermarks - self.horizon)
        says = np.fromiter((says_something for says_something, _ in prepared.keys), np.bool_, len(found))
        compared, sent = np.flatnonzero(matches & says), np.flatnonzero(matches & ~says)
        texts = [*store.texts(found[compared]), *(post.text for post in store.posts(found[sent]))]
        equal = np.full(len(found), -1, np.int64)
        for place, text in zip([*compared.tolist(), *sent.tolist()], texts, strict=True):
            if text == prepared.keys[place][1]:
                equal[place] = found[place]
        return equal

    def add(self, columns: KeptColumns) -> None:
        """Make kept posts findable."""
        self.kept.add(columns.positions, columns.times, columns.watermarks)
        self.exact.add(columns.hashes, columns.positions, self.kept.first_position)
        fill(self.index, [columns.texts])

    def forget(self, watermark: float) -> int:
        """Forget kept posts that match no more; return how many."""
        n_forgotten = self.kept.forget_until(watermark - self.horizon)
        if n_forgotten:
            self.index.forget_before(self.kept.first_position)
        return n_forgotten
