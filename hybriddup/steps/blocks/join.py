"""What all block indexes share: texts added so far, tables of keys over them, and joining a batch with each table."""

from dataclasses import dataclass, field, replace

import numpy as np

from hybriddup.kernels.bucket_join import JoinCounts, PrintColumns, Probes, find_near, select_pairs
from hybriddup.kernels.buckets import fill_buckets, find_weak_bits, fold_keys
from hybriddup.kernels.hamming import pair_distances
from hybriddup.parallel import map_slices, map_threads
from hybriddup.records import CandidatePairs, Fingerprints, Int64s, PairLimits, UInt32s, UInt64s
from hybriddup.steps.blocks import Expectation, KeysInCommon
from hybriddup.steps.blocks.length_classes import LengthClasses, classify_lengths, most_classes
from hybriddup.summary import BlockReport

OWN_BUCKET = np.zeros(1, np.uint32)
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

    def report(self) -> BlockReport:
        """Return what was done since `start`."""
        return self._report

    def add(self, prints: Fingerprints) -> None:
        """Make these texts findable; strengths are those of later texts only and are not kept."""
        if len(prints):
            self._added.append(replace(prints, strengths=np.zeros((len(prints), 0), np.uint8)))

    def candidates(self, later: Fingerprints) -> CandidatePairs:
        """Return the pairs of texts added before with these."""
        if not self._added or not len(later):
            return no_pairs()
        index = join_prints(self._added)
        self._added = [index]
        return self._join(index, later)

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs among these texts."""
        return self._join(prints, prints) if len(prints) > 1 else no_pairs()

    def keys_in_common(self, earlier: Fingerprints, later: Fingerprints) -> KeysInCommon:
        """Return in how many tables the later of two texts would find the earlier one."""
        _, masks = self._weak_bits(later)
        difference = earlier.bits[0] ^ later.bits[0]
        differing = np.bitwise_count(masks[:, 0, :] & difference).sum(axis=1)
        return KeysInCommon(int((differing <= self.shape.radius).sum()), len(self.shape.keys))

    def _join(self, index: Fingerprints, later: Fingerprints) -> CandidatePairs:
        flips, masks = self._weak_bits(later)
        classes = classify_lengths(index.limits, later.limits, most_classes(len(index), self.shape.bucket_bits))
        n_tables = len(self.shape.keys)
        # Tables are independent of each other, so with several each worker takes a whole one.
        table_workers, slice_workers = (self._workers, 1) if n_tables > 1 else (1, self._workers)
        parts = map_threads(
            lambda table: self._join_table(table, index, later, classes, flips[table], masks, slice_workers),
            range(n_tables),
            table_workers,
        )
        found = []
        for pairs, counts in (slice_part for table_parts in parts for slice_part in table_parts):
            found.append(pairs)
            self._count(counts)
        joined = np.concatenate(found)
        return unpack_pairs(np.unique(joined) if self.shape.max_bucket_size else joined, index, later)

    def _join_table(
        self,
        table: int,
        index: Fingerprints,
        later: Fingerprints,
        classes: LengthClasses,
        flips: UInt32s,
        masks: UInt64s,
        workers: int,
    ) -> list[tuple[UInt64s, JoinCounts]]:
        key, shape = self.shape.keys[table], self.shape
        bucketed = fill_buckets(
            index.bits,
            fold_keys(index.bits, key, shape.bucket_bits),
            1 << shape.bucket_bits,
            classes.of_index,
            classes.n_classes,
        )
        probes = Probes(fold_keys(later.bits, key, shape.bucket_bits), shape.offsets, flips)
        index_columns, later_columns = columns(index), columns(later)
        # A pair is listed by the first table that finds it, unless a bucket that was passed over may have hidden it.
        listing, number = (masks[table : table + 1], 0) if shape.max_bucket_size else (masks, table)
        widest = index.limits.max_hamming_distances.max()
        limits = np.maximum(later.limits.max_hamming_distances, widest)

        def join_slice(first: int, last: int) -> tuple[UInt64s, JoinCounts]:
            near, counts = find_near(
                bucketed, later.bits, limits, classes.range_of_later, probes, shape.max_bucket_size, first, last
            )
            return select_pairs(near, index_columns, later_columns, listing, number, shape.radius), counts

        return map_slices(join_slice, len(later), workers)

    def _weak_bits(self, later: Fingerprints) -> tuple[list[UInt32s], UInt64s]:
        """Return for each table the weak flips uint32[n, n_weak_bits], and masks uint64[n_tables, n or 1, words]."""
        words = self._words
        if self.shape.n_weak_bits == 0:
            masks = np.stack([key_mask(key, words) for key in self.shape.keys])[:, None, :]
            return [np.zeros((len(later), 0), np.uint32)] * len(masks), masks
        parts = list(
            map_threads(
                lambda key: find_weak_bits(later.strengths, key, self.shape.n_weak_bits, self.shape.bucket_bits, words),
                self.shape.keys,
                self._workers,
            )
        )
        return [flips for flips, _ in parts], np.stack([masks for _, masks in parts])

    def _count(self, counts: JoinCounts) -> None:
        report = self._report
        report.n_look_ups += counts.n_look_ups
        report.n_comparisons += counts.n_comparisons
        report.largest_bucket = max(report.largest_bucket, counts.largest_bucket)
        if counts.n_buckets_skipped:
            before = report.limits_hit.get("max_bucket_size", 0)
            report.limits_hit["max_bucket_size"] = before + counts.n_buckets_skipped


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
