"""`tables`: every pair it reports is within the limits, and what it misses is exactly what its rule says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.records import Fingerprints
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.blocks.tables import Tables, sample_keys
from tests.builders import make_prints, numbers_of, pack_strengths, unpack_strengths
from tests.steps.block_runs import Triple, clustered_prints, expectation_of, find_pairs

seeds = st.integers(0, 2**32)


def make_tables(**options: float) -> Tables:
    return Tables(Tables.Options.model_validate(options))


def find(tables: Tables, prints: Fingerprints, cuts: list[int] | None = None, workers: int = 1) -> list[Triple]:
    """What the tables find, planned on the texts themselves."""
    expectation = expectation_of(prints, workers=workers, pilot=lambda: (prints, prints))
    return find_pairs(tables, prints, cuts or [], expectation)


def is_found(difference: int, strengths: list[int], keys: list[list[int]], n_weak_bits: int) -> bool:
    """Whether in some table every differing key bit is among the later text's weakest; ties go by place in the key."""
    for key in keys:
        weak = sorted(range(len(key)), key=lambda place: (strengths[key[place]], place))[:n_weak_bits]
        if not any(difference >> position & 1 for place, position in enumerate(key) if place not in weak):
            return True
    return False


@pytest.mark.parametrize("bits", [64, 128, 256])
@settings(max_examples=20)
@given(
    seed=seeds,
    n_tables=st.integers(1, 6),
    key_bits=st.integers(4, 14),
    n_weak_bits=st.integers(0, 10),
    cuts=st.lists(st.integers(0, 40), max_size=3),
)
def test_found_pairs_are_those_of_the_rule(
    bits: int, seed: int, n_tables: int, key_bits: int, n_weak_bits: int, cuts: list[int]
) -> None:
    """Of the pairs within the limits, exactly those whose differing key bits are weak in some table."""
    prints = clustered_prints(np.random.default_rng(seed), 40, bits, bits // 4)
    tables = make_tables(n_tables=n_tables, key_bits=key_bits, n_weak_bits=n_weak_bits)
    found = find(tables, prints, cuts)
    keys = [key.tolist() for key in tables.shape.keys]
    number_at = dict(zip(prints.positions.tolist(), numbers_of(prints.bits), strict=True))
    strengths_at = dict(zip(prints.positions.tolist(), unpack_strengths(prints.strengths).tolist(), strict=True))
    expected = [
        (earlier, later, distance)
        for earlier, later, distance in find_pairs(Scan(), prints)
        if is_found(number_at[earlier] ^ number_at[later], strengths_at[later], keys, n_weak_bits)
    ]
    assert found == expected


@settings(max_examples=20)
@given(seed=seeds, cuts=st.lists(st.integers(0, 200), max_size=5), workers=st.integers(1, 3))
def test_batches_and_workers_do_not_change_what_is_found(seed: int, cuts: list[int], workers: int) -> None:
    """Whether a pair is found depends on its two texts only."""
    prints = clustered_prints(np.random.default_rng(seed), 200, 128, 36)
    shape = {"n_tables": 4, "key_bits": 10, "n_weak_bits": 3}
    assert find(make_tables(**shape), prints, cuts, workers) == find(make_tables(**shape), prints)


def test_equal_fingerprints_are_always_found() -> None:
    """Their keys are equal in the first table already."""
    tables = make_tables(n_tables=1, key_bits=20, n_weak_bits=0)
    assert find(tables, make_prints([9] * 5, 128)) == [(a, b, 0) for a in range(5) for b in range(a + 1, 5)]


def test_bucket_past_its_limit_is_passed_over_and_counted() -> None:
    """Nothing is dropped silently: the summary shows how often."""
    tables = make_tables(n_tables=2, key_bits=8, n_weak_bits=0, max_bucket_size=10)
    assert find(tables, make_prints([9] * 20, 128)) == []
    assert tables.report().limits_hit["max_bucket_size"] >= 20


def test_tables_do_not_promise_to_be_exact() -> None:
    """They reach a share; the report says so."""
    tables = make_tables(n_tables=2, key_bits=8)
    find(tables, make_prints([9] * 3, 128))
    assert not tables.report().exact


@pytest.mark.parametrize("n_texts", [0, 1, 2, 50])
def test_small_corpus_is_scanned(n_texts: int) -> None:
    """Comparing all is cheaper than any table there, and exact."""
    prints = clustered_prints(np.random.default_rng(n_texts), n_texts, 128, 36)
    tables = make_tables(target_recall=0.9)
    assert find(tables, prints) == find_pairs(Scan(), prints)
    assert tables.report().exact


def noisy_copies(rng: np.random.Generator, n: int) -> tuple[Fingerprints, Fingerprints]:
    """Fingerprints and copies of them in which bits flip the likelier the weaker they are, as edits do."""
    originals = clustered_prints(rng, n, 128, 40, by_length=False)
    random_bits = rng.integers(0, 2**64, (n, 2), np.uint64)
    strengths = rng.integers(0, 16, (n, 128))
    flips = rng.random((n, 128)) < 0.3 * np.exp(-strengths / 3.75)
    masks = np.packbits(flips, axis=1, bitorder="little").view(np.uint64)
    positions = np.arange(n)
    earlier = Fingerprints(positions, random_bits, pack_strengths(strengths), originals.limits)
    return earlier, Fingerprints(positions + n, random_bits ^ masks, earlier.strengths, originals.limits)


@pytest.mark.parametrize("target", [0.8, 0.95, 0.99])
def test_planned_tables_find_the_target_share_of_the_pilot(target: float) -> None:
    """Of pairs like those that it planned by, all within the limits, at the size of a million texts."""
    earlier, later = noisy_copies(np.random.default_rng(6), 512)
    tables = make_tables(target_recall=target)
    tables.prepare(expectation_of(earlier, n_texts=1_000_000, pilot=lambda: (earlier, later)))
    tables.add(earlier)
    pairs = tables.candidates(later)
    n_found = np.count_nonzero(pairs.later - pairs.earlier == 512)
    n_within = np.count_nonzero(np.bitwise_count(earlier.bits ^ later.bits).sum(axis=1) <= 40)
    assert not tables.report().exact
    assert n_found >= target * n_within


@pytest.mark.parametrize("fixed", [{"n_tables": 3}, {"key_bits": 9}, {"n_tables": 2, "key_bits": 7, "n_weak_bits": 1}])
def test_given_shape_is_used_however_small_the_corpus(fixed: dict[str, float]) -> None:
    """What the user sets is not planned away."""
    prints = clustered_prints(np.random.default_rng(8), 60, 128, 36)
    tables = make_tables(**fixed)
    find(tables, prints)
    shape = {
        "n_tables": len(tables.shape.keys),
        "key_bits": len(tables.shape.keys[0]),
        "n_weak_bits": tables.shape.n_weak_bits,
    }
    assert {key: shape[key] for key in fixed} == fixed


@pytest.mark.parametrize("bits", [64, 128])
def test_keys_are_orders_of_all_bits(bits: int) -> None:
    """So that a key of any number of bits has distinct ones."""
    keys = sample_keys(bits, 5, 0)
    assert np.sort(keys, axis=1).tolist() == [list(range(bits))] * 5


def test_keys_are_the_same_on_every_machine() -> None:
    """They come from a hash and not from a generator; a change gives other results from the same settings."""
    assert sample_keys(128, 2, 0)[:, :6].tolist() == KEYS_OF_SEED_0


KEYS_OF_SEED_0 = [[8, 9, 85, 103, 67, 97], [50, 118, 75, 17, 80, 23]]


def test_other_seed_gives_other_keys() -> None:
    """A user who doubts a result can draw again."""
    assert sample_keys(128, 1, 0).tolist() != sample_keys(128, 1, 1).tolist()


def test_keys_in_common_are_the_tables_that_find_the_pair() -> None:
    """What `explain` shows: one table has the differing bit in its key, the others do not."""
    prints = make_prints([0, 1], 128)
    tables = make_tables(n_tables=20, key_bits=16, n_weak_bits=0)
    find(tables, prints)
    n_with_bit_0 = sum(0 in key.tolist() for key in tables.shape.keys)
    assert tables.keys_in_common(prints.take(slice(0, 1)), prints.take(slice(1, 2))) == (20 - n_with_bit_0, 20)
