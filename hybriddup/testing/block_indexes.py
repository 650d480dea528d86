"""Contract check of block indexes: what they find against what comparing everything finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hybriddup.records import CandidatePairs, Fingerprints, Int32s, Int64s, PairLimits, UInt64s
from hybriddup.steps.blocks import Expectation
from hybriddup.summary import BlockReport
from hybriddup.testing.contract import Subject

Pair = tuple[int, int, int]
"""Earlier position, later position, differing bits."""

N_TEXTS = 400
EXACT_ONLY_LENGTH = 6
"""Texts up to this length may only be exact repeats, so no pair with one of them is within its limits."""


def check_block_index(
    component: Any, *, max_hamming_distance: int = 3, bits: Sequence[int] = (64, 128), **options: Any
) -> None:
    """Check that a block index keeps its contract; what it is given is what ``registry.add_block_index`` takes.

    Parameters
    ----------
    max_hamming_distance
        Largest Hamming limit of the texts in the check, inclusive. Where the report says ``exact``, every pair within
        its limits must be found.
    bits
        Widths of fingerprint to check.

    Raises
    ------
    ContractError
        Naming the clause that does not hold.
    """
    subject = Subject("block_index", component, options)
    for width in bits:
        for n_texts in (0, 1, 2, N_TEXTS):
            prints = planted_prints(np.random.default_rng([width, n_texts]), n_texts, width, max_hamming_distance)
            _check_run(subject, prints, small_expectation(prints, width, max_hamming_distance))


def _check_run(subject: Subject, prints: Fingerprints, expectation: Expectation) -> None:
    where = f"with {len(prints)} texts of {expectation.bits} bits"
    found, report = _find(subject, prints, expectation, batch_size=97)
    oracle = pairs_within_limits(prints)
    wrong = sorted(found - oracle)[:3]
    subject.require(not wrong, f"a pair is within its limits, with the bits that differ, {where}", f"it finds {wrong}")
    missed = sorted(oracle - found)
    clause = f"a report that says exact means that every pair is found {where}"
    subject.require(not (report.exact and missed), clause, f"it misses {missed[:3]}")
    equal = [pair for pair in missed if pair[2] == 0][:3]
    subject.require(not equal, f"equal fingerprints within their limits are found {where}", f"it misses {equal}")
    for batch_size in (1, 13, max(len(prints), 1)):
        other, _ = _find(subject, prints, expectation, batch_size)
        clause = f"a pair is found whatever the batches are {where}"
        subject.require(other == found, clause, f"batches of {batch_size} differ in {sorted(other ^ found)[:3]}")
    _check_part(subject, prints, expectation, found)
    other, _ = _find(subject, prints, replace(expectation, workers=2), 97)
    subject.require(other == found, f"any number of workers finds the same {where}", sorted(other ^ found)[:3])


def _find(
    subject: Subject, prints: Fingerprints, expectation: Expectation, batch_size: int
) -> tuple[set[Pair], BlockReport]:
    """Return what an index finds that is filled batch by batch, as a run does, and its report."""
    index = subject.make()
    pairs: set[Pair] = set()
    with subject.clause(f"batches of {batch_size} of {len(prints)} texts can be looked up and added"):
        index.prepare(expectation)
        for batch in _batches(prints, batch_size):
            pairs |= _as_set(index.candidates(batch)) | _as_set(index.candidates_within(batch))
            index.add(batch)
        report = index.report()
    subject.require(isinstance(report, BlockReport), "report() returns a BlockReport", type(report).__name__)
    return pairs, report


def _check_part(subject: Subject, prints: Fingerprints, expectation: Expectation, found: set[Pair]) -> None:
    """Check that what is found does not depend on what else is in the index: here, every other text only."""
    index, half = subject.make(), len(prints) // 2
    index.prepare(expectation)
    added = prints.take(slice(0, half, 2))
    index.add(added)
    later = prints.take(slice(half, None))
    given = _as_set(index.candidates(later))
    earlier, looked_up = set(added.positions.tolist()), set(later.positions.tolist())
    expected = {pair for pair in found if pair[0] in earlier and pair[1] in looked_up}
    clause = "whether a pair is found depends on its two texts only"
    subject.require(given == expected, clause, f"with part of the texts added: {sorted(given ^ expected)[:3]}")


def _batches(prints: Fingerprints, size: int) -> Iterator[Fingerprints]:
    """Yield the texts in batches, and an empty batch before them."""
    yield prints.take(slice(0, 0))
    for first in range(0, len(prints), size):
        yield prints.take(slice(first, first + size))


def _as_set(pairs: CandidatePairs) -> set[Pair]:
    return set(zip(pairs.earlier.tolist(), pairs.later.tolist(), pairs.hamming_distances.tolist(), strict=True))


def pairs_within_limits(prints: Fingerprints) -> set[Pair]:
    """Return every pair within its limits, by comparing all with all."""
    distances = hamming_distances(prints.bits)
    lengths, limits = prints.limits.lengths, prints.limits
    first_is_shorter = lengths[:, None] <= lengths[None, :]
    reach = np.where(first_is_shorter, limits.max_hamming_distances[:, None], limits.max_hamming_distances[None, :])
    longest = np.where(first_is_shorter, limits.max_partner_lengths[:, None], limits.max_partner_lengths[None, :])
    fits = (distances <= reach) & (np.maximum(lengths[:, None], lengths[None, :]) <= longest)
    earlier, later = np.nonzero(np.triu(fits, 1))
    places = (prints.positions[earlier].tolist(), prints.positions[later].tolist())
    return set(zip(*places, distances[earlier, later].tolist(), strict=True))


def hamming_distances(bits: UInt64s) -> Int32s:
    """Return int32[n, n]: the number of bits in which each two fingerprints of uint64[n, words] differ."""
    octets = np.ascontiguousarray(bits).view(np.uint8).reshape(len(bits), 8 * bits.shape[1])
    ones = np.unpackbits(octets, axis=1).astype(np.int32)
    counts = ones.sum(axis=1, dtype=np.int32)
    distances: Int32s = counts[:, None] + counts[None, :] - 2 * (ones @ ones.T)
    return distances


def planted_prints(rng: np.random.Generator, n: int, width: int, max_hamming_distance: int) -> Fingerprints:
    """Return texts of which about half are earlier ones with some bits flipped, up to a little past the limit."""
    bits = rng.integers(0, 2**64, (n, width // 64), np.uint64)
    for row in range(1, n):
        if rng.random() < 0.5:
            n_flips = int(rng.integers(0, max_hamming_distance + 3))
            bits[row] = _flipped(rng, bits[rng.integers(0, row)], n_flips)
    positions = np.cumsum(rng.integers(1, 4, n)).astype(np.int64)
    strengths = rng.integers(0, 256, (n, width // 2)).astype(np.uint8)
    lengths = rng.integers(3, 40, n).astype(np.int32)
    return Fingerprints(positions, bits, strengths, _limits(lengths, max_hamming_distance))


def _limits(lengths: Int32s, max_hamming_distance: int) -> PairLimits:
    """Return limits by length: none for the shortest texts, half the distance for the longest."""
    reach = np.where(lengths > 30, max_hamming_distance // 2, max_hamming_distance)
    reach[lengths <= EXACT_ONLY_LENGTH] = -1
    nothing = np.zeros(len(lengths), np.float32)
    return PairLimits(lengths, reach.astype(np.int32), (lengths * 3 // 2).astype(np.int32), nothing, nothing)


def _flipped(rng: np.random.Generator, words: UInt64s, n_flips: int) -> UInt64s:
    flipped = words.copy()
    for bit in rng.choice(64 * len(words), n_flips, replace=False).tolist():
        flipped[bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return flipped


def small_expectation(prints: Fingerprints, width: int, max_hamming_distance: int) -> Expectation:
    """Return what an index is told of these texts, with copies of them as the pilot."""

    def pilot() -> tuple[Fingerprints, Fingerprints]:
        rng = np.random.default_rng(len(prints))
        edited = [_flipped(rng, row, int(rng.integers(0, max_hamming_distance + 1))) for row in prints.bits]
        bits = np.array(edited, np.uint64).reshape(prints.bits.shape)
        later: Int64s = prints.positions + len(prints)
        return prints, Fingerprints(later, bits, prints.strengths, prints.limits)

    return Expectation(
        n_texts=len(prints), workers=1, bits=width, max_hamming_distance=max_hamming_distance, pilot=pilot
    )
