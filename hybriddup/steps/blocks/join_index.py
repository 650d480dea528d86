"""What all block indexes share: texts added so far, and the tables that a batch is looked up in."""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from hybriddup.kernels.bucket_join import JoinCounts
from hybriddup.kernels.buckets import find_weak_bits
from hybriddup.limits import NO_BOUND
from hybriddup.parallel import map_threads
from hybriddup.records import CandidatePairs, Fingerprints, Int64s, UInt64s, join_prints
from hybriddup.steps.blocks import Crowded, Expectation, KeysInCommon
from hybriddup.steps.blocks.join import Join, no_pairs, unpack_pairs
from hybriddup.steps.blocks.table_shape import Table, TableShape
from hybriddup.summary import BlockReport

SMALL_BATCH = 4096
"""Texts that are compared with each other at once, and a sixteenth of the most that may be."""
FEWEST_IN_ROUNDS = 10
"""With fewer tables, looking into all of them at once costs less than stopping on the way."""
FEW_IN_A_BUCKET = 128
"""Texts in a bucket with which comparing all of them costs less than sorting another table."""
MOST_NEAR = 2**23
"""Near texts that may be held at once, 64 MiB of them. Copies of one template bring up that many."""
NEAR_A_TEXT = 256
"""Near texts that each of a batch may have in that batch on average."""
FEW_TEXTS = 64
"""So few later texts are looked up whatever comes."""


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
        self._rounds = cut_rounds(shape.tables)

    def report(self) -> BlockReport:
        """Return what was done since `start`."""
        return self._report

    def add(self, prints: Fingerprints) -> None:
        """Make these texts findable; strengths are those of later texts only and are not kept."""
        if len(prints):
            self._added.append(prints.without_strengths())

    def candidates(self, later: Fingerprints) -> CandidatePairs:
        """Return the pairs of texts added before with these."""
        return self._join(self.added, later, self.shape.tables)

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs among these texts."""
        return self._join(prints, prints, self.shape.tables)

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
        tables = self.shape.tables if round_number is None else self._rounds[round_number]
        if len(later) <= FEW_TEXTS:
            return self._join(earlier, later, tables)
        # Texts of one batch that are all alike are better decided in smaller ones: most leave before they meet.
        most_near = min(MOST_NEAR, NEAR_A_TEXT * len(later)) if earlier is later else MOST_NEAR
        return self._join(earlier, later, tables, most_near)

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
        for key, neighbours in self.shape.tables:
            weak = find_weak_bits(later.strengths, key, self.shape.n_weak_bits)[0]
            strict = key_mask(np.delete(key, weak), self._words)
            n_in_common += int(np.bitwise_count(strict & difference).sum()) <= neighbours.radius
        return KeysInCommon(n_in_common, len(self.shape.keys))

    def _join(
        self, index: Fingerprints | None, later: Fingerprints, tables: Sequence[Table], most_near: int = NO_BOUND
    ) -> CandidatePairs:
        if index is None or not len(index) or not len(later):
            return no_pairs()
        # with one table, as when scanning, its slices are what the workers share
        table_workers, slice_workers = (self._workers, 1) if len(tables) > 1 else (1, self._workers)
        join = Join(self.shape, index, later, slice_workers, most_near)
        join.prepare()
        # Tables are independent of each other, and so are slices of the later texts.
        found = list(map_threads(join.near_in_table, tables, table_workers))
        for counts in chain.from_iterable(in_table.counts for in_table in found):
            self._count(counts)
        if sum(len(near) for in_table in found for near in in_table.near) > most_near:
            raise Crowded
        by_slice = zip(*(in_table.near for in_table in found), strict=True)
        return unpack_pairs(np.concatenate(list(map_threads(join.select, by_slice, self._workers))), index, later)

    def _count(self, counts: JoinCounts) -> None:
        report = self._report
        report.n_look_ups += counts.n_look_ups
        report.n_comparisons += counts.n_comparisons
        report.largest_bucket = max(report.largest_bucket, counts.largest_bucket)
        if counts.n_buckets_skipped:
            before = report.limits_hit.get("max_bucket_size", 0)
            report.limits_hit["max_bucket_size"] = before + counts.n_buckets_skipped


def cut_rounds(tables: list[Table]) -> list[list[Table]]:
    """Return the tables of each round: few at first, which find most of what there is to find.

    An even number, so that two workers have the same to do.
    """
    n_first = len(tables) // 10 * 2 if len(tables) >= FEWEST_IN_ROUNDS else 0
    return [tables[:n_first], tables[n_first:]] if n_first else [tables]


def key_mask(key: Int64s, words: int) -> UInt64s:
    """Return uint64[words] with the key's bits set."""
    mask = np.zeros(words, np.uint64)
    for position in key.tolist():
        mask[position >> 6] |= np.uint64(1) << np.uint64(position & 63)
    return mask
