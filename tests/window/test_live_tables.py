"""Chained tables in a ring: memory, growth, numbers that wrap around; and the same pairs as by lists and by a scan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hybriddup.data.records import Fingerprints, UInt64s
from hybriddup.kernels.ring_texts import TOLD_BITS
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing
from hybriddup.testing.live_indexes import with_keys
from hybriddup.window.index import LiveIndex, LiveTexts
from hybriddup.window.index.chained_tables import ChainedTables, best_chunk_bits, chunks_of_bucket
from hybriddup.window.index.choosing import make_live_index
from hybriddup.window.index.entries import NUMBERS, RESIDUES, Entries
from hybriddup.window.index.live_lists import LiveLists
from hybriddup.window.index.live_scan import LiveScan
from hybriddup.window.index.live_tables import LiveTables, TableKeys
from hybriddup.window.index.ring_index import WindowSize
from tests.builders import clustered_numbers, make_limits, make_prints


def keys_of(use: str, bits: int = 64, distance: int = 3, **options: Any) -> Blocks | Probing:
    """A block index for distances up to a limit."""
    index = Blocks(Blocks.Options(**options)) if use == "blocks" else Probing(Probing.Options(**options))
    index.prepare(bits, distance)
    return index


def tables_of(keys: BlockIndex, n_texts: int, bits: int = 64) -> LiveTables:
    """Tables for so many texts."""
    index = make_live_index(keys, WindowSize(n_texts, bits))
    assert isinstance(index, LiveTables)
    return index


def random_prints(rng: np.random.Generator, first: int, n: int) -> Fingerprints:
    """Evenly spread fingerprints at positions from ``first`` on."""
    bits = rng.integers(0, 2**64, (n, 1), np.uint64)
    return Fingerprints(np.arange(first, first + n), bits, make_limits(n))


def add(index: LiveIndex, texts: LiveTexts) -> None:
    """Add texts, all of them kept."""
    index.add(texts, np.ones(len(texts.prints), np.bool_))


def found(index: LiveIndex, texts: LiveTexts) -> list[list[int]]:
    """The earlier texts, the rows of the later ones, and the distances."""
    near = index.look_up(texts)
    return [near.earlier.tolist(), near.later.tolist(), near.distances.tolist()]


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize(("use", "distance"), [("blocks", 3), ("probing", 9)])
def test_tables_lists_and_a_scan_find_the_same_pairs(use: str, distance: int, bits: int) -> None:
    """While texts come and go, in batches of many sizes, many of them near."""
    rng, window = np.random.default_rng(bits + distance), 1500
    keys = keys_of(use, bits, distance, n_blocks=bits // 16 if use == "blocks" else bits // 8)
    size = WindowSize(window, bits)
    indexes = [tables_of(keys, window, bits), LiveLists(size, keys), LiveScan(size)]
    numbers = clustered_numbers(rng, 6000, bits, distance // 2 + 2, n_patterns=300)
    prints = make_prints(numbers, bits, limits=make_limits(6000, max_hamming_distances=distance))
    texts, first, n_pairs = with_keys(prints, None, keys), 0, 0
    while first < len(prints):
        batch = texts.take(slice(first, first + int(rng.choice([1, 7, 256, 1000]))))
        pairs = [found(index, batch) for index in indexes]
        assert pairs[0] == pairs[1] == pairs[2]
        n_pairs += len(pairs[0][0])
        kept = rng.random(len(batch.prints)) < 0.9
        first += len(batch.prints)
        for index in indexes:
            index.add(batch, kept)
            index.forget_before(first - window)
    assert n_pairs > 5000
    assert len({index.report().n_texts for index in indexes}) == 1


@pytest.mark.parametrize("n_expected", [100, 1000])
def test_memory_stops_growing_when_the_window_is_full(n_expected: int) -> None:
    """After five windows' worth there are hardly more chunks than after two, also where fewer texts were expected."""
    rng, window, after, keys = np.random.default_rng(0), 1000, {}, keys_of("blocks")
    index = tables_of(keys, n_expected)
    for position in range(0, 5 * window, 50):
        add(index, with_keys(random_prints(rng, position, 50), None, keys))
        index.forget_before(position + 50 - window)
        after[position + 50] = index.report().n_bytes
    assert after[5 * window] <= 1.05 * after[2 * window]
    assert index.report().n_texts == window


def test_everything_is_freed_when_all_is_forgotten() -> None:
    """A sweep later, only what was added since is in chunks."""
    rng, keys = np.random.default_rng(1), keys_of("blocks")
    index = tables_of(keys, 1000)
    add(index, with_keys(random_prints(rng, 0, 1000), None, keys))
    full = index._tables.n_chunks
    index.forget_before(1000)
    for position in range(1000, 1200, 20):
        add(index, with_keys(random_prints(rng, position, 20), None, keys))
        index.forget_before(position + 20)
    assert index.report().n_texts == 0
    assert index._tables.n_chunks < full / 4


def test_every_text_of_a_crowded_bucket_is_found() -> None:
    """However many of them are of an octet, and each once."""
    keys = keys_of("blocks")
    index = tables_of(keys, 20_000)
    add(index, with_keys(make_prints([0] * 20_000), None, keys))
    near = index.look_up(with_keys(make_prints([1], positions=[20_000]), None, keys))

    assert near.earlier.tolist() == list(range(20_000))
    assert index.report().exact
    assert index.report().largest_bucket >= 20_000 // 8


@pytest.mark.parametrize("start", [2**32 - 640, 2**32 - 9984, 2**33 - 64])
def test_numbers_go_on_past_32_bits(start: int) -> None:
    """Running numbers are told apart by their low half, and the first block of them is never used."""
    rng, keys = np.random.default_rng(2), keys_of("blocks")
    index, oracle = tables_of(keys, 500), LiveScan(WindowSize(500, 64))
    index._ring.first = index._ring.next = index._ring._turn = start
    texts = with_keys(make_prints(clustered_numbers(rng, 20_000, 64, 4, n_patterns=40)), None, keys)
    for first in range(0, 20_000, 500):
        batch = texts.take(slice(first, first + 500))
        assert found(index, batch) == found(oracle, batch)
        for one in (index, oracle):
            add(one, batch)
            one.forget_before(first + 100)
    assert index._ring.next > 2**32 + 64


def test_exact_tables_go_by_residues_as_far_as_there_is_room() -> None:
    """With more texts, the numbers take all bits."""
    keys = keys_of("blocks")
    entries = [tables_of(keys, n_texts)._tables._entries for n_texts in (1, 50_000_000, 60_000_000)]
    assert entries == [RESIDUES, RESIDUES, NUMBERS]


def tables_with(entries: Entries, window: int) -> LiveTables:
    """Tables whose entries have what is given."""
    keys = keys_of("blocks")
    index, table_keys = tables_of(keys, window), TableKeys(keys.chosen, keys.radii)
    index._tables = ChainedTables(table_keys, window, entries)
    return index


@pytest.mark.parametrize(
    ("window", "number_bits", "by_octets"),
    [
        (2**16, TOLD_BITS - 2, False),
        (2**18, TOLD_BITS - 2, False),
        (2**16, TOLD_BITS - 3, True),
        (2**20, TOLD_BITS - 3, True),
    ],
)
def test_residues_stay_exact_while_numbers_come_again(window: int, number_bits: int, by_octets: bool) -> None:
    """And when they are given up, as more numbers are live than are told apart well: copies of any text are found."""
    rng, position, batch = np.random.default_rng(window), 0, 2**14
    index, keys = tables_with(Entries(number_bits, by_residues=True, by_octets=by_octets), window), keys_of("blocks")
    added = rng.integers(0, 2**64, (window + 2**20 + 2 * batch, 1), np.uint64)
    while position < len(added):
        add(index, texts_at(added[position : position + batch], position, keys))
        position += batch
        index.forget_before(position - window)
        if position in (window, len(added)):  # just full, and when numbers have come again
            earlier = np.sort(rng.choice(window, batch, replace=False)) + position - window
            later = texts_at(added[earlier] ^ np.uint64(0b10011 << 17), position, keys)
            near = index.look_up(later)
            pairs = set(zip(near.earlier.tolist(), near.later.tolist(), strict=True))
            assert set(zip(earlier.tolist(), range(batch), strict=True)) <= pairs
            assert near.earlier.min() >= position - window
    assert (index._tables._entries.by_residues, index._tables._entries.by_octets) == (window < 2**18, by_octets)


def texts_at(bits: UInt64s, position: int, keys: BlockIndex) -> LiveTexts:
    """Texts whose limit is 3, from a position on."""
    limits = make_limits(len(bits), max_hamming_distances=3)
    return with_keys(Fingerprints(position + np.arange(len(bits)), bits, limits), None, keys)


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
