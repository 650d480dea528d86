"""`tables`: keys of sampled bits, weak bits probed, as many tables as a target recall needs.

For short texts the distances are too large for exact indexes. A key of sampled bits misses a pair when one of its bits
differs, and the bits that differ are mostly those whose sums were near zero. So a text looks up, besides its own key,
the keys with its weakest bits flipped (query-directed probing; Lv et al. 2007, Sood and Loguinov 2011).
"""

from dataclasses import dataclass
from itertools import product
from math import sqrt

import numpy as np
import xxhash
from pydantic import Field

from hybriddup.kernels.planning import needed_weak_bits
from hybriddup.parallel import map_threads
from hybriddup.plugin.options import Options as ComponentOptions
from hybriddup.records import Bools, Fingerprints, Int64s, UInt8s
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.join_index import JoinIndex
from hybriddup.steps.blocks.scan import DESCRIPTION, WHOLE_INDEX
from hybriddup.steps.blocks.table_shape import TableShape

MAX_TABLES = 64
MAX_WEAK_BITS = 6
FEWEST_KEY_BITS = 6
MOST_KEY_BITS = 20
COST_OF_TABLE = 250.0
COST_OF_LOOK_UP = 30.0
COST_OF_COMPARISON = 0.15
COST_OF_SCANNING = 0.21
"""Nanoseconds for each text: for sorting one more table, for one look-up, which mostly waits for memory, and for one
comparison in a bucket, where memory is read in order. Measured once; they choose a shape, never an answer."""
SURELY_SCANNED = 2500.0
"""Nanoseconds for each text: where scanning costs less, no tables that find short texts cost much less still."""
CROWDING = 2.0
"""Buckets of real texts hold about twice what evenly spread keys would give."""


@dataclass(frozen=True)
class Plan:
    """A shape of tables, what it costs a text, and the share of the pilot's pairs that it finds."""

    key_bits: int
    n_tables: int
    n_weak_bits: int
    cost: float
    recall: float


class Tables(JoinIndex):
    """Finds a target share of the pairs within the limits; small corpora are scanned, which finds all of them."""

    class Options(ComponentOptions):
        """Options of the index; what is null is planned from the corpus."""

        target_recall: float = Field(
            0.99, gt=0.0, lt=1.0, description="Share of the pairs within the limits that the tables should find."
        )
        n_tables: int | None = Field(None, ge=1, le=MAX_TABLES, description="Number of tables; null = planned.")
        key_bits: int | None = Field(None, ge=4, le=22, description="Sampled bits of a key; null = planned.")
        n_weak_bits: int | None = Field(
            None, ge=0, le=10, description="Weakest key bits probed in all combinations; null = planned."
        )
        seed: int = Field(0, ge=0, lt=2**63, description="Seed of the choice of key bits.")
        max_bucket_size: int = Field(
            0, ge=0, description="Larger buckets are passed over, counted and reported as lost recall; 0 = no limit."
        )

        @property
        def is_fixed(self) -> bool:
            """Whether the shape of the tables is given, and not planned."""
            return self.n_tables is not None or self.key_bits is not None

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self, expectation: Expectation) -> None:
        """Choose the shape that reaches the target on the pilot at the least cost; scan where that is cheaper."""
        keys = sample_keys(expectation.bits, MAX_TABLES, self.options.seed)
        plan = self._plan(expectation, keys)
        if plan is None:
            self.start(WHOLE_INDEX, expectation, description=DESCRIPTION, exact=True)
            return
        shape = TableShape(
            keys=[key[: plan.key_bits] for key in keys[: plan.n_tables]],
            bucket_bits=plan.key_bits,
            n_weak_bits=min(plan.n_weak_bits, plan.key_bits),  # a key cannot have more
            max_bucket_size=self.options.max_bucket_size,
        )
        description = (
            f"tables: {plan.n_tables} of {plan.key_bits} sampled bits, {1 << shape.n_weak_bits} probes each, "
            f"{plan.recall:.3f} of the pilot pairs found"
        )
        self.start(shape, expectation, description=description, exact=False)

    def _plan(self, expectation: Expectation, keys: Int64s) -> Plan | None:
        n_compatible = expectation.n_texts / 2 * expectation.compatible_share
        scan_cost = n_compatible * COST_OF_SCANNING
        fixed = any(value is not None for value in (self.options.n_tables, self.options.key_bits))
        if not fixed and scan_cost < SURELY_SCANNED:
            return None
        earlier, later = expectation.pilot()
        within = within_limits(earlier, later)
        plans = self._plans(earlier.take(within), later.take(within), keys, n_compatible, expectation.workers)
        reaching = [plan for plan in plans if plan.recall >= self.options.target_recall]
        best = min(reaching, key=lambda plan: plan.cost) if reaching else max(plans, key=lambda plan: plan.recall)
        return best if fixed or best.cost < scan_cost else None

    def _plans(
        self, earlier: Fingerprints, later: Fingerprints, keys: Int64s, n_compatible: float, workers: int
    ) -> list[Plan]:
        options = self.options
        key_bits_choices = [options.key_bits] if options.key_bits else fitting_key_bits(n_compatible)
        weak_choices = range(MAX_WEAK_BITS + 1) if options.n_weak_bits is None else [options.n_weak_bits]
        plans = []

        def weak_bits_with(key_bits: int) -> UInt8s:
            needed: UInt8s = needed_weak_bits(earlier.bits, later.bits, later.strengths, keys, key_bits)
            return needed

        for key_bits, needed in zip(
            key_bits_choices, map_threads(weak_bits_with, key_bits_choices, workers), strict=True
        ):
            bucket = CROWDING * n_compatible / 2**key_bits
            probe_cost = COST_OF_LOOK_UP + COST_OF_COMPARISON * bucket
            for n_weak_bits in weak_choices:
                n_tables, recall = fewest_tables(needed, n_weak_bits, options.target_recall, options.n_tables)
                cost = n_tables * (COST_OF_TABLE + 2**n_weak_bits * probe_cost)
                plans.append(Plan(key_bits, n_tables, n_weak_bits, cost, recall))
        return plans


def sample_keys(bits: int, n_tables: int, seed: int) -> Int64s:
    """Return int64[n_tables, bits]: each table's bit positions in a random order, the same anywhere for a seed.

    A key of ``k`` bits is the first ``k``. The order is that of a hash, because library generators promise no stream.
    """
    hashes = np.empty((n_tables, bits), np.uint64)
    for table, position in product(range(n_tables), range(bits)):
        hashes[table, position] = xxhash.xxh3_64_intdigest(b"%d %d" % (table, position), seed)
    return np.argsort(hashes, axis=1, kind="stable").astype(np.int64)


def fitting_key_bits(n_compatible: float) -> list[int]:
    """Return the numbers of key bits worth a try: those that leave from one to some hundred texts in a bucket."""
    most = min(max(int(2 * n_compatible).bit_length() - 1, FEWEST_KEY_BITS), MOST_KEY_BITS)
    return list(range(max(most - 9, FEWEST_KEY_BITS), most + 1))


def within_limits(earlier: Fingerprints, later: Fingerprints) -> Bools:
    """Return bool[n_pairs]: which pilot pairs are within the Hamming limit of their shorter text."""
    distances = np.bitwise_count(earlier.bits ^ later.bits).sum(axis=1)
    earlier_is_shorter = earlier.limits.lengths < later.limits.lengths
    limits = np.where(earlier_is_shorter, earlier.limits.max_hamming_distances, later.limits.max_hamming_distances)
    within: Bools = distances <= limits
    return within


def fewest_tables(needed: UInt8s, n_weak_bits: int, target: float, fixed: int | None) -> tuple[int, float]:
    """Return the fewest tables that find the target share of the pilot pairs, and the share that they find.

    ``needed`` is uint8[n_tables, n_pairs]. A sample of pairs can be lucky, so the share has to reach the target by one
    standard error. All tables where even they do not reach it; one where there are no pairs.
    """
    n_pairs = needed.shape[1]
    if n_pairs == 0:
        return fixed or 1, 1.0
    found = np.logical_or.accumulate(needed <= n_weak_bits, axis=0).mean(axis=1)
    sure = found - sqrt(target * (1 - target) / n_pairs)
    n_enough = min(int(np.searchsorted(sure, target)) + 1, len(found))
    n_tables = fixed or n_enough + n_enough % 2  # an even number, so that two workers have the same to do
    return n_tables, float(found[n_tables - 1])
