"""Deciding all posts of a run, batch by batch. A *position* is a post's place in the order of deciding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.kernels.decide import NONE
from hybriddup.steps.candidates import Batch
from hybriddup.steps.deciding.decider import Decider, Decisions
from hybriddup.steps.deciding.pairs import join_candidates, join_verified, no_pairs, no_verified_pairs
from hybriddup.steps.exact import EqualTexts

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

    @property
    def n_kept(self) -> int:
        """Posts that were kept."""
        return int(self.kept.sum())


def decide_all(
    decider: Decider,
    batch_of: Callable[[Int64s], Batch],
    is_near: Bools,
    equal: EqualTexts,
    advance: Callable[[int], None] = lambda _: None,
    *,
    n_given: int = 0,
    texts_a_batch: int = TEXTS_A_BATCH,
) -> RunDecisions:
    """Return the decisions about all posts.

    Parameters
    ----------
    batch_of
        Returns the texts at some positions as a batch.
    is_near
        bool[n_texts]: which distinct texts could be near repeats; of the others the first stays.
    equal
        Which texts stand at the positions.
    n_given
        Posts at the first positions that are kept without being looked at; equal ones count as one.
    """
    numbers, places = equal.text_numbers, np.arange(len(equal.first_of))
    is_first = equal.first_of == places
    exact = np.where(is_first | (is_near[numbers] & (places >= n_given)), NONE, equal.first_of)
    kept, kept_as = exact == NONE, np.full(len(is_near), NONE)
    parts: list[Decisions] = []
    near, size = np.flatnonzero(is_near[numbers]), min(TEXTS_AT_FIRST, texts_a_batch)
    first = int(np.searchsorted(near, n_given))
    given = near[:first][is_first[near[:first]]]
    for start in range(0, len(given), texts_a_batch):
        batch = batch_of(given[start : start + texts_a_batch])
        decider.index.add(replace(batch, probes=batch.keys[:, :0]), np.ones(len(batch), np.bool_))
    kept_as[numbers[given]] = given
    advance(first)
    while first < len(near):
        positions = near[first : first + size]
        exact[positions] = kept_as[numbers[positions]]
        others = positions[exact[positions] == NONE]
        decisions = decider.decide_unless_crowded(batch_of(others)) if len(others) else None
        if len(others) and decisions is None:
            size = -(-size // 2)
            continue
        if decisions is not None:
            parts.append(decisions)
            exact[others], kept[others] = decisions.exact, decisions.kept
            stay = others[decisions.kept]
            kept_as[numbers[stay]] = stay
        advance(len(positions))
        first += len(positions)
        if decisions is None or decider.has_room_for_more(decisions):
            size = min(2 * size, texts_a_batch)
    kept[exact != NONE] = False
    return RunDecisions(
        kept,
        exact,
        join_verified([no_verified_pairs(), *(part.deciding for part in parts)]),
        join_candidates([no_pairs(), *(part.accepted for part in parts)]),
        sum(part.n_verified for part in parts),
    )
