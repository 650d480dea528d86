"""The hash table of tokens against Counter and dict."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.token_table import build_table, count_documents, look_up

# Few distinct values, and values that want the same slot of a small table, so that both repeats and probing happen.
token_hashes = st.one_of(st.integers(0, 5), st.integers(0, 9).map(lambda n: n << 40), st.integers(0, 2**64 - 1))


def never_zero(token: int) -> int:
    """A hash of 0 marks an empty slot, so such a token is known as 1."""
    return max(token, 1)


@given(st.lists(st.lists(token_hashes, max_size=8), max_size=6))
def test_document_counts_equal_counter(texts: list[list[int]]) -> None:
    """Each text counts a token once, however often it stands there; tokens come in order of first use."""
    flat = np.array([token for tokens in texts for token in tokens], np.uint64)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    keys, counts = count_documents(flat, offsets)
    expected = Counter(token for tokens in texts for token in dict.fromkeys(map(never_zero, tokens)))
    assert list(zip(keys.tolist(), counts.tolist(), strict=True)) == list(expected.items())


@given(
    st.dictionaries(st.integers(1, 2**64 - 1), st.integers(1, 1000), max_size=40), st.lists(token_hashes, max_size=8)
)
def test_look_up_equals_dict(weights: dict[int, int], others: list[int]) -> None:
    """What the table holds is found, what it does not gets the weight of the absent."""
    keys = np.array(list(weights), np.uint64)
    table = build_table(keys, np.array(list(weights.values()), np.float32))
    asked = [*weights, *others]
    found = look_up(*table, np.array(asked, np.uint64), np.float32(-1.0))
    assert found.tolist() == [weights.get(never_zero(token), -1.0) for token in asked]


def test_table_of_keys_that_want_one_slot_finds_each() -> None:
    """Linear probing goes round the end of the table."""
    keys = np.arange(1, 200, dtype=np.uint64) << np.uint64(20) | np.uint64(15)
    table_keys, table_values = build_table(keys, np.arange(199, dtype=np.float32))
    assert look_up(table_keys, table_values, keys, np.float32(-1.0)).tolist() == list(range(199))


@given(st.integers(0, 300))
def test_table_is_at_most_half_full(n_keys: int) -> None:
    """Otherwise looking up what is absent would take long, or never end."""
    table_keys, _ = build_table(np.arange(1, n_keys + 1, dtype=np.uint64), np.zeros(n_keys, np.float32))
    assert 2 * np.count_nonzero(table_keys) <= len(table_keys)


def test_empty_table_holds_nothing() -> None:
    """A sample without common tokens leaves a table that answers all the same."""
    table = build_table(np.zeros(0, np.uint64), np.zeros(0, np.float32))
    assert look_up(*table, np.array([0, 7], np.uint64), np.float32(5.0)).tolist() == [5.0, 5.0]
