"""A batch while it is being decided: pairs are verified when it is their turn, until every text is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int8s, Int32s, Int64s, UInt64s, VerifiedPairs
from hybriddup.kernels.decide import (
    CUT,
    IN_INDEX,
    KEPT,
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
"""Of all candidates of a text that are verified, if these are as long as its own."""
CHARACTERS_OF_LONG = 20_000
"""The same for a text that is compared in sections; one candidate is verified however long the text is."""

Verify = Callable[[CandidatePairs], tuple[Bools, VerifiedPairs]]
"""Returns bool[n_pairs], which pairs the verifiers accept, and these."""


@dataclass(frozen=True)
class Limits:
    """What is looked at of much that there is."""

    max_bucket_size: int
    """Of a key so many of the newest kept texts; 0 = all."""
    most_pairs: Callable[[Int32s], Int64s]
    """Returns, for texts of these lengths, how many candidates of each are verified."""
    first_in_turn: int = 4
    """So many pairs of a text are verified before the first match is looked for; four times as many each time after. A
    copy of a template matches many texts, and one is enough."""
    most_in_turn: int = 32
    """But no more than so many at a time."""
    asked_together: int = 512
    """Texts that the depths of their pairs are asked for together."""


class BatchContest:
    """Texts of a batch, and some of their pairs.

    ``most_with_key`` int64[n] says how many texts of the batch before each have a key that it is looked up by, at most.
    ``grouped`` is the batch by key, where these are all its pairs; None = there are more to come, so that a text
    without a sure match is not decided. ``held`` bool[n] are texts that these pairs do not decide, whatever matches;
    None = none.
    """

    def __init__(
        self,
        batch: Batch,
        pairs: BatchPairs,
        most_with_key: Int64s,
        grouped: WithinBatch | None,
        limits: Limits,
        index: Index,
        held: Bools | None = None,
    ) -> None:
        self.batch, self.pairs = batch, pairs
        self._index, self._is_last, self._first_in_turn = index, grouped is not None, limits.first_in_turn
        self._most_in_turn, self._asked_together = limits.most_in_turn, limits.asked_together
        n, most = len(batch), limits.max_bucket_size
        offsets = np.searchsorted(pairs.later, np.arange(n + 1))
        nothing = np.zeros((n, 0), np.uint32)
        most_pairs = limits.most_pairs(batch.columns.lengths)
        self._contest = Contest(
            offsets,
            pairs.earlier_rows,
            pairs.distances,
            is_sure(pairs, most_with_key, most),
            pairs.verdicts,
            pairs.depths,
            np.full(len(pairs), NONE),
            previous_copies(batch.text_numbers),
            np.zeros(n) if batch.times is None else batch.times,
            np.full(n, -np.inf) if batch.oldest is None else batch.oldest,
            most_pairs if held is None else np.where(held, NONE, most_pairs),
            nothing if grouped is None else grouped.own,
            nothing if grouped is None else grouped.probed,
            most,
        )
        self._course = Course(
            np.full(n, UNDECIDED),
            np.full(n, NONE),
            offsets[:-1].copy(),
            np.zeros(n, np.int8),
            np.zeros(n, np.int8),
            np.zeros(self._contest.own.shape, np.int64),
            np.zeros(0 if grouped is None else grouped.n_groups, np.int64),
            np.zeros(1, np.int64),
        )
        self._depths: Int64s = np.zeros((0, batch.probes.shape[1]), np.int64)

    @property
    def status(self) -> Int8s:
        """int8[n]: what is known of each text, as `hybriddup.kernels.decide` numbers it."""
        return self._course.status

    @property
    def deciding(self) -> Int64s:
        """int64[n]: the pair that removed a text, or the row of the kept text that it equals."""
        return self._course.deciding

    @property
    def n_cut(self) -> int:
        """Kept texts that had more candidates than are verified; a removed one has lost nothing by that."""
        return int(((self._course.cuts == CUT) & (self.status == KEPT)).sum())

    @property
    def n_pairs(self) -> Int64s:
        """int64[n]: pairs of each text."""
        return np.diff(self._contest.offsets)

    @property
    def n_nearer(self) -> Int64s:
        """int64[n]: of each text that a pair removed, the pairs that come before it by distance, then by age."""
        pairs, n = self.pairs, len(self.batch)
        deciding = np.where(self.status == NEAR, self.deciding, 0)[pairs.later]
        is_nearer = pairs.distances < pairs.distances[deciding]
        is_nearer |= (pairs.distances == pairs.distances[deciding]) & (np.arange(len(pairs)) < deciding)
        return np.bincount(pairs.later[is_nearer], minlength=n)

    def settle(self, verify: Verify, evidence: Evidence) -> None:
        """Decide all texts that these pairs can decide."""
        wanted, n_at_a_time = np.empty(len(self.pairs), np.int64), self._first_in_turn
        while True:
            n = decide_in_order(self._contest, self._course, self._depths, n_at_a_time, self._is_last, wanted)
            if n:
                self._verify(np.sort(wanted[:n]), verify, evidence)
                n_at_a_time = min(4 * n_at_a_time, self._most_in_turn)
            elif not self._is_last or not self._ask_depths():
                return

    def _verify(self, chosen: Int64s, verify: Verify, evidence: Evidence) -> None:
        """Verify some pairs, and note what came out."""
        pairs = self.pairs
        later = self.batch.positions[pairs.later[chosen]]
        matches, accepted = verify(CandidatePairs(pairs.earlier[chosen], later, pairs.distances[chosen]))
        evidence.note(accepted, len(chosen))
        pairs.verdicts[chosen] = np.where(matches, MATCHES, REFUSED)

    def _ask_depths(self) -> bool:
        """Ask the index how far from the newest kept texts stand, for the next texts that wait for that; if any do."""
        contest, pairs, head = self._contest, self.pairs, int(self._course.n_settled[0])
        next_pairs = np.arange(*contest.offsets[[head, min(head + self._asked_together, len(self.batch))]])
        is_open = (pairs.earlier_rows[next_pairs] == IN_INDEX) & ~contest.is_sure[next_pairs]
        chosen = next_pairs[is_open & (contest.depth_rows[next_pairs] == NONE)]
        if not len(chosen):
            return False
        contest.depth_rows[chosen] = np.arange(len(chosen))  # those asked for before are of texts that are decided
        self._depths = self._index.depths(self.batch, pairs.later[chosen], pairs.earlier[chosen])
        return True

    def pairs_of(self, rows: Int64s) -> BatchPairs:
        """Return the pairs of some texts, their later text counted among these; refused ones are candidates, too."""
        row_of = np.full(len(self.batch), NONE)
        row_of[rows] = np.arange(len(rows))
        pairs = self.pairs.take(row_of[self.pairs.later] != NONE)
        pairs.later[:] = row_of[pairs.later]
        return pairs

    def deciding_codes(self) -> UInt64s:
        """Return the codes of the pairs that removed texts."""
        chosen = self.deciding[self.status == NEAR]
        return pair_codes(self.pairs.earlier[chosen], self.batch.positions[self.pairs.later[chosen]])


def is_sure(pairs: BatchPairs, most_with_key: Int64s, max_bucket_size: int) -> Bools:
    """Return bool[n_pairs]: whether the earlier text is looked at, whatever is kept of the batch meanwhile."""
    if not max_bucket_size:
        return np.ones(len(pairs), np.bool_)
    newer = most_with_key[pairs.later]
    return np.asarray(np.where(pairs.earlier_rows == IN_INDEX, pairs.depths + newer, newer) <= max_bucket_size)


def previous_copies(text_numbers: Int64s) -> Int64s:
    """Return int64[n]: the row of the last equal text before each, `NONE` where there is none."""
    order = np.argsort(text_numbers, kind="stable")
    previous = np.full(len(text_numbers), NONE)
    in_order = text_numbers[order]
    is_copy = in_order[1:] == in_order[:-1]
    previous[order[1:][is_copy]] = order[:-1][is_copy]
    return previous


def most_candidates(lengths: Int32s, *, most: int) -> Int64s:
    """Return int64[n]: how many candidates of texts of these lengths are verified, of a short one ``most``; 0 = all.

    Texts can be made that are near one another by their fingerprints and match none of the others; each would then be
    compared with all before it. So of each text only the nearest candidates are verified, which are the likeliest to
    match, and fewer if the text is long, since the work for a pair grows with its length, first with the square of it.
    """
    if not most:
        return np.full(len(lengths), ALL)
    characters = np.where(lengths > LONGEST_EXACT, np.int64(CHARACTERS_OF_LONG), np.int64(CHARACTERS))
    n_fitting: Int64s = np.maximum(characters // np.maximum(lengths, 1), 1)
    return np.minimum(n_fitting, most)
