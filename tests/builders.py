"""Fingerprints, pairs and plugins for tests, made from plain numbers, a seed or a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import hybriddup
from hybriddup.data.records import NO_SKETCHES, Bools, CandidatePairs, Int64s, PairLimits, UInt64s
from hybriddup.kernels.search.pair_limits import text_columns
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.candidates import Batch

WORD = 2**64
ANY_LENGTH = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """Fingerprints of texts at rising positions, and their limits."""

    positions: Int64s
    bits: UInt64s
    limits: PairLimits

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, chosen: Int64s | Bools | slice) -> Fingerprints:
        """Return the chosen texts, in the order given."""
        return Fingerprints(
            self.positions[chosen], self.bits[chosen], PairLimits(*(one[chosen] for one in self.limits))
        )


def with_keys(prints: Fingerprints, sketches: UInt64s | None, index: BlockIndex) -> Batch:
    """Texts with the block keys that an index makes of their fingerprints."""
    keys = index.keys([""] * len(prints), prints.bits)
    return make_batch(prints, sketches, keys, index.probes(keys, prints.bits) if index.probes_others else keys)


def make_batch(prints: Fingerprints, sketches: UInt64s | None, keys: UInt64s, probes: UInt64s) -> Batch:
    """Texts, no two of which are equal, with their keys."""
    columns = text_columns(prints.bits, prints.limits, NO_SKETCHES if sketches is None else sketches)
    return Batch(prints.positions, keys, probes, columns, prints.positions)


def words_of(numbers: Sequence[int], words: int) -> UInt64s:
    """Fingerprints given as whole numbers, as uint64[n, words]: the lowest 64 bits first."""
    rows = [[number >> (64 * word) & (WORD - 1) for word in range(words)] for number in numbers]
    return np.array(rows, np.uint64).reshape(len(numbers), words)


def numbers_of(bits: UInt64s) -> list[int]:
    """Fingerprints uint64[n, words] as whole numbers."""
    return [sum(int(word) << (64 * place) for place, word in enumerate(row)) for row in bits.tolist()]


def make_limits(
    n: int,
    *,
    lengths: Sequence[int] | int = 20,
    max_hamming_distances: Sequence[int] | int = 3,
    max_partner_lengths: Sequence[int] | int = ANY_LENGTH,
    common_of_shorter: Sequence[float] | float = 0.0,
    common_of_longer: Sequence[float] | float = 0.0,
) -> PairLimits:
    """Limits of ``n`` texts; a single number stands for all of them."""
    columns = (lengths, max_hamming_distances, max_partner_lengths)
    numbers = (np.broadcast_to(np.array(column, np.int32), (n,)).copy() for column in columns)
    shares = (common_of_shorter, common_of_longer)
    return PairLimits(*numbers, *(np.broadcast_to(np.array(share, np.float32), (n,)).copy() for share in shares))


def make_prints(
    numbers: Sequence[int], bits: int = 64, *, limits: PairLimits | None = None, positions: Sequence[int] | None = None
) -> Fingerprints:
    """Fingerprints given as whole numbers; by default all of one length, matching within 3 bits."""
    n = len(numbers)
    places = np.arange(n, dtype=np.int64) if positions is None else np.array(positions, np.int64)
    return Fingerprints(places, words_of(numbers, bits // 64), limits or make_limits(n))


def clustered_numbers(rng: np.random.Generator, n: int, bits: int, max_flips: int, n_patterns: int = 4) -> list[int]:
    """Fingerprints around a few patterns, up to ``max_flips`` bits away, so that many pairs are near the limits."""
    patterns = [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(n_patterns)]
    numbers = []
    for _ in range(n):
        number = patterns[int(rng.integers(n_patterns))]
        for bit in rng.choice(bits, int(rng.integers(0, max_flips + 1)), replace=False).tolist():
            number ^= 1 << bit
        numbers.append(number)
    return numbers


def make_pairs(pairs: Sequence[tuple[int, int]], distances: Sequence[int] | int = 0) -> CandidatePairs:
    """Candidate pairs (earlier, later), sorted by later and then earlier, as block indexes return them."""
    listed = sorted(pairs, key=lambda pair: (pair[1], pair[0]))
    rows = np.array(listed, np.int64).reshape(len(listed), 2)
    counts = np.broadcast_to(np.array(distances, np.int32), (len(listed),)).copy()
    return CandidatePairs(rows[:, 0].copy(), rows[:, 1].copy(), counts)


EVERY = [13, pytest.param(1, marks=pytest.mark.slow)]
"""Steps over things of which there are too many to try each in a quick run."""


def examples(n: int) -> settings:
    """Return settings to try ``n`` examples with --hypothesis-profile thorough, and otherwise a share of them."""
    return settings(max_examples=max(min(n, 10), n * settings.default.max_examples // 100), deadline=None)


def plugin_of(register: Callable[[Any], None] | None = None, **hooks: Callable[..., Any]) -> ModuleType:
    """A plugin module that implements some hooks; ``register`` is the one that adds to the registry."""
    module = ModuleType("made_for_a_test")
    for name, function in ({"hybriddup_register": register} | hooks if register else hooks).items():
        setattr(module, name, hybriddup.hookimpl(function, specname=name))
    return module
