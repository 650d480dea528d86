"""What all block indexes share: texts added so far, tables of keys over them, and joining a batch with each table."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from hybriddup.kernels.bucket_join import QUERY, JoinCounts, PrintColumns, Queries, find_near, select_pairs
from hybriddup.kernels.buckets import fill_buckets, find_weak_bits, fold_keys, list_probes, sort_probes
from hybriddup.kernels.hamming import pair_distances
from hybriddup.limits import NO_BOUND
from hybriddup.parallel import map_threads, slices
from hybriddup.records import CandidatePairs, Fingerprints, Int64s, PairLimits, UInt32s, UInt64s
from hybriddup.steps.blocks import Crowded, Expectation, KeysInCommon
from hybriddup.steps.blocks.length_classes import LengthClasses, classify_lengths, most_classes
from hybriddup.summary import BlockReport

OWN_BUCKET = np.zeros(1, np.uint32)
SMALL_BATCH = 4096
"""Texts that are compared with each other at once, and a sixteenth of the most that may be."""
FEWEST_IN_ROUNDS = 10
"""With fewer tables, looking into all of them at once costs less than stopping on the way."""
FEW_IN_A_BUCKET = 64
"""Texts in a bucket with which comparing all of them costs less than sorting another table."""
MOST_NEAR = 2**23
"""Near texts that may be held at once, 64 MiB of them. Copies of one template bring up that many."""
NEAR_A_TEXT = 256
"""Near texts that each of a batch may have in that batch on average."""
FEW_TEXTS = 64
"""So few later texts are looked up whatever comes."""
LARGEST_SLICE = 2**15
TABLE_TO_SLICE = 16
SMALLEST_SLICE = 2**10
"""Later texts whose probes are listed at once: as many as stay in the cache, and as few as are worth a thread."""
LOW_HALF = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class TableShape:
    """How a set of tables is looked up. Every table has a key: some bit positions of the fingerprint."""

    keys: list[Int64s]
    """One int64[n_key_bits] a table: distinct bit positions."""
    bucket_bits: int
    """Buckets are numbered with this many bits; longer keys are folded."""
    offsets: UInt32s = field(default_factory=lambda: OWN_BUCKET)
    """Bucket offsets that every text probes."""
    n_weak_bits: int = 0
    """How many of a text's weakest key bits are probed, in all combinations."""
    radius: int = 0
    """A table finds a pair that differs in at most this many of its key bits (the weak bits left out)."""
    max_bucket_size: int = 0

    @property
    def n_probes(self) -> int:
        """Buckets that a text looks into, in each table."""
        return len(self.offsets) << self.n_weak_bits


def join_prints(batches: list[Fingerprints]) -> Fingerprints:
    """Return one batch with the texts of all, in order."""
    limits = PairLimits(*(np.concatenate(columns) for columns in zip(*(b.limits for b in batches), strict=True)))
    return Fingerprints(
        np.concatenate([b.positions for b in batches]),
        np.concatenate([b.bits for b in batches]),
        np.concatenate([b.strengths for b in batches]),
        limits,
        batches[0].characters,
    )


class JoinIndex:
    """Texts that can be found, and the tables over them.

    Tables are not kept between batches: each is sorted anew when a batch is looked up, so that only one for each
    worker is in memory. Batches that double keep the cost of that a constant share.

    A block index derives from this class and chooses its `TableShape` in ``prepare``, which calls `start`.
    """

    def start(self, shape: TableShape, expectation: Expectation, *, description: str, exact: bool) -> None:
        """Begin with an empty index of this shape."""
        self.shape = shape
        self._words = expectation.bits // 64
        self._workers = expectation.workers
        self._report = BlockReport(shape=description, exact=exact and shape.max_bucket_size == 0)
        self._added: list[Fingerprints] = []
        self._rounds = cut_rounds(shape.keys)

    def report(self) -> BlockReport:
        """Return what was done since `start`."""
        return self._report

    def add(self, prints: Fingerprints) -> None:
        """Make these texts findable; strengths are those of later texts only and are not kept."""
        if len(prints):
            self._added.append(prints.without_strengths())

    def candidates(self, later: Fingerprints) -> CandidatePairs:
        """Return the pairs of texts added before with these."""
        return self._join(self.added, later, self.shape.keys)

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs among these texts."""
        return self._join(prints, prints, self.shape.keys)

    @property
    def n_rounds(self) -> int:
        """Rounds that together find what `candidates` finds."""
        return len(self._rounds)

    @property
    def small_batch(self) -> int:
        """So many texts are compared with each other at less cost than one half with the other."""
        return min(max(FEW_IN_A_BUCKET << self.shape.bucket_bits, SMALL_BATCH), 16 * SMALL_BATCH)

    def candidates_between(
        self, earlier: Fingerprints, later: Fingerprints, round_number: int | None
    ) -> CandidatePairs:
        """Return the pairs that the tables of one round find between earlier texts and later ones.

        Raises
        ------
        Crowded
            There are too many pairs to hold.
        """
        keys = self.shape.keys if round_number is None else self._rounds[round_number]
        if len(later) <= FEW_TEXTS:
            return self._join(earlier, later, keys)
        # Texts of one batch that are all alike are better decided in smaller ones: most leave before they meet.
        most_near = min(MOST_NEAR, NEAR_A_TEXT * len(later)) if earlier is later else MOST_NEAR
        return self._join(earlier, later, keys, most_near)

    @property
    def added(self) -> Fingerprints | None:
        """The texts added so far, without the strengths of their bits; None = none yet."""
        if len(self._added) > 1:
            self._added = [join_prints(self._added)]
        return self._added[0] if self._added else None

    def keys_in_common(self, earlier: Fingerprints, later: Fingerprints) -> KeysInCommon:
        """Return in how many tables the later of two texts would find the earlier one."""
        difference = earlier.bits[0] ^ later.bits[0]
        n_in_common = 0
        for key in self.shape.keys:
            weak = find_weak_bits(later.strengths, key, self.shape.n_weak_bits)[0]
            strict = key_mask(np.delete(key, weak), self._words)
            n_in_common += int(np.bitwise_count(strict & difference).sum()) <= self.shape.radius
        return KeysInCommon(n_in_common, len(self.shape.keys))

    def _join(
        self, index: Fingerprints | None, later: Fingerprints, keys: Sequence[Int64s], most_near: int = NO_BOUND
    ) -> CandidatePairs:
        if index is None or not len(index) or not len(later):
            return no_pairs()
        # with one table, as when scanning, its slices are what the workers share
        table_workers, slice_workers = (self._workers, 1) if len(keys) > 1 else (1, self._workers)
        join = Join(self.shape, index, later, slice_workers, most_near)
        join.prepare()
        # Tables are independent of each other, and so are slices of the later texts.
        tables = list(map_threads(join.near_in_table, keys, table_workers))
        for counts in chain.from_iterable(table.counts for table in tables):
            self._count(counts)
        if sum(len(near) for table in tables for near in table.near) > most_near:
            raise Crowded
        by_slice = zip(*(table.near for table in tables), strict=True)
        return unpack_pairs(np.concatenate(list(map_threads(join.select, by_slice, self._workers))), index, later)

    def _count(self, counts: JoinCounts) -> None:
        report = self._report
        report.n_look_ups += counts.n_look_ups
        report.n_comparisons += counts.n_comparisons
        report.largest_bucket = max(report.largest_bucket, counts.largest_bucket)
        if counts.n_buckets_skipped:
            before = report.limits_hit.get("max_bucket_size", 0)
            report.limits_hit["max_bucket_size"] = before + counts.n_buckets_skipped


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

    def near_in_table(self, key: Int64s) -> NearInTable:
        """Return what the table of one key finds near the later texts."""
        index, later, shape, classes = self.index, self.later, self.shape, self.classes
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
            listed = list_probes(buckets[first:last], shape.offsets, weak_places[first:last], shape.bucket_bits)
            probes = sort_probes(listed, shape.n_probes, first, 1 << shape.bucket_bits)
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


def cut_rounds(keys: list[Int64s]) -> list[list[Int64s]]:
    """Return the tables of each round: few at first, which find most of what there is to find.

    An even number, so that two workers have the same to do.
    """
    n_first = len(keys) // 10 * 2 if len(keys) >= FEWEST_IN_ROUNDS else 0
    return [keys[:n_first], keys[n_first:]] if n_first else [keys]


def no_pairs() -> CandidatePairs:
    """Return no pairs."""
    return CandidatePairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))


def columns(prints: Fingerprints) -> PrintColumns:
    """Return fingerprints as the kernels take them."""
    return PrintColumns(prints.positions, prints.bits, *prints.limits)


def key_mask(key: Int64s, words: int) -> UInt64s:
    """Return uint64[words] with the key's bits set."""
    mask = np.zeros(words, np.uint64)
    for position in key.tolist():
        mask[position >> 6] |= np.uint64(1) << np.uint64(position & 63)
    return mask


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
