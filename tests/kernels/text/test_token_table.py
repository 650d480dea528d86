"""The hash table of tokens against Counter and dict."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Float32s, UInt64s
from hybriddup.kernels.text import token_table
from hybriddup.kernels.text.token_table import BUCKET, build_table, look_up

# Few distinct values, and values that want the same slot of a small table, so that both repeats and probing happen.
token_hashes = st.one_of(st.integers(0, 5), st.integers(0, 9).map(lambda n: n << 40), st.integers(0, 2**64 - 1))


def never_zero(token: int) -> int:
    """A hash of 0 marks an empty slot, so such a token is known as 1."""
    return max(token, 1)


def values_of(table: tuple[UInt64s, Float32s], keys: Sequence[int] | UInt64s) -> list[float]:
    """The value of each key in a table, -1.0 for the absent ones."""
    hashes, no_points = np.array(keys, np.uint64)[:, None], np.zeros(0, np.uint32)
    starts = np.zeros(len(keys), np.int64)
    found: Float32s = look_up(*table, hashes, np.float32(-1.0), no_points, starts, np.float32(0.0))
    return found.tolist()


@given(st.lists(st.lists(token_hashes, max_size=8), max_size=6))
def test_document_counts_equal_counter(texts: list[list[int]]) -> None:
    flat = np.array([token for tokens in texts for token in tokens], np.uint64)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    keys, counts = token_table.count_documents(flat, offsets)
    expected = Counter(token for tokens in texts for token in dict.fromkeys(map(never_zero, tokens)))
    assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == list(expected.items())


@given(st.lists(st.lists(token_hashes, max_size=40), max_size=6))
def test_occurrences_equal_counter(texts: list[list[int]]) -> None:
    flat = np.array([token for tokens in texts for token in tokens], np.uint64)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    expected = [Counter(tokens)[token] for tokens in texts for token in tokens]
    assert token_table.count_occurrences(flat, offsets).tolist() == expected


@given(
    st.dictionaries(st.integers(1, 2**64 - 1), st.integers(1, 1000), max_size=40), st.lists(token_hashes, max_size=8)
)
def test_look_up_equals_dict(weights: dict[int, int], others: list[int]) -> None:
    keys = np.array(list(weights), np.uint64)
    table = build_table(keys, np.array(list(weights.values()), np.float32))
    asked = [*weights, *others]
    found = values_of(table, asked)
    assert found == [weights.get(never_zero(token), -1.0) for token in asked]


def keys_for(bucket: int, n_buckets: int, n_keys: int) -> list[int]:
    """Distinct keys of which the search begins in one bucket."""
    keys = [key for key in range(1, n_buckets * (n_keys + 1)) if key % n_buckets == bucket][:n_keys]
    assert {int(token_table.first_bucket(np.uint64(key), n_buckets)) for key in keys} == {bucket}
    return keys


@pytest.mark.parametrize("n_keys", [BUCKET - 1, BUCKET, BUCKET + 1, 2 * BUCKET, 2 * BUCKET + 1, 3 * BUCKET])
@pytest.mark.parametrize("bucket", [0, 1, -1])
def test_full_bucket_runs_over_into_the_next(bucket: int, n_keys: int) -> None:
    n_buckets = 2 ** (2 * n_keys - 1).bit_length()
    keys = keys_for(bucket % n_buckets, n_buckets, n_keys + 2)
    table_keys, table_values = build_table(np.array(keys[:n_keys], np.uint64), np.arange(n_keys, dtype=np.float32))
    assert len(table_keys) == n_buckets
    in_order = np.roll(table_keys, -bucket, axis=0).ravel()
    assert in_order[: n_keys + 1].tolist() == [*keys[:n_keys], 0]
    found = values_of((table_keys, table_values), keys)
    assert found == [*range(n_keys), -1.0, -1.0]


@pytest.mark.parametrize("n_own", range(1, 2 * BUCKET))
def test_key_pushed_into_a_bucket_does_not_hide_its_own_keys(n_own: int) -> None:
    n_buckets, n_keys = 64, 26
    pushing, own = keys_for(5, n_buckets, BUCKET + 2), keys_for(6, n_buckets, n_own)
    elsewhere = keys_for(40, n_buckets, n_keys - len(pushing) - n_own)
    keys = np.array([*pushing, *own, *elsewhere], np.uint64)
    table_keys, table_values = build_table(keys, np.arange(len(keys), dtype=np.float32))
    assert len(table_keys) == n_buckets
    assert values_of((table_keys, table_values), keys) == list(range(len(keys)))


def test_token_that_hashes_to_zero_is_known_as_one() -> None:
    asked = np.array([0, 1, 7], np.uint64)
    for key, expected in ((0, [3.0, 3.0, -1.0]), (1, [3.0, 3.0, -1.0]), (7, [-1.0, -1.0, 3.0])):
        table = build_table(np.array([key], np.uint64), np.array([3.0], np.float32))
        assert values_of(table, asked) == expected


def test_values_may_be_the_one_of_the_absent() -> None:
    keys = np.array([5, 69], np.uint64)
    table = build_table(keys, np.array([-1.0, 2.0], np.float32))
    assert values_of(table, keys) == [-1.0, 2.0]


@given(st.integers(0, 300))
def test_table_is_at_most_an_eighth_full(n_keys: int) -> None:
    """So that hardly any bucket is full, and looking up what is absent ends."""
    table_keys, _ = build_table(np.arange(1, n_keys + 1, dtype=np.uint64), np.zeros(n_keys, np.float32))
    assert table_keys.shape[1] == BUCKET
    assert 8 * np.count_nonzero(table_keys) <= table_keys.size
    assert np.count_nonzero(table_keys) == n_keys
