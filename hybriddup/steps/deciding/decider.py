"""Deciding batch after batch.

A batch is looked up in the index first, and what surely repeats a kept text leaves. The others are then compared with
each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Enough, Int32s, Int64s, VerifiedPairs
from hybriddup.kernels.decide import EXACT, KEPT, NEAR, NONE, UNDECIDED
from hybriddup.kernels.nearest import farthest_wanted
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch, Index
from hybriddup.steps.candidates.within_batch import WithinBatch, group_batch
from hybriddup.steps.deciding.contest import BatchContest, Limits, Verify, is_sure, previous_copies
from hybriddup.steps.deciding.pairs import BatchPairs, Evidence, join_batch_pairs


@dataclass(frozen=True)
class Decisions:
    """What was decided of some texts, by their order."""

    kept: Bools
    """bool[n]."""
    exact: Int64s
    """int64[n]: the position of the kept text that a removed one equals, -1 = it was not removed for that."""
    deciding: VerifiedPairs
    """One pair for each text that was removed as a near repeat: ``later`` for ``earlier``; sorted by ``later``."""
    accepted: CandidatePairs
    """Every pair that was verified and accepted on the way, in no order."""
    n_verified: int
    """Pairs that the verifiers were asked about."""
    n_comparisons: int
    """About how many times texts of the batch were compared with each other."""


@dataclass(frozen=True)
class Decider:
    """Decides texts against the kept ones of an index, and adds what is kept."""

    index: Index
    verify: Verify
    limits: Limits
    report: BlockReport
    """Where limits are counted."""
    workers: int = 1
    fewest_texts: int = 128
    """So few texts are compared with each other whatever that takes."""
    most_comparisons: int = 512
    """Where texts of a batch would be compared with more of it on average, fewer should be decided at a time: of texts
    that are all alike most then leave before they meet."""

    def decide(self, batch: Batch) -> Decisions:
        """Return the decisions about a batch, at least one text, none of which equals a kept one of the index."""
        decisions = self._decide(group_batch(batch), may_refuse=False)
        assert decisions is not None  # noqa: S101  (it may not refuse)
        return decisions

    def decide_unless_crowded(self, grouped: WithinBatch) -> Decisions | None:
        """Return what `decide` does, or None where too many texts share keys: decide fewer at a time."""
        return self._decide(grouped, may_refuse=True)

    def _decide(self, grouped: WithinBatch, *, may_refuse: bool) -> Decisions | None:
        batch, most_with_key = grouped.batch, self._most_with_key(grouped)
        enough = Enough(self.limits.most_pairs(batch.columns.lengths), most_with_key)
        pairs = BatchPairs.of_index(self.index.look_up(batch, enough))
        sure = is_sure(pairs, most_with_key, self.limits.max_bucket_size)
        farthest = farthest_wanted(pairs.later, pairs.distances, sure, enough.most_pairs)
        pairs = pairs.take(pairs.distances <= farthest[pairs.later])
        held = reaches_farther_than_copies(batch)
        while True:
            evidence = Evidence()
            first = BatchContest(batch, pairs.anew(), most_with_key, None, self.limits, self.index, held)
            first.settle(self.verify, evidence)
            rest = np.flatnonzero(first.status == UNDECIDED)
            others = grouped.take(rest)
            if may_refuse and self._is_crowded(others):
                return None
            last = self._decide_rest(first, rest, others, farthest[rest], evidence)
            overtaken = self._overtaken(first, grouped, rest[last.status == KEPT])
            if not len(overtaken):
                return self._finish(first, rest, last, evidence, others.n_comparisons)
            held[overtaken] = True

    def _most_with_key(self, grouped: WithinBatch) -> Int64s:
        """Return int64[n]: so many texts of a batch stand before each and have a key of it that may become crowded."""
        if not self.limits.max_bucket_size:
            return np.zeros(len(grouped.batch), np.int64)
        crowded = grouped.batch.may_be_crowded
        return grouped.most if crowded is None else np.where(crowded, grouped.most, 0)

    def _is_crowded(self, grouped: WithinBatch) -> bool:
        n = len(grouped.batch)
        return grouped.found is None and n > self.fewest_texts and grouped.n_comparisons > self.most_comparisons * n

    def has_room_for_more(self, decisions: Decisions) -> bool:
        """Return whether twice as many texts like these would not be crowded."""
        return 4 * decisions.n_comparisons <= self.most_comparisons * len(decisions.kept)

    def _decide_rest(
        self, first: BatchContest, rest: Int64s, others: WithinBatch, farthest: Int32s, evidence: Evidence
    ) -> BatchContest:
        """Decide the texts that no sure match with the index has removed."""
        near = others.pairs(np.arange(len(rest)), self.report, self.workers, farthest)
        pairs = join_batch_pairs(first.pairs_of(rest), BatchPairs.within(others.batch, near))
        last = BatchContest(others.batch, pairs, others.most, others, self.limits, self.index)
        last.settle(self.verify, evidence)
        return last

    def _overtaken(self, first: BatchContest, grouped: WithinBatch, kept: Int64s) -> Int64s:
        """Return the rows of texts that the index removed, by a match that need not be among the nearest candidates.

        Where a text has more candidates than are verified, kept ones of the batch may be nearer than its match. That
        is next to never so, and only asked of texts with many others of the batch around them.
        """
        removed = np.flatnonzero(first.status == NEAR)
        if not len(removed):
            return removed
        is_kept = np.zeros(len(first.batch), np.bool_)
        is_kept[kept] = True
        most = self.limits.most_pairs(first.batch.columns.lengths)
        n_candidates = first.n_pairs + grouped.n_kept_before(is_kept)
        asked = removed[n_candidates[removed] > most[removed]]
        if not len(asked):
            return asked
        distances = np.zeros(len(first.batch), np.int32)
        distances[asked] = first.pairs.distances[first.deciding[asked]]
        near = grouped.pairs(asked, BlockReport(), self.workers, distances[asked])
        nearer = near.later[is_kept[near.earlier] & (near.distances < distances[near.later])]
        n_nearer = np.bincount(nearer, minlength=len(first.batch)) + first.n_nearer
        return asked[n_nearer[asked] >= most[asked]]

    def _finish(
        self, first: BatchContest, rest: Int64s, last: BatchContest, evidence: Evidence, n_comparisons: int
    ) -> Decisions:
        """Return the decisions, and add what is kept."""
        batch, status = first.batch, first.status.copy()
        status[rest] = last.status
        is_copy, kept = status == EXACT, status == KEPT
        exact = np.full(len(batch), NONE)
        exact[is_copy] = batch.positions[rest[last.deciding[last.status == EXACT]]]
        looked_up = batch.take(np.flatnonzero(~is_copy)) if is_copy.any() else batch
        self.index.add(looked_up, kept[~is_copy])
        self.report.hit("max_candidates", last.n_cut)
        deciding = evidence.of(np.concatenate([first.deciding_codes(), last.deciding_codes()]))
        return Decisions(kept, exact, deciding, evidence.pairs(), evidence.n_verified, n_comparisons)


def reaches_farther_than_copies(batch: Batch) -> Bools:
    """Return bool[n]: which texts reach farther back in time than an equal one before them.

    What they match need not remove that one, and then they repeat it first of all: all pairs must be known.
    """
    if batch.oldest is None or (batch.oldest[1:] >= batch.oldest[:-1]).all():
        return np.zeros(len(batch), np.bool_)
    previous, least_far = previous_copies(batch.text_numbers), batch.oldest.copy()
    for row in np.flatnonzero(previous != NONE).tolist():
        least_far[row] = max(least_far[row], least_far[previous[row]])
    return np.asarray(least_far > batch.oldest)
