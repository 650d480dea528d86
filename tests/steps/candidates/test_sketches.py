"""Pairs that cannot have enough characters in common are not listed; all others within their limits are."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Scan
from tests.builders import Fingerprints, examples
from tests.steps.block_runs import SHORT, Triple, find_pairs, in_common_enough, plain_pairs, prints_of_texts
from tests.steps.blocks.test_exact import make_blocks, make_probing, row_cuts, seeds

indexes = pytest.mark.parametrize(
    "index", [Scan(), make_blocks(6, 2), make_blocks(12, 8), make_probing(4)], ids=["scan", "blocks", "many", "probing"]
)


@indexes
@pytest.mark.parametrize("bits", [64, 256])
@examples(20)
@given(seed=seeds, cuts=row_cuts)
def test_listed_pairs_are_those_that_could_have_enough_in_common(
    index: BlockIndex, bits: int, seed: int, cuts: list[int]
) -> None:
    """Of the pairs within distance and length, by comparing all with all in plain Python, in any batches."""
    prints, texts, sketches = prints_of_texts(np.random.default_rng(seed), 40, bits, 4)
    expected = [pair for pair in plain_pairs(prints) if in_common_enough(sketches, texts, pair)]
    assert find_pairs(index, prints, cuts, sketches=sketches) == expected


def test_pairs_of_the_property_are_both_listed_and_refused() -> None:
    """Or the properties here would hold without being asked."""
    n_within, n_listed = 0, 0
    for seed in range(20):
        prints, texts, sketches = prints_of_texts(np.random.default_rng(seed), 40, 64, 4)
        within = plain_pairs(prints)
        n_within += len(within)
        n_listed += sum(in_common_enough(sketches, texts, pair) for pair in within)
    assert 100 < n_listed < n_within / 2


def within_length(prints: Fingerprints) -> list[Triple]:
    """The pairs whose lengths alone leave it open that they have enough in common."""
    lengths = dict(zip(prints.positions.tolist(), prints.limits.lengths.tolist(), strict=True))

    def is_open(pair: Triple) -> bool:
        shorter, longer = sorted(lengths[position] for position in pair[:2])
        return 100 * shorter >= (45 * (shorter + longer) if shorter <= SHORT else 80 * longer)

    return [pair for pair in plain_pairs(prints) if is_open(pair)]


@indexes
@examples(20)
@given(seed=seeds)
def test_without_sketches_characters_refuse_no_pair(index: BlockIndex, seed: int) -> None:
    """Though the limits ask for shares: every pair is listed whose lengths allow them."""
    prints, *_ = prints_of_texts(np.random.default_rng(seed), 40, 64, 4)
    assert set(within_length(prints)) <= set(find_pairs(index, prints)) <= set(plain_pairs(prints))


@examples(20)
@given(seed=seeds)
def test_texts_that_ask_for_nothing_are_paired_with_any(seed: int) -> None:
    prints, texts, sketches = prints_of_texts(np.random.default_rng(seed), 40, 64, 4)
    for shares in (prints.limits.common_of_shorter, prints.limits.common_of_longer):
        shares[prints.limits.lengths > SHORT] = 0

    def is_listed(pair: Triple) -> bool:
        return min(len(texts[row]) for row in pair[:2]) > SHORT or in_common_enough(sketches, texts, pair)

    assert find_pairs(Scan(), prints, sketches=sketches) == list(filter(is_listed, plain_pairs(prints)))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_list_the_same_pairs(workers: int) -> None:
    prints, texts, sketches = prints_of_texts(np.random.default_rng(3), 1100, 64, 4)
    expected = [pair for pair in plain_pairs(prints) if in_common_enough(sketches, texts, pair)]
    for index in (Scan(), make_blocks(6, 2)):
        assert find_pairs(index, prints, [50], sketches=sketches, workers=workers) == expected


def test_texts_of_one_letter_refuse_no_pair_of_themselves() -> None:
    """Many times over, so that a sketch has all of its bits."""
    for text in ("a" * 254, "a" * 255, "a" * 3000, "ab" * 1500):
        prints, _, sketches = prints_of_texts(np.random.default_rng(0), 4, 64, 64, text=text)
        assert [pair[:2] for pair in find_pairs(Scan(), prints, sketches=sketches)] == list(combinations(range(4), 2))
