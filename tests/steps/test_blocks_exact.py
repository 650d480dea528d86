"""`scan` equals comparing all with all; `blocks` and `probing` equal it wherever they promise to be exact."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.config import load_settings
from hybriddup.errors import ConfigError
from hybriddup.records import Fingerprints
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing, count_neighbours, cut_blocks, neighbour_offsets
from hybriddup.steps.blocks.scan import Scan
from tests.builders import clustered_numbers, make_limits, make_prints
from tests.steps.block_runs import clustered_prints, expectation_of, find_pairs, plain_pairs

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
@settings(max_examples=15)
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
@settings(max_examples=25)
@given(seed=seeds, shape=pigeonhole_shapes(), cuts=row_cuts)
def test_blocks_equal_scan_for_every_shape(bits: int, seed: int, shape: tuple[int, int, int], cuts: list[int]) -> None:
    """Within ``n_blocks - n_key_blocks`` bits the pigeonhole principle leaves one key untouched."""
    n_blocks, n_key_blocks, distance = shape
    prints = clustered_prints(np.random.default_rng(seed), 40, bits, distance)
    index = make_blocks(n_blocks, n_key_blocks)
    assert find_pairs(index, prints, cuts) == find_pairs(Scan(), prints)
    assert index.report().exact


@st.composite
def probing_shapes(draw: st.DrawFn) -> tuple[int, int, int]:
    """A width, a number of blocks and a distance whose neighbours are few enough to list."""
    bits, n_blocks, radius = draw(st.sampled_from([64, 128, 256])), draw(st.integers(1, 32)), draw(st.integers(0, 3))
    while count_neighbours(-(-bits // n_blocks), radius) > MAX_NEIGHBOURS:
        radius -= 1
    return bits, n_blocks, min(radius * n_blocks + draw(st.integers(0, n_blocks - 1)), bits - 1)


@settings(max_examples=60)
@given(seed=seeds, shape=probing_shapes(), cuts=row_cuts)
def test_probing_equals_scan_for_every_shape(seed: int, shape: tuple[int, int, int], cuts: list[int]) -> None:
    """Some block differs in no more bits than its radius, and all keys within that are looked up."""
    bits, n_blocks, distance = shape
    prints = clustered_prints(np.random.default_rng(seed), 40, bits, distance)
    index = make_probing(n_blocks)
    assert find_pairs(index, prints, cuts) == find_pairs(Scan(), prints)
    assert index.report().exact


VARIED = [0, 1, 2, 3, 20, 21, 22, 23, 42, 43, 63]
"""Bits that are 0 or 1 in every combination: several in one block, and some on both sides of a cut."""
EVERY_WORD = [sum(1 << bit for bit in chosen) for n in range(len(VARIED) + 1) for chosen in combinations(VARIED, n)]


@pytest.mark.parametrize("n_blocks", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("distance", range(7))
def test_probing_finds_every_word_within_the_distance_and_no_other(n_blocks: int, distance: int) -> None:
    """All 2,048 of them, though most blocks are probed less far than the first ones."""
    limits = make_limits(1, max_hamming_distances=distance)
    earlier = make_prints([0], limits=limits)
    limits = make_limits(len(EVERY_WORD), max_hamming_distances=distance)
    later = make_prints(EVERY_WORD, limits=limits, positions=range(1, len(EVERY_WORD) + 1))
    index = make_probing(n_blocks)
    index.prepare(expectation_of(earlier))
    index.add(earlier)
    found = index.candidates(later).later.tolist()
    assert [EVERY_WORD[position - 1].bit_count() for position in found] == sorted(
        word.bit_count() for word in EVERY_WORD if word.bit_count() <= distance
    )


def test_four_blocks_look_up_428_keys_within_10_bits() -> None:
    """Three within 2 bits and one within 1, instead of 548 where all are within 2."""
    prints = make_prints([7] * 2**16, limits=make_limits(2**16, max_hamming_distances=10))
    index = make_probing(4)
    index.prepare(expectation_of(prints))
    index.add(prints.take(slice(0, 1)))
    index.candidates(prints.take(slice(1, 11)))
    assert index.report().n_look_ups == 10 * 428
    assert index.report().shape == "probing: 4 tables of 16 bits, 428 keys within 1-2 bits probed"


def test_texts_meet_in_the_tables_whose_radius_they_are_within() -> None:
    """Four blocks within 2, 2, 2 and 1 bits; in each the two texts differ in 2, which is one too many for the last."""
    prints = make_prints([0, 0x0003_0003_0003_0003], limits=make_limits(2, max_hamming_distances=10))
    index = make_probing(4)
    index.prepare(expectation_of(prints))
    assert index.keys_in_common(prints.take(slice(0, 1)), prints.take(slice(1, 2))) == (3, 4)


def test_blocks_that_are_not_needed_have_no_table() -> None:
    """Within 2 bits, three of seven blocks are enough for one of them to be the same."""
    prints = make_prints([0, 0b11, 0b111 << 30], limits=make_limits(3, max_hamming_distances=2))
    index = make_probing(7)
    assert find_pairs(index, prints) == [(0, 1, 2)]
    assert len(index.shape.tables) == 3


@pytest.mark.parametrize("n_texts", [0, 1, 2])
@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
def test_few_texts_are_no_special_case(index: BlockIndex, n_texts: int) -> None:
    """None, one, and two equal ones."""
    prints = make_prints([7] * n_texts)
    assert find_pairs(index, prints) == ([(0, 1, 0)] if n_texts == 2 else [])


@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
def test_equal_fingerprints_are_paired(index: BlockIndex) -> None:
    """Every two of them, though they share one bucket in every table; a set would hold them once."""
    assert find_pairs(index, make_prints([5] * 30)) == [(a, b, 0) for a in range(30) for b in range(a + 1, 30)]


@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
def test_limit_is_inclusive(index: BlockIndex) -> None:
    """3 bits apart is a candidate within 3 bits, 4 is not."""
    assert find_pairs(index, make_prints([0, 0b111 << 20, 0b1111 << 20])) == [(0, 1, 3), (1, 2, 1)]


PAST_16_BITS = 2**16 + 500


def planted(rng: np.random.Generator, n_texts: int, n_copies: int) -> tuple[Fingerprints, Fingerprints]:
    """Random fingerprints, and copies of some of them, the last row among them, with up to 4 bits flipped."""
    numbers = [int.from_bytes(rng.bytes(8), "little") for _ in range(n_texts)]
    originals = [n_texts - 1, *rng.integers(0, n_texts, n_copies - 1).tolist()]
    copies = [flip_some(rng, numbers[row]) for row in originals]
    return make_prints(numbers), make_prints(copies, positions=range(n_texts, n_texts + len(copies)))


def flip_some(rng: np.random.Generator, number: int) -> int:
    """The number with 0 to 4 of its 64 bits flipped."""
    for bit in set(rng.integers(0, 64, rng.integers(0, 5)).tolist()):
        number ^= 1 << bit
    return number


@pytest.mark.parametrize("index", exact_indexes()[1:], ids=lambda index: type(index).__name__)
def test_index_past_65536_texts_equals_scan(index: BlockIndex) -> None:
    """No row number, count or bucket is kept in 16 bits."""
    earlier, later = planted(np.random.default_rng(1), PAST_16_BITS, 200)
    assert find_later(index, earlier, later) == find_later(Scan(), earlier, later) != []


@pytest.mark.parametrize("index", exact_indexes()[1:], ids=lambda index: type(index).__name__)
def test_batch_past_65536_texts_equals_scan(index: BlockIndex) -> None:
    """The other way round: few texts in the index, many that look them up, in two workers."""
    earlier, later = planted(np.random.default_rng(2), 300, PAST_16_BITS)
    assert find_later(index, earlier, later, workers=2) == find_later(Scan(), earlier, later) != []


def find_later(index: BlockIndex, earlier: Fingerprints, later: Fingerprints, workers: int = 1) -> list[list[int]]:
    """What the later texts find in an index of the earlier ones, as columns."""
    index.prepare(expectation_of(earlier, workers=workers))
    index.add(earlier)
    pairs = index.candidates(later)
    return [pairs.earlier.tolist(), pairs.later.tolist(), pairs.hamming_distances.tolist()]


# --- limits by length ---


@pytest.mark.parametrize("index", exact_indexes(), ids=lambda index: type(index).__name__)
@pytest.mark.parametrize("n_texts", [6, 120])
def test_exact_only_band_above_a_near_band_hides_no_pair(index: BlockIndex, n_texts: int) -> None:
    """A pair is judged by its shorter text, so a text that alone may only be an exact repeat is found by a shorter one.

    Both in buckets of a few texts and in large ones, which are searched by length.
    """
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
    """A strict band above a lenient one leaves a shorter text with a longer reach than a longer text."""
    rng = np.random.default_rng(3)
    lengths = rng.integers(8, 40, 150)
    reaches = np.where(lengths <= 20, lengths * 2, lengths + 1)
    limits = make_limits(150, lengths=lengths.tolist(), max_partner_lengths=reaches.tolist())
    prints = make_prints(clustered_numbers(rng, 150, 64, 2), limits=limits)
    assert find_pairs(index, prints) == plain_pairs(prints)


# --- reports and limits ---


@pytest.mark.parametrize("bits", [64, 128])
def test_workers_change_neither_pairs_nor_counts(bits: int) -> None:
    """Slices of a batch are put together in order and their counts added up."""
    prints = clustered_prints(np.random.default_rng(4), 300, bits, 3)
    outcomes = []
    for workers in (1, 2, 3):
        index = make_blocks(4, 1)
        pairs = find_pairs(index, prints, [100], expectation_of(prints, workers=workers))
        outcomes.append((pairs, index.report()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("index", [make_blocks(4, 1, max_bucket_size=10), make_probing(4, max_bucket_size=10)])
def test_bucket_past_its_limit_is_passed_over_and_counted(index: BlockIndex) -> None:
    """Twenty equal texts share every bucket; each look into one is counted, and nothing is found there."""
    assert find_pairs(index, make_prints([5] * 20)) == []
    assert index.report().limits_hit["max_bucket_size"] >= 20


@pytest.mark.parametrize("index", [make_blocks(4, 1, max_bucket_size=10), make_probing(4, max_bucket_size=10)])
def test_bucket_at_its_limit_is_looked_into(index: BlockIndex) -> None:
    """The limit is inclusive, and a limit that is not hit is not reported as hit."""
    assert len(find_pairs(index, make_prints([5] * 10))) == 45
    assert index.report().limits_hit == {}


@pytest.mark.parametrize("index", [make_blocks(4, 1, max_bucket_size=10), make_probing(4, max_bucket_size=10)])
def test_index_with_a_bucket_limit_does_not_promise_to_be_exact(index: BlockIndex) -> None:
    """Whether the limit will be hit is not known beforehand."""
    index.prepare(expectation_of(make_prints([5])))
    assert not index.report().exact


def test_pair_in_a_bucket_that_is_passed_over_is_found_by_another_table() -> None:
    """Fifty texts share the first block of a pair, nobody its others: that the first table is skipped loses nothing."""
    shared = 0xFFFF
    others = [shared | (row * 0x0001_0003_0007 + 1) << 16 for row in range(1, 51)]
    pair = [shared | 0xABC_DEF0_1234 << 16] * 2
    index = make_blocks(4, 1, max_bucket_size=10)
    found = find_pairs(index, make_prints([*others, *pair]), expectation=expectation_of(make_prints([]), n_texts=2**16))
    assert (50, 51, 0) in found
    assert index.report().limits_hit["max_bucket_size"] > 0


def test_blocks_beyond_their_distance_do_not_promise_to_be_exact() -> None:
    """Four blocks with a key of one find most pairs 4 bits apart, not all."""
    index = make_blocks(4, 1)
    index.prepare(expectation_of(make_prints([5], limits=make_limits(1, max_hamming_distances=4))))
    assert not index.report().exact


def test_largest_bucket_is_that_of_the_data() -> None:
    """Twelve equal texts and one that shares no block with them."""
    index = make_blocks(4, 1)
    find_pairs(index, make_prints([0x0001000100010001] + [0] * 12))
    assert index.report().largest_bucket == 12


def test_comparisons_of_a_scan_are_counted() -> None:
    """A batch that is compared with itself: every text with every one of the batch."""
    index = Scan()
    find_pairs(index, make_prints([1, 2, 3, 4]))
    assert index.report().n_comparisons == 16


# --- the parts of the theorem ---


@given(st.sampled_from([64, 128, 256, 512]), st.integers(1, 64))
def test_blocks_are_contiguous_and_hold_every_bit_once(bits: int, n_blocks: int) -> None:
    """Their sizes differ by one at most."""
    blocks = cut_blocks(bits, n_blocks)
    assert np.concatenate(blocks).tolist() == list(range(bits))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1


@given(st.integers(1, 9), st.integers(0, 4))
def test_neighbours_within_a_radius_are_counted_rightly(n_bits: int, radius: int) -> None:
    """By trying every word."""
    assert count_neighbours(n_bits, radius) == sum(word.bit_count() <= radius for word in range(2**n_bits))


@given(st.integers(1, 9), st.integers(0, 3), st.integers(1, 9))
def test_offsets_are_those_of_all_flips_folded(key_bits: int, radius: int, bucket_bits: int) -> None:
    """Each bucket once, the own one first, though folding lets several flips lead to one bucket."""
    expected = {0}
    for flipped in range(radius + 1):
        for chosen in combinations(range(key_bits), flipped):
            bucket = 0
            for bit in chosen:
                bucket ^= 2 ** (bit % bucket_bits)
            expected.add(bucket)
    offsets = neighbour_offsets(key_bits, radius, bucket_bits).tolist()
    assert (offsets[0], sorted(offsets), len(set(offsets))) == (0, sorted(expected), len(offsets))


def test_blocks_too_few_for_the_distance_are_refused() -> None:
    """The message says what is needed and why."""
    with pytest.raises(ConfigError, match="n_blocks must be at least 45 because max_hamming_distance is 44"):
        load_settings({"blocks": {"use": "blocks", "n_blocks": 4}})


def test_blocks_that_make_too_many_tables_are_refused() -> None:
    """64 choose 8 are four thousand million, which no run would see the end of."""
    config = {"blocks": {"use": "blocks", "n_blocks": 64, "n_key_blocks": 8}, "lengths": [{"exact_only": True}]}
    with pytest.raises(ConfigError, match="n_key_blocks must be smaller"):
        load_settings(config)


def test_probing_with_too_many_neighbours_is_refused() -> None:
    """Hours of look-ups are an error beforehand, not a surprise."""
    with pytest.raises(ConfigError, match="more than max_probes"):
        load_settings({"blocks": {"use": "probing", "n_blocks": 4}})
