"""Contract check for block indexes: keys per text, learning, and completeness within the Hamming limit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.testing.contract import Subject
from hybriddup.testing.texts import ALL_TEXTS

TEXTS = tuple(dict.fromkeys(ALL_TEXTS))
N_PAIRS = 300
"""Number of random pairs of fingerprints within the limit; if the index is complete, all must share a key."""


def check_block_index(
    component: Any, *, max_hamming_distance: int = 3, bits: Sequence[int] = (64, 128), **options: Any
) -> None:
    """Check that a block index keeps its contract.

    Parameters
    ----------
    component
        A block index in any form that ``registry.add_block_index`` accepts.
    max_hamming_distance
        Hamming limit for the check, inclusive. If ``is_complete`` is true, all pairs within it must share a key.
    bits
        Fingerprint widths to check.

    Raises
    ------
    ContractError
        If a clause does not hold; the message names it.
    """
    subject = Subject("block_index", component, options)
    for width in bits:
        rng = np.random.default_rng(width)
        prints = rng.integers(1, 2**64, (len(TEXTS), width // 64), np.uint64)
        index = _made(subject, width, max_hamming_distance)
        with subject.clause("learn() takes a sample of texts, and describe() describes the keys in one line"):
            index.learn(TEXTS)
            line = index.describe()
        subject.require(isinstance(line, str) and line and "\n" not in line, "describe() returns one line", line)
        keys = _keys(subject, index, TEXTS, prints)
        _check_each_by_itself(subject, index, prints, keys)
        _check_learned(subject, index, (width, max_hamming_distance), prints, keys)
        _check_complete(subject, index, width, max_hamming_distance, rng)


def _made(subject: Subject, bits: int, max_hamming_distance: int) -> Any:
    index = subject.make()
    with subject.clause("prepare(bits, max_hamming_distance) can be called first"):
        index.prepare(bits, max_hamming_distance)
    return index


def _keys(subject: Subject, index: Any, texts: Sequence[str], prints: UInt64s) -> UInt64s:
    """Return uint64[n, n_keys]: the sorted keys of each text, padded with `NO_KEY`."""
    with subject.clause("keys() returns uint64[n, n_keys], for all kinds of texts and for an empty batch"):
        index.keys((), prints[:0])
        keys: UInt64s = index.keys(texts, prints)
    ordered = np.sort(keys, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != np.uint64(NO_KEY))
    row = int(twice.any(axis=1).argmax()) if twice.any() else 0
    subject.require(not twice.any(), "no text has a key twice", ascii(texts[row])[:80] if texts else "")
    return ordered


def _check_each_by_itself(subject: Subject, index: Any, prints: UInt64s, keys: UInt64s) -> None:
    """Check that the keys of a text do not depend on the rest of its batch."""
    for first, last in pairwise([0, 1, 4, len(TEXTS)]):
        some = _keys(subject, index, TEXTS[first:last], prints[first:last])
        for row in range(first, last):
            alone, together = (set(one.tolist()) - {NO_KEY} for one in (some[row - first], keys[row]))
            clause = "the keys of a text depend only on the text and its fingerprint"
            subject.require(alone == together, clause, ascii(TEXTS[row])[:80])


def _check_learned(subject: Subject, index: Any, prepared: tuple[int, int], prints: UInt64s, keys: UInt64s) -> None:
    """Check that another instance makes the same keys once it has loaded the data that ``index`` learned."""
    with subject.clause("learned() returns arrays by name, and use_learned() takes them"):
        learned = index.learned()
        other = _made(subject, *prepared)
        other.use_learned(learned)
    plain = all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in learned.values())
    subject.require(plain, "learned() returns arrays of numbers or strings", sorted(learned))
    same = np.array_equal(_keys(subject, other, TEXTS, prints), keys)
    subject.require(same, "with what another instance learned, the keys are the same", sorted(learned))


def _check_complete(subject: Subject, index: Any, bits: int, distance: int, rng: np.random.Generator) -> None:
    """Check that all pairs within the Hamming limit ``distance`` share a key, if the index is complete."""
    if not index.is_complete:
        return
    earlier = rng.integers(1, 2**64, (N_PAIRS, bits // 64), np.uint64)
    later = np.stack([_flipped(rng, row, int(rng.integers(0, distance + 1))) for row in earlier])
    texts = ("",) * N_PAIRS
    keys, probes = index.keys(texts, earlier), index.keys(texts, later)
    if index.probes_others:
        probes = index.probes(probes, later)
    shared = (keys[:, :, None] == probes[:, None, :]) & (keys != np.uint64(NO_KEY))[:, :, None]
    missed = np.flatnonzero(~shared.any(axis=(1, 2)))
    clause = f"is_complete means that every two texts within {distance} of {bits} bits share a key"
    subject.require(not len(missed), clause, f"{len(missed)} of {N_PAIRS} pairs share none")


def _flipped(rng: np.random.Generator, words: UInt64s, n_flips: int) -> UInt64s:
    flipped = words.copy()
    for bit in rng.choice(64 * len(words), n_flips, replace=False).tolist():
        flipped[bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    return flipped
