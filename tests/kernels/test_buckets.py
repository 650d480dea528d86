"""Keys, buckets, weak bits and joins against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.kernels.buckets import fill_buckets, find_weak_bits, fold_keys
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.blocks.tables import Tables
from tests.builders import numbers_of, words_of
from tests.steps.block_runs import clustered_prints, expectation_of, find_pairs, plain_pairs

seeds = st.integers(0, 2**32)


def some_key(rng: np.random.Generator, words: int, n_key_bits: int) -> np.ndarray:
    """Distinct bit positions in any order."""
    return rng.permutation(64 * words)[:n_key_bits].astype(np.int64)


def plain_bucket(number: int, key: list[int], bucket_bits: int) -> int:
    """Key bit ``i`` is combined into bucket bit ``i % bucket_bits``."""
    bucket = 0
    for place, position in enumerate(key):
        bucket ^= (number >> position & 1) << (place % bucket_bits)
    return bucket


@pytest.mark.parametrize("words", [1, 2, 4])
@given(seed=seeds, n_key_bits=st.integers(1, 40), bucket_bits=st.integers(1, 22))
def test_keys_are_folded_as_their_plain_twin_says(words: int, seed: int, n_key_bits: int, bucket_bits: int) -> None:
    """For any choice of bits and any number of buckets."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, (5, words), np.uint64)
    key = some_key(rng, words, n_key_bits)
    expected = [plain_bucket(number, key.tolist(), bucket_bits) for number in numbers_of(bits)]
    assert fold_keys(bits, key, bucket_bits).tolist() == expected


@given(seed=seeds, n_key_bits=st.integers(1, 40), bucket_bits=st.integers(1, 22))
def test_flipping_a_bit_moves_by_a_fixed_offset(seed: int, n_key_bits: int, bucket_bits: int) -> None:
    """Which is what lets neighbours be probed without folding their keys."""
    rng = np.random.default_rng(seed)
    key, number = some_key(rng, 1, n_key_bits), int.from_bytes(rng.bytes(8), "little")
    flipped = [number ^ 1 << position for position in key.tolist()]
    own, *others = fold_keys(words_of([number, *flipped], 1), key, bucket_bits).tolist()
    assert [own ^ other for other in others] == [1 << place % bucket_bits for place in range(n_key_bits)]


@pytest.mark.parametrize("words", [1, 2, 4])
@given(seed=seeds, n=st.integers(0, 30), n_buckets=st.sampled_from([1, 2, 8]), n_classes=st.integers(1, 3))
def test_buckets_hold_every_row_once(words: int, seed: int, n: int, n_buckets: int, n_classes: int) -> None:
    """By bucket, then length class, then row; the first two words of each fingerprint stand beside its row."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, (n, words), np.uint64)
    buckets, classes = rng.integers(0, n_buckets, n), rng.integers(0, n_classes, n)
    filled = fill_buckets(bits, buckets.astype(np.uint32), n_buckets, classes.astype(np.int32), n_classes)
    cells = (buckets * n_classes + classes).tolist()
    order = sorted(range(n), key=lambda row: (cells[row], row))
    assert filled.order.tolist() == order
    assert filled.starts.tolist() == [sum(cell < c for cell in cells) for c in range(n_buckets * n_classes + 1)]
    assert filled.first_words[:n].tolist() == bits[order, 0].tolist()
    assert filled.second_words[:n].tolist() == (bits[order, 1].tolist() if words > 1 else [0] * n)


@pytest.mark.parametrize("words", [1, 2, 4])
@given(seed=seeds, n_key_bits=st.integers(1, 20), n_weak_bits=st.integers(0, 6), bucket_bits=st.integers(1, 22))
def test_weak_bits_are_the_weakest_of_the_key(
    words: int, seed: int, n_key_bits: int, n_weak_bits: int, bucket_bits: int
) -> None:
    """Of equally weak ones, the first in the key; the others must agree for a pair to be found."""
    rng = np.random.default_rng(seed)
    n_weak_bits = min(n_weak_bits, n_key_bits)
    strengths = rng.integers(0, 4, (3, 64 * words)).astype(np.uint8)
    key = some_key(rng, words, n_key_bits)
    flips, masks = find_weak_bits(strengths, key, n_weak_bits, bucket_bits, words)
    for row in range(3):
        places = sorted(range(n_key_bits), key=lambda place: (strengths[row, key[place]], place))
        assert flips[row].tolist() == [1 << place % bucket_bits for place in places[:n_weak_bits]]
        assert numbers_of(masks)[row] == sum(1 << int(key[place]) for place in places[n_weak_bits:])


INDEXES = {
    "scan": Scan(),
    "blocks": Blocks(Blocks.Options(n_blocks=6, n_key_blocks=2)),
    "probing": Probing(Probing.Options(n_blocks=4)),
}


@pytest.mark.parametrize("bits", [64, 128, 256])
@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=5)
@given(seed=seeds)
def test_joined_pairs_equal_comparing_all_with_all(name: str, bits: int, seed: int) -> None:
    """A few texts through the whole join, which is plain Python when the JIT is off."""
    index: BlockIndex = INDEXES[name]
    prints = clustered_prints(np.random.default_rng(seed), 14, bits, 4)
    assert find_pairs(index, prints, [5]) == plain_pairs(prints)


@settings(max_examples=5)
@given(seed=seeds)
def test_probed_pairs_are_among_all_pairs(seed: int) -> None:
    """The same with weak bits flipped."""
    prints = clustered_prints(np.random.default_rng(seed), 14, 128, 30)
    tables = Tables(Tables.Options(n_tables=2, key_bits=6, n_weak_bits=2))
    expectation = expectation_of(prints, pilot=lambda: (prints, prints))
    assert set(find_pairs(tables, prints, [5], expectation)) <= set(plain_pairs(prints))
