"""Looking into buckets, piece by piece and as a whole, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.kernels.bucket_join import BLOCKS_NOTED, QUERY, find_near, least_in_common
from hybriddup.kernels.buckets import SortedProbes, fill_buckets
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.blocks.tables import Tables
from tests.builders import numbers_of
from tests.steps.block_runs import (
    clustered_prints,
    expectation_of,
    find_pairs,
    in_common_enough,
    plain_pairs,
    prints_of_texts,
)

seeds = st.integers(0, 2**32)


@given(n_room=st.integers(1, 9), n_found=st.integers(0, 9), n_more=st.integers(0, 40))
def test_larger_room_begins_with_what_was_found(n_room: int, n_found: int, n_more: int) -> None:
    """It is twice as large at least, and has room for what is to come and one more."""
    found = np.arange(max(n_room, n_found), dtype=np.uint64)
    larger = with_room_for(found, n_found, n_more)
    assert larger[:n_found].tolist() == list(range(n_found))
    assert len(larger) >= max(2 * len(found), n_found + n_more + 1)


@given(
    st.integers(0, 400),
    st.integers(0, 400),
    st.integers(0, 100).map(lambda percent: percent / 100),
    st.floats(0, 1, width=32),
)
def test_least_in_common_is_never_above_the_exact_number(a: int, b: int, share: float, part: float) -> None:
    """Rounded shares must not refuse a pair with exactly as many; and it asks for the next whole number below it."""
    of_shorter, of_longer = share * part, share * (1 - part)
    exact = of_shorter * min(a, b) + of_longer * max(a, b)
    least = least_in_common(min(a, b), max(a, b), np.float32(of_shorter), np.float32(of_longer))
    assert exact - 0.01 < least < exact


@pytest.mark.parametrize("n", [2**20, 2**24 - 1, 2**30])
def test_least_in_common_of_long_texts_is_not_above_the_exact_number(n: int) -> None:
    """Float32 is off by characters there."""
    for share in (0.1, 0.8, 0.9, 1 / 3):
        assert least_in_common(n, n, np.float32(share), np.float32(0)) < share * n
        assert least_in_common(0, n, np.float32(0), np.float32(share)) < share * n


INDEXES = {
    "scan": Scan(),
    "blocks": Blocks(Blocks.Options(n_blocks=6, n_key_blocks=2)),
    "probing": Probing(Probing.Options(n_blocks=4)),
}


@pytest.mark.parametrize("bits", [64, 128, 192, 256])
@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=5)
@given(seed=seeds)
def test_joined_pairs_equal_comparing_all_with_all(name: str, bits: int, seed: int) -> None:
    """A few texts through the whole join, which is plain Python when the JIT is off."""
    index: BlockIndex = INDEXES[name]
    prints = clustered_prints(np.random.default_rng(seed), 14, bits, 4)
    assert find_pairs(index, prints, [5]) == plain_pairs(prints)


@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=5)
@given(seed=seeds)
def test_joined_pairs_have_enough_characters_in_common(name: str, seed: int) -> None:
    """The same where characters are asked: the pairs within their limits that could have enough, and no others."""
    prints, texts = prints_of_texts(np.random.default_rng(seed), 14, 64, 4)
    expected = [pair for pair in plain_pairs(prints) if in_common_enough(prints, texts, pair)]
    assert find_pairs(INDEXES[name], prints, [5]) == expected


@settings(max_examples=5)
@given(seed=seeds)
def test_probed_pairs_are_among_all_pairs(seed: int) -> None:
    """The same with weak bits flipped."""
    prints = clustered_prints(np.random.default_rng(seed), 14, 128, 30)
    tables = Tables(Tables.Options(n_tables=2, key_bits=6, n_weak_bits=2))
    expectation = expectation_of(prints, pilot=lambda: (prints, prints))
    assert set(find_pairs(tables, prints, [5], expectation)) <= set(plain_pairs(prints))


@pytest.mark.parametrize(("n", "n_later", "step"), [(300, 120, 7), (32 * BLOCKS_NOTED + 5, 3, 1000)])
def test_more_blocks_than_are_noted_at_once_are_all_looked_at(n: int, n_later: int, step: int) -> None:
    """Many texts that look into a bucket, and a bucket in which one text finds more blocks than that."""
    near_rows = np.arange(0, n, step)
    bits = np.full((n, 1), 2**64 - 1, np.uint64)
    bits[near_rows] = 0
    whole, nothing = np.zeros(n, np.uint32), np.zeros((0, 2), np.uint64)
    bucketed = fill_buckets(bits, nothing, np.arange(n), np.ones(n, np.int32), whole, 1, whole.astype(np.int32), 1)
    queries = np.zeros(n_later, QUERY)
    probes = SortedProbes(np.array([0, n_later]), np.arange(n_later, dtype=np.uint32))
    near, counts = find_near(bucketed, probes, queries, np.float32(0), np.float32(0), 0, n * n_later)
    assert near.tolist() == [later << 32 | row for later in range(n_later) for row in near_rows.tolist()]
    assert counts == (n_later, n * n_later, n, 0)


def test_more_pairs_than_there_is_room_for_at_first_are_all_found() -> None:
    """Room grows in the middle of a bucket, and pairs written before that stay."""
    prints, _ = prints_of_texts(np.random.default_rng(0), 70, 64, 64, text="same text for all")
    assert [pair[:2] for pair in find_pairs(Scan(), prints)] == [(a, b) for a in range(70) for b in range(a + 1, 70)]
    assert len(numbers_of(prints.bits)) == 70
