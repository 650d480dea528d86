"""Eight words at once against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels import vectors
from hybriddup.kernels.vectors import N_LANES
from tests import reference
from tests.builders import clustered_numbers, words_of
from tests.inner_kernels import from_python

add_where, fetch_early, near_of = map(from_python, (vectors.add_where, vectors.fetch_early, vectors.near_of_eight))
seeds = st.integers(0, 2**32)


@pytest.mark.parametrize("class_bits", [0, 3, 8, 32])
@pytest.mark.parametrize("start", [0, 5, 19])
@given(seed=seeds, limit=st.integers(0, 128), data=st.data())
def test_near_of_eight_are_those_within_the_limits(
    start: int, class_bits: int, seed: int, limit: int, data: st.DataObject
) -> None:
    rng, most = np.random.default_rng(seed), 2**class_bits - 1
    shortest = data.draw(st.integers(0, most))
    more = data.draw(st.integers(0, most - shortest))
    numbers = clustered_numbers(rng, start + N_LANES, 128, 80)
    classes = np.clip(shortest + rng.integers(-2, 3, len(numbers)) + more * rng.integers(0, 2, len(numbers)), 0, most)
    rows = rng.integers(0, 2 ** (32 - class_bits), len(numbers), dtype=np.uint64) << np.uint64(class_bits)
    words, query = (rows | classes.astype(np.uint64)).astype(np.uint32), words_of(numbers[:1], 2)[0]
    fingerprints, n = words_of(numbers, 2).T.ravel(), np.uint64(len(numbers))
    of_length = np.array([most, shortest, more], np.uint64)
    near = near_of(words, np.uint64(start), *of_length, fingerprints, np.uint64(start), n, *query, np.uint64(limit))
    expected = [
        reference.hamming_distance(number, numbers[0]) <= limit and shortest <= length <= shortest + more
        for number, length in zip(numbers[start:], classes[start:].tolist(), strict=True)
    ]
    assert [int(near) >> place & 1 for place in range(64)] == expected + [0] * (64 - N_LANES)


@pytest.mark.parametrize("limit", [0, 63, 64, 127, 128, 2**63, 2**64 - 1])
def test_limits_are_unsigned(limit: int) -> None:
    words, fingerprints, nothing = np.full(N_LANES, 7, np.uint32), np.full(N_LANES, 2**64 - 1, np.uint64), np.uint64(0)
    of_length = np.array([0, 0, 2**32 - 1], np.uint64)
    of_fingerprint = nothing, nothing, nothing, nothing, np.uint64(limit)
    near = near_of(words, nothing, *of_length, fingerprints, *of_fingerprint)
    assert int(near) == (2**N_LANES - 1 if limit >= 128 else 0)


@given(place=st.integers(0, 2**40))
def test_fetching_early_changes_nothing(place: int) -> None:
    """Not even far past the end, which the machine ignores."""
    words = np.arange(5, 13, dtype=np.uint64)
    fetch_early(words, np.uint64(place))
    assert words.tolist() == list(range(5, 13))


words = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from([0, 1, 2**63, 2**64 - 1]))


@given(word=words, weight=st.integers(-300, 32767), start=st.sampled_from([0, 64, 128]), seed=seeds)
def test_weight_is_added_where_the_word_has_a_one(word: int, weight: int, start: int, seed: int) -> None:
    sums = np.random.default_rng(seed).integers(-500, 1, 192, np.int16)
    expected = sums.tolist()
    for bit in range(64):
        expected[start + bit] += weight * (word >> bit & 1)
    add_where(sums, np.uint64(start), np.uint64(word), np.int16(weight))
    assert sums.tolist() == expected


def test_sums_need_not_begin_where_vectors_do() -> None:
    whole = np.zeros(64 * 2 + 7, np.int16)
    for shift in range(7):
        add_where(whole[shift : shift + 64], np.uint64(0), np.uint64(2**64 - 1), np.int16(1))
    assert whole.tolist() == [min(i + 1, 7, max(70 - i, 0)) for i in range(len(whole))]
