"""A batch that is being decided: pairs are verified in rounds, until every text is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int32s, Int64s, UInt64s, VerifiedPairs
from hybriddup.kernels.search.decide import (
    IN_INDEX,
    MATCHES,
    NEAR,
    NONE,
    REFUSED,
    UNDECIDED,
    Contest,
    Course,
    decide_in_order,
)
from hybriddup.steps.candidates import Batch, Index
from hybriddup.steps.candidates.within_batch import WithinBatch
from hybriddup.steps.deciding.pairs import BatchPairs, Evidence, pair_codes
from hybriddup.steps.verifiers.sections import LONGEST_EXACT

ALL = 2**62
CHARACTERS = 16_000
"""Maximum product of a text's length and its number of candidates, for `most_candidates`; a text of any length may
have at least one candidate."""
CHARACTERS_OF_LONG = 20_000
"""Value in place of `CHARACTERS` for texts longer than `LONGEST_EXACT`, which are compared in sections."""

FEW_IN_TURN, TEXTS_AHEAD = 64, 64
"""In a round of fewer than `FEW_IN_TURN` pairs, most texts probably wait for decisions about earlier texts. From
the next round on, all possible candidates of the next `TEXTS_AHEAD` texts are verified, because even a small round
takes a millisecond."""

Verify = Callable[[CandidatePairs], tuple[Bools, VerifiedPairs]]
"""A function that verifies pairs; returns bool[n_pairs], whether each pair is accepted, and the accepted pairs."""


@dataclass(frozen=True)
class Limits:
    """Limits on candidates, and the sizes of verification rounds."""

    max_bucket_size: int
    """Maximum number of candidates per look-up key: the newest kept texts with this key; 0 = all of them."""
    most_pairs: Callable[[Int32s], Int64s]
    """Maps text lengths to int64[n], a limit for each text: a candidate is skipped if this many earlier candidates of
    the text have an equal or smaller Hamming distance."""
    first_in_turn: int = 4
    """Maximum number of pairs per text in the first verification round; the maximum quadruples from round to round. A
    few pairs are often enough: a copy of a template matches many texts, and one match decides."""
    most_in_turn: int = 256
    """Maximum number of pairs per text in any verification round."""
    asked_together: int = 512
    """Number of texts whose candidates' depths (recency ranks) are looked up in one call of the index."""


class BatchContest:
    """Decides the texts of a batch, given all or some of their pairs.

    ``is_sure``: bool[n_pairs], whether the earlier text is a candidate no matter which texts of the batch are kept.
    ``grouped``: the batch, grouped by key, if ``pairs`` has all pairs. None = ``pairs`` is incomplete; then only texts
    with a sure match are decided.
    """

    def __init__(
        self,
        batch: Batch,
        pairs: BatchPairs,
        grouped: WithinBatch | None,
        limits: Limits,
        index: Index,
        is_sure: Bools,
    ) -> None:
        self.batch, self.pairs = batch, pairs
        self._index, self._is_last, self._limits = index, grouped is not None, limits
        n, n_distances = len(batch), int(pairs.distances.max(initial=0)) + 1
        offsets = np.searchsorted(pairs.later, np.arange(n + 1))
        n_groups = 0 if grouped is None else grouped.n_groups
        none, no_ranks = np.zeros((n, 0), np.uint32), np.zeros((n, 0), np.int32)
        groups = (none, none, no_ranks, no_ranks)
        if grouped is not None:
            groups = grouped.own, grouped.probed, grouped.before, grouped.places
        self._contest = Contest(
            offsets,
            pairs.earlier_rows,
            pairs.distances,
            is_sure,
            pairs.verdicts,
            pairs.depths,
            np.full(len(pairs), NONE),
            previous_copies(batch.text_numbers),
            np.zeros(n) if batch.times is None else batch.times,
            np.full(n, -np.inf) if batch.oldest is None else batch.oldest,
            limits.most_pairs(batch.columns.lengths),
            *groups,
            limits.max_bucket_size,
        )
        self.course = Course(
            np.full(n, UNDECIDED),
            np.full(n, NONE),
            offsets[:-1].copy(),
            np.zeros(n, np.bool_),
            np.zeros(n_distances, np.int64),
            np.zeros(n_distances, np.int64),
            np.zeros(self._contest.own.shape, np.int64),
            np.zeros(n_groups, np.int64),
            np.full(n_groups, -1, np.int16),
            np.zeros(1, np.int64),
        )
        self._depths: Int64s = np.zeros((0, batch.probes.shape[1]), np.int64)

    def settle(self, verify: Verify, evidence: Evidence) -> None:
        """Verify pairs in rounds until no more texts can be decided; add the accepted pairs to ``evidence``."""
        wanted, n_per_round, n_ahead = np.empty(len(self.pairs), np.int64), self._limits.first_in_turn, 0
        if self._is_last:
            has_many = np.diff(self._contest.offsets) > self._contest.most_pairs
            self._find_depths(np.flatnonzero(has_many[self.pairs.later]))
        while True:
            n = decide_in_order(self._contest, self.course, self._depths, n_per_round, n_ahead, self._is_last, wanted)
            if n:
                self._verify(np.sort(wanted[:n]), verify, evidence)
                n_per_round = min(4 * n_per_round, self._limits.most_in_turn)
                n_ahead = TEXTS_AHEAD if self._is_last and n < FEW_IN_TURN else n_ahead
            elif not self._is_last or not self._find_depths(self._next_pairs()):
                return

    def _verify(self, chosen: Int64s, verify: Verify, evidence: Evidence) -> None:
        """Verify the chosen pairs, store the verdicts, and add the accepted pairs to the evidence."""
        pairs = self.pairs
        later = self.batch.positions[pairs.later[chosen]]
        matches, accepted = verify(CandidatePairs(pairs.earlier[chosen], later, pairs.distances[chosen]))
        evidence.note(accepted, len(chosen))
        pairs.verdicts[chosen] = np.where(matches, MATCHES, REFUSED)

    def _next_pairs(self) -> Int64s:
        """Return the indices of the pairs of the next ``asked_together`` undecided texts."""
        head = int(self.course.n_settled[0])
        return np.arange(*self._contest.offsets[[head, min(head + self._limits.asked_together, len(self.batch))]])

    def _find_depths(self, some: Int64s) -> bool:
        """Look up the depths of the pairs with indices ``some``, as far as needed; return whether any were looked up.

        The depths of a pair are the recency ranks of its earlier text among the texts with each key of the later text.
        They are needed once, if the earlier text is in the index and not certain to be a candidate.
        """
        contest, pairs = self._contest, self.pairs
        is_unsure = (pairs.earlier_rows[some] == IN_INDEX) & ~contest.is_sure[some]
        chosen = some[is_unsure & (contest.depth_rows[some] == NONE)]
        if not len(chosen):
            return False
        contest.depth_rows[chosen] = len(self._depths) + np.arange(len(chosen))
        depths = self._index.depths(self.batch, pairs.later[chosen], pairs.earlier[chosen])
        self._depths = np.concatenate([self._depths, depths])
        return True

    def pairs_of(self, rows: Int64s) -> BatchPairs:
        """Return all pairs, even rejected ones, with a later text in ``rows``; ``later`` is an index into ``rows``."""
        row_of = np.full(len(self.batch), NONE)
        row_of[rows] = np.arange(len(rows))
        pairs = self.pairs.take(row_of[self.pairs.later] != NONE)
        pairs.later[:] = row_of[pairs.later]
        return pairs

    def deciding_codes(self) -> UInt64s:
        """Return the `pair_codes` of the deciding pairs: each removed near repeat with its keeper."""
        chosen = self.course.deciding[self.course.status == NEAR]
        return pair_codes(self.pairs.earlier[chosen], self.batch.positions[self.pairs.later[chosen]])


def previous_copies(text_numbers: Int64s) -> Int64s:
    """Return int64[n]: for each text, the row of the previous equal text, `NONE` if it is the first such text."""
    order = np.argsort(text_numbers, kind="stable")
    previous = np.full(len(text_numbers), NONE)
    in_order = text_numbers[order]
    is_copy = in_order[1:] == in_order[:-1]
    previous[order[1:][is_copy]] = order[:-1][is_copy]
    return previous


def most_candidates(lengths: Int32s, *, most: int) -> Int64s:
    """Return int64[n]: the limit on candidates for a text of each length, at most ``most``; ``most`` 0 = no limit.

    A candidate is skipped if this many earlier candidates have an equal or smaller Hamming distance. The limit protects
    against crafted texts that do not match although their fingerprints are near: each would be compared with all
    earlier texts. Of ``n`` candidates in random order, about ``most * (1 + ln(n / most))`` are verified, including the
    ``most`` nearest. The limit is smaller for long texts, because the time to verify a pair can grow with the square of
    the length.
    """
    if not most:
        return np.full(len(lengths), ALL)
    characters = np.where(lengths > LONGEST_EXACT, np.int64(CHARACTERS_OF_LONG), np.int64(CHARACTERS))
    n_fitting: Int64s = np.maximum(characters // np.maximum(lengths, 1), 1)
    return np.minimum(n_fitting, most)
