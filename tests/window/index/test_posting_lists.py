"""Posting lists against dictionaries of lists: what is found depends on the order of texts alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.data.records import ALL_PAIRS, Fingerprints
from hybriddup.errors import WindowError
from hybriddup.kernels.key_groups import NO_KEY
from hybriddup.window.index import posting_lists
from hybriddup.window.index.posting_lists import PostingLists, block_classes
from hybriddup.window.index.text_ring import TextRing, as_later
from tests.builders import make_limits

NO_LIMIT = 10**9
ONE_LENGTH = np.ones(1, np.int32)
Pair = tuple[int, int, int, int]


class Texts(NamedTuple):
    """A stream: of each text its keys, its fingerprint and length, whether it is kept, and how many before it are live.

    Of a pair, the longer text is at most half as long again as the shorter.
    """

    keys: np.ndarray
    bits: np.ndarray
    lengths: np.ndarray
    kept: np.ndarray
    horizon: int


def make_texts(rng: np.random.Generator, n: int, n_keys: int, words: int, n_different: int, wide: bool) -> Texts:
    """Texts with keys of Zipf's kind, some without, and fingerprints near each other."""
    ranks = np.minimum(rng.zipf(1.3, (n, n_keys)), n_different).astype(np.uint64)
    keys = ranks * np.uint64(0x9E3779B9) % np.uint64(2**32 - 5)
    if wide:  # several have the same lower half
        keys = (keys % np.uint64(7)) | ranks << np.uint64(32)
    for row in keys:
        _, firsts = np.unique(row, return_index=True)
        row[np.setdiff1d(np.arange(n_keys), firsts)] = NO_KEY
    keys[rng.random(keys.shape) < 0.1] = NO_KEY
    bits = np.zeros((n, words), np.uint64)
    bits[:, -1] = rng.integers(0, 8, n)
    lengths = rng.choice([0, 5, 20, 29, 31, 90, 130, 5000, 2**20], n)
    return Texts(keys, bits, lengths, rng.random(n) < 0.8, int(rng.integers(1, n + 1)))


def longest_partner(length: np.ndarray) -> np.ndarray:
    """The most characters of a text that a shorter one can match."""
    return np.asarray(length * 3 // 2)


class Oracle:
    """The same in plain Python."""

    def __init__(self, texts: Texts, most: int) -> None:
        self.texts, self.most = texts, most or NO_LIMIT
        self.lists: dict[int, list[int]] = {}

    def keys(self, row: int) -> list[int]:
        """The keys of a text."""
        return [key for key in self.texts.keys[row].tolist() if key != int(NO_KEY)]

    def add(self, rows: range, first_live: int) -> int:
        """How many look-ups were crowded; texts are numbered as their rows here."""
        n_crowded = 0
        for row in rows:
            for key in self.keys(row):
                held = self.lists.setdefault(key, [])
                n_crowded += sum(each >= first_live for each in held) > self.most
                if self.texts.kept[row]:
                    held.append(row)
        return n_crowded

    def depth(self, key: int, row: int, first_live: int) -> int:
        """The depth of a text in the list of a key."""
        newest = self.lists.get(key, [])[::-1][: self.most]
        return newest.index(row) + 1 if row in newest and row >= first_live else 0

    def look_up(self, rows: range, first_live: int, limit: int) -> list[Pair]:
        """Earlier, later, distance, and depth of each pair."""
        pairs = []
        for row in rows:
            depths: dict[int, int] = {}
            for key in self.keys(row):
                for depth, each in enumerate(self.lists.get(key, [])[::-1][: self.most], 1):
                    if each >= first_live:
                        depths[each] = min(depths.get(each, depth), depth)
            for each in sorted(depths):
                distance = int(np.bitwise_count(self.texts.bits[each] ^ self.texts.bits[row]).sum())
                shorter, longer = sorted(self.texts.lengths[[each, row]])
                if distance <= limit and longer <= longest_partner(shorter):
                    pairs.append((each, row, distance, depths[each]))
        return pairs


def prints_of(texts: Texts, rows: range, limit: int) -> Fingerprints:
    """Fingerprints of some texts, whose positions are their rows."""
    part = slice(rows.start, rows.stop)
    lengths = texts.lengths[part]
    limits = make_limits(
        len(rows), lengths=lengths, max_hamming_distances=limit, max_partner_lengths=longest_partner(lengths)
    )
    bits = texts.bits[part]
    return Fingerprints(np.arange(rows.start, rows.stop), bits, limits)


class Run(NamedTuple):
    """What came of a stream."""

    pairs: list[list[Pair]]
    n_crowded: list[int]


def run(texts: Texts, cuts: list[int], most: int, lists: PostingLists, limit: int = 1) -> Run:
    """Look the batches of a stream up, each against what was added before it, and compare all with the oracle."""
    ring, oracle = TextRing(64 * texts.bits.shape[1], len(texts.keys), sketched=False), Oracle(texts, most)
    found, crowded, first_number = [], [], ring.next
    for first, last in zip([0, *cuts], [*cuts, len(texts.keys)], strict=True):
        rows, keys, first_live = range(first, last), texts.keys[first:last], max(first - texts.horizon, 0)
        if not rows:
            continue
        prints = prints_of(texts, rows, limit)
        ring.forget_before(first_live)
        near, counts = lists.look_up(keys, as_later(prints, None), ring, ALL_PAIRS)
        pairs = near._replace(later=near.later + first)
        found.append(list(zip(*(column.tolist() for column in pairs), strict=True)))
        assert found[-1] == oracle.look_up(rows, first_live, limit)
        assert counts.n_look_ups == (keys != NO_KEY).sum()
        numbers = ring.append(prints, None)
        crowded.append(lists.add(keys, numbers, texts.lengths[first:last], texts.kept[first:last], ring.first))
        assert crowded[-1] == oracle.add(rows, first_live)
        earlier = range(max(last - 9, 0), last)
        of_last = np.zeros(len(earlier), np.int64)
        depths = lists.depths_by_key(keys[-1:], of_last, first_number + np.array(earlier))
        assert depths.tolist() == [[oracle.depth(key, row, first_live) for key in keys[-1].tolist()] for row in earlier]
    return Run(found, crowded)


@st.composite
def streams(draw: st.DrawFn) -> tuple[Texts, list[int], int]:
    """Texts, where the stream is cut, and how many texts of a key are read."""
    n = draw(st.integers(1, 400))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    wide, words, n_different = draw(st.booleans()), draw(st.sampled_from([1, 2])), draw(st.sampled_from([3, 40, 2000]))
    texts = make_texts(rng, n, draw(st.sampled_from([1, 5, 16])), words, n_different, wide)
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=12)))
    return texts, cuts, draw(st.sampled_from([0, 1, 2, 3, 4, 7, 30, 256]))


def is_wide(texts: Texts) -> bool:
    """Whether there are keys of more than 32 bits."""
    return bool((texts.keys[texts.keys != NO_KEY] >= 2**32).any())


@given(streams(), st.sampled_from([1, 400, 10**5]))
def test_what_is_found_is_what_dictionaries_of_lists_find(stream: tuple[Texts, list[int], int], n_texts: int) -> None:
    """Pairs, their depths, and crowded look-ups; however many texts were expected."""
    texts, cuts, most = stream
    run(texts, cuts, most, PostingLists(n_texts, texts.keys.shape[1], most, wide=is_wide(texts)))


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 299), max_size=20), st.sampled_from([0, 2, 9]))
def test_crowded_look_ups_do_not_depend_on_the_cuts(seed: int, cuts: list[int], most: int) -> None:
    """Where nothing is forgotten meanwhile, as many are crowded in one batch as in several."""
    texts = make_texts(np.random.default_rng(seed), 300, 4, 1, 40, False)._replace(horizon=300)
    whole = run(texts, [], most, PostingLists(300, 4, most))
    in_parts = run(texts, sorted(cuts), most, PostingLists(300, 4, most))
    assert sum(whole.n_crowded) == sum(in_parts.n_crowded)


def add_all(lists: PostingLists, keys: np.ndarray, first: int, horizon: int, at_once: int = 64) -> None:
    """Add texts, numbered from ``first`` on."""
    for start in range(0, len(keys), at_once):
        some = keys[start : start + at_once]
        numbers = np.arange(first + start, first + start + len(some))
        lists.add(
            some,
            numbers,
            np.ones(len(some), np.int32),
            np.ones(len(some), np.bool_),
            max(int(numbers[-1]) - horizon, 1),
        )


@pytest.mark.parametrize("wide", [False, True])
def test_a_window_that_stays_full_takes_no_more_memory(wide: bool) -> None:
    """Ever new keys, and some that stay: after some windows nothing more is taken."""
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
    assert lists.n_keys < 4 * 1.5 * horizon


def test_all_is_swept_out_when_all_was_forgotten() -> None:
    """Keys of forgotten texts go, and their lists, as long as others are added."""
    rng, lists = np.random.default_rng(1), PostingLists(5000, 3, 8)
    add_all(lists, rng.integers(0, 3000, (5000, 3), np.uint64), 1, 10**6)
    n_before = lists.n_keys
    one_key = np.full((20_000, 1), 7, np.uint64)
    add_all(lists, one_key, 10_000, 1)
    assert n_before > 2000
    assert lists.n_keys == 1
    n_bytes = lists.n_bytes
    add_all(lists, rng.integers(0, 1500, (2500, 3), np.uint64), 10**6, 10**6)
    assert lists.n_bytes <= 1.01 * n_bytes  # what was free is used again


@pytest.mark.parametrize("start", [2**31 - 300, 2**32 - 300, 2**40 + 5])
def test_numbers_go_on_past_what_an_entry_can_hold(start: int) -> None:
    """Depths of live texts, where the low bits of numbers begin anew."""
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
    """Pages of keys, blocks of lists, and the rows of the shards' pages."""
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
    assert lists.n_keys == texts + 50


def test_classes_of_blocks_rise_to_one_for_a_ring() -> None:
    """The last holds the numbers of a ring and a header, and hardly more."""
    for ring_size in [2, 3, 4, 5, 8, 31, 257, 2**25]:
        words = block_classes(ring_size)
        assert (np.diff(words) > 0).all()
        assert (words % 4 == 0).all()
        assert ring_size < words[-1] <= ring_size + 4
        assert words[0] == 4


def test_what_cannot_be_is_refused() -> None:
    """Limits, wide keys in lists of narrow ones, and windows of too many texts."""
    for most in (-1, 2**25):
        with pytest.raises(ValueError, match="max_bucket_size must be an int in"):
            PostingLists(10, 1, most)
    lists, kept = PostingLists(10, 1, 256), np.ones(1, np.bool_)
    with pytest.raises(ValueError, match="wide=True"):
        lists.add(np.full((1, 1), 2**32, np.uint64), np.array([1]), ONE_LENGTH, kept, 1)
    with pytest.raises(WindowError, match="shorter horizon"):
        lists.add(np.zeros((1, 1), np.uint64), np.array([posting_lists.MOST_NUMBERS + 1]), ONE_LENGTH, kept, 1)
    assert lists.add(np.zeros((0, 1), np.uint64), np.zeros(0, np.int64), ONE_LENGTH[:0], kept[:0], 1) == 0
