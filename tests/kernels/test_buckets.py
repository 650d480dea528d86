"""Keys, buckets, weak bits and probes against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.buckets import BLOCK_SIZE, fill_buckets, find_weak_bits, fold_keys, list_probes, sort_probes
from tests.builders import numbers_of, pack_strengths, words_of

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
    """By bucket, then length class, then row; what is asked of each text first stands beside its row."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**64, (n, words), np.uint64)
    sketches, lengths = rng.integers(0, 2**64, (3 * n, 2), np.uint64), rng.integers(0, 99, n).astype(np.int32)
    positions = np.sort(rng.permutation(3 * n)[:n])
    buckets, classes = rng.integers(0, n_buckets, n), rng.integers(0, n_classes, n)
    cell_columns = buckets.astype(np.uint32), n_buckets, classes.astype(np.int32), n_classes
    filled = fill_buckets(bits, sketches, positions, lengths, *cell_columns)
    without = fill_buckets(bits, sketches[:0], positions, lengths, *cell_columns)
    cells = (buckets * n_classes + classes).tolist()
    order = sorted(range(n), key=lambda row: (cells[row], row))
    assert (filled.details[:, 2] & np.uint64(2**32 - 1)).tolist() == order
    assert filled.starts.tolist() == [sum(cell < c for cell in cells) for c in range(n_buckets * n_classes + 1)]
    assert filled.first_words[:n].tolist() == bits[order, 0].tolist()
    assert filled.second_words[:n].tolist() == (bits[order, 1].tolist() if words > 1 else [0] * n)
    assert filled.details[:, :2].tolist() == sketches[positions[order]].tolist()
    assert without.details[:, :2].tolist() == [[0, 0]] * n
    assert (filled.details[:, 2] >> np.uint64(32)).tolist() == lengths[order].tolist()
    assert len(filled.first_words) == len(filled.second_words) == n + BLOCK_SIZE


def test_keys_without_bits_have_one_bucket() -> None:
    """Which is how everything is compared with everything."""
    bits = np.arange(5, dtype=np.uint64).reshape(5, 1)
    assert fold_keys(bits, np.zeros(0, np.int64), 0).tolist() == [0] * 5


@pytest.mark.parametrize("words", [1, 2, 4])
@given(
    seed=seeds, n_key_bits=st.integers(1, 22), n_weak_bits=st.integers(0, 10), n_different=st.sampled_from([1, 4, 16])
)
def test_weak_bits_are_the_weakest_of_the_key(
    words: int, seed: int, n_key_bits: int, n_weak_bits: int, n_different: int
) -> None:
    """As places in the key, the weakest first; of equally weak ones, the first in the key."""
    rng = np.random.default_rng(seed)
    n_weak_bits = min(n_weak_bits, n_key_bits)
    strengths = rng.integers(16 - n_different, 16, (3, 64 * words)).astype(np.uint8)
    key = some_key(rng, words, n_key_bits)
    weak = find_weak_bits(pack_strengths(strengths), key, n_weak_bits)
    for row in range(3):
        places = sorted(range(n_key_bits), key=lambda place: (strengths[row, key[place]], place))
        assert weak[row].tolist() == places[:n_weak_bits]


@pytest.mark.parametrize("n_texts", [0, 1, 3])
@given(
    seed=seeds,
    bucket_bits=st.integers(1, 12),
    n_offsets=st.integers(1, 4),
    n_weak_bits=st.integers(0, 5),
)
def test_each_text_probes_its_buckets_with_every_combination_of_weak_bits_flipped(
    n_texts: int, seed: int, bucket_bits: int, n_offsets: int, n_weak_bits: int
) -> None:
    """From each bucket offset, text by text; a bucket may come up more than once where bits are folded together."""
    rng = np.random.default_rng(seed)
    buckets = rng.integers(0, 2**bucket_bits, n_texts).astype(np.uint32)
    offsets = rng.integers(0, 2**bucket_bits, n_offsets).astype(np.uint32)
    weak_places = rng.integers(0, 22, (n_texts, n_weak_bits)).astype(np.uint8)
    listed = list_probes(buckets, offsets, weak_places, bucket_bits).reshape(n_texts, n_offsets << n_weak_bits)
    for row in range(n_texts):
        expected = []
        for offset in offsets.tolist():
            for flipped in range(2**n_weak_bits):
                bucket = int(buckets[row]) ^ offset
                for weak in range(n_weak_bits):
                    bucket ^= (flipped >> weak & 1) << int(weak_places[row, weak]) % bucket_bits
                expected.append(bucket)
        assert sorted(listed[row].tolist()) == sorted(expected)


@given(seed=seeds, n_rows=st.integers(0, 12), n_probes=st.integers(1, 5), first_row=st.sampled_from([0, 7, 2**20]))
def test_sorted_probes_are_the_listed_ones(seed: int, n_rows: int, n_probes: int, first_row: int) -> None:
    """Bucket by bucket, rows rising; a row stands as often in a bucket as it was listed."""
    listed = np.random.default_rng(seed).integers(0, 8, n_rows * n_probes).astype(np.uint32)
    probes = sort_probes(listed, n_probes, first_row, 8)
    starts, rows = probes.starts.tolist(), probes.rows.tolist()
    found = [(bucket, row) for bucket in range(8) for row in rows[starts[bucket] : starts[bucket + 1]]]
    assert found == sorted((bucket, first_row + i // n_probes) for i, bucket in enumerate(listed.tolist()))
    assert (starts[0], starts[-1]) == (0, len(listed))
