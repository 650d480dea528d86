"""Deciding batch after batch.

A batch is looked up in the index first, and what surely repeats a kept text leaves. The others are then compared with
each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.kernels.decide import EXACT, KEPT, NEAR, NONE, UNDECIDED
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch, Index
from hybriddup.steps.candidates.within_batch import WithinBatch, group_batch
from hybriddup.steps.deciding.contest import BatchContest, Limits, Verify
from hybriddup.steps.deciding.pairs import (
    BatchPairs,
    Evidence,
    join_batch_pairs,
    join_candidates,
    join_verified,
)

FEWEST_TEXTS = 256
"""So few texts are compared with each other whatever that takes."""
MOST_COMPARISONS = 1024
"""Where texts of a batch would be compared with more of it on average, the first half is decided first: of texts that
are all alike most leave before they meet."""


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


@dataclass(frozen=True)
class Decider:
    """Decides texts against the kept ones of an index, and adds what is kept."""

    index: Index
    verify: Verify
    limits: Limits
    report: BlockReport
    """Where limits are counted."""
    workers: int = 1
    splits: bool = True
    """Whether a crowded batch may be decided in parts; not where what is kept comes into the index later."""
    fewest_texts: int = FEWEST_TEXTS
    most_comparisons: int = MOST_COMPARISONS

    def decide(self, batch: Batch) -> Decisions:
        """Return the decisions about a batch, at least one text, none of which equals a kept one of the index."""
        near, most_with_key = self.index.look_up(batch), self._most_with_key(batch)
        held = np.zeros(len(batch), np.bool_)
        while True:
            evidence = Evidence()
            first = BatchContest(batch, BatchPairs.of_index(near), most_with_key, None, self.limits, self.index, held)
            first.settle(self.verify, evidence)
            rest = np.flatnonzero(first.status == UNDECIDED)
            others = group_batch(batch if len(rest) == len(batch) else batch.take(rest))
            if self.splits and self._is_crowded(others):
                return self._decide_halves(batch)
            last = self._decide_rest(first, rest, others, evidence)
            overtaken = self._overtaken(first, rest[last.status == KEPT])
            if not len(overtaken):
                return self._finish(first, rest, last, evidence)
            held[overtaken] = True

    def _most_with_key(self, batch: Batch) -> Int64s:
        """Return int64[n]: so many texts of a batch have a key in common, of those keys that may become crowded."""
        crowded = np.arange(len(batch)) if batch.may_be_crowded is None else np.flatnonzero(batch.may_be_crowded)
        most = np.zeros(len(batch), np.int64)
        if self.limits.max_bucket_size and len(crowded):
            most[crowded] = group_batch(batch, crowded).most[crowded]
        return most

    def _is_crowded(self, grouped: WithinBatch) -> bool:
        n = len(grouped.batch)
        return n > self.fewest_texts and grouped.n_comparisons > self.most_comparisons * n

    def _decide_halves(self, batch: Batch) -> Decisions:
        """Return the decisions about a batch, at least two texts, of which the first half is decided first."""
        half = len(batch) // 2
        earlier, later = batch.take(slice(0, half)), batch.take(slice(half, None))
        parts = [self.decide(earlier)]
        exact = equal_to(earlier.take(np.flatnonzero(parts[0].kept)), later)
        kept, others = np.zeros(len(later), np.bool_), np.flatnonzero(exact == NONE)
        if len(others):
            parts.append(self.decide(later.take(others)))
            kept[others], exact[others] = parts[1].kept, parts[1].exact
        return Decisions(
            np.concatenate([parts[0].kept, kept]),
            np.concatenate([parts[0].exact, exact]),
            join_verified([part.deciding for part in parts]),
            join_candidates([part.accepted for part in parts]),
            sum(part.n_verified for part in parts),
        )

    def _decide_rest(self, first: BatchContest, rest: Int64s, others: WithinBatch, evidence: Evidence) -> BatchContest:
        """Decide the texts that no sure match with the index has removed."""
        near = others.pairs(np.arange(len(rest)), self.report, self.workers)
        pairs = join_batch_pairs(first.pairs_of(rest), BatchPairs.within(others.batch, near))
        last = BatchContest(others.batch, pairs, others.most, others, self.limits, self.index)
        last.settle(self.verify, evidence)
        return last

    def _overtaken(self, first: BatchContest, kept: Int64s) -> Int64s:
        """Return the rows of texts that the index removed, by a match that need not be among the nearest candidates.

        Where a text has more candidates than are verified, kept ones of the batch may be nearer than its match. That
        is next to never so, and only asked of texts with many others of the batch around them.
        """
        removed = np.flatnonzero(first.status == NEAR)
        if not len(removed):
            return removed
        is_kept = np.zeros(len(first.batch), np.bool_)
        is_kept[kept] = True
        grouped = group_batch(first.batch, removed)
        most = self.limits.most_pairs(first.batch.columns.lengths)
        n_candidates = first.n_pairs + grouped.n_kept_before(is_kept)
        asked = removed[n_candidates[removed] > most[removed]]
        if not len(asked):
            return asked
        near = group_batch(first.batch, asked).pairs(asked, BlockReport(), self.workers)
        distances = first.pairs.distances[first.deciding[near.later]]
        nearer = near.later[is_kept[near.earlier] & (near.distances < distances)]
        n_nearer = np.bincount(nearer, minlength=len(first.batch)) + first.n_nearer
        return asked[n_nearer[asked] >= most[asked]]

    def _finish(self, first: BatchContest, rest: Int64s, last: BatchContest, evidence: Evidence) -> Decisions:
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
        return Decisions(kept, exact, deciding, evidence.pairs(), evidence.n_verified)


def equal_to(kept: Batch, later: Batch) -> Int64s:
    """Return int64[n_later]: the position of the last kept text that each later one equals and may match, or `NONE`."""
    if not len(kept):
        return np.full(len(later), NONE)
    order = np.argsort(kept.text_numbers, kind="stable")
    numbers = kept.text_numbers[order]
    last = order[np.searchsorted(numbers, later.text_numbers, side="right") - 1]
    is_equal = kept.text_numbers[last] == later.text_numbers
    if kept.times is not None and later.oldest is not None:
        is_equal &= kept.times[last] > later.oldest
    return np.where(is_equal, kept.positions[last], NONE)
