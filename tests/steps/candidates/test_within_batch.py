"""Pairs among the texts of a batch are the same, whether they are found beforehand or when they are asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Int64s, NearPairs
from hybriddup.steps.blocks import BlockIndex, BlockReport
from hybriddup.steps.candidates.within_batch import FEW_COMPARISONS, WithinBatch, group_batch
from tests.steps.block_runs import clustered_prints, make_run_index
from tests.steps.blocks.test_exact import make_blocks, make_probing

N_TEXTS = 60
some_rows = st.lists(st.integers(0, N_TEXTS - 1), unique=True, min_size=1).map(sorted).map(np.array)


def batch_of(index: BlockIndex, seed: int) -> WithinBatch:
    """Texts around a few patterns, all in one batch."""
    prints = clustered_prints(np.random.default_rng(seed), N_TEXTS, 64, 6, by_length=False)
    return group_batch(make_run_index(index, prints).batch(np.arange(N_TEXTS)))


def rows_of(near: NearPairs) -> list[tuple[int, int, int]]:
    return list(zip(near.earlier.tolist(), near.later.tolist(), near.distances.tolist(), strict=True))


@pytest.mark.parametrize("index", [make_blocks(4, 1), make_probing(4)], ids=["own keys", "probed keys"])
@given(seed=st.integers(0, 99), taken=some_rows, places=st.lists(st.integers(0, 99), unique=True))
def test_pairs_found_beforehand_are_those_found_later(
    index: BlockIndex, seed: int, taken: Int64s, places: list[int]
) -> None:
    later = batch_of(index, seed)
    beforehand = later.with_pairs(1)
    assert beforehand.found is not None
    rows = np.array(sorted(place for place in places if place < len(taken)), np.int64)
    expected = rows_of(later.take(taken).pairs(BlockReport(), 1))
    assert rows_of(beforehand.take(taken).pairs(BlockReport(), 1)) == expected
    compared = rows_of(later.take(taken).compare(rows, BlockReport(), 1))
    assert compared == [pair for pair in expected if pair[1] in rows]
    assert rows_of(beforehand.pairs(BlockReport(), 1)) == rows_of(later.pairs(BlockReport(), 1)) != []


def test_what_finding_them_took_is_reported_when_they_are_asked_for() -> None:
    later, now, then = batch_of(make_blocks(4, 1), 1), BlockReport(), BlockReport()
    later.pairs(then, 1)
    later.with_pairs(1).pairs(now, 1)
    assert now == then
    assert now.n_comparisons > 0


def test_texts_that_crowd_one_another_are_not_compared_beforehand() -> None:
    n = 3 * FEW_COMPARISONS
    prints = clustered_prints(np.random.default_rng(1), n, 64, 0, by_length=False)
    grouped = group_batch(make_run_index(make_blocks(4, 1), prints).batch(np.arange(n)))
    assert grouped.n_comparisons > FEW_COMPARISONS * n
    assert grouped.with_pairs(1).found is None
