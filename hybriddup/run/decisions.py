"""Deciding all posts of a run, batch by batch. A *position* is a post's place in the order of deciding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.kernels.decide import NONE
from hybriddup.steps.candidates import Batch
from hybriddup.steps.candidates.within_batch import WithinBatch, group_batch
from hybriddup.steps.deciding.decider import Decider, Decisions
from hybriddup.steps.deciding.pairs import join_pairs, no_pairs, no_verified_pairs
from hybriddup.steps.exact import EqualTexts
from hybriddup.steps.parallel import start_in_background

TEXTS_A_BATCH = 2**14
"""Few enough that a batch stays in the cache, and that copies leave before they meet many of their kind."""
TEXTS_AT_FIRST = 2**10
"""Batches begin with so many and grow where their texts do not crowd one another: what crowded ones have found before
they are refused takes memory."""


@dataclass(frozen=True)
class RunDecisions:
    """What was decided of the posts of a run, by position."""

    kept: Bools
    """bool[n]."""
    exact: Int64s
    """int64[n]: the position of the kept text that a removed one equals, -1 = it was not removed for that."""
    deciding: VerifiedPairs
    """One pair for each text that was removed as a near repeat; sorted by ``later``."""
    accepted: CandidatePairs
    """Every pair that was verified and accepted on the way, in no order."""
    n_verified: int


class BatchesAhead:
    """Makes batches of the texts at some positions; the next one in the background while a batch is decided."""

    def __init__(self, batch_of: Callable[[Int64s], Batch], workers: int) -> None:
        self._batch_of, self._workers = batch_of, workers
        self._ahead: tuple[Int64s, Callable[[], WithinBatch]] | None = None

    def of(self, positions: Int64s) -> WithinBatch:
        """Return the texts at some positions, rising, of which there is at least one."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or not ahead[0][0] <= positions[0] <= positions[-1] <= ahead[0][-1]:
            return self._group(positions)
        return ahead[1]().take(np.asarray(np.searchsorted(ahead[0], positions), np.int64))

    def begin(self, positions: Int64s) -> None:
        """Begin with those that are probably asked for next, and perhaps a few more between them."""
        if len(positions):
            self._ahead = positions, start_in_background(lambda: self._group(positions), self._workers)

    def _group(self, positions: Int64s) -> WithinBatch:
        return group_batch(self._batch_of(positions)).with_pairs(self._workers)


class DecidedSoFar:
    """What is decided by now of the posts of a run, which are as `decide_all` takes them."""

    def __init__(self, is_near: Bools, equal: EqualTexts, n_given: int) -> None:
        numbers, first_of, places = equal.text_numbers, equal.first_of, np.arange(len(equal.text_numbers))
        is_first = first_of == places
        self._numbers, self._parts = numbers, list[Decisions]()
        self._exact = np.where(is_first | (is_near[numbers] & (places >= n_given)), NONE, first_of)
        self._kept, self._kept_as = self._exact == NONE, np.full(len(is_near), NONE)
        near = np.flatnonzero(is_near[numbers])
        self.n_given = int(np.searchsorted(near, n_given))
        """So many of the near texts are given."""
        self.given: Int64s = near[: self.n_given][is_first[near[: self.n_given]]]
        """int64: the positions of those, each text once."""
        self.near: Int64s = near
        """int64[n], rising: the positions of texts that could be near repeats."""
        self._kept_as[numbers[self.given]] = self.given

    def settle_copies(self, first: int, last: int) -> Int64s:
        """Note which of some near texts equal a kept one; return the positions of the others."""
        positions = self.near[first:last]
        self._exact[positions] = self._kept_as[self._numbers[positions]]
        return self.undecided(first, last)

    def undecided(self, first: int, last: int) -> Int64s:
        """Return the positions of those of some near texts that equal no text that was kept by now."""
        positions = self.near[first:last]
        undecided: Int64s = positions[self._kept_as[self._numbers[positions]] == NONE]
        return undecided

    def note(self, positions: Int64s, decisions: Decisions) -> None:
        """Note what was decided of the texts at some positions."""
        self._parts.append(decisions)
        self._exact[positions], self._kept[positions] = decisions.exact, decisions.kept
        stay = positions[decisions.kept]
        self._kept_as[self._numbers[stay]] = stay

    def all(self) -> RunDecisions:
        """Return the decisions about all posts, when all are decided."""
        return RunDecisions(
            self._kept & (self._exact == NONE),
            self._exact,
            join_pairs([no_verified_pairs(), *(part.deciding for part in self._parts)]),
            join_pairs([no_pairs(), *(part.accepted for part in self._parts)]),
            sum(part.n_verified for part in self._parts),
        )


def decide_all(
    decider: Decider,
    batch_of: Callable[[Int64s], Batch],
    is_near: Bools,
    equal: EqualTexts,
    advance: Callable[[int], None] = lambda _: None,
    *,
    n_given: int = 0,
    texts_a_batch: int = TEXTS_A_BATCH,
) -> DecidedSoFar:
    """Return the decisions about all posts, which need the index no more.

    Parameters
    ----------
    batch_of
        Returns the texts at some positions as a batch; is called by other threads, too.
    is_near
        bool[n_texts]: which distinct texts could be near repeats; of the others the first stays.
    equal
        Which texts stand at the positions.
    n_given
        Posts at the first positions that are kept without being looked at; equal ones count as one.
    """
    so_far, batches = DecidedSoFar(is_near, equal, n_given), BatchesAhead(batch_of, decider.workers)
    for start in range(0, len(so_far.given), texts_a_batch):
        batch = batch_of(so_far.given[start : start + texts_a_batch])
        decider.index.add(replace(batch, probes=batch.keys[:, :0]), np.ones(len(batch), np.bool_))
    advance(so_far.n_given)
    first, size, grows = so_far.n_given, min(TEXTS_AT_FIRST, texts_a_batch), True
    while first < len(so_far.near):
        last = min(first + size, len(so_far.near))
        positions, decisions = so_far.settle_copies(first, last), None
        if len(positions):
            grouped = batches.of(positions)
            batches.begin(so_far.undecided(last, last + min(2 * size if grows else size, texts_a_batch)))
            decisions = decider.decide_unless_crowded(grouped)
            if decisions is None:
                size, grows = -(-size // 2), False
                continue
            so_far.note(positions, decisions)
        advance(last - first)
        first, grows = last, decisions is None or decider.has_room_for_more(decisions)
        size = min(2 * size, texts_a_batch) if grows else size
    return so_far
