"""Running a block index as the pipeline does, and finding the same pairs in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from hybriddup.records import CandidatePairs, Fingerprints
from hybriddup.steps.blocks import BlockIndex, Expectation
from tests import reference
from tests.builders import as_triples, clustered_numbers, make_limits, make_prints, numbers_of

Triple = tuple[int, int, int]
"""Earlier position, later position, differing bits."""


def no_pilot() -> tuple[Fingerprints, Fingerprints]:
    """Exact indexes plan nothing by pairs."""
    raise AssertionError("this index must not ask for pilot pairs")


def expectation_of(
    prints: Fingerprints,
    *,
    n_texts: int | None = None,
    workers: int = 1,
    pilot: Callable[[], tuple[Fingerprints, Fingerprints]] = no_pilot,
) -> Expectation:
    """What a run with these texts tells an index beforehand."""
    bits = 64 * prints.bits.shape[1]
    widest = max(int(prints.limits.max_hamming_distances.max(initial=0)), 0)
    return Expectation(len(prints) if n_texts is None else n_texts, workers, bits, widest, pilot)


def find_pairs(
    index: BlockIndex, prints: Fingerprints, cuts: Sequence[int] = (), expectation: Expectation | None = None
) -> list[Triple]:
    """Every pair that the index finds when the texts come in batches, cut at these rows; sorted."""
    index.prepare(expectation or expectation_of(prints))
    found: list[Triple] = []
    for first, last in pairwise([0, *sorted(cuts), len(prints)]):
        batch = prints.take(slice(first, last))
        for pairs in (index.candidates(batch), index.candidates_within(batch)):
            check_order(pairs)
            found += as_triples(pairs)
        index.add(batch)
    return sorted(found)


def check_order(pairs: CandidatePairs) -> None:
    """Pairs are sorted by their later text, then the earlier one, none stands twice, and earlier comes before later."""
    keys = list(zip(pairs.later.tolist(), pairs.earlier.tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert (pairs.earlier < pairs.later).all()


def plain_pairs(prints: Fingerprints) -> list[Triple]:
    """Every pair within the limits of its shorter text, by comparing all with all in plain Python; sorted."""
    numbers, positions = numbers_of(prints.bits), prints.positions.tolist()
    lengths, limits, reaches = (column.tolist() for column in prints.limits)
    pairs = []
    for later in range(len(prints)):
        for earlier in range(later):
            shorter = min((lengths[earlier], earlier), (lengths[later], later))[1]
            distance = reference.hamming_distance(numbers[earlier], numbers[later])
            if distance <= limits[shorter] and max(lengths[earlier], lengths[later]) <= reaches[shorter]:
                pairs.append((positions[earlier], positions[later], distance))
    return sorted(pairs)


def clustered_prints(
    rng: np.random.Generator, n: int, bits: int, max_hamming_distance: int, *, by_length: bool = True
) -> Fingerprints:
    """Texts around a few patterns, so that many pairs are just within and just beyond the limit.

    ``by_length``: lengths from 3 to 40, of which the shortest may only be exact repeats, the longest match within half
    the distance, and partners are at most half as long again.
    """
    numbers = clustered_numbers(rng, n, bits, min(max_hamming_distance // 2 + 2, bits), n_patterns=3)
    lengths = rng.integers(3, 41, n)
    distances = np.where(lengths > 30, max_hamming_distance // 2, max_hamming_distance)
    distances[lengths <= 6] = -1
    limits = make_limits(n, max_hamming_distances=max_hamming_distance)
    if by_length:
        limits = make_limits(
            n,
            lengths=lengths.tolist(),
            max_hamming_distances=distances.tolist(),
            max_partner_lengths=(lengths * 3 // 2).tolist(),
        )
    strengths = rng.integers(0, 8, (n, bits)).astype(np.uint8)
    positions = np.cumsum(rng.integers(1, 4, n))
    return make_prints(numbers, bits, limits=limits, strengths=strengths, positions=positions.tolist())
