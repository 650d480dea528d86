"""Every live index finds what dictionaries of lists find, or a comparison of everything, while texts come and go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.errors import ConfigError
from hybriddup.kernels.search.pair_limits import text_columns
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, Scan
from hybriddup.steps.candidates import Batch
from hybriddup.window.index import LiveIndex, WindowSize, live_indexes
from hybriddup.window.index.live_indexes import LiveLists, LiveScan, LiveTables, make_live_index
from hybriddup.window.index.text_ring import MAX_PARTNER_LENGTH, find_partners
from tests.builders import Fingerprints, clustered_numbers, make_limits, make_prints
from tests.window.live_indexes import WINDOW, Oracle, check_live_index, check_look_up, some_texts, with_keys

Triple = tuple[int, int, int]


class FewKeys(BlockIndex):
    """Keys that many texts share, of some texts none, and of which the newest texts only are looked at."""

    reads_texts = False
    max_bucket_size = 9

    def keys(self, texts: Any, bits: UInt64s) -> UInt64s:  # noqa: ARG002
        keys = np.stack([bits[:, 0] % np.uint64(11), np.uint64(2**40) + bits[:, 0] % np.uint64(5)], axis=1)
        keys[bits[:, 0] % np.uint64(7) == 0, 1] = NO_KEY
        return keys


class OtherKeys(FewKeys):
    """Texts are looked up by other keys than their own, too."""

    probes_others = True

    def probes(self, keys: UInt64s, bits: UInt64s) -> UInt64s:  # noqa: ARG002
        return np.concatenate([keys, (keys[:, :1] + np.uint64(1)) % np.uint64(11)], axis=1)


class ManyKeys(BlockIndex):
    """Keys that most texts have, and such as few have; where they are wide, several have the same lower half."""

    reads_texts = False
    n_keys = 5

    def __init__(self, most: int, *, wide: bool) -> None:
        self.max_bucket_size, self.wide = most, wide
        self.key_bits = 64 if wide else 32

    def keys(self, texts: Any, bits: UInt64s) -> UInt64s:  # noqa: ARG002
        spread = (bits[:, :1] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(36)
        keys = np.arange(5, dtype=np.uint64) << np.uint64(28) | spread % np.array([2, 7, 50, 400, 2**28], np.uint64)
        return keys % np.uint64(7) | keys << np.uint64(32) if self.wide else keys


def blocks(**options: Any) -> Blocks:
    return Blocks(Blocks.Options(**options))


def probing(**options: Any) -> Probing:
    return Probing(Probing.Options(**options))


INDEXES: list[Any] = [
    pytest.param(Scan(), LiveScan, 40, id="scan"),
    pytest.param(blocks(), LiveTables, 3, id="blocks"),
    pytest.param(blocks(n_blocks=5, n_key_blocks=2), LiveLists, 3, id="blocks-5-choose-2"),
    pytest.param(blocks(n_blocks=8, max_bucket_size=4), LiveLists, 3, id="blocks-limited"),
    pytest.param(probing(n_blocks=8), LiveTables, 9, id="probing"),
    pytest.param(probing(n_blocks=8, max_bucket_size=4), LiveLists, 9, id="probing-limited"),
    pytest.param(FewKeys(), LiveLists, 20, id="few-keys"),
    pytest.param(OtherKeys(), LiveLists, 20, id="other-keys"),
]


@pytest.mark.parametrize(
    ("bits", "sketched"),
    [(64, False), (128, True), *(pytest.param(*each, marks=pytest.mark.slow) for each in [(64, True), (128, False)])],
)
@pytest.mark.parametrize(("index", "kind", "distance"), INDEXES)
def test_live_indexes_keep_their_contract(
    index: BlockIndex, kind: type[LiveIndex], distance: int, bits: int, sketched: bool
) -> None:
    made: list[LiveIndex] = []

    def make(size: WindowSize) -> LiveIndex:
        made.append(make_live_index(index, size))
        return made[-1]

    check_live_index(make, index, max_hamming_distance=distance, bits=[bits], sketched=sketched)
    if bits == 64:  # of 128, keys may be too wide for tables
        assert {type(each) for each in made} == {kind}


@pytest.mark.parametrize(("index", "distance"), [(blocks(), 3), (probing(n_blocks=8), 9), (Scan(), 20)])
def test_lists_hold_the_keys_of_any_index(index: BlockIndex, distance: int) -> None:
    check_live_index(lambda size: LiveLists(size, index), index, max_hamming_distance=distance)


@pytest.mark.parametrize("most", [0, 2, 256, *(pytest.param(each, marks=pytest.mark.slow) for each in (1, 30))])
@pytest.mark.parametrize("wide", [False, True])
def test_lists_hold_keys_of_any_kind(most: int, wide: bool) -> None:
    index = ManyKeys(most, wide=wide)
    check_live_index(lambda size: LiveLists(size, index), index, max_hamming_distance=20, bits=[128])


def prepared(index: BlockIndex, bits: int = 64) -> BlockIndex:
    index.prepare(bits, 3)
    return index


def triples(index: LiveIndex, texts: Batch, *, counts_characters: bool = True) -> list[Triple]:
    """What is found, as (earlier, later, differing bits)."""
    near = index.look_up(texts, counts_characters=counts_characters)
    columns = (near.earlier, texts.positions[near.later], near.distances)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def add_all(index: LiveIndex, texts: Batch) -> None:
    index.add(texts, np.ones(len(texts), np.bool_))


@pytest.mark.parametrize("keys", [Scan(), blocks(), FewKeys()], ids=["scan", "tables", "lists"])
def test_sketches_rule_out_what_lacks_characters(keys: BlockIndex) -> None:
    index = make_live_index(prepared(keys), WindowSize(10, 64, sketched=True))
    prints = make_prints([5, 5, 5], limits=make_limits(3, lengths=8, common_of_shorter=0.75))
    eight, seven, four = ([bits, 0, 0, 0] for bits in (0b1111_1111, 0b1_0111_1111, 0b1111_0000_1111))
    texts = with_keys(prints, np.array([seven, four, eight], np.uint64), keys)
    add_all(index, texts.take(slice(0, 2)))
    later = texts.take(slice(2, 3))

    assert triples(index, later) == [(0, 2, 0)]
    assert triples(index, later, counts_characters=False) == [(0, 2, 0), (1, 2, 0)]


@pytest.mark.parametrize("keys", [Scan(), blocks()], ids=["scan", "tables"])
def test_a_text_does_not_find_itself_or_later_ones(keys: BlockIndex) -> None:
    index, texts = make_live_index(prepared(keys), WindowSize(10, 64)), with_keys(make_prints([1, 1, 3]), None, keys)
    add_all(index, texts)

    assert triples(index, texts) == [(0, 1, 0), (0, 2, 1), (1, 2, 1)]


@pytest.mark.slow
def test_many_lengths_need_no_more_than_their_own_numbers() -> None:
    n, keys = 2**16 + 100, prepared(blocks())
    index = make_live_index(keys, WindowSize(n, 64))
    limits = make_limits(n, lengths=list(range(1, n + 1)), max_partner_lengths=list(range(1, n + 1)))
    prints = make_prints([number << 17 | number for number in range(n)], limits=limits)
    add_all(index, with_keys(prints, None, keys))
    later = Fingerprints(prints.positions + n, prints.bits, prints.limits).take(np.array([0, 70, n - 1]))

    assert triples(index, with_keys(later, None, keys)) == [(0, n, 0), (70, n + 70, 0), (n - 1, 2 * n - 1, 0)]


def test_fingerprints_of_other_widths_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"fingerprint\.bits must be 64 or 128 for a live window; got 256"):
        make_live_index(Scan(), WindowSize(10, 256))


@pytest.mark.parametrize("start", [64, 2**32 - 640, 2**33 - 64])
@pytest.mark.parametrize(("keys", "bits", "distance"), [(blocks(), 64, 3), (probing(n_blocks=16), 128, 9)])
def test_tables_lists_and_a_scan_find_the_same_pairs(
    monkeypatch: pytest.MonkeyPatch, keys: Blocks | Probing, bits: int, distance: int, start: int
) -> None:
    """With many times the texts that were expected, in tables of many sizes, also where running numbers are large."""
    monkeypatch.setattr(live_indexes, "SMALLEST_SEGMENT", 16)
    rng, window, n_bytes, n_pairs, first = np.random.default_rng(bits), 400, dict[int, int](), 0, 0
    keys.prepare(bits, distance)
    few, enough = WindowSize(100, bits, workers=2), WindowSize(500, bits)
    indexes = [LiveTables(few, keys), LiveScan(enough), LiveLists(few, keys)]
    for index in indexes[:2]:
        index._ring.first = index._ring.next = start
    numbers = clustered_numbers(rng, 10_000, bits, distance // 2 + 2, n_patterns=40)
    prints = make_prints(numbers, bits, limits=make_limits(10_000, max_hamming_distances=distance))
    texts = with_keys(prints, None, keys)
    while first < 10_000:
        batch = texts.take(slice(first, first + int(rng.choice([1, 7, 256, 500]))))
        first += len(batch)
        pairs, *others = [triples(index, batch) for index in indexes]
        assert all(found == pairs for found in others)
        n_pairs += len(pairs)
        for index in indexes:
            add_all(index, batch)
            index.forget_before(first - window)
        n_bytes[first // 1000] = indexes[0].n_bytes
    assert n_pairs > 5000
    assert {index.n_texts for index in indexes} == {window}
    assert n_bytes[9] <= 1.1 * n_bytes[5]


def test_every_text_of_a_crowded_bucket_is_found() -> None:
    keys = prepared(blocks())
    index = make_live_index(keys, WindowSize(20_000, 64))
    add_all(index, with_keys(make_prints([0] * 20_000), None, keys))
    near = index.look_up(with_keys(make_prints([1], positions=[20_000]), None, keys))

    assert near.earlier.tolist() == list(range(20_000))


LENGTHS = st.lists(st.integers(0, 6000), min_size=1, max_size=40)


@given(LENGTHS, st.lists(st.integers(0, 9000), min_size=40, max_size=40), st.lists(st.integers(-1, 9), min_size=40))
def test_no_text_that_may_match_is_shorter_or_has_a_larger_limit(
    lengths: list[int], reaches: list[int], limits: list[int]
) -> None:
    n = len(lengths)
    texts = make_limits(
        n, lengths=lengths, max_hamming_distances=limits[:n], max_partner_lengths=[max(each, 0) for each in reaches[:n]]
    )
    columns = text_columns(np.zeros((n, 1), np.uint64), texts)
    max_distances, shortest = find_partners(columns.lengths, columns.limits)
    for later in [*lengths, 0, 1, 50, MAX_PARTNER_LENGTH + 7]:
        of_shorter = [
            (limit, length)
            for length, reach, limit in zip(lengths, reaches, limits, strict=False)
            if length <= later <= max(reach, length)
        ]
        row = min(later, MAX_PARTNER_LENGTH)
        assert max_distances[row] >= max((limit for limit, _ in of_shorter), default=-1)
        assert shortest[row] <= min((length for _, length in of_shorter), default=later)


@pytest.mark.parametrize(("most", "n_removed"), [(9, 1), (1000, 100)], ids=["crowded", "all are read"])
@pytest.mark.parametrize("seed", range(5))
def test_a_text_that_is_removed_leaves_its_place_in_lists_to_others(most: int, n_removed: int, seed: int) -> None:
    rng, index = np.random.default_rng(seed), FewKeys()
    index.max_bucket_size = most
    index.prepare(64, 20)
    texts = some_texts(rng, 64, 20, index)
    live, oracle = LiveLists(WindowSize(WINDOW, 64), index), Oracle(texts, most)
    edge = oracle.positions[300]
    live.add(texts.take(slice(0, 700)), np.ones(700, np.bool_))
    oracle.add(range(700), np.ones(700, np.bool_), 0)
    live.forget_before(edge)
    rows = rng.choice(np.arange(300, 700), n_removed, replace=False)
    live.remove(texts.take(rows))
    live.remove(texts.take(slice(0, 10)))  # forgotten before
    for row in rows.tolist():
        for key in set(oracle.keys[row]) - {int(NO_KEY)}:
            oracle.rows_with[key].remove(row)
    for first in (700, 750):
        later = range(first, first + 50)
        check_look_up(live, oracle, texts.take(slice(first, first + 50)), later, oracle.look_up(later, edge), edge)
        live.add(texts.take(slice(first, first + 50)), np.ones(50, np.bool_))
        oracle.add(later, np.ones(50, np.bool_), edge)
