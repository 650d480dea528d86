"""Contract check of live indexes: what they find, while texts come and go, against comparing everything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hybriddup.records import CandidatePairs, Fingerprints, UInt32s, UInt64s
from hybriddup.steps.blocks import Expectation
from hybriddup.testing.block_indexes import Pair, pairs_within_limits, planted_prints, small_expectation
from hybriddup.testing.contract import ContractError
from hybriddup.window.index import LiveIndex, fill

Maker = Callable[[Expectation], LiveIndex]

N_TEXTS = 800
WINDOW = 400
"""Texts, and how many of them may match at a time, more or less."""
N_STEPS = 40
SCANNED_AT_ONCE = 150
N_WINDOWS = 5
SPREAD = 2654435761
"""Odd, and near 2**32 divided by the golden ratio: products with small numbers are spread over all buckets."""
SLACK = 1.3
"""So much more memory than a full window may be taken by forgotten texts that are not yet swept out."""


def check_live_index(make: Maker, *, max_hamming_distance: int = 3, bits: Sequence[int] = (64, 128)) -> None:
    """Check that a live index keeps its contract.

    Parameters
    ----------
    make
        Returns a new index for an expectation.
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
    for width in bits:
        for seed in range(2):
            prints = planted_prints(np.random.default_rng([width, seed]), N_TEXTS, width, max_hamming_distance)
            expectation = replace(small_expectation(prints, width, max_hamming_distance), n_texts=WINDOW)
            Course(make, prints, expectation, seed).check()
        check_memory(make, expectation)


class Course:
    """Texts that are looked up and added in batches of random sizes, while earlier ones are forgotten."""

    def __init__(self, make: Maker, prints: Fingerprints, expectation: Expectation, seed: int) -> None:
        self.make = make
        self.prints = prints
        self.expectation = expectation
        self.seed = seed
        self.oracle = pairs_within_limits(prints)
        classes = np.random.default_rng([seed, 7]).integers(0, 64, len(prints), np.uint64)
        # one character each, which rules no pair out, because none needs any in common
        self.sketches: UInt64s = np.stack([np.uint64(1) << classes, np.zeros_like(classes)], axis=1)

    def check(self) -> None:
        """Check every clause."""
        index, found = self._run(self.expectation)
        _, found_by_two = self._run(replace(self.expectation, workers=2))
        require(found == found_by_two, "any number of workers finds the same", sorted(found ^ found_by_two)[:3])
        self._check_texts(index)
        self._check_copies(index)

    def _run(self, expectation: Expectation) -> tuple[LiveIndex, set[Pair]]:
        index, found, edge = self.make(expectation), set[Pair](), 0
        for batch, new_edge in self._steps():
            found |= self._check_look_up(index, batch, edge)
            self._check_scan(index, batch, edge)
            index.add(batch, *self._columns_of(index, batch))
            edge = new_edge
            index.forget_before(edge)
            index.forget_before(edge - 1)
            positions = self.prints.positions
            n_live = int(((positions >= edge) & (positions <= batch.positions.max(initial=-1))).sum())
            n_texts = index.report().n_texts
            require(
                not len(batch) or n_texts == n_live,
                "the report counts the texts that can be found",
                f"{n_texts}, not {n_live}",
            )
        return index, found

    def _check_look_up(self, index: LiveIndex, batch: Fingerprints, edge: int) -> set[Pair]:
        """Check what is found for a batch that is not added yet."""
        pairs = as_list(index.candidates(batch, *self._columns_of(index, batch)))
        given, first = set(pairs), int(batch.positions.min(initial=2**62))
        require(len(given) == len(pairs), "no pair is found twice", pairs[:5])
        require(pairs == sorted(pairs, key=lambda pair: pair[1::-1]), "pairs are sorted by later, then earlier", pairs)
        looked_up = set(batch.positions.tolist())
        oracle = {pair for pair in self.oracle if edge <= pair[0] < first and pair[1] in looked_up}
        forgotten = sorted(pair for pair in given if pair[0] < edge)
        require(not forgotten, "nothing forgotten is found", forgotten[:3])
        require(given <= oracle, "a pair is within its limits, with the bits that differ", sorted(given - oracle)[:3])
        missed = sorted(oracle - given)
        exact = index.report().exact
        require(not (exact and missed), "a report that says exact means that every pair is found", missed[:3])
        equal = [pair for pair in missed if pair[2] == 0]
        require(not equal, "equal fingerprints within their limits are found", equal[:3])
        return given

    def _check_scan(self, index: LiveIndex, batch: Fingerprints, edge: int) -> None:
        """Check that every pair is found by comparing with all texts from a position on, a part at a time."""
        first = int(batch.positions.min(initial=2**62))
        start, pairs = (edge + min(first, int(self.prints.positions[-1]))) // 2, list[Pair]()
        position: int | None = start
        while position is not None:
            found, following = index.scan_from(position, SCANNED_AT_ONCE, batch, self._columns_of(index, batch)[0])
            require(following is None or following > position, "scan_from goes on", (position, following))
            some = as_list(found)
            require(some == sorted(some, key=lambda pair: pair[1::-1]), "scan_from sorts by later, then earlier", some)
            pairs, position = pairs + some, following
        looked_up = set(batch.positions.tolist())
        oracle = [pair for pair in self.oracle if start <= pair[0] < first and pair[1] in looked_up]
        wrong = sorted(set(pairs) ^ set(oracle))
        require(len(pairs) == len(oracle) and not wrong, "scan_from finds every pair once, and no other", wrong[:3])

    def _check_texts(self, index: LiveIndex) -> None:
        """Check that the texts of the index are those that were added and not forgotten."""
        batches = list(index.texts())
        given = [position for texts in batches for position in texts.prints.positions.tolist()]
        n_texts = index.report().n_texts
        expected = self.prints.positions[len(self.prints) - n_texts :].tolist()
        require(given == expected, "texts() yields the texts that can be found, in order", (given[:3], expected[:3]))
        bits = np.concatenate([texts.prints.bits for texts in batches])
        same = np.array_equal(bits, self.prints.bits[len(self.prints) - n_texts :])
        require(same, "texts() yields the fingerprints as they were added", "others")

    def _check_copies(self, index: LiveIndex) -> None:
        """Check that an index planned anew answers as this one."""
        later = replace(self.prints, positions=self.prints.positions + int(self.prints.positions[-1]))
        expected = as_list(index.candidates(later, *self._columns_of(index, later, shift=True)))
        remade = self.make(self.expectation)
        fill(remade, index.texts())
        given = as_list(remade.candidates(later, *self._columns_of(index, later, shift=True)))
        same = given == expected or not index.report().exact
        require(same, "an exact index planned anew answers the same", "it differs")

    def _steps(self) -> Iterator[tuple[Fingerprints, int]]:
        """Yield batches, some of them empty, and the edge after each."""
        rng, n = np.random.default_rng(self.seed), len(self.prints)
        bounds = np.sort(rng.integers(0, n + 1, N_STEPS - 1)).tolist()
        edge = 0
        for first, last in zip([0, *bounds], [*bounds, n], strict=True):
            oldest = max(last - int(rng.integers(WINDOW // 2, WINDOW)), 0)
            edge = max(edge, int(self.prints.positions[min(oldest, n - 1)]))
            yield self.prints.take(slice(first, last)), edge

    def _columns_of(
        self, index: LiveIndex, batch: Fingerprints, *, shift: bool = False
    ) -> tuple[UInt64s | None, UInt32s | None]:
        """Return the sketches and the shingles of texts, as far as the index asks for them."""
        positions = batch.positions - (int(self.prints.positions[-1]) if shift else 0)
        rows = np.searchsorted(self.prints.positions, positions)
        sketches = self.sketches[rows] if index.sketched else None
        return sketches, shingles_like(batch, index.n_shingles) if index.n_shingles else None


def shingles_like(prints: Fingerprints, n_shingles: int) -> UInt32s:
    """Return uint32[n, n_shingles]: such as texts with these fingerprints could have, each rising.

    Each stands for some bits of the fingerprint, so that texts with few bits between them share most.
    """
    bits = prints.bits.view(np.uint8)[:, np.arange(n_shingles) % (8 * prints.bits.shape[1])].astype(np.uint32)
    which = np.arange(n_shingles, dtype=np.uint32)
    return np.sort((bits + np.uint32(1) + (which << np.uint32(8))) * np.uint32(SPREAD), axis=1)


def check_memory(make: Maker, expectation: Expectation) -> None:
    """Check that memory stops growing once the window is full."""
    index, rng, n_words = make(expectation), np.random.default_rng(5), expectation.bits // 64
    limits = planted_prints(rng, 1, expectation.bits, expectation.max_hamming_distance).limits
    full = 0
    for position in range(0, N_WINDOWS * WINDOW, 10):
        bits = rng.integers(0, 2**64, (10, n_words), np.uint64)
        positions = np.arange(position, position + 10, dtype=np.int64)
        strengths = np.zeros((10, 32 * n_words), np.uint8)
        sketches = np.zeros((10, 2), np.uint64) if index.sketched else None
        prints = Fingerprints(positions, bits, strengths, limits.take(np.zeros(10, np.int64)))
        index.add(prints, sketches, shingles_like(prints, index.n_shingles) if index.n_shingles else None)
        index.forget_before(position + 10 - WINDOW)
        if position == 2 * WINDOW:
            full = index.report().n_bytes
    n_bytes = index.report().n_bytes
    require(n_bytes <= SLACK * full, "memory stops growing once the window is full", f"{full} bytes, then {n_bytes}")


def as_list(pairs: CandidatePairs) -> list[Pair]:
    """Return pairs as (earlier, later, differing bits), in their order."""
    return list(zip(pairs.earlier.tolist(), pairs.later.tolist(), pairs.hamming_distances.tolist(), strict=True))


def require(holds: object, clause: str, evidence: object) -> None:
    """Raise the error of a clause unless it holds."""
    if not holds:
        raise ContractError(f"{clause}: the live index breaks this: {str(evidence)[:300]}")
