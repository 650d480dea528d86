"""What tables cost: the formulas against counting, and against the numbers that the index was designed by."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.planner import formulas
from hybriddup.planner.distances import at_distance
from hybriddup.planner.formulas import (
    TableGroup,
    block_radii,
    count_bytes,
    count_look_ups,
    count_neighbours,
    estimate_cost,
    expected_candidates,
    fitting_bucket_bits,
)
from hybriddup.planner.question import Question
from hybriddup.planner.shapes import pigeonhole_shapes, probing_shapes, scan_shape
from hybriddup.records import UInt64s
from hybriddup.steps.blocks import tables
from hybriddup.steps.blocks.pigeonhole import cut_blocks

FIFTY_MILLION = 50_000_000
WIDEST = 26
"""Bits that number the buckets of so many posts."""


@given(n_bits=st.integers(1, 10), radius=st.integers(0, 10))
def test_neighbours_are_those_that_can_be_listed(n_bits: int, radius: int) -> None:
    """Every word of so many bits is within the radius or is not."""
    assert count_neighbours(n_bits, radius) == sum(word.bit_count() <= radius for word in range(2**n_bits))


@given(key_bits=st.integers(1, 14), bucket_bits=st.integers(1, 14), radius=st.integers(0, 3))
def test_folded_neighbours_are_the_neighbours_of_the_bucket(key_bits: int, bucket_bits: int, radius: int) -> None:
    """Flips of a key fold onto flips of its bucket, and where two fold onto one they cancel out."""
    bucket_bits = min(key_bits, bucket_bits)
    flips = [flip for n in range(radius + 1) for flip in combinations(range(key_bits), n)]
    buckets = {np.bitwise_xor.reduce([1 << bit % bucket_bits for bit in flip] or [0]).item() for flip in flips}
    assert count_look_ups([TableGroup(1, key_bits, radius)], bucket_bits) == len(buckets)


@given(n_blocks=st.integers(1, 64), distance=st.integers(0, 511))
def test_radii_are_the_least_that_miss_nothing(n_blocks: int, distance: int) -> None:
    """The fewest differing bits of a pair that every block misses are one more than the distance."""
    radii = block_radii(n_blocks, distance)
    assert sum(radius + 1 for radius in radii) == distance + 1
    assert len(radii) == min(n_blocks, distance + 1)
    assert radii == sorted(radii, reverse=True)
    assert max(radii) - min(radii) <= 1


@given(st.integers(1, 10).flatmap(lambda bits: st.tuples(st.just(bits), st.integers(1, bits), st.integers(0, bits))))
def test_every_difference_of_few_bits_is_within_the_radius_of_a_block(shape: tuple[int, int, int]) -> None:
    """All words of up to ten bits, cut into every number of blocks: what all blocks miss differs in more bits."""
    bits, n_blocks, distance = shape
    radii, blocks = block_radii(n_blocks, distance), cut_blocks(bits, n_blocks)
    missed = []
    for word in range(2**bits):
        differing = [sum(word >> int(bit) & 1 for bit in block) for block in blocks]
        if all(n > radius for n, radius in zip(differing, radii, strict=False)):
            missed.append(word.bit_count())
    assert min(missed, default=bits + 1) > distance


# --- the numbers that the index was designed by: 50 million posts, 64 bits ---


def test_four_tables_of_16_bits_meet_3100_candidates() -> None:
    """Radius 3, 4 choose 1: four look-ups."""
    groups = [TableGroup(4, 16)]
    assert count_look_ups(groups, WIDEST) == 4
    assert expected_candidates(FIFTY_MILLION, groups, WIDEST) == pytest.approx(3.1e3, rel=0.02)


def test_five_choose_two_meets_ten_candidates() -> None:
    """Radius 3: ten keys of 25 and 26 bits."""
    groups = [TableGroup(6, 26), TableGroup(4, 25)]
    assert count_look_ups(groups, WIDEST) == 10
    assert expected_candidates(FIFTY_MILLION, groups, WIDEST) == pytest.approx(10, abs=0.5)


def test_three_tables_of_21_bits_look_up_696_keys_for_radius_8() -> None:
    """The 13,000 candidates are those of keys of 64 / 3 bits, which lie between keys of 21 and of 22 bits."""
    groups = [TableGroup(3, 21, radius=2)]
    assert count_look_ups(groups, WIDEST) == 696
    in_buckets_of_a_third = 696 * FIFTY_MILLION / 2 ** (64 / 3)
    assert in_buckets_of_a_third == pytest.approx(13e3, rel=0.02)
    assert expected_candidates(FIFTY_MILLION, groups, WIDEST) == pytest.approx(696 * FIFTY_MILLION / 2**21)


def test_four_tables_of_16_bits_look_up_428_keys_for_radius_10() -> None:
    """Three within 2 bits and the fourth within 1: to miss all, a pair needs 3 + 3 + 3 + 2 differing bits."""
    groups = [TableGroup(3, 16, radius=2), TableGroup(1, 16, radius=1)]
    assert count_look_ups(groups, WIDEST) == 428
    assert expected_candidates(FIFTY_MILLION, groups, WIDEST) == pytest.approx(327e3, rel=0.002)


def test_four_chains_and_a_fingerprint_take_24_bytes() -> None:
    """1.2 GB at 50 million; the heads of 65,536 buckets are next to nothing."""
    n_bytes = count_bytes(FIFTY_MILLION, 64, 4, 16)
    assert n_bytes == 24 * FIFTY_MILLION + 4 * 4 * 65_536
    assert n_bytes == pytest.approx(1.2e9, rel=0.001)


def test_all_neighbours_of_64_bits_within_3_are_43745() -> None:
    """What probing every neighbour would look up."""
    assert count_neighbours(64, 3) == 43_745


def test_shapes_of_hybriddup_for_the_same_radii() -> None:
    """Blocks of 22 + 21 + 21 bits within radius 8; for radius 10 what the design has, three of four blocks farther."""
    shapes = {(n, shape.name): shape for n in (3, 8, 10) for shape in shapes_for(n)}
    found = {key: (shape.look_ups, round(shape.candidates)) for key, shape in shapes.items()}
    assert found[3, "blocks: 4 choose 1"] == (4, 3052)
    assert found[3, "blocks: 5 choose 2"] == (10, 10)
    assert found[8, "probing: 3 within 2 bits"] == (count_neighbours(22, 2) + 2 * count_neighbours(21, 2), 14_091)
    assert found[10, "probing: 4 within 1-2 bits"] == (428, 326_538)


def shapes_for(distance: int) -> list:
    question = Question(FIFTY_MILLION, 64, at_distance(distance), 1.0)
    return [*pigeonhole_shapes(question), *probing_shapes(question)]


# --- memory ---


@pytest.mark.parametrize("n_posts", [1, 2, 1000, 65_536])
@pytest.mark.parametrize("words", [1, 2])
def test_memory_is_that_of_arrays_that_find_every_post(n_posts: int, words: int) -> None:
    """Heads, chains and fingerprints, filled; walking the chains, every post is found in its bucket of each table."""
    rng = np.random.default_rng(n_posts)
    fingerprints = rng.integers(0, 2**64, (n_posts, words), np.uint64)
    bucket_bits = min(16, fitting_bucket_bits(n_posts))
    buckets = np.stack([first_bits(fingerprints, 16 * table, bucket_bits) for table in range(4)])
    heads, chains = fill_chains(buckets, bucket_bits)
    for table in range(4):
        assert walk(heads[table], chains[table], int(buckets[table, 0])) >= {0}
    held = heads.nbytes + chains.nbytes + fingerprints.nbytes
    assert count_bytes(n_posts, 64 * words, 4, bucket_bits) == held


def first_bits(fingerprints: UInt64s, start: int, n_bits: int) -> np.ndarray:
    return (fingerprints[:, 0] >> np.uint64(start)) & np.uint64(2**n_bits - 1)


def fill_chains(buckets: np.ndarray, bucket_bits: int) -> tuple[np.ndarray, np.ndarray]:
    """For each table the newest row of every bucket, and for each row the one before it in its bucket; -1 ends."""
    n_tables, n_posts = buckets.shape
    heads = np.full((n_tables, 2**bucket_bits), -1, np.int32)
    chains = np.empty((n_tables, n_posts), np.int32)
    for table, row in np.ndindex(n_tables, n_posts):
        bucket = int(buckets[table, row])
        chains[table, row] = heads[table, bucket]
        heads[table, bucket] = row
    return heads, chains


def walk(heads: np.ndarray, chain: np.ndarray, bucket: int) -> set[int]:
    found, row = set(), int(heads[bucket])
    while row >= 0:
        found.add(row)
        row = int(chain[row])
    return found


@given(st.integers(1, 2**31))
def test_buckets_are_about_as_many_as_posts(n_posts: int) -> None:
    """At least one for each, at most twice as many, where there are several."""
    assert n_posts <= 2 ** fitting_bucket_bits(n_posts) <= max(2 * n_posts, 2)


@given(st.integers(0, 60), st.integers(0, 10**6), st.floats(0, 1e9))
def test_cost_rises_with_each_of_its_parts(n_tables: int, look_ups: int, candidates: float) -> None:
    """More tables, look-ups or candidates are never cheaper."""
    cost = estimate_cost(n_tables, look_ups, candidates)
    more = [(n_tables + 1, look_ups, candidates), (n_tables, look_ups + 1, candidates)]
    assert all(estimate_cost(*parts) > cost for parts in more)
    assert estimate_cost(n_tables, look_ups, candidates + 1000) > cost


@pytest.mark.parametrize("name", [name for name in vars(formulas) if name.startswith("COST_OF_")])
def test_costs_are_those_by_which_a_run_plans(name: str) -> None:
    """Kept twice, because the tables need compiled kernels, which a plan by formula does not wait for."""
    assert getattr(formulas, name) == getattr(tables, name)


def test_costs_of_the_formulas_are_all_that_a_run_plans_by() -> None:
    """None is left out."""
    assert {name for name in vars(tables) if name.startswith("COST_OF_")} <= set(vars(formulas))


def test_scan_costs_a_comparison_in_a_scan_for_every_post() -> None:
    """Which is not what a comparison in a bucket costs."""
    scan = scan_shape(Question(FIFTY_MILLION, 64, at_distance(3), 1.0))
    assert scan.cost == pytest.approx(formulas.COST_OF_SCANNING * FIFTY_MILLION)
