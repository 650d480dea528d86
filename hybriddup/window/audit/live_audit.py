"""The audit of a live window: how much of what it should have found the live index finds, by a sample.

One of every thousand posts, chosen by a hash, is compared with every kept post that was within the horizon when it was
decided, whatever the index looks into. A sampled post that was kept and has a match among them was missed; one that was
decided to be a near duplicate was found. The limits are those of the window, so that an index that compares everything
(``scan``) has a recall of 1. Exact repeats are found by the hash of their text and left out.

Millions of texts are not compared at once: every batch that is decided brings one comparison on by a part, in
proportion to its posts, and the next batch the next one. While `MOST_COMPARISONS` batches are compared, what is sampled
of later ones is skipped, whatever was decided of it, so that the share that is found stays what it is. Where a text is
forgotten before it was compared, the whole comparison is given up.

Posts with many candidates take long, and just these may have been missed. So the interval of the estimate allows for
those that are being verified or had to be given up: all of them could be missed duplicates, or none.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import Protocol

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.audit.comparison import Comparison
from hybriddup.window.deciding import Verdicts
from hybriddup.window.derived import DerivedState
from hybriddup.window.event_time import PostTimes
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import AuditCounts
from hybriddup.window.stores import WindowStore

ONE_IN = 1000
"""Of so many posts one is sampled."""
TEXTS_A_POST = 512
"""Texts that are compared for each post decided: a microsecond or two, some hundredths of what deciding it takes."""
POSTS_A_PART = 256
"""A part is done when so many posts were decided: a smaller one would not be worth its beginning."""
MOST_COMPARISONS = 8
"""Batches whose sampled posts are compared side by side, so that others are sampled while one takes long."""
MOST_TEXTS_A_PART = 2**20
PAIRS_A_PART = 8
"""Pairs that are verified in a part: their texts are all over the store, and reading one takes longer than scoring."""
INCREMENT, MIX_1, MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL_BITS = 2**64 - 1

logger = logging.getLogger("hybriddup")


class Audited(Protocol):
    """A window whose posts are sampled."""

    derived: DerivedState
    steps: Steps
    store: WindowStore

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order asked."""
        ...


class LiveAudit:
    """Compares sampled posts with all of the window, part by part, and counts what came of it.

    Parameters
    ----------
    one_in
        Of so many posts one is sampled; 1 = every one.
    texts_a_post, posts_a_part, pairs_a_part, most_comparisons
        How much is done at a time; see the constants.
    """

    def __init__(
        self,
        one_in: int = ONE_IN,
        *,
        texts_a_post: int = TEXTS_A_POST,
        posts_a_part: int = POSTS_A_PART,
        pairs_a_part: int = PAIRS_A_PART,
        most_comparisons: int = MOST_COMPARISONS,
    ) -> None:
        self._one_in = one_in
        self._texts_a_post = texts_a_post
        self._posts_a_part = posts_a_part
        self._pairs_a_part = pairs_a_part
        self._most_comparisons = most_comparisons
        self._comparisons: deque[Comparison] = deque()
        """The one whose turn is next in front."""
        self._n_since = 0
        """Posts decided since the last part."""
        self._n_unique = self._n_found = self._n_missed = self._n_skipped = self._n_given_up = 0

    def counts(self) -> AuditCounts:
        """Return what came of the sampled posts; those that are being compared are not among them."""
        n_compared = self._n_unique + self._n_found + self._n_missed
        n_slow = sum(len(comparison) for comparison in self._comparisons if len(comparison.pairs))
        return AuditCounts(
            n_compared, self._n_found, self._n_missed, self._n_skipped + self._n_given_up, self._n_given_up + n_slow
        )

    def follow(
        self,
        prepared: PreparedTexts,
        times: PostTimes,
        verdicts: Verdicts,
        window: Audited,
    ) -> None:
        """Sample a batch that was decided and written, and do a part.

        To be called while the memory is still what the batch was decided against. Never raises: the batch is decided,
        so what goes wrong with a comparison is logged, and the comparison is given up.
        """
        try:
            for comparison in [each for each in self._comparisons if each.has_lost(window.derived, window.store)]:
                self._give_up(comparison)
            self._n_since += len(prepared.positions)
            has_begun = self._sample(prepared, times, verdicts, window.derived)
            if self._comparisons and (has_begun or self._n_since >= self._posts_a_part):
                self._do_part(window)
                self._n_since = 0
        except Exception as error:
            logger.warning("a sampled post could not be compared: %s: %s", type(error).__name__, error)
            if self._comparisons:
                self._give_up(self._comparisons[0])

    def _sample(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts, derived: DerivedState) -> bool:
        """Begin to compare the sampled posts of a batch, or skip them; return whether a comparison was begun."""
        first = int(prepared.positions[0])
        sampled = sampled_places(first, len(prepared.positions), self._one_in)
        if not sampled:
            return False
        n_found = sum(place in verdicts.near for place in sampled)
        kept = np.array([place for place in sampled if verdicts.keeps(place)], np.int64)
        kept = kept[np.isin(kept, prepared.places)]
        if len(self._comparisons) >= self._most_comparisons:
            self._n_skipped += n_found + len(kept)
        elif not len(kept):
            self._n_found += n_found
        else:
            texts, edges = prepared.take(kept), times.edges(derived.horizon)[kept]
            self._comparisons.appendleft(Comparison(texts, edges, derived.kept.first_position, first, n_found))
            self._n_since = len(prepared.positions)
            return True
        return False

    def _do_part(self, window: Audited) -> None:
        """Compare posts of one batch with the next texts, and verify what comes of it, or what was left of that."""
        comparison = self._comparisons[0]
        if not len(comparison.pairs):
            n_texts = min(max(self._n_since, self._posts_a_part) * self._texts_a_post, MOST_TEXTS_A_PART)
            comparison.scan(window.derived, max(n_texts // len(comparison), 1))
        comparison.verify(self._pairs_a_part, window.steps, window.texts)
        self._comparisons.rotate(-1)
        if comparison.is_done:
            n_missed = int(comparison.missed.sum())
            self._n_found += comparison.n_found_beside
            self._n_missed += n_missed
            self._n_unique += len(comparison) - n_missed
            self._comparisons.remove(comparison)

    def _give_up(self, comparison: Comparison) -> None:
        """Skip the posts of a comparison that is under way."""
        self._n_given_up += len(comparison)
        self._n_skipped += comparison.n_found_beside
        self._comparisons.remove(comparison)


def sampled_places(first: int, n_posts: int, one_in: int) -> list[int]:
    """Return the places of the sampled posts in a batch that begins at a position, rising.

    Of each ``one_in`` positions in a row, from 0 on, one is sampled; a hash tells which, so that nothing in the stream
    can keep step with it.
    """
    rows = range(first // one_in, (first + n_posts - 1) // one_in + 1)
    places = (row * one_in + mix(row) % one_in - first for row in rows)
    return [place for place in places if 0 <= place < n_posts]


def mix(number: int) -> int:
    """Return a hash of 64 bits.

    Notes
    -----
    One step of SplitMix64 (Steele, Lea and Flood 2014, figure 15) from this number times its increment.
    """
    mixed = (number + 1) * INCREMENT & ALL_BITS
    mixed = (mixed ^ (mixed >> 30)) * MIX_1 & ALL_BITS
    mixed = (mixed ^ (mixed >> 27)) * MIX_2 & ALL_BITS
    return mixed ^ (mixed >> 31)
