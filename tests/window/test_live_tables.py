"""Chained tables in a ring: memory, limits, growth, numbers that wrap around."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybriddup.config.settings import ComponentSettings
from hybriddup.errors import ConfigError
from hybriddup.records import Fingerprints
from hybriddup.steps.blocks import Expectation
from hybriddup.window.index import fill
from hybriddup.window.index.chained_tables import best_chunk_bits, chunks_of_bucket
from hybriddup.window.index.live_scan import LiveScan
from hybriddup.window.index.live_shapes import FEW_TEXTS, make_live_index
from hybriddup.window.index.live_tables import LiveTables
from hybriddup.window.index.modeled_pairs import model_pairs
from tests.builders import as_triples, clustered_numbers, make_limits, make_prints
from tests.steps.block_runs import no_pilot


def tables_of(use: str, n_texts: int, bits: int = 64, **options: Any) -> LiveTables:
    """An index with tables, for distances up to 3."""
    index = make_live_index(ComponentSettings(use=use, options=options), Expectation(n_texts, 1, bits, 3, no_pilot))
    assert isinstance(index, LiveTables)
    return index


def random_prints(rng: np.random.Generator, first: int, n: int, bits: int = 64) -> Fingerprints:
    """Evenly spread fingerprints at positions from ``first`` on."""
    numbers = [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(n)]
    return make_prints(numbers, bits, positions=range(first, first + n))


@pytest.mark.parametrize("n_expected", [100, 1000])
def test_memory_stops_growing_when_the_window_is_full(n_expected: int) -> None:
    """After five windows' worth there are hardly more chunks than after two, also where fewer texts were expected."""
    rng, index, window, after = np.random.default_rng(0), tables_of("blocks", n_expected), 1000, {}
    for position in range(0, 5 * window, 50):
        index.add(random_prints(rng, position, 50))
        index.forget_before(position + 50 - window)
        after[position + 50] = index.report().n_bytes
    assert after[5 * window] <= 1.05 * after[2 * window]
    assert index.report().n_texts == window


def test_everything_is_freed_when_all_is_forgotten() -> None:
    """A sweep later, only what was added since is in chunks."""
    rng, index = np.random.default_rng(1), tables_of("blocks", 1000)
    index.add(random_prints(rng, 0, 1000))
    full = index._tables.n_chunks
    index.forget_before(1000)
    for position in range(1000, 1200, 20):
        index.add(random_prints(rng, position, 20))
        index.forget_before(position + 20)
    assert index.report().n_texts == 0
    assert index._tables.n_chunks < full / 4


def test_texts_in_one_bucket_are_read_as_far_as_the_limit_says() -> None:
    """The newest are read, the report says that a bucket was cut, and that not everything is found."""
    index = tables_of("blocks", 1000, max_bucket_size=32)
    index.add(make_prints([0] * 1000))
    pairs = index.candidates(make_prints([0], positions=[1000]))
    report = index.report()

    assert 32 <= len(pairs) < 64
    assert pairs.earlier.tolist() == list(range(1000 - len(pairs), 1000))
    assert report.limits_hit == {"max_bucket_size": 4}
    assert not report.exact
    assert report.largest_bucket < 64


def test_a_burst_of_equal_texts_is_found_as_far_as_the_limit_says() -> None:
    """However many of them are of an octet, and each once."""
    index = tables_of("blocks", 20_000, max_bucket_size=1000)
    index.add(make_prints([0] * 20_000))
    pairs = index.candidates(make_prints([1], positions=[20_000]))

    assert 1000 <= len(pairs) < 2000
    assert len(set(pairs.earlier.tolist())) == len(pairs)


@pytest.mark.parametrize(("most", "limited"), [(0, True), (5000, False)])
def test_sampled_tables_limit_crowded_buckets(most: int, limited: bool) -> None:
    """An attacker's texts in one bucket do not make every look-up read all of them, unless that is asked for."""
    options = {"key_bits": 8, "n_tables": 2, "n_weak_bits": 0, "max_bucket_size": most}
    index = make_live_index(
        ComponentSettings(use="tables", options=options), Expectation(3000, 1, 64, 3, lambda: model_pairs(64, 3))
    )
    index.add(make_prints([7] * 3000))
    n_found = len(index.candidates(make_prints([7], positions=[3000])))

    assert (n_found < 1000) == limited
    assert bool(index.report().limits_hit) == limited


def test_limits_are_not_reported_where_a_bucket_is_read_to_its_live_end() -> None:
    """Texts that are forgotten do not count."""
    index = tables_of("blocks", 1000, max_bucket_size=32)
    index.add(make_prints([0] * 1000))
    index.forget_before(990)

    assert len(index.candidates(make_prints([0], positions=[1000]))) == 10
    assert index.report().limits_hit == {}


@pytest.mark.parametrize("start", [2**32 - 640, 2**32 - 9984, 2**33 - 64])
def test_numbers_go_on_past_32_bits(start: int) -> None:
    """Running numbers are told apart by their low half, and the first block of them is never used."""
    rng, index = np.random.default_rng(2), tables_of("blocks", 500)
    index._ring.first = index._ring.next = index._ring._turn = start
    oracle = LiveScan(Expectation(500, 1, 64, 3, no_pilot))
    numbers = clustered_numbers(rng, 20_000, 64, 4, n_patterns=40)
    prints = make_prints(numbers)
    for first in range(0, 20_000, 500):
        batch = prints.take(slice(first, first + 500))
        assert as_triples(index.candidates(batch)) == as_triples(oracle.candidates(batch))
        for one in (index, oracle):
            one.add(batch)
            one.forget_before(first + 100)
    assert index._ring.next > 2**32 + 64


def test_outgrown_indexes_say_so_and_are_rebuilt() -> None:
    """A small window is scanned; a larger one gets tables; both hold the same texts."""
    rng, blocks = np.random.default_rng(3), ComponentSettings(use="tables")
    index = make_live_index(blocks, Expectation(10, 1, 128, 20, lambda: model_pairs(128, 20)))
    assert isinstance(index, LiveScan)
    for position in range(0, 64_000, 8000):
        assert index.outgrown == (position > 2 * FEW_TEXTS)
        bits = rng.integers(0, 2**64, (8000, 2), np.uint64)
        positions, strengths = np.arange(position, position + 8000), np.zeros((8000, 64), np.uint8)
        index.add(Fingerprints(positions, bits, strengths, make_limits(8000, max_hamming_distances=20)))
    index.forget_before(1000)
    assert index.outgrown
    rebuilt = make_live_index(blocks, Expectation(120_000, 1, 128, 20, lambda: model_pairs(128, 20)))
    fill(rebuilt, index.texts())

    assert isinstance(rebuilt, LiveTables)
    assert not rebuilt.outgrown
    later = Fingerprints(np.array([64_000]), bits[-1:], strengths[-1:], make_limits(1, max_hamming_distances=20))
    assert as_triples(rebuilt.candidates(later)) == as_triples(index.candidates(later)) == [(63_999, 64_000, 0)]
    assert rebuilt.report().n_texts == index.report().n_texts == 63_000


def test_planned_tables_find_the_target_share_of_other_pairs() -> None:
    """Planned with modeled pairs, they find as many of others by the same model."""
    limit, n = 24, 40_000
    index = make_live_index(
        ComponentSettings(use="tables", options={"target_recall": 0.95}),
        Expectation(n, 2, 128, limit, lambda: model_pairs(128, limit)),
    )
    assert isinstance(index, LiveTables)
    earlier, later = model_pairs(128, limit, n_pairs=4000, seed=1)
    index.add(earlier)
    within = np.bitwise_count(earlier.bits ^ later.bits).sum(axis=1) <= limit
    looked_up = Fingerprints(later.positions + 4000, later.bits, later.strengths, later.limits)
    pairs = index.candidates(looked_up.take(within))
    found = np.count_nonzero(pairs.earlier == pairs.later - 4000) / within.sum()

    assert found >= 0.94, f"found {found:.3f}"
    assert index.report().n_comparisons < 0.2 * len(later) * len(earlier)


def test_less_memory_means_fewer_tables() -> None:
    """What does not fit is left out, and the description says what is found still."""
    shapes = [
        make_live_index(
            ComponentSettings(use="tables"),
            Expectation(100_000, 1, 128, 30, lambda: model_pairs(128, 30)),
            memory=memory,
        )
        for memory in (100_000_000, 7_000_000)
    ]
    plenty, little = (index for index in shapes if isinstance(index, LiveTables))
    assert little.shape.keys.n_of_text < plenty.shape.keys.n_of_text


def test_other_block_indexes_are_refused() -> None:
    """The message names those that have a live form."""
    with pytest.raises(ConfigError, match="one of blocks, probing, tables, scan"):
        make_live_index(ComponentSettings(use="redis"), Expectation(10, 1, 64, 3, no_pilot))


@pytest.mark.parametrize("mean", [0.01, 0.5, 3.0, 40.0, 700.0])
@pytest.mark.parametrize("chunk_bits", [2, 3, 4, 5])
def test_expected_chunks_are_those_of_random_buckets(mean: float, chunk_bits: int) -> None:
    """The formula against a simulation."""
    sizes = np.random.default_rng(4).poisson(mean, 200_000)
    simulated = np.ceil(sizes / ((1 << chunk_bits) - 1)).mean()
    assert chunks_of_bucket(mean, chunk_bits) == pytest.approx(simulated, rel=0.08)


def test_small_buckets_get_small_chunks() -> None:
    """A bucket of one text does not take a line of the cache."""
    assert [best_chunk_bits(mean) for mean in (0.1, 8.0, 700.0)] == [2, 3, 5]
