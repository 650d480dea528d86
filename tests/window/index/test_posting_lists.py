"""Posting lists: their memory, large numbers, and what is refused. What is found, `test_live_indexes` tells."""

from __future__ import annotations

import numpy as np
import pytest

from hybriddup.errors import WindowError
from hybriddup.window.index import posting_lists
from hybriddup.window.index.posting_lists import PostingLists, block_classes

ONE_LENGTH = np.ones(1, np.int32)


def add_all(lists: PostingLists, keys: np.ndarray, first: int, horizon: int, at_once: int = 64) -> None:
    for start in range(0, len(keys), at_once):
        some = keys[start : start + at_once]
        numbers = np.arange(first + start, first + start + len(some))
        lengths, kept = np.ones(len(some), np.int32), np.ones(len(some), np.bool_)
        lists.add(some, numbers, lengths, kept, max(int(numbers[-1]) - horizon, 1))


@pytest.mark.parametrize("wide", [False, True])
def test_a_window_that_stays_full_takes_no_more_memory(wide: bool) -> None:
    rng, horizon, lists = np.random.default_rng(0), 2000, PostingLists(2000, 4, 30, wide=wide)
    n_bytes = []
    for first in range(1, 16 * horizon, horizon):
        new = np.arange(first, first + horizon, dtype=np.uint64) << np.uint64(32 * wide)
        keys = np.stack(
            [new, *(np.minimum(rng.zipf(1.2, (3, horizon)), 10**6).astype(np.uint64) + np.uint64(2**30))], 1
        )
        keys[:, 2:] += np.array([10**7, 2 * 10**7], np.uint64)
        add_all(lists, keys, first, horizon)
        n_bytes.append(lists.n_bytes)
    assert n_bytes[-1] <= 1.1 * n_bytes[3]


def test_all_is_swept_out_when_all_was_forgotten() -> None:
    rng, lists = np.random.default_rng(1), PostingLists(5000, 3, 8)
    add_all(lists, rng.integers(0, 3000, (5000, 3), np.uint64), 1, 10**6)
    one_key = np.full((20_000, 1), 7, np.uint64)
    add_all(lists, one_key, 10_000, 1)
    n_bytes = lists.n_bytes
    add_all(lists, rng.integers(10**6, 10**6 + 3000, (5000, 3), np.uint64), 10**6, 10**6)
    assert lists.n_bytes <= 1.01 * n_bytes  # what was free is used again


@pytest.mark.parametrize("start", [2**31 - 300, 2**32 - 300, 2**40 + 5])
def test_numbers_go_on_past_what_an_entry_can_hold(start: int) -> None:
    keys = np.zeros((600, 1), np.uint64)
    numbers = np.delete(np.arange(start, start + 601), (2**31 - start) % 2**31 if start < 2**33 else 600)
    lists = PostingLists(600, 1, 50)
    n_crowded = [
        lists.add(keys[i : i + 1], numbers[i : i + 1], ONE_LENGTH, np.ones(1, np.bool_), int(numbers[max(i - 99, 0)]))
        for i in range(600)
    ]
    assert n_crowded == [int(i > 50) for i in range(600)]
    depths = lists.depths_by_key(np.zeros((1, 1), np.uint64), np.zeros(52, np.int64), numbers[::-1][:52].copy())
    assert depths[:, 0].tolist() == [*range(1, 51), 0, 0]


def test_pools_grow_when_there_is_more_than_was_expected() -> None:
    rng, texts = np.random.default_rng(2), 150_000
    keys = np.stack(
        [rng.permutation(texts).astype(np.uint64), rng.integers(0, 50, texts, np.uint64) + np.uint64(10**9)], 1
    )
    lists = PostingLists(1, 2, 0)
    add_all(lists, keys, 1, 10**6, at_once=10_000)
    chosen = rng.integers(0, texts, 50)
    depths = lists.depths_by_key(keys[chosen], np.arange(50), chosen + 1)
    assert (depths[:, 0] == 1).all()
    assert depths[:, 1].tolist() == [int((keys[row:, 1] == keys[row, 1]).sum()) for row in chosen]


def test_classes_of_blocks_rise_to_one_for_a_ring() -> None:
    for ring_size in [2, 3, 4, 5, 8, 31, 257, 2**25]:
        words = block_classes(ring_size)
        assert (np.diff(words) > 0).all()
        assert (words % 4 == 0).all()
        assert ring_size < words[-1] <= ring_size + 4
        assert words[0] == 4


def test_what_cannot_be_is_refused() -> None:
    for most in (-1, 2**25):
        with pytest.raises(ValueError, match="max_bucket_size must be an int in"):
            PostingLists(10, 1, most)
    lists, kept = PostingLists(10, 1, 256), np.ones(1, np.bool_)
    with pytest.raises(WindowError, match="shorter horizon"):
        lists.add(np.zeros((1, 1), np.uint64), np.array([posting_lists.MOST_NUMBERS + 1]), ONE_LENGTH, kept, 1)
    assert lists.add(np.zeros((0, 1), np.uint64), np.zeros(0, np.int64), ONE_LENGTH[:0], kept[:0], 1) == 0
