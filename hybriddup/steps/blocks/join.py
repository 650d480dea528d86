"""Joining a batch of later texts with the tables over earlier ones, a table at a time."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hybriddup.kernels.bucket_join import QUERY, JoinCounts, PrintColumns, Queries, find_near, select_pairs
from hybriddup.kernels.buckets import fill_buckets, find_weak_bits, fold_keys, list_probes, sort_probes
from hybriddup.kernels.hamming import pair_distances
from hybriddup.parallel import map_threads, slices
from hybriddup.records import CandidatePairs, Fingerprints, Int64s, UInt64s
from hybriddup.steps.blocks import Crowded
from hybriddup.steps.blocks.length_classes import LengthClasses, classify_lengths, most_classes
from hybriddup.steps.blocks.table_shape import Table, TableShape

LARGEST_SLICE = 2**15
TABLE_TO_SLICE = 16
SMALLEST_SLICE = 2**10
"""Later texts whose probes are listed at once: as many as stay in the cache, and as few as are worth a thread."""
LOW_HALF = np.uint64(0xFFFFFFFF)


class NearInTable(NamedTuple):
    """What one table finds near the later texts, slice by slice."""

    near: list[UInt64s]
    """As `find_near` returns it."""
    counts: list[JoinCounts]


@dataclass(frozen=True)
class Join:
    """One batch of later texts against the index."""

    shape: TableShape
    index: Fingerprints
    later: Fingerprints
    slice_workers: int
    most_near: int
    """Texts near later ones that may come up; with more, the texts are crowded."""

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """Bounds of the slices in which the later texts are looked up."""
        n = len(self.later)
        # every slice reads the whole table, so that slices grow with it
        largest = max(LARGEST_SLICE, len(self.index) // TABLE_TO_SLICE)
        return slices(n, max(-(-n // largest), min(2 * self.slice_workers, n // SMALLEST_SLICE), 1))

    @cached_property
    def classes(self) -> LengthClasses:
        """The length classes."""
        n_classes = most_classes(len(self.index), self.shape.bucket_bits)
        return classify_lengths(self.index.limits, self.later.limits, n_classes)

    @cached_property
    def queries(self) -> Queries:
        """`QUERY` records of the later texts."""
        later, classes = self.later, self.classes
        queries = np.zeros(len(later), QUERY)
        queries["first_word"] = later.bits[:, 0]
        if later.bits.shape[1] > 1:
            queries["second_word"] = later.bits[:, 1]
        if len(sketches := later.characters.sketches):
            queries["low_counts"] = sketches[later.positions, 0]
            queries["high_counts"] = sketches[later.positions, 1]
        widest = self.index.limits.max_hamming_distances.max()
        queries["distance_limit"] = np.maximum(later.limits.max_hamming_distances, widest)
        queries["first_class"], queries["last_class"] = classes.first_of_later, classes.last_of_later
        queries["length"] = later.limits.lengths
        return queries

    @cached_property
    def least_in_common(self) -> tuple[np.float32, np.float32]:
        """The least that any pair needs in common, as shares of its shorter and of its longer text."""
        of_shorter, of_longer = np.float32(1.0), np.float32(1.0)
        for limits in (self.index.limits, self.later.limits):
            may_be_near = limits.max_hamming_distances >= 0
            of_shorter = min(of_shorter, limits.common_of_shorter.min(where=may_be_near, initial=1.0))
            of_longer = min(of_longer, limits.common_of_longer.min(where=may_be_near, initial=1.0))
        return np.float32(of_shorter), np.float32(of_longer)

    def prepare(self) -> None:
        """Make what all tables read, before several threads ask for it."""
        _ = self.queries, self.classes, self.least_in_common

    def near_in_table(self, table: Table) -> NearInTable:
        """Return what one table finds near the later texts."""
        index, later, shape, classes = self.index, self.later, self.shape, self.classes
        key, offsets = table.key, table.neighbours.offsets
        bucketed = fill_buckets(
            index.bits,
            index.characters.sketches,
            index.positions,
            index.limits.lengths,
            fold_keys(index.bits, key, shape.bucket_bits),
            1 << shape.bucket_bits,
            classes.of_index,
            classes.n_classes,
        )
        buckets = fold_keys(later.bits, key, shape.bucket_bits)
        weak_places = find_weak_bits(later.strengths, key, shape.n_weak_bits)

        def near_in_slice(bounds: tuple[int, int]) -> tuple[UInt64s, JoinCounts]:
            first, last = bounds
            listed = list_probes(buckets[first:last], offsets, weak_places[first:last], shape.bucket_bits)
            probes = sort_probes(listed, len(offsets) << shape.n_weak_bits, first, 1 << shape.bucket_bits)
            near, counts = find_near(
                bucketed, probes, self.queries, *self.least_in_common, shape.max_bucket_size, self.most_near
            )
            if len(near) > self.most_near:
                raise Crowded
            return near.copy(), counts

        parts = list(map_threads(near_in_slice, self.bounds, self.slice_workers))
        return NearInTable([near for near, _ in parts], [counts for _, counts in parts])

    def select(self, near: tuple[UInt64s, ...]) -> UInt64s:
        """Return the pairs within their limits of what all tables found near a slice of the later texts."""
        unique = without_repeats(np.concatenate(near))  # many tables find a near pair, and it is looked at once
        pairs: UInt64s = select_pairs(unique, columns(self.index), columns(self.later), self.index.characters.counts)
        return pairs


def without_repeats(numbers: UInt64s) -> UInt64s:
    """Return the numbers sorted, each once; sorting is what `numpy.unique` does slower."""
    numbers.sort()
    is_first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=is_first[1:])
    return numbers[is_first]


def no_pairs() -> CandidatePairs:
    """Return no pairs."""
    return CandidatePairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))


def columns(prints: Fingerprints) -> PrintColumns:
    """Return fingerprints as the kernels take them."""
    return PrintColumns(prints.positions, prints.bits, *prints.limits)


def unpack_pairs(found: UInt64s, index: Fingerprints, later: Fingerprints) -> CandidatePairs:
    """Return pairs, later position in the upper half and earlier in the lower, as sorted columns with distances."""
    found = np.sort(found)
    later_positions = (found >> np.uint64(32)).astype(np.int64)
    earlier_positions = (found & LOW_HALF).astype(np.int64)
    distances = pair_distances(
        index.bits,
        rows_of(earlier_positions, index.positions),
        later.bits,
        rows_of(later_positions, later.positions),
    )
    return CandidatePairs(earlier_positions, later_positions, distances)


def rows_of(wanted: Int64s, positions: Int64s) -> Int64s:
    """Return int64[n]: where each wanted position stands among the positions, which are rising."""
    row_of = np.empty(int(positions[-1]) + 1, np.int64)
    row_of[positions] = np.arange(len(positions))
    return row_of[wanted]
