"""Looking texts up by the keys of a block index as a run does, and finding the same pairs in plain Python."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from hybriddup.data.records import NO_SKETCHES, NearPairs, UInt64s
from hybriddup.kernels.search.pair_limits import text_columns
from hybriddup.steps.blocks import BlockIndex, BlockReport
from hybriddup.steps.candidates.groups import group_texts
from hybriddup.steps.candidates.run_index import RunIndex
from hybriddup.steps.candidates.sketches import sketch_texts
from hybriddup.steps.candidates.within_batch import group_batch
from tests import reference
from tests.builders import Fingerprints, clustered_numbers, make_limits, make_prints, numbers_of

Triple = tuple[int, int, int]
"""Earlier position, later position, differing bits."""


def find_pairs(*arguments: Any, **options: Any) -> list[Triple]:
    """Every pair that `look_up_all` finds."""
    return look_up_all(*arguments, **options)[0]


def look_up_all(
    index: BlockIndex, prints: Fingerprints, cuts: Sequence[int] = (), sketches: UInt64s = NO_SKETCHES, workers: int = 1
) -> tuple[list[Triple], BlockReport]:
    """Every pair that is found when all texts are kept and come in batches, cut at these rows; and the report."""
    held = make_run_index(index, prints, sketches, workers)
    positions, found = prints.positions, list[Triple]()
    for first, last in pairwise([0, *sorted(cuts), len(prints)]):
        if first == last:
            continue
        batch = held.batch(np.arange(first, last))
        of_index, within = held.look_up(batch), group_batch(batch)
        found += triples(of_index, positions, positions[first:last])
        near = within.pairs(held.report, workers)
        found += triples(near, positions[first:last], positions[first:last])
        held.add(batch, np.ones(last - first, np.bool_))
    return sorted(found), held.report


def make_run_index(
    index: BlockIndex, prints: Fingerprints, sketches: UInt64s = NO_SKETCHES, workers: int = 1
) -> RunIndex:
    """Return the index of a run over these texts, which are told apart by their fingerprints alone; nothing is kept."""
    n, limits = len(prints), prints.limits
    widest = max(int(limits.max_hamming_distances.max(initial=0)), 0)
    index.prepare(64 * prints.bits.shape[1], widest)
    texts, is_near = [""] * n, np.ones(n, np.bool_)
    groups = group_texts(index, texts, prints.bits, is_near, workers)
    known = text_columns(prints.bits, limits, sketches)
    return RunIndex(index, groups, known, texts, np.arange(n, dtype=np.int32), workers)


def triples(near: NearPairs, earlier: np.ndarray, later: np.ndarray) -> list[Triple]:
    """Pairs by position, which are sorted by their later text, then the earlier one, and none stands twice."""
    rows = list(zip(near.later.tolist(), near.earlier.tolist(), strict=True))
    assert rows == sorted(set(rows))
    columns = earlier[near.earlier], later[near.later], near.distances
    pairs = list(zip(*(column.tolist() for column in columns), strict=True))
    assert all(first < second for first, second, _ in pairs)
    return pairs


def plain_pairs(prints: Fingerprints) -> list[Triple]:
    """Every pair within distance and length of its shorter text, by comparing all with all in plain Python; sorted."""
    numbers, positions = numbers_of(prints.bits), prints.positions.tolist()
    lengths, limits, reaches = (column.tolist() for column in prints.limits[:3])
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
        reaches = lengths * 3 // 2
        limits = make_limits(n, lengths=lengths, max_hamming_distances=distances, max_partner_lengths=reaches)
    positions = np.cumsum(rng.integers(1, 4, n))
    return make_prints(numbers, bits, limits=limits, positions=positions.tolist())


LETTERS = "abcdefghij猫狗鸟喊回家 "
SHORT = 20
"""Characters up to which texts need nine tenths of both in common, as `edit` asks; longer ones four fifths of the
longer text, as `lcs` asks."""


def edited(rng: np.random.Generator, text: str, n_edits: int) -> str:
    characters = list(text)
    for _ in range(n_edits):
        place = int(rng.integers(len(characters)))
        characters[place : place + int(rng.integers(2))] = rng.choice(list(LETTERS), int(rng.integers(2))).tolist()
    return "".join(characters) or "a"


def texts_of_templates(rng: np.random.Generator, n: int) -> list[str]:
    """Texts of 1 to some 45 characters around a few templates, up to several edits away, in any order of letters."""
    templates = ["".join(rng.choice(list(LETTERS), int(rng.integers(8, 40)))) for _ in range(3)]
    texts = [edited(rng, templates[int(rng.integers(3))], int(rng.integers(0, 9))) for _ in range(n)]
    return ["".join(rng.permutation(list(text))) if rng.random() < 0.2 else text for text in texts]


def prints_of_texts(
    rng: np.random.Generator, n: int, bits: int, max_hamming_distance: int, *, text: str | None = None
) -> tuple[Fingerprints, list[str], UInt64s]:
    """Texts of which a pair needs shares of characters in common, the texts themselves, and their sketches.

    Their fingerprints have nothing to do with them, so that bits and characters agree or disagree in every mixture.
    """
    texts = texts_of_templates(rng, n) if text is None else [text] * n
    lengths = list(map(len, texts))
    limits = make_limits(
        n,
        lengths=lengths,
        max_hamming_distances=max_hamming_distance,
        common_of_shorter=[0.45 if length <= SHORT else 0.0 for length in lengths],
        common_of_longer=[0.45 if length <= SHORT else 0.8 for length in lengths],
    )
    numbers = clustered_numbers(rng, n, bits, min(max_hamming_distance // 2 + 1, bits), n_patterns=2)
    prints = make_prints(numbers, bits, limits=limits)
    return prints, texts, sketch_texts(texts, 1)


def in_common_enough(sketches: UInt64s, texts: list[str], pair: Triple) -> bool:
    """Whether the sketches leave it open that a pair has as much in common as its shorter text asks for."""
    rows = sorted(pair[:2], key=lambda position: (len(texts[position]), -position))
    shorter, longer = (len(texts[row]) for row in rows)
    n_in_common = shorter - int(np.bitwise_count(sketches[rows[0]] & ~sketches[rows[1]]).sum())
    if shorter <= SHORT:
        return n_in_common >= Fraction(45, 100) * (shorter + longer)
    return n_in_common >= Fraction(8, 10) * longer
