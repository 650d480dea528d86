"""`scan` equals comparing all with all; `blocks` and `probing` equal it wherever they promise to be exact."""

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config import load_settings
from hybriddup.errors import ConfigError
from hybriddup.steps.blocks import BlockIndex, count_shared, pigeonhole
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, Scan
from tests.builders import Fingerprints, clustered_numbers, examples, make_limits, make_prints
from tests.steps.block_runs import clustered_prints, find_pairs, look_up_all, make_run_index, plain_pairs

MAX_NEIGHBOURS = 2000
"""Keeps the lists of buckets to probe short enough for a test."""

seeds = st.integers(0, 2**32)
row_cuts = st.lists(st.integers(0, 40), max_size=3)


def make_blocks(n_blocks: int, n_key_blocks: int, **options: int) -> Blocks:
    return Blocks(Blocks.Options(n_blocks=n_blocks, n_key_blocks=n_key_blocks, **options))


def make_probing(n_blocks: int, **options: int) -> Probing:
    return Probing(Probing.Options(n_blocks=n_blocks, **options))


def exact_indexes() -> list[BlockIndex]:
    """One of each kind, exact within 3 bits."""
    return [Scan(), make_blocks(4, 1), make_blocks(5, 2), make_probing(4), make_probing(2)]


@pytest.mark.parametrize("bits", [64, 128, 256])
@examples(15)
@given(seed=seeds, limit=st.integers(0, 60), cuts=row_cuts)
def test_scan_finds_every_pair_within_its_limits(bits: int, seed: int, limit: int, cuts: list[int]) -> None:
    """Distances, lengths and bands that allow exact repeats only, by comparing all with all in plain Python."""
    prints = clustered_prints(np.random.default_rng(seed), 40, bits, limit)
    assert find_pairs(Scan(), prints, cuts) == plain_pairs(prints)


@st.composite
def pigeonhole_shapes(draw: st.DrawFn) -> tuple[int, int, int]:
    """Blocks, key blocks and a distance that they are exact for; few enough tables for a test."""
    n_blocks = draw(st.integers(1, 12))
    n_key_blocks = draw(st.integers(1, n_blocks).filter(lambda n_key: n_key <= 8 and comb(n_blocks, n_key) <= 130))
    return n_blocks, n_key_blocks, draw(st.integers(max(0, n_blocks - n_key_blocks - 2), n_blocks - n_key_blocks))


@pytest.mark.parametrize("bits", [64, 128, 256])
@examples(25)
@given(seed=seeds, shape=pigeonhole_shapes(), cuts=row_cuts)
def test_blocks_equal_scan_for_every_shape(bits: int, seed: int, shape: tuple[int, int, int], cuts: list[int]) -> None:
    n_blocks, n_key_blocks, distance = shape
    prints = clustered_prints(np.random.default_rng(seed), 40, bits, distance)
    found, report = look_up_all(make_blocks(n_blocks, n_key_blocks), prints, cuts)
    assert found == find_pairs(Scan(), prints)
    assert report.exact


@st.composite
def probing_shapes(draw: st.DrawFn) -> tuple[int, int, int]:
    """A width, a number of blocks and a distance whose neighbours are few enough to list."""
    bits, n_blocks, radius = draw(st.sampled_from([64, 128, 256])), draw(st.integers(1, 32)), draw(st.integers(0, 3))
    while pigeonhole.count_neighbours(-(-bits // n_blocks), radius) > MAX_NEIGHBOURS:
        radius -= 1
    return bits, n_blocks, min(radius * n_blocks + draw(st.integers(0, n_blocks - 1)), bits - 1)


@examples(60)
@given(seed=seeds, shape=probing_shapes(), cuts=row_cuts)
def test_probing_equals_scan_for_every_shape(seed: int, shape: tuple[int, int, int], cuts: list[int]) -> None:
    bits, n_blocks, distance = shape
    prints = clustered_prints(np.random.default_rng(seed), 40, bits, distance)
    found, report = look_up_all(make_probing(n_blocks), prints, cuts)
    assert found == find_pairs(Scan(), prints)
    assert report.exact


VARIED = [0, 1, 2, 3, 20, 21, 22, 23, 42, 43, 63]
"""Bits that are 0 or 1 in every combination: several in one block, and some on both sides of a cut."""
EVERY_WORD = [sum(1 << bit for bit in chosen) for n in range(len(VARIED) + 1) for chosen in combinations(VARIED, n)]


@pytest.mark.parametrize("n_blocks", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("distance", range(7))
def test_probing_finds_every_word_within_the_distance_and_no_other(n_blocks: int, distance: int) -> None:
    """All 2,048 of them, though most blocks are probed less far than the first ones."""
    limits = make_limits(1 + len(EVERY_WORD), max_hamming_distances=distance)
    held = make_run_index(make_probing(n_blocks), make_prints([0, *EVERY_WORD], limits=limits))
    held.add(held.batch(np.arange(1)), np.ones(1, np.bool_))
    found = held.look_up(held.batch(np.arange(1, 1 + len(EVERY_WORD)))).later.tolist()
    assert found == [row for row, word in enumerate(EVERY_WORD) if word.bit_count() <= distance]


def test_four_blocks_look_up_428_keys_within_10_bits() -> None:
    index = make_probing(4)
    index.prepare(64, 10)
    bits = np.full((1, 1), 7, np.uint64)
    assert index.probes(index.keys([""], bits), bits).shape == (1, 428)
    assert index.describe() == "probing: 4 keys, 428 within 1-2 bits looked up"


def test_texts_share_the_keys_whose_radius_they_are_within() -> None:
    index = make_probing(4)
    index.prepare(64, 10)
    bits = np.array([[0], [0x0003_0003_0003_0003]], np.uint64)
    keys = index.keys(["", ""], bits)
    assert count_shared(keys[0], index.probes(keys, bits)[1]) == 3


def test_blocks_that_are_not_needed_have_no_key() -> None:
    prints = make_prints([0, 0b11, 0b111 << 30], limits=make_limits(3, max_hamming_distances=2))
    index = make_probing(7)
    assert find_pairs(index, prints) == [(0, 1, 2)]
    assert index.keys([""] * 3, prints.bits).shape == (3, 3)


@pytest.mark.parametrize("n_texts", [0, 1, 2])
@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
def test_few_texts_are_no_special_case(index: BlockIndex, n_texts: int) -> None:
    prints = make_prints([7] * n_texts)
    assert find_pairs(index, prints) == ([(0, 1, 0)] if n_texts == 2 else [])


PAST_16_BITS = 2**16 + 500


def planted(rng: np.random.Generator, n_texts: int, n_copies: int) -> Fingerprints:
    """Random fingerprints, then copies of some of them, the last row among them, with up to 4 bits flipped."""
    numbers = [int.from_bytes(rng.bytes(8), "little") for _ in range(n_texts)]
    originals = [n_texts - 1, *rng.integers(0, n_texts, n_copies - 1).tolist()]
    return make_prints([*numbers, *(flip_some(rng, numbers[row]) for row in originals)])


def flip_some(rng: np.random.Generator, number: int) -> int:
    """The number with 0 to 4 of its 64 bits flipped."""
    for bit in set(rng.integers(0, 64, rng.integers(0, 5)).tolist()):
        number ^= 1 << bit
    return number


@pytest.mark.parametrize("index", exact_indexes()[1:], ids=lambda index: type(index).__name__)
@pytest.mark.parametrize(
    ("n_texts", "n_copies"), [(PAST_16_BITS, 200), pytest.param(300, PAST_16_BITS, marks=pytest.mark.slow)]
)
def test_past_65536_texts_planted_pairs_are_found(index: BlockIndex, n_texts: int, n_copies: int) -> None:
    prints = planted(np.random.default_rng(n_texts), n_texts, n_copies)
    held = make_run_index(index, prints, workers=2)
    earlier, later = held.batch(np.arange(n_texts)), held.batch(np.arange(n_texts, n_texts + n_copies))
    held.add(earlier, np.ones(n_texts, np.bool_))
    found = held.look_up(later)
    assert list(zip(*(column.tolist() for column in found[:3]), strict=True)) == near_by_scan(prints, n_texts)


def near_by_scan(prints: Fingerprints, n_earlier: int) -> list[tuple[int, int, int]]:
    """The pairs of the later texts with the earlier ones within 3 bits, by later, then by earlier."""
    words, pairs = prints.bits[:, 0], []
    for row, word in enumerate(words[n_earlier:]):
        distances = np.bitwise_count(words[:n_earlier] ^ word)
        pairs += [(int(near), row, int(distances[near])) for near in np.flatnonzero(distances <= 3)]
    return pairs


@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
@pytest.mark.parametrize("n_texts", [6, 120])
def test_exact_only_band_above_a_near_band_hides_no_pair(index: BlockIndex, n_texts: int) -> None:
    half = n_texts // 2
    limits = make_limits(
        n_texts,
        lengths=[20] * half + [21] * half,
        max_hamming_distances=[3] * half + [-1] * half,
        max_partner_lengths=[30] * half + [0] * half,
    )
    prints = make_prints([0] * n_texts, limits=limits)
    assert find_pairs(index, prints) == plain_pairs(prints)


@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
def test_reach_need_not_rise_with_length(index: BlockIndex) -> None:
    rng = np.random.default_rng(3)
    lengths = rng.integers(8, 40, 150)
    reaches = np.where(lengths <= 20, lengths * 2, lengths + 1)
    limits = make_limits(150, lengths=lengths.tolist(), max_partner_lengths=reaches.tolist())
    prints = make_prints(clustered_numbers(rng, 150, 64, 2), limits=limits)
    assert find_pairs(index, prints) == plain_pairs(prints)


@pytest.mark.parametrize("bits", [64, 128])
def test_workers_change_neither_pairs_nor_counts(bits: int) -> None:
    prints = clustered_prints(np.random.default_rng(4), 1300, bits, 3)
    outcomes = [look_up_all(make_blocks(4, 1), prints, [640], workers=workers) for workers in (1, 2)]
    assert outcomes[0] == outcomes[1]


LIMITED = pytest.mark.parametrize(
    "index",
    [make_blocks(4, 1, max_bucket_size=10), make_probing(4, max_bucket_size=10)],
    ids=lambda index: type(index).__name__,
)


@LIMITED
def test_of_a_crowded_key_the_newest_texts_are_looked_at(index: BlockIndex) -> None:
    found, report = look_up_all(index, make_prints([5] * 20), range(20))
    assert found == [(a, b, 0) for a in range(20) for b in range(a + 1, 20) if b - a <= 10]
    assert report.limits_hit["max_bucket_size"] == 4 * sum(b > 10 for b in range(20))


@LIMITED
def test_limit_that_is_not_passed_is_not_reported(index: BlockIndex) -> None:
    found, report = look_up_all(index, make_prints([5] * 11), range(11))
    assert (len(found), report.limits_hit) == (55, {})


@LIMITED
def test_index_with_a_bucket_limit_does_not_promise_to_be_exact(index: BlockIndex) -> None:
    assert not look_up_all(index, make_prints([5]))[1].exact


def test_pair_in_a_crowded_key_is_found_by_another_key() -> None:
    shared = 0xFFFF
    others = [shared | (row * 0x0001_0003_0007 + 1) << 16 for row in range(1, 51)]
    twin = shared | 0xABC_DEF0_1234 << 16
    found, report = look_up_all(make_blocks(4, 1, max_bucket_size=10), make_prints([twin, *others, twin]), range(52))
    assert (0, 51, 0) in found
    assert report.limits_hit["max_bucket_size"] > 0


def test_blocks_beyond_their_distance_do_not_promise_to_be_exact() -> None:
    prints = make_prints([5], limits=make_limits(1, max_hamming_distances=4))
    assert not look_up_all(make_blocks(4, 1), prints)[1].exact


def test_largest_bucket_is_that_of_the_data() -> None:
    _, report = look_up_all(make_blocks(4, 1), make_prints([0x0001000100010001] + [0] * 12))
    assert report.largest_bucket == 11


def test_comparisons_of_a_scan_are_counted() -> None:
    for cuts in ([], [2], [1, 2, 3]):
        assert look_up_all(Scan(), make_prints([1, 2, 3, 4]), cuts)[1].n_comparisons == 6


@given(st.sampled_from([64, 128, 256, 512]), st.integers(1, 64))
def test_blocks_are_contiguous_and_hold_every_bit_once(bits: int, n_blocks: int) -> None:
    blocks = pigeonhole.cut_blocks(bits, n_blocks)
    assert np.concatenate(blocks).tolist() == list(range(bits))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@given(st.integers(1, 9), st.integers(0, 3))
def test_probes_are_all_flips_within_the_radius(block_bits: int, radius: int) -> None:
    blocks = [np.arange(block_bits)]
    probed = pigeonhole.key_bits_of(blocks, [radius], 1)
    flips = probed.flips[:, 0].tolist()
    expected = [word for word in range(2**block_bits) if word.bit_count() <= radius]
    assert (flips[0], sorted(flips)) == (0, expected)
    assert pigeonhole.count_neighbours(block_bits, radius) == len(flips)


@pytest.mark.parametrize(
    ("blocks", "bands", "message"),
    [
        ({"use": "blocks", "n_blocks": 4}, None, "n_blocks must be at least 41 because max_hamming_distance is 40"),
        # 64 choose 8 tables are four thousand million, which no run would see the end of
        ({"use": "blocks", "n_blocks": 64, "n_key_blocks": 8}, [{"exact_only": True}], "n_key_blocks must be smaller"),
        ({"use": "probing", "n_blocks": 4}, None, "more than max_probes"),
    ],
)
def test_blocks_of_no_use_are_refused(blocks: dict[str, Any], bands: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings({"blocks": blocks} | ({"lengths": bands} if bands else {}))


def test_probing_counts_the_neighbours_of_the_widest_block_and_radius() -> None:
    band = {"max_hamming_distance": 6, "verifier": {"use": "edit", "threshold": 0.8}}
    config = {"fingerprint": {"bits": 64}, "lengths": [band]}
    load_settings({**config, "blocks": {"use": "probing", "n_blocks": 5, "max_probes": 14}})
    with pytest.raises(ConfigError, match=r"of 13 bits .* would probe 14 keys per block, more than max_probes 13"):
        load_settings({**config, "blocks": {"use": "probing", "n_blocks": 5, "max_probes": 13}})


@given(n_blocks=st.integers(1, 64), distance=st.integers(0, 511))
def test_radii_are_the_least_that_miss_nothing(n_blocks: int, distance: int) -> None:
    radii = pigeonhole.block_radii(n_blocks, distance)
    assert sum(radius + 1 for radius in radii) == distance + 1
    assert len(radii) == min(n_blocks, distance + 1)
    assert radii == sorted(radii, reverse=True)
    assert max(radii) - min(radii) <= 1
