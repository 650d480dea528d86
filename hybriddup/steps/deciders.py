"""Decide: verified pairs -> kept or removed, the keeper of each removed text. The rule of README, "What removed means".

Texts are decided in order. A text is removed when it matches an earlier text that was kept. They are handled in
batches, each as large as all before it: first against everything kept so far, so that repeats of it leave before they
are compared with each other; then those that stay among themselves, half by half in the same way.

Which texts are kept cannot depend on how they are cut into batches, because whether a pair is found and verified
depends on its two texts only. A text is compared with kept ones in rounds, some tables of the index in each, and
leaves when a round has found a match: its keeper is the earliest match of that round.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from hybriddup.kernels.decide import decide_in_order
from hybriddup.records import Bools, CandidatePairs, Fingerprints, Int64s, UInt64s, VerifiedPairs, join_prints
from hybriddup.steps.blocks import BlockIndex, Crowded, JoiningIndex
from hybriddup.steps.blocks.join import no_pairs
from hybriddup.waiting import FingerprintQueue

FIRST_BATCH = 4096
LARGEST_BATCH = 2**17
GROWTH = 0.25
"""A batch may also be this share of all before it."""
LARGEST_UNJOINED_BATCH = 2**16
"""For an index that cannot join two batches, which compares all texts of a batch with each other."""

CROWD_SHARE = 8
"""Where texts are crowded, one in so many earlier texts, the first of them, are met before the others."""
FIRST_IN_TURN = 4
"""Pairs of a text that are verified before the first match is looked for."""
HALF_WORD = np.uint64(32)

Verify = Callable[[CandidatePairs], VerifiedPairs]


class Decisions(NamedTuple):
    """What was decided of the distinct texts of a run."""

    kept: Bools
    """bool[n]: by position."""
    deciding: VerifiedPairs
    """One pair for each removed text: ``later`` was removed for ``earlier``; sorted by ``later``."""
    verified: CandidatePairs
    """Every pair that was verified on the way, in no order."""
    n_candidate_pairs: int
    """Pairs that stage 1 handed to the verifiers."""
    kept_prints: Fingerprints | None
    """The fingerprints of what was kept, without strengths; None = there are none."""


def decide(
    waiting: FingerprintQueue,
    n_texts: int,
    index: BlockIndex,
    verify: Verify,
    advance: Callable[[int], None] = lambda _: None,
) -> Decisions:
    """Return the decisions over all texts; those that have no fingerprint stay.

    Parameters
    ----------
    waiting
        The texts that could be near repeats, positions rising and below ``n_texts``; empty at the end.
    index
        A prepared, empty index; at the end it holds what was kept.
    """
    decider = Decider(index, verify, np.ones(n_texts, np.bool_))
    for first, last in decider.batch_bounds(len(waiting)):
        decider.settle_batch(waiting.take_first(last - first))
        advance(last - first)
    return decider.decisions()


def batch_bounds(n: int, smallest: int, largest: int, growth: float = 0.0) -> Iterator[tuple[int, int]]:
    """Yield the bounds of batches that cover ``range(n)``: each as large as all before it, within limits.

    ``growth`` is a share of all before that is always within them: with one, the cost of sorting all of these anew for
    each batch does not grow.
    """
    first = 0
    while first < n:
        size = min(max(first, smallest), max(largest, int(first * growth)))
        yield first, min(first + size, n)
        first += size


@dataclass
class Decider:
    """The decisions of a run while they are being made."""

    index: BlockIndex
    verify: Verify
    kept: Bools
    """bool[n_texts]: False where a text was removed so far."""
    deciding: list[VerifiedPairs] = field(default_factory=lambda: [no_verified_pairs()])
    verified: list[CandidatePairs] = field(default_factory=lambda: [no_pairs()])
    n_candidate_pairs: int = 0
    added: list[Fingerprints] = field(default_factory=list)
    """What was added to an index that does not give it back."""

    def batch_bounds(self, n: int) -> Iterator[tuple[int, int]]:
        """Yield the bounds of batches that cover ``range(n)``: each as large as all before it, within limits."""
        if isinstance(self.index, JoiningIndex):
            return batch_bounds(n, self.index.small_batch, max(LARGEST_BATCH, self.index.small_batch), GROWTH)
        return batch_bounds(n, FIRST_BATCH, LARGEST_UNJOINED_BATCH)

    def decisions(self) -> Decisions:
        """Return what was decided."""
        deciding, verified = join_pairs(self.deciding), join_candidates(self.verified)
        self.deciding, self.verified = [], []  # let go before the pairs are copied once more
        in_order = deciding.take(np.argsort(deciding.later, kind="stable"))
        return Decisions(self.kept, in_order, verified, self.n_candidate_pairs, self.kept_prints())

    def kept_prints(self) -> Fingerprints | None:
        """Return the fingerprints in the index."""
        if isinstance(self.index, JoiningIndex):
            return self.index.added
        return join_prints(self.added) if self.added else None

    def settle_batch(self, batch: Fingerprints) -> None:
        """Decide texts that come after everything in the index, and add those that stay."""
        staying = self.settle_against(None, batch)
        self.settle_within(staying)
        self.add(self.staying(staying))

    def add(self, prints: Fingerprints) -> None:
        """Make texts that stay findable."""
        self.index.add(prints)
        if not isinstance(self.index, JoiningIndex):
            self.added.append(prints.without_strengths())

    def settle_within(self, prints: Fingerprints) -> None:
        """Decide texts among themselves: the first half, then the second against what stays of it and by itself."""
        index = self.index
        if not isinstance(index, JoiningIndex):
            self.settle(index.candidates_within(prints))
            return
        if len(prints) <= max(index.small_batch, 1):
            try:
                pairs = index.candidates_between(prints, prints, None)
            except Crowded:
                if len(prints) <= 1:
                    raise
            else:
                self.settle(pairs)
                return
        first, second = prints.take(slice(0, len(prints) // 2)), prints.take(slice(len(prints) // 2, None))
        self.settle_within(first)
        self.settle_within(self.settle_against(self.staying(first.without_strengths()), second))

    def settle_against(self, earlier: Fingerprints | None, later: Fingerprints) -> Fingerprints:
        """Decide texts against kept ones, None = those in the index; return the texts that stay."""
        index, refused = self.index, np.zeros(0, np.uint64)
        if not isinstance(index, JoiningIndex):
            self.settle_in_turn(index.candidates(later))
            return self.staying(later)
        kept = index.added if earlier is None else earlier
        if kept is None:
            return later
        for round_number in range(index.n_rounds):
            later, refused = self.settle_round(index, kept, later, round_number, refused)
        return later

    def settle_round(
        self,
        index: JoiningIndex,
        earlier: Fingerprints,
        later: Fingerprints,
        round_number: int,
        refused: UInt64s,
    ) -> tuple[Fingerprints, UInt64s]:
        """Look texts up in the tables of one round; return the texts that stay, and what was refused of their pairs.

        ``refused`` uint64[n_pairs] are the pairs of earlier rounds, packed, which are not verified again.
        """
        try:
            pairs = index.candidates_between(earlier, later, round_number)
        except Crowded:
            return self.settle_crowded_round(index, earlier, later, round_number, refused)
        packed = pack_pairs(pairs)
        is_new = ~np.isin(packed, refused)
        self.settle_in_turn(pairs.take(is_new))
        still_open = np.concatenate([refused, packed[is_new]])
        return self.staying(later), still_open[self.kept[(still_open >> HALF_WORD).astype(np.int64)]]

    def settle_crowded_round(
        self, index: JoiningIndex, earlier: Fingerprints, later: Fingerprints, round_number: int, refused: UInt64s
    ) -> tuple[Fingerprints, UInt64s]:
        """Do what `settle_round` does in parts.

        The earliest texts of a crowd are what most of it repeats: where there are many earlier texts, the first of them
        come first, and what they match leaves. Otherwise the later texts are cut in two.
        """
        if len(earlier) > max(len(later) // CROWD_SHARE, FIRST_BATCH):
            n_first = len(earlier) // CROWD_SHARE
            for part in (slice(0, n_first), slice(n_first, None)):
                later, refused = self.settle_round(index, earlier.take(part), later, round_number, refused)
            return later, refused
        if len(later) <= 1:
            raise Crowded
        first, second = later.take(slice(0, len(later) // 2)), later.take(slice(len(later) // 2, None))
        of_second = (refused >> HALF_WORD).astype(np.int64) >= second.positions[0]
        parts = [
            self.settle_round(index, earlier, first, round_number, refused[~of_second]),
            self.settle_round(index, earlier, second, round_number, refused[of_second]),
        ]
        return join_prints([part for part, _ in parts]), np.concatenate([pairs for _, pairs in parts])

    def settle_in_turn(self, candidates: CandidatePairs) -> None:
        """Verify pairs with kept texts, some of each later text at a time, the earliest first, until one matches.

        A copy of a template matches many kept copies, and one is enough.
        """
        n_at_a_time = FIRST_IN_TURN
        while len(candidates):
            in_turn = rank_by_later(candidates) < n_at_a_time
            self.settle(candidates.take(in_turn))
            candidates = candidates.take(~in_turn & self.kept[candidates.later])
            n_at_a_time *= 4

    def settle(self, candidates: CandidatePairs) -> None:
        """Verify candidate pairs and remove the later text of each that matches a kept one."""
        pairs = self.verify(candidates)
        self.n_candidate_pairs += len(candidates)
        self.verified.append(CandidatePairs(pairs.earlier, pairs.later, pairs.hamming_distances))
        self.deciding.append(pairs.take(decide_in_order(pairs.earlier, pairs.later, self.kept)))

    def staying(self, prints: Fingerprints) -> Fingerprints:
        """Return those of the texts that were not removed."""
        stays = self.kept[prints.positions]
        return prints if stays.all() else prints.take(stays)


def pack_pairs(pairs: CandidatePairs) -> UInt64s:
    """Return uint64[n_pairs]: the later position in the upper 32 bits, the earlier one in the lower."""
    packed: UInt64s = (pairs.later.astype(np.uint64) << HALF_WORD) | pairs.earlier.astype(np.uint64)
    return packed


def rank_by_later(pairs: CandidatePairs) -> Int64s:
    """Return int64[n_pairs]: how many pairs of the same later text stand before each."""
    places = np.arange(len(pairs))
    is_first = np.ones(len(pairs), np.bool_)
    is_first[1:] = np.diff(pairs.later) != 0
    return places - np.maximum.accumulate(np.where(is_first, places, 0))


def no_verified_pairs() -> VerifiedPairs:
    """Return no pairs."""
    rows, numbers, floats = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    return VerifiedPairs(rows, rows, numbers, floats, floats, numbers, numbers)


def join_candidates(parts: list[CandidatePairs]) -> CandidatePairs:
    """Return the pairs of all parts, in order."""
    return CandidatePairs(
        np.concatenate([part.earlier for part in parts]),
        np.concatenate([part.later for part in parts]),
        np.concatenate([part.hamming_distances for part in parts]),
    )


def join_pairs(parts: list[VerifiedPairs]) -> VerifiedPairs:
    """Return the pairs of all parts, in order."""
    columns = ([getattr(part, field.name) for part in parts] for field in fields(VerifiedPairs))
    return VerifiedPairs(*map(np.concatenate, columns))
