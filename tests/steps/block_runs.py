"""Running a block index as the pipeline does, and finding the same pairs in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from hybriddup.characters import count_classes
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
        limits = make_limits(
            n,
            lengths=lengths.tolist(),
            max_hamming_distances=distances.tolist(),
            max_partner_lengths=(lengths * 3 // 2).tolist(),
        )
    strengths = rng.integers(0, 8, (n, bits)).astype(np.uint8)
    positions = np.cumsum(rng.integers(1, 4, n))
    return make_prints(numbers, bits, limits=limits, strengths=strengths, positions=positions.tolist())


LETTERS = "abcdefghij猫狗鸟喊回家 "
SHORT = 20
"""Characters up to which texts need nine tenths of both in common, as `edit` asks; longer ones four fifths of the
longer text, as `lcs` asks."""


def edited(rng: np.random.Generator, text: str, n_edits: int) -> str:
    """The text with some characters replaced, left out or put in."""
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
) -> tuple[Fingerprints, dict[int, str]]:
    """Texts with counted characters, of which a pair needs shares in common, and the texts by position.

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
    positions = np.cumsum(rng.integers(1, 4, n)) - 1 if text is None else np.arange(n)
    strengths = rng.integers(0, 8, (n, bits)).astype(np.uint8)
    prints = make_prints(numbers, bits, limits=limits, strengths=strengths, positions=positions.tolist())
    at_position = dict(zip(positions.tolist(), texts, strict=True))
    every_text = [at_position.get(position, "") for position in range(int(positions[-1]) + 1 if n else 0)]
    return replace(prints, characters=count_classes(every_text, 1)), at_position


def in_common_enough(prints: Fingerprints, texts: dict[int, str], pair: Triple) -> bool:
    """Whether the characters by class leave it open that a pair has as much in common as its shorter text asks for."""
    earlier, later = (prints.characters.counts[position].tolist() for position in pair[:2])
    n_in_common = sum(map(min, earlier, later))
    shorter, longer = sorted(len(texts[position]) for position in pair[:2])
    if shorter <= SHORT:
        return n_in_common >= Fraction(45, 100) * (shorter + longer)
    return n_in_common >= Fraction(8, 10) * longer
