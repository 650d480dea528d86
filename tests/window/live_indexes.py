"""Contract check of live indexes: what they find, while texts come and go, against dictionaries of lists."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hybriddup.data.records import NO_KEY, SKETCH_WORDS, Bools, Int32s, NearPairs, PairLimits
from hybriddup.kernels.search.pair_limits import TextColumns
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.candidates import Batch
from hybriddup.testing.contract import require
from hybriddup.window.index import LiveIndex, WindowSize
from tests.builders import Fingerprints, with_keys

Maker = Callable[[WindowSize], LiveIndex]
Triple = tuple[int, int, int]
"""Earlier position, later position, differing bits."""

N_TEXTS = 800
WINDOW = 400
"""Texts, and how many of them may match at a time, more or less."""
N_STEPS = 40
SCANNED_AT_ONCE = 150
N_WINDOWS = 5
N_PATTERNS = 4
SLACK = 1.3
"""So much more memory than a full window may be taken by forgotten texts that are not yet swept out."""


def check_live_index(
    make: Maker,
    block_index: BlockIndex,
    *,
    max_hamming_distance: int = 3,
    bits: Sequence[int] = (64, 128),
    sketched: bool = False,
) -> None:
    """Check that live indexes keep their contract over a block index, which makes keys of fingerprints alone.

    ``make`` is called when the block index is prepared. Half of the indexes expect far fewer texts than come.
    """
    for width in bits:
        block_index.prepare(width, max_hamming_distance)
        size = WindowSize(WINDOW, width, sketched=sketched)
        for seed, own in enumerate([size, replace(size, n_texts=10, n_first=1)]):
            texts = some_texts(np.random.default_rng([width, seed]), width, max_hamming_distance, block_index)
            Course(make, texts, block_index.max_bucket_size, own, seed).check()
        check_memory(make, block_index, size)


def some_texts(rng: np.random.Generator, width: int, max_hamming_distance: int, index: BlockIndex) -> Batch:
    """Return texts around a few patterns, so that many pairs are just within and just beyond their limits."""
    n_words = width // 64
    patterns = rng.integers(0, 2**64, (N_PATTERNS, n_words), np.uint64)
    bits = patterns[rng.integers(0, N_PATTERNS, N_TEXTS)]
    for row in range(N_TEXTS):
        for bit in rng.choice(width, int(rng.integers(0, max_hamming_distance // 2 + 3)), replace=False).tolist():
            bits[row, bit // 64] ^= np.uint64(1) << np.uint64(bit % 64)
    lengths = rng.integers(3, 40, N_TEXTS).astype(np.int32)
    distances = np.where(lengths > 30, max_hamming_distance // 2, max_hamming_distance).astype(np.int32)
    distances[lengths < 6] = -1
    nothing = np.zeros(N_TEXTS, np.float32)
    limits = PairLimits(lengths, distances, (lengths * 3 // 2).astype(np.int32), nothing, nothing)
    prints = Fingerprints(np.cumsum(rng.choice([1, 1, 2, 3, 70_000, 2**40], N_TEXTS)), bits, limits)
    # one character each, which rules no pair out, because none needs any in common
    sketches = np.zeros((N_TEXTS, SKETCH_WORDS), np.uint64)
    sketches[:, 0] = np.uint64(1) << rng.integers(0, 64, N_TEXTS, np.uint64)
    return with_keys(prints, sketches, index)


class Oracle:
    """The same in plain Python: of each key, the kept texts in order."""

    def __init__(self, texts: Batch, max_bucket_size: int) -> None:
        self.positions = texts.positions.tolist()
        self.keys: list[list[int]] = texts.keys.tolist()
        self.probes: list[list[int]] = texts.probes.tolist()
        distances, within = compare_all(texts.columns)
        self.distances, self.within = distances.tolist(), within.tolist()
        self.most = max_bucket_size
        self.rows_with: dict[int, list[int]] = {}
        self.kept: list[int] = []
        self.n_crowded = 0

    def newest(self, key: int) -> list[int]:
        """Return the rows that are looked at of a key, the newest first."""
        rows = self.rows_with.get(key, [])[::-1]
        return rows[: self.most] if self.most else rows

    def depths(self, row: int, earlier: int) -> list[int]:
        """Return which number an earlier text has in each key that a later one is looked up by, 0 = none."""
        newest = [self.newest(key) if key != NO_KEY else [] for key in self.probes[row]]
        return [1 + rows.index(earlier) if earlier in rows else 0 for rows in newest]

    def look_up(self, rows: range, edge: int) -> dict[Triple, int]:
        """Return the pairs of some texts with those from a position on, and the depth of each."""
        found: dict[Triple, int] = {}
        oldest = bisect_left(self.positions, edge)
        for row in rows:
            is_within = self.within[row]
            for key in self.probes[row]:
                for depth, earlier in enumerate(self.newest(key) if key != NO_KEY else [], 1):
                    if earlier >= oldest and is_within[earlier]:
                        pair = self.triple(earlier, row)
                        found[pair] = min(found.get(pair, depth), depth)
        return found

    def triple(self, earlier: int, row: int) -> Triple:
        return self.positions[earlier], self.positions[row], self.distances[row][earlier]

    def everything(self, rows: range, start: int) -> set[Triple]:
        """Return the pairs of some texts with all kept ones from a position on, whatever their keys."""
        kept = self.kept[bisect_left(self.kept, bisect_left(self.positions, start)) :]
        return {self.triple(earlier, row) for row in rows for earlier in kept if self.within[row][earlier]}

    def add(self, rows: range, is_kept: Bools, edge: int) -> None:
        """Add the kept ones of some texts, and count the look-ups of all that met a crowded key."""
        oldest = bisect_left(self.positions, edge)
        for row, kept in zip(rows, is_kept.tolist(), strict=True):
            for key in set(self.probes[row]) - {NO_KEY}:
                with_key = self.rows_with.get(key, [])
                n_live = len(with_key) - bisect_left(with_key, oldest)
                self.n_crowded += bool(self.most) and n_live > self.most
            if kept:
                self.kept.append(row)
                for key in set(self.keys[row]) - {NO_KEY}:
                    self.rows_with.setdefault(key, []).append(row)


def compare_all(texts: TextColumns) -> tuple[Int32s, Bools]:
    """Return int32[n, n] and bool[n, n]: the distance of each two texts, and whether it is within their limits."""
    differing = texts.bits[:, None, :] ^ texts.bits[None, :, :]
    distances = np.bitwise_count(differing).sum(axis=2).astype(np.int32)
    lengths, limits, reaches = texts.lengths, texts.max_distances, texts.max_partner_lengths
    shorter = lengths[:, None] < lengths[None, :]  # of equal lengths the limits are the same
    within = distances <= np.where(shorter, limits[:, None], limits[None, :])
    longer = np.maximum(lengths[:, None], lengths[None, :])
    return distances, within & (longer <= np.where(shorter, reaches[:, None], reaches[None, :]))


class Course:
    """Texts that are looked up and added in batches of random sizes, while earlier ones are forgotten."""

    def __init__(self, make: Maker, texts: Batch, max_bucket_size: int, size: WindowSize, seed: int) -> None:
        self.make, self.size, self.seed = make, size, seed
        self.texts = texts
        self.most = max_bucket_size

    def check(self) -> None:
        indexes = [self.make(replace(self.size, workers=workers)) for workers in (1, 2)]
        oracle, edge, rng = Oracle(self.texts, self.most), 0, np.random.default_rng([self.seed, 7])
        for rows, new_edge in self._steps():
            batch, is_kept = self.texts.take(slice(rows.start, rows.stop)), rng.random(len(rows)) < 0.8
            found, start = oracle.look_up(rows, edge), (edge + oracle.positions[min(rows.start, N_TEXTS - 1)]) // 2
            everything = oracle.everything(rows, start)
            for index in indexes:
                check_look_up(index, oracle, batch, rows, found, edge)
                check_scan(index, batch, everything, start)
                index.add(batch, is_kept)
            oracle.add(rows, is_kept, edge)
            edge = new_edge
            for index in indexes:
                check_counts(index, oracle, edge)

    def _steps(self) -> Iterator[tuple[range, int]]:
        """Yield the rows of batches, some of them empty, and the edge after each."""
        rng, positions = np.random.default_rng(self.seed), self.texts.positions
        bounds = np.sort(rng.integers(0, N_TEXTS + 1, N_STEPS - 1)).tolist()
        edge = 0
        for first, last in zip([0, *bounds], [*bounds, N_TEXTS], strict=True):
            oldest = last if rng.random() < 0.05 else max(last - int(rng.integers(WINDOW // 2, WINDOW)), 0)
            edge = max(edge, int(positions[min(oldest, N_TEXTS - 1)]))
            yield range(first, last), edge


def check_counts(index: LiveIndex, oracle: Oracle, edge: int) -> None:
    """Check what is counted, of crowded keys and after texts were forgotten."""
    n_crowded = index.report.limits_hit.get("max_bucket_size", 0)
    clause = "look-ups that meet a crowded key are counted"
    require(n_crowded == oracle.n_crowded, clause, (n_crowded, oracle.n_crowded))
    for position in (edge - 1, edge, edge - 1):
        index.forget_before(position)
    n_texts, n_live = index.n_texts, sum(oracle.positions[row] >= edge for row in oracle.kept)
    require(n_texts == n_live, "the index counts the texts that can be found", f"{n_texts}, not {n_live}")


def check_look_up(
    index: LiveIndex, oracle: Oracle, batch: Batch, rows: range, expected: dict[Triple, int], edge: int
) -> None:
    """Check what is found for a batch that is not added yet."""
    near = index.look_up(batch)
    pairs = list(zip(near.later.tolist(), near.earlier.tolist(), strict=True))
    require(len(set(pairs)) == len(pairs), "no pair is found twice", pairs[:5])
    require(pairs == sorted(pairs), "pairs are sorted by later, then earlier", pairs[:5])
    columns = (near.earlier, batch.positions[near.later], near.distances)
    given = list(zip(*(column.tolist() for column in columns), strict=True))
    forgotten = sorted(pair for pair in given if pair[0] < edge)
    require(not forgotten, "nothing forgotten is found", forgotten[:3])
    wrong = sorted(set(given) - set(expected))
    require(not wrong, "a pair shares a key, is within its limits, and has the bits that differ", wrong[:3])
    missed = sorted(set(expected) - set(given))
    require(not missed, "every pair within its limits is found that stands among the newest of a key", missed[:3])
    if oracle.most:
        deep = [pair for pair, depth in zip(given, near.depths.tolist(), strict=True) if depth != expected[pair]]
        require(not deep, "a pair has the smallest number that the earlier text has in a shared key", deep[:3])
        check_depths(index, oracle, batch, rows, near)


def check_depths(index: LiveIndex, oracle: Oracle, batch: Batch, rows: range, near: NearPairs) -> None:
    """Check which number the earlier text of each pair has in each key."""
    depths = index.depths(batch, near.later, near.earlier)
    row_of = {position: row for row, position in enumerate(oracle.positions)}
    for own, later, earlier in zip(depths.tolist(), near.later.tolist(), near.earlier.tolist(), strict=True):
        expected = oracle.depths(rows.start + later, row_of[earlier])
        require(own == expected, "depths() counts from the newest text of each key", (earlier, own, expected))


def check_scan(index: LiveIndex, batch: Batch, expected: set[Triple], start: int) -> None:
    """Check that every pair is found by comparing with all texts from a position on, a part at a time."""
    pairs, position = list[Triple](), start
    while True:
        found, next_position = index.scan_from(position, SCANNED_AT_ONCE, batch)
        some = list(zip(found.later.tolist(), found.earlier.tolist(), strict=True))
        require(some == sorted(some), "scan_from sorts by later, then earlier", some[:5])
        columns = (found.earlier, found.later, found.hamming_distances)
        pairs += zip(*(column.tolist() for column in columns), strict=True)
        if next_position is None:
            break
        require(next_position > position, "scan_from goes on", (position, next_position))
        position = next_position
    wrong = sorted(set(pairs) ^ expected)
    require(len(pairs) == len(expected) and not wrong, "scan_from finds every pair once, and no other", wrong[:3])


def check_memory(make: Maker, block_index: BlockIndex, size: WindowSize) -> None:
    """Check that memory stops growing once the window is full."""
    index, rng, n_words = make(size), np.random.default_rng(5), size.bits // 64
    nothing, full = np.zeros(10, np.float32), 0
    lengths, distances, reaches = (np.full(10, number, np.int32) for number in (20, 3, 40))
    limits = PairLimits(lengths, distances, reaches, nothing, nothing)
    sketches = np.zeros((10, SKETCH_WORDS), np.uint64) if size.sketched else None
    for position in range(0, N_WINDOWS * WINDOW, 10):
        bits = rng.integers(0, 2**64, (10, n_words), np.uint64)
        prints = Fingerprints(np.arange(position, position + 10, dtype=np.int64), bits, limits)
        index.add(with_keys(prints, sketches, block_index), np.ones(10, np.bool_))
        index.forget_before(position + 10 - WINDOW)
        if position == 2 * WINDOW:
            full = index.n_bytes
    n_bytes = index.n_bytes
    require(n_bytes <= SLACK * full, "memory stops growing once the window is full", f"{full} bytes, then {n_bytes}")
