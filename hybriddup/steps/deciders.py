"""Decide: verified pairs -> kept or removed, the keeper of each removed text. The rule of README, "What removed means".

Texts are decided in order. A text is removed when it matches an earlier text that was kept; the earliest such text is
its keeper. Texts are handled in batches that grow: first against everything kept so far, so that repeats of it leave
before they are compared with each other, then those that stay among themselves. How the batches are cut cannot
change the answer, because whether a pair is found and verified depends on its two texts only.
"""

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from hybriddup.kernels.decide import decide_in_order
from hybriddup.records import Bools, CandidatePairs, Fingerprints, VerifiedPairs
from hybriddup.steps.blocks import BlockIndex

FIRST_BATCH = 4096
LARGEST_BATCH = 65536
SMALLEST_BATCH = 256
MAX_CANDIDATES = 4_000_000
"""About as many candidate pairs as are held at once, a tenth of a gigabyte: where texts are so alike that a batch
brings up more, as copies of one template do, the next batches are smaller."""

Verify = Callable[[CandidatePairs], VerifiedPairs]


class Decisions(NamedTuple):
    """What was decided of the distinct texts of a run."""

    kept: Bools
    """bool[n]: by position."""
    deciding: VerifiedPairs
    """One pair for each removed text: ``later`` was removed for ``earlier``; sorted by ``later``."""
    verified: VerifiedPairs
    """Every pair that was verified on the way."""
    n_candidate_pairs: int
    """Pairs that stage 1 handed to the verifiers."""


def decide(
    prints: Fingerprints,
    n_texts: int,
    index: BlockIndex,
    verify: Verify,
    advance: Callable[[int], None] = lambda _: None,
) -> Decisions:
    """Return the decisions over all texts; those that are not among the fingerprints stay.

    Parameters
    ----------
    prints
        The texts that could be near repeats, positions rising and below ``n_texts``.
    index
        A prepared, empty index; at the end it holds what was kept.
    """
    kept = np.ones(n_texts, np.bool_)
    deciding, verified = [no_verified_pairs()], [no_verified_pairs()]

    def settle(candidates: CandidatePairs) -> int:
        pairs = verify(candidates)
        verified.append(pairs)
        deciding.append(pairs.take(decide_in_order(pairs.earlier, pairs.later, kept)))
        return len(candidates)

    def settle_batch(batch: Fingerprints) -> int:
        n_candidates = settle(index.candidates(batch))
        staying = batch.take(kept[batch.positions])
        n_candidates += settle(index.candidates_within(staying))
        index.add(staying.take(kept[staying.positions]))
        return n_candidates

    n_candidate_pairs, affordable = 0, LARGEST_BATCH
    for first, last in batch_bounds(len(prints)):
        while first < last:
            size = min(last - first, affordable)
            n_candidates = settle_batch(prints.take(slice(first, first + size)))
            n_candidate_pairs += n_candidates
            affordable = max(size * MAX_CANDIDATES // max(n_candidates, 1), SMALLEST_BATCH)
            first += size
            advance(size)
    merged = join_pairs(deciding)
    in_order = merged.take(np.argsort(merged.later, kind="stable"))
    return Decisions(kept, in_order, join_pairs(verified), n_candidate_pairs)


def batch_bounds(n: int) -> Iterator[tuple[int, int]]:
    """Yield the bounds of batches that cover ``range(n)``: each as large as all before it, within limits."""
    first = 0
    while first < n:
        size = min(max(first, FIRST_BATCH), LARGEST_BATCH)
        yield first, min(first + size, n)
        first += size


def no_verified_pairs() -> VerifiedPairs:
    """Return no pairs."""
    rows, numbers, floats = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    return VerifiedPairs(rows, rows, numbers, floats, floats, numbers, numbers)


def join_pairs(parts: list[VerifiedPairs]) -> VerifiedPairs:
    """Return the pairs of all parts, in order."""
    columns = ([getattr(part, field.name) for part in parts] for field in fields(VerifiedPairs))
    return VerifiedPairs(*map(np.concatenate, columns))
