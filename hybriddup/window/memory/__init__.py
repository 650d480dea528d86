"""What the window holds in memory of its kept posts, all of it derived from the store."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from hybriddup.records import Bools, CandidatePairs, Int64s
from hybriddup.window.event_time import PostTimes
from hybriddup.window.index import LiveIndex
from hybriddup.window.memory.exact_texts import ExactTexts
from hybriddup.window.memory.index_work import IndexWork
from hybriddup.window.memory.kept_posts import KeptPosts
from hybriddup.window.steps import PreparedTexts
from hybriddup.window.stores import WindowStore


@dataclass
class Growth:
    """A larger index that is to take the place of another one, and how many of its texts it has."""

    larger: LiveIndex
    next_position: int
    """Texts before it have moved."""


class Memory:
    """The kept posts that may still match: their fingerprints, the hashes of their texts, and their times.

    Where a caller need not wait for the index, it works in a thread of its own meanwhile.
    """

    def __init__(self, index: LiveIndex, horizon: float) -> None:
        self.horizon = horizon
        self.kept = KeptPosts()
        self.exact = ExactTexts()
        self.growth: Growth | None = None
        self._work = IndexWork(index)

    @property
    def index(self) -> LiveIndex:
        """The live index, when it has taken in all that was added."""
        return self._work.at_rest

    @property
    def has_failed(self) -> bool:
        """Whether posts could not be added to the index when nobody waited: all has to be derived anew."""
        return self._work.has_failed

    @property
    def outgrown(self) -> bool:
        """Whether the window has outgrown the index."""
        return self._work.outgrown

    def give_up(self) -> LiveIndex:
        """Return the index when it does nothing any more, and ask nothing of this memory again."""
        return self._work.give_up()

    def replace_index(self, index: LiveIndex) -> LiveIndex:
        """Go on with an index that has the same texts, and return the one before."""
        before = self._work.give_up()
        self._work = IndexWork(index)
        return before

    @property
    def n_bytes(self) -> int:
        """Memory of all of it."""
        n_larger = self.growth.larger.report().n_bytes if self.growth else 0
        return self.index.report().n_bytes + n_larger + self.kept.n_bytes + self.exact.n_bytes

    def look_up(self, prepared: PreparedTexts, *, waiting: bool = True) -> Future[CandidatePairs]:
        """Return the pairs with kept posts, those among them that do not match any more too; by now, or when asked."""

        def pairs(index: LiveIndex) -> CandidatePairs:
            return index.candidates(prepared.prints, prepared.sketches, prepared.shingles)

        return self._work.ask(pairs, waiting=waiting)

    def still_matching(self, pairs: CandidatePairs, prepared: PreparedTexts, times: PostTimes) -> CandidatePairs:
        """Return those pairs whose kept post is within the horizon when the later one is decided."""
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

    def add(self, prepared: PreparedTexts, times: PostTimes, kept: Bools, *, waiting: bool = True) -> None:
        """Make the kept ones of these posts findable.

        Parameters
        ----------
        kept
            bool[n]: by place in the batch.
        """
        positions = prepared.positions[kept]
        self.kept.add(positions, times.times[kept], times.watermarks[kept])
        self.exact.add(prepared.hashes[kept], positions, self.kept.first_position)
        findable = kept[prepared.places]
        sketches = None if prepared.sketches is None else prepared.sketches[findable]
        shingles = None if prepared.shingles is None else prepared.shingles[findable]
        prints = prepared.prints.take(findable).without_strengths()
        self._work.change(lambda index: index.add(prints, sketches, shingles), waiting=waiting)

    def forget(self, watermark: float, *, waiting: bool = True) -> int:
        """Forget kept posts that match no more; return how many."""
        n_forgotten, first = self.kept.forget_until(watermark - self.horizon), self.kept.first_position
        if n_forgotten:
            self._work.change(lambda index: index.forget_before(first), waiting=waiting)
        return n_forgotten
