"""Decides all posts of a run, batch by batch. A *position* is the index of a post in the order of deciding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int32s, Int64s, VerifiedPairs
from hybriddup.kernels.search.decide import NONE
from hybriddup.steps.candidates import Batch
from hybriddup.steps.candidates.run_index import RunIndex
from hybriddup.steps.candidates.within_batch import WithinBatch, group_batch
from hybriddup.steps.deciding.decider import Decider, Decisions
from hybriddup.steps.deciding.pairs import GrowingPairs, no_pairs, no_verified_pairs
from hybriddup.steps.exact import EqualTexts
from hybriddup.steps.parallel import start_in_background

TEXTS_PER_BATCH = 2**13
"""Maximum number of posts per batch: few enough for the CPU cache, and for most copies to be found by a look-up in the
index, which is faster than comparing the texts of a batch with each other. With twice the size, a run takes ten
megabytes more and hardly less time."""
TEXTS_AT_FIRST = 2**10
"""Number of posts in the first batch. The size doubles from batch to batch while texts have few candidate pairs,
because pairs take memory."""


@dataclass(frozen=True)
class RunDecisions:
    """The decisions about the posts of a run, in the order of deciding."""

    kept: Bools
    """bool[n]: whether each post is kept."""
    exact: Int64s
    """int64[n]: the position, in the order of deciding, of the equal kept post; -1 = not removed as an exact repeat."""
    deciding: VerifiedPairs
    """For each removed near repeat, the accepted pair with its keeper, sorted by ``later``."""
    accepted: CandidatePairs
    """All accepted pairs, in no particular order."""
    n_verified: int


class BatchesAhead:
    """Prepares batches of texts: while one batch is decided, the next is prepared in the background."""

    def __init__(self, batch_of: Callable[[Int64s], Batch], workers: int) -> None:
        self._batch_of, self._workers = batch_of, workers
        self._ahead: tuple[Int64s, Callable[[], WithinBatch]] | None = None

    def of(self, positions: Int64s, following: Int64s) -> WithinBatch:
        """Return the batch of the texts at ``positions``, which must be non-empty and in ascending order.

        Also start preparing the texts at ``following`` in the background; the next call probably needs most of them.
        """
        batch = self._made(positions)
        if len(following):
            self._ahead = following, start_in_background(lambda: self._group(following), self._workers)
        return batch

    def _made(self, positions: Int64s) -> WithinBatch:
        ahead, self._ahead = self._ahead, None
        if ahead is None or not ahead[0][0] <= positions[0] <= positions[-1] <= ahead[0][-1]:
            return self._group(positions)
        return ahead[1]().take(np.asarray(np.searchsorted(ahead[0], positions), np.int64))

    def _group(self, positions: Int64s) -> WithinBatch:
        return group_batch(self._batch_of(positions)).with_pairs(self._workers)


class DecidedSoFar:
    """Collects the decisions of a run; parameters as in `decide_all`.

    ``kept_at``: int32[n_texts], the position at which each distinct text was kept, -1 = not kept.
    """

    def __init__(self, kept_at: Int32s, is_near: Bools, equal: EqualTexts, n_given: int) -> None:
        self._kept_at, self._is_near, self._equal = kept_at, is_near, equal
        self._is_exact: Bools = ~equal.is_first
        self._is_exact[n_given:] &= ~is_near[equal.text_numbers[n_given:]]
        self._kept, n = ~self._is_exact, len(equal.text_numbers)
        self._deciding, self._accepted = GrowingPairs(no_verified_pairs(), n), GrowingPairs(no_pairs(), n)
        self._n_verified = 0

    def near(self, first: int, last: int) -> Int64s:
        """Return the positions in ``range(first, last)`` whose texts could be near repeats."""
        return first + np.flatnonzero(self._is_near[self._equal.text_numbers[first:last]])

    def undecided(self, near: Int64s) -> Int64s:
        """Return the positions in ``near`` whose texts do not equal a text that is already kept."""
        undecided: Int64s = near[self._kept_at[self._equal.text_numbers[near]] == NONE]
        return undecided

    def settle_copies(self, near: Int64s) -> Int64s:
        """Mark as repeats the texts at the positions ``near`` that equal a kept text; return the other positions."""
        undecided = self.undecided(near)
        self._is_exact[near] = True
        self._is_exact[undecided] = False
        return undecided

    def note(self, positions: Int64s, decisions: Decisions) -> None:
        """Record the decisions about the texts at ``positions``."""
        self._is_exact[positions], self._kept[positions] = decisions.exact != NONE, decisions.kept
        self._deciding.add(decisions.deciding)
        self._accepted.add(decisions.accepted)
        self._n_verified += decisions.n_verified

    def all(self) -> RunDecisions:
        """Return the decisions about all posts; every post must have been decided."""
        keepers = np.where(self._is_near, self._kept_at, self._equal.distinct)
        kept, exact = self._kept & ~self._is_exact, np.where(self._is_exact, keepers[self._equal.text_numbers], NONE)
        return RunDecisions(kept, exact, self._deciding.all(), self._accepted.all(), self._n_verified)


def decide_all(
    decider: Decider,
    index: RunIndex,
    is_near: Bools,
    equal: EqualTexts,
    advance: Callable[[int], None] = lambda _: None,
    *,
    n_given: int = 0,
    texts_per_batch: int = TEXTS_PER_BATCH,
) -> DecidedSoFar:
    """Decide all posts, batch by batch, and return the decisions; the result does not refer to ``index``.

    Parameters
    ----------
    index
        The index in which ``decider`` looks up candidates.
    is_near
        bool[n_texts]: which distinct texts could be near repeats; all others can only be exact repeats.
    equal
        The distinct text at each position.
    n_given
        The first ``n_given`` posts are kept without being compared; equal posts among them are indexed only once.
    """
    n, batches = len(equal.text_numbers), BatchesAhead(index.batch, decider.workers)
    so_far = DecidedSoFar(index.kept_at, is_near, equal, n_given)
    for first in range(0, n_given, texts_per_batch):
        near = so_far.near(first, min(first + texts_per_batch, n_given))
        batch = index.batch(near[equal.is_first[near]])
        index.add(replace(batch, probes=batch.keys[:, :0]), np.ones(len(batch), np.bool_))
        advance(len(near))
    first, size, grows = n_given, min(TEXTS_AT_FIRST, texts_per_batch), True
    while first < n:
        last = min(first + size, n)
        near, decisions = so_far.near(first, last), None
        positions = so_far.settle_copies(near)
        if len(positions):
            following = so_far.near(last, last + min(2 * size if grows else size, texts_per_batch))
            decisions = decider.decide_unless_crowded(batches.of(positions, so_far.undecided(following)))
            if decisions is None:
                size, grows = -(-size // 2), False
                continue
            so_far.note(positions, decisions)
        advance(len(near))
        first, grows = last, decisions is None or decider.has_room_for_more(decisions)
        size = min(2 * size, texts_per_batch) if grows else size
    return so_far
