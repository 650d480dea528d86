"""Exact tables in a ring: memory, growth, and the same pairs as by lists and by a scan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from hybriddup.data.records import Fingerprints
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing
from hybriddup.testing.live_indexes import with_keys
from hybriddup.window.index import LiveIndex, LiveTexts, WindowSize, choosing
from hybriddup.window.index.choosing import LiveLists, LiveScan, LiveTables, make_live_index
from tests.builders import clustered_numbers, make_limits, make_prints


def keys_of(use: str, bits: int = 64, distance: int = 3, **options: Any) -> Blocks | Probing:
    """A block index for distances up to a limit."""
    index = Blocks(Blocks.Options(**options)) if use == "blocks" else Probing(Probing.Options(**options))
    index.prepare(bits, distance)
    return index


def tables_of(keys: Blocks | Probing, size: WindowSize) -> LiveTables:
    """Tables with segments of many sizes."""
    assert isinstance(make_live_index(keys, size), LiveTables)
    with patch.object(choosing, "SMALLEST_SEGMENT", 16):
        return LiveTables(size, keys)


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
    """While texts come and go, in batches of many sizes, many of them near; and so do several workers."""
    rng, window = np.random.default_rng(bits + distance), 1500
    keys = keys_of(use, bits, distance, n_blocks=bits // 16 if use == "blocks" else bits // 8)
    size = WindowSize(window, bits)
    several = replace(size, workers=2)
    indexes = [tables_of(keys, several), LiveLists(size, keys), LiveLists(several, keys), LiveScan(several)]
    numbers = clustered_numbers(rng, 6000, bits, distance // 2 + 2, n_patterns=300)
    prints = make_prints(numbers, bits, limits=make_limits(6000, max_hamming_distances=distance))
    texts, first, n_pairs = with_keys(prints, None, keys), 0, 0
    while first < len(prints):
        batch = texts.take(slice(first, first + int(rng.choice([1, 7, 256, 1000]))))
        pairs = [found(index, batch) for index in indexes]
        assert all(found_by_one == pairs[0] for found_by_one in pairs)
        n_pairs += len(pairs[0][0])
        kept = rng.random(len(batch.prints)) < 0.9
        first += len(batch.prints)
        for index in indexes:
            index.add(batch, kept)
            index.forget_before(first - window)
    assert n_pairs > 5000
    assert len({index.report().n_texts for index in indexes}) == 1


def test_memory_stops_growing_when_the_window_is_full() -> None:
    """After five windows' worth there is no more of it than after two, also where fewer texts were expected."""
    rng, window, after, keys = np.random.default_rng(0), 1000, {}, keys_of("blocks")
    index = tables_of(keys, WindowSize(100, 64))
    for position in range(0, 5 * window, 50):
        add(index, with_keys(random_prints(rng, position, 50), None, keys))
        index.forget_before(position + 50 - window)
        after[position + 50] = index.report().n_bytes
    assert after[5 * window] == after[2 * window]
    assert index.report().n_texts == window


def test_every_text_of_a_crowded_bucket_is_found() -> None:
    """Each once, however many of them there are."""
    keys = keys_of("blocks")
    index = tables_of(keys, WindowSize(20_000, 64))
    add(index, with_keys(make_prints([0] * 20_000), None, keys))
    near = index.look_up(with_keys(make_prints([1], positions=[20_000]), None, keys))

    assert near.earlier.tolist() == list(range(20_000))
    assert index.report().exact
    assert index.report().largest_bucket >= 19_000


@pytest.mark.parametrize("start", [64, 2**32 - 640, 2**33 - 64])
def test_tables_grow_with_the_window(start: int) -> None:
    """With many times the texts that were expected, also where their running numbers are large, each pair is found."""
    rng, keys = np.random.default_rng(2), keys_of("blocks")
    index, oracle = tables_of(keys, WindowSize(100, 64)), LiveScan(WindowSize(500, 64))
    index._ring.first = index._ring.next = index._ring._turn = start
    texts = with_keys(make_prints(clustered_numbers(rng, 20_000, 64, 4, n_patterns=40)), None, keys)
    for first in range(0, 20_000, 500):
        batch = texts.take(slice(first, first + 500))
        assert found(index, batch) == found(oracle, batch)
        for one in (index, oracle):
            add(one, batch)
            one.forget_before(first + (100 if first % 3000 else -2000))
    assert index.report().n_texts == 400
