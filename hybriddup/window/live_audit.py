"""The audit of a live window: estimates the recall of the live index from a sample of posts.

One of every thousand posts, chosen by a hash, is compared with every kept post within its horizon. A sampled post that
was kept although it matches one of them counts as missed, and one that was found to be a near duplicate as found. The
window's own limits apply, so an index that compares everything (``scan``) has a recall of 1. Exact repeats are found by
the hash of their text and left out.

A comparison is done in parts, and the comparisons take turns: after a batch is decided, one part of one comparison is
done, with a number of texts in proportion to the posts decided since the last part. While `most_comparisons` are under
way, the samples of later batches are skipped, whatever was decided, so that the estimate stays unbiased. If a text is
forgotten before it was compared, the whole comparison is abandoned.

Posts with many candidates take long, and may be the very posts that were missed. So the interval of the estimate
includes both extremes: that all posts still being verified or abandoned are missed duplicates, and that none is.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from xxhash import xxh3_64_intdigest

from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int64s
from hybriddup.steps.deciding.pairs import no_pairs
from hybriddup.window.deciding import Verdicts
from hybriddup.window.derived import DerivedState
from hybriddup.window.event_time import PostTimes
from hybriddup.window.preparing import PreparedTexts, Steps, TextsAt
from hybriddup.window.records import AuditCounts
from hybriddup.window.stores.store import WindowStore

MAX_TEXTS_PER_PART = 2**20
CELLS_PER_PART = 2**22
"""Limit on the work of verifying in one part: number of pairs times the squared length of the sampled text."""

logger = logging.getLogger("hybriddup")


@dataclass(eq=False)
class Comparison:
    """The comparison of the sampled kept posts of one batch with all earlier kept posts.

    The earlier posts are compared in their order, so that each is usually compared before the window forgets it.
    """

    texts: PreparedTexts
    """The sampled posts that were kept and could be near repeats; at least one."""
    edges: Float64s
    """float64[n]: for each post, the time at which its horizon begins; only kept posts with later times can match."""
    position: int
    """Position of the next text of the window to compare; all texts before it were already compared."""
    end: int
    """The batch's first position, where the comparison ends: only posts before the batch are compared."""
    missed: Bools
    """bool[n]: whether the post has a match that was not found."""
    n_found_in_batch: int = 0
    """Number of near duplicates among the sampled posts of the batch; counted as found once the comparison is done."""
    pairs: CandidatePairs = field(default_factory=no_pairs)
    """Pairs still to be verified, sorted by the later post, the oldest first."""

    def __len__(self) -> int:
        return len(self.texts.positions)

    @property
    def is_done(self) -> bool:
        """Whether the comparison has a result for every post."""
        return bool(self.missed.all()) or (self.position >= self.end and not len(self.pairs))

    def has_lost(self, derived: DerivedState, store: WindowStore) -> bool:
        """Return whether a text was forgotten before it was compared or verified."""
        is_behind = self.position < min(derived.kept.first_position, self.end)
        return is_behind or bool((self.pairs.earlier < store.first_position).any())

    def scan(self, derived: DerivedState, n_texts: int) -> None:
        """Compare the sampled posts with about ``n_texts`` more texts; set `pairs` to the pairs to be verified."""
        pairs, next_position = derived.index.scan_from(self.position, n_texts, self.texts.batch)
        places = np.searchsorted(self.texts.positions, pairs.later)
        in_window = derived.kept.times_of(pairs.earlier) > self.edges[places]
        self.pairs = pairs.take(in_window & ~self.missed[places])
        self.position = self.end if next_position is None else next_position

    def verify(self, n_pairs: int, steps: Steps, normalized_at: TextsAt) -> None:
        """Verify up to ``n_pairs`` of `pairs`, fewer if texts are long, but at least one."""
        earlier = steps.earlier_texts(normalized_at)
        while n_pairs > 0 and len(self.pairs):
            place = int(np.searchsorted(self.texts.positions, self.pairs.later[0]))
            of_post = int(np.searchsorted(self.pairs.later, self.pairs.later[0], side="right"))
            n_cells = max(int(self.texts.lengths[place]) ** 2, 1)
            n_pairs = min(n_pairs, max(CELLS_PER_PART // n_cells, 1))
            n = min(n_pairs, of_post)
            post = self.texts.take(np.array([place]))
            self.missed[place] = steps.verify(self.pairs.take(slice(0, n)), post, earlier)[0].any()
            self.pairs = self.pairs.take(slice(of_post if self.missed[place] else n, None))
            n_pairs -= n


class Audited(Protocol):
    """The parts of a window that its audit uses."""

    derived: DerivedState
    steps: Steps
    store: WindowStore

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of the kept posts at these positions, in this order."""


@dataclass
class LiveAudit:
    """Compares sampled posts with the whole window, part by part, and counts the results."""

    one_in: int = 1000
    """One of every ``one_in`` posts is sampled; 1 = every post."""
    texts_per_post: int = 512
    """Number of texts compared per decided post. This takes a microsecond or two, a few percent of the time of deciding
    the post."""
    posts_per_part: int = 256
    """Minimum number of posts decided between two parts of comparisons; smaller parts would mostly be overhead."""
    pairs_per_part: int = 8
    """Number of pairs verified in a part; it is small because their texts are read from all over the store."""
    most_comparisons: int = 8
    """Maximum number of unfinished comparisons, which take turns, so that sampling goes on while one takes long."""

    def __post_init__(self) -> None:
        self.comparisons: deque[Comparison] = deque()
        """The unfinished comparisons; the first is continued next."""
        self._n_since = 0
        """Number of posts decided since the last part of a comparison was done."""
        self._n_unique = self._n_found = self._n_missed = self._n_skipped = self._n_given_up = 0

    def counts(self) -> AuditCounts:
        """Return the counts of the sampled posts that were compared."""
        n_compared = self._n_unique + self._n_found + self._n_missed
        n_slow = sum(len(comparison) for comparison in self.comparisons if len(comparison.pairs))
        return AuditCounts(
            n_compared, self._n_found, self._n_missed, self._n_skipped + self._n_given_up, self._n_given_up + n_slow
        )

    def follow(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts, window: Audited) -> None:
        """Sample texts from a batch that was decided and written, and do the next part of the audit's comparisons.

        Call it before the batch is added to the memory. It never raises, because the batch is already decided: an error
        is logged, and the comparison is abandoned.
        """
        try:
            for comparison in [each for each in self.comparisons if each.has_lost(window.derived, window.store)]:
                self._give_up(comparison)
            self._n_since += len(prepared.positions)
            has_begun = self._sample(prepared, times, verdicts, window.derived)
            if self.comparisons and (has_begun or self._n_since >= self.posts_per_part):
                self._do_part(window)
                self._n_since = 0
        except Exception as error:
            logger.warning("a sampled post could not be compared: %s: %s", type(error).__name__, error)
            if self.comparisons:
                self._give_up(self.comparisons[0])

    def _sample(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts, derived: DerivedState) -> bool:
        """Begin to compare the sampled posts of a batch, or skip them; return whether a comparison was begun."""
        first = int(prepared.positions[0])
        sampled = sampled_places(first, len(prepared.positions), self.one_in)
        if not sampled:
            return False
        n_found = sum(place in verdicts.near for place in sampled)
        kept = np.array([place for place in sampled if verdicts.keeps(place)], np.int64)
        kept = kept[prepared.searchable[kept]]
        if len(self.comparisons) >= self.most_comparisons:
            self._n_skipped += n_found + len(kept)
        elif not len(kept):
            self._n_found += n_found
        else:
            texts, edges = prepared.take(kept), times.edges(derived.horizon)[kept]
            missed, begin = np.zeros(len(kept), np.bool_), derived.kept.first_position
            self.comparisons.appendleft(Comparison(texts, edges, begin, first, missed, n_found))
            self._n_since = len(prepared.positions)
            return True
        return False

    def _do_part(self, window: Audited) -> None:
        """Continue one comparison: scan more texts if it has no pairs left to verify, then verify some pairs."""
        comparison = self.comparisons[0]
        if not len(comparison.pairs):
            n_texts = min(max(self._n_since, self.posts_per_part) * self.texts_per_post, MAX_TEXTS_PER_PART)
            comparison.scan(window.derived, max(n_texts // len(comparison), 1))
        comparison.verify(self.pairs_per_part, window.steps, window.texts)
        self.comparisons.rotate(-1)
        if comparison.is_done:
            n_missed = int(comparison.missed.sum())
            self._n_found += comparison.n_found_in_batch
            self._n_missed += n_missed
            self._n_unique += len(comparison) - n_missed
            self.comparisons.remove(comparison)

    def _give_up(self, comparison: Comparison) -> None:
        """Abandon an unfinished comparison, and count its posts as skipped."""
        self._n_given_up += len(comparison)
        self._n_skipped += comparison.n_found_in_batch
        self.comparisons.remove(comparison)


def sampled_places(first: int, n_posts: int, one_in: int) -> list[int]:
    """Return the indices, ascending, of the sampled posts in a batch of ``n_posts`` from position ``first`` on.

    One of each ``one_in`` consecutive positions is sampled, chosen by a hash, so that no regularity of the stream
    matters.
    """
    rows = range(first // one_in, (first + n_posts - 1) // one_in + 1)
    places = (row * one_in + xxh3_64_intdigest(row.to_bytes(8, "little")) % one_in - first for row in rows)
    return [place for place in places if 0 <= place < n_posts]
