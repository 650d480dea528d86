"""Decides texts batch by batch.

A batch is first looked up in the index, and texts that are certain to repeat a kept text are removed. The remaining
texts are also compared with each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.kernels.search.decide import EXACT, KEPT, NONE, UNDECIDED, may_be_verified
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch, Index, join_near
from hybriddup.steps.candidates.within_batch import WithinBatch, group_batch
from hybriddup.steps.deciding.contest import BatchContest, Limits, Verify, previous_copies
from hybriddup.steps.deciding.pairs import BatchPairs, Evidence, join_batch_pairs, join_pairs

LOOKED_UP_TOGETHER = 2**11
"""Number of texts that are looked up in the index in one call."""


@dataclass(frozen=True)
class Decisions:
    """The decisions about the texts of a batch, in the order of the texts."""

    kept: Bools
    """bool[n]: whether each text is kept."""
    exact: Int64s
    """int64[n]: for each exact repeat, the position of the kept text that it equals; -1 for all other texts.

    A position is an index in the order of deciding.
    """
    deciding: VerifiedPairs
    """For each near repeat, the accepted pair of the keeper and the repeat, sorted by ``later``."""
    accepted: CandidatePairs
    """All pairs that the verifiers accepted, in no particular order."""
    n_verified: int
    """Number of pairs that were verified."""
    n_comparisons: int
    """Approximate number of comparisons between two texts of the batch."""


@dataclass(frozen=True)
class Decider:
    """Decides which texts of a batch repeat a kept text, and adds the texts that it keeps to the index."""

    index: Index
    verify: Verify
    limits: Limits
    report: BlockReport
    """Counts to which `decide` adds: look-ups, comparisons, and how often each limit applied."""
    workers: int = 1
    fewest_texts: int = 128
    """A batch of at most this many texts is never split, however many comparisons it needs."""
    most_comparisons: int = 512
    """Maximum average number of comparisons per text within a batch; with more, the batch should be split. In smaller
    batches, the index removes most similar texts before they are compared with each other."""

    def decide(self, batch: Batch) -> Decisions:
        """Decide a batch. It must not be empty, and no text may equal a kept text of the index."""
        decisions = self.decide_unless_crowded(group_batch(batch), may_refuse=False)
        assert decisions is not None  # noqa: S101  (it may not refuse)
        return decisions

    def decide_unless_crowded(self, grouped: WithinBatch, *, may_refuse: bool = True) -> Decisions | None:
        """Decide a batch like `decide`, or return None if it should be split because too many texts share keys.

        ``may_refuse``: whether None may be returned.
        """
        batch, evidence = grouped.batch, Evidence()
        first = self._decide_by_index(batch, self._most_with_key(grouped), evidence)
        rest = np.flatnonzero(first.course.status == UNDECIDED)
        others = grouped.take(rest)
        is_crowded = len(rest) > self.fewest_texts and others.n_comparisons > self.most_comparisons * len(rest)
        if may_refuse and is_crowded and others.found is None:
            return None
        near = BatchPairs.within(others.batch, others.pairs(self.report, self.workers))
        pairs = join_batch_pairs(first.pairs_of(rest), near)
        is_sure = pairs.is_sure(others.most, self.limits.max_bucket_size)
        last = BatchContest(others.batch, pairs, others, self.limits, self.index, is_sure)
        last.settle(self.verify, evidence)
        return self._finish(first, rest, last, evidence, others.n_comparisons)

    def _decide_by_index(self, batch: Batch, most_with_key: Int64s, evidence: Evidence) -> BatchContest:
        """Decide that the texts that surely match a kept text of the index are removed; others stay undecided.

        The batch is looked up in parts to save memory: a look-up may find far more pairs than need verifying.
        """
        found, most = [BatchPairs.of_index(join_near([]))], self.limits.most_pairs(batch.columns.lengths)
        for start in range(0, len(batch), LOOKED_UP_TOGETHER):
            part = slice(start, start + LOOKED_UP_TOGETHER)
            near = self.index.look_up(batch if len(batch) <= LOOKED_UP_TOGETHER else batch.take(part))
            pairs = BatchPairs.of_index(near._replace(later=near.later + start))
            is_sure = pairs.is_sure(most_with_key, self.limits.max_bucket_size)
            found.append(pairs.take(may_be_verified(pairs.later, pairs.distances, is_sure, most)))
        pairs = join_pairs(found)
        is_sure = pairs.is_sure(most_with_key, self.limits.max_bucket_size)
        is_sure &= ~reaches_farther_than_copies(batch)[pairs.later]
        first = BatchContest(batch, pairs, None, self.limits, self.index, is_sure)
        first.settle(self.verify, evidence)
        return first

    def _most_with_key(self, grouped: WithinBatch) -> Int64s:
        """Return int64[n]: for each text, the number of earlier texts of the batch that have its look-up key.

        If a text has several look-up keys, the largest number counts. The number is 0 if none of these keys can have
        more than ``max_bucket_size`` texts.
        """
        if not self.limits.max_bucket_size:
            return np.zeros(len(grouped.batch), np.int64)
        crowded = grouped.batch.may_be_crowded
        return grouped.most if crowded is None else np.where(crowded, grouped.most, 0)

    def has_room_for_more(self, decisions: Decisions) -> bool:
        """Return whether the next batch may be twice as large.

        It may if this batch needed at most a quarter of ``most_comparisons``, on average per text.
        """
        return 4 * decisions.n_comparisons <= self.most_comparisons * len(decisions.kept)

    def _finish(
        self, first: BatchContest, rest: Int64s, last: BatchContest, evidence: Evidence, n_comparisons: int
    ) -> Decisions:
        """Return the decisions about the whole batch, and add its kept texts to the index.

        ``first``: the whole batch, with decisions about the texts that the index alone could decide. ``last``: all
        other texts, in the rows ``rest`` of the batch, which were also compared with each other.
        """
        batch, status = first.batch, first.course.status.copy()
        status[rest] = last.course.status
        is_copy, kept = status == EXACT, status == KEPT
        exact = np.full(len(batch), NONE)
        exact[is_copy] = batch.positions[rest[last.course.deciding[last.course.status == EXACT]]]
        looked_up = batch.take(np.flatnonzero(~is_copy)) if is_copy.any() else batch
        self.index.add(looked_up, kept[~is_copy])
        self.report.hit("max_candidates", int(last.course.is_cut.sum()))
        deciding = evidence.of(np.concatenate([first.deciding_codes(), last.deciding_codes()]))
        return Decisions(kept, exact, deciding, evidence.pairs(), evidence.n_verified, n_comparisons)


def reaches_farther_than_copies(batch: Batch) -> Bools:
    """Return bool[n]: whether each text has an earlier copy in the batch with a later time cutoff.

    A kept text that matches may be too old for the earlier copy, but not for the later one. Then the earlier copy is
    kept, and becomes the keeper of the later one. So the index alone cannot decide a text with such a copy.
    """
    if batch.oldest is None or (batch.oldest[1:] >= batch.oldest[:-1]).all():
        return np.zeros(len(batch), np.bool_)
    previous, least_far = previous_copies(batch.text_numbers), batch.oldest.copy()
    for row in np.flatnonzero(previous != NONE).tolist():
        least_far[row] = max(least_far[row], least_far[previous[row]])
    return np.asarray(least_far > batch.oldest)
