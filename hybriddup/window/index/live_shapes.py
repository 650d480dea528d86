"""Which live index suits a window: from the same settings ``blocks:`` as in a run over files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2, sqrt

import numpy as np

from hybriddup.config.settings import ComponentSettings
from hybriddup.errors import ConfigError
from hybriddup.kernels.planning import needed_weak_bits
from hybriddup.records import Fingerprints, Float64s, Int64s, UInt32s
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.pigeonhole import Blocks, Probing
from hybriddup.steps.blocks.table_shape import TableShape
from hybriddup.steps.blocks.tables import CROWDING, MAX_TABLES, Tables, sample_keys, within_limits
from hybriddup.window.index import LiveIndex
from hybriddup.window.index.bucket_keys import BucketKeys, FingerprintKeys, ShingleKeys
from hybriddup.window.index.chained_tables import FEWEST_SWEEPS, best_chunk_bits, expected_chunks
from hybriddup.window.index.entry_classes import ONE_CLASS, RESIDUES, EntryClasses, cut_classes
from hybriddup.window.index.live_scan import LiveScan
from hybriddup.window.index.live_tables import LiveShape, LiveTables
from hybriddup.window.index.modeled_pairs import model_pairs
from hybriddup.window.index.shingles import MOST_SHINGLES, n_needed

FEW_TEXTS = 8_000
"""So few texts are compared in some 5 us, and looking into tables of shingles takes about as long."""
BYTES_A_TEXT = 120
"""Memory for each text of the window, unless another limit is given."""
MAX_WEAK_BITS = 8
FEWEST_KEY_BITS, MOST_KEY_BITS = 8, 26
COST_OF_LOOK_UP = 60.0
COST_OF_COMPARISON = 25.0
COST_OF_ADDING = 150.0
"""Nanoseconds for each bucket looked into, for each text compared, and for each table that a text is added to: all wait
for memory, several at a time. Measured once in a window of 50 million texts; they choose a shape, never an answer."""
MOST_IN_BUCKET, MOST_TO_MEAN = 64, 16
"""Where nothing else is set, only so many texts of a bucket of sampled tables are read, the newest first, or so many
times the mean where that is more: texts made to share a key then slow nobody down. Such tables promise a share of the
pairs only, and a pair that one of them misses so is mostly found by another. Exact tables are read to the end."""

FEWEST_SHINGLES = 12
"""The pilot does not see that crowded buckets are read in part, so that some shingles of a pair may not count."""
NUMBERS_A_BUCKET = 16
"""Texts in a bucket of shingles: one read in vain costs less than a bucket more takes memory, and a whole line of the
cache can be a chunk."""
MOST_WITH_SHINGLE = 256
"""Texts that are read in a bucket of shingles where nothing else is set, the newest first. In millions of posts, some
buckets are larger: with limits that stand to 300,000 Weibo posts as this one and its double do to 5 million, the window
finds 98.9 and 99.5 % of the repeats that it finds without any."""
MOST_SHINGLE_BITS = 30

SOME_MORE = 1.1
"""A window may have so many times the texts that it is expected to have, before exact tables give up residues."""

PilotShingles = Callable[[], tuple[UInt32s, UInt32s]]
"""Returns the shingles of the pilot's earlier and later texts."""

LIVE_FORMS = ("blocks", "probing", "tables", "scan")


@dataclass(frozen=True)
class LivePlan:
    """A shape of sampled tables, what it costs, and the share of the pilot's pairs that it finds."""

    key_bits: int
    n_tables: int
    n_weak_bits: int
    cost: float
    """Nanoseconds a text."""
    n_bytes: int
    recall: float
    sure: float
    """That share less one standard error: a sample of pairs can be lucky."""


def make_live_index(
    blocks: ComponentSettings,
    expectation: Expectation,
    *,
    sketched: bool = False,
    pilot_shingles: PilotShingles | None = None,
    memory: int | None = None,
) -> LiveIndex:
    """Return an empty live index for a window.

    Parameters
    ----------
    blocks
        The settings ``blocks:``. The option ``max_bucket_size`` is how many texts of a bucket are read, the newest
        first, where a run over files passes a larger bucket over; 0 = all, and for ``tables`` a number that suits.
    expectation
        ``n_texts`` is how many texts will be in the window. Pilot pairs are asked for by ``tables`` only.
    sketched
        Whether sketches of the characters are kept, 16 bytes a text, so that fewer pairs are handed on.
    pilot_shingles
        Returns the shingles of the pilot's texts, row by row; None = the texts have none. ``tables`` that are not fixed
        by an option go by shingles where these find the target share of the pilot's pairs.
    memory
        Bytes that ``tables`` plans for; None = `BYTES_A_TEXT` for each text.

    Raises
    ------
    ConfigError
        The block index has no live form.
    """
    if blocks.use not in LIVE_FORMS:
        raise ConfigError(
            f"blocks.use must be one of {', '.join(LIVE_FORMS)} for a live window; got {blocks.use!r}. "
            "Other block indexes serve runs over files only."
        )
    if expectation.bits not in (64, 128):
        raise ConfigError(f"fingerprint.bits must be 64 or 128 for a live window; got {expectation.bits}.")
    if blocks.use == "scan":
        return LiveScan(expectation, sketched=sketched)
    if blocks.use == "tables":
        limit = BYTES_A_TEXT * expectation.n_texts if memory is None else memory
        return make_sampled(blocks, expectation, limit, pilot_shingles, sketched=sketched)
    return make_exact(blocks, expectation, sketched=sketched)


def make_exact(blocks: ComponentSettings, expectation: Expectation, *, sketched: bool) -> LiveIndex:
    """Return the tables of `blocks` or `probing`, the same as in a run."""
    index: Blocks | Probing
    if blocks.use == "blocks":
        index = Blocks(Blocks.Options.model_validate(blocks.options))
    else:
        index = Probing(Probing.Options.model_validate(blocks.options))
    index.prepare(expectation)
    report, longest = index.report(), max(map(len, index.shape.keys))
    reaches = report.exact or index.options.max_bucket_size > 0
    keys, fits_any = FingerprintKeys(index.shape), index.shape.bucket_bits == longest
    classes = RESIDUES if SOME_MORE * expectation.n_texts <= RESIDUES.most_live else ONE_CLASS
    shape = LiveShape(keys, report.shape, reaches, fits_any, classes)
    return LiveTables(shape, expectation, sketched=sketched)


def make_sampled(
    blocks: ComponentSettings,
    expectation: Expectation,
    limit: int,
    pilot_shingles: PilotShingles | None,
    *,
    sketched: bool,
) -> LiveIndex:
    """Return tables that reach the target within a limit of bytes; for few texts, an index that compares all."""
    options = Tables.Options.model_validate(blocks.options)
    if expectation.n_texts <= FEW_TEXTS and not options.is_fixed:
        n_shingles = MOST_SHINGLES if pilot_shingles else 0
        return LiveScan(expectation, sketched=sketched, n_shingles=n_shingles, most_texts=2 * FEW_TEXTS)
    if pilot_shingles and not options.is_fixed:
        shape = plan_shingles(options, expectation, pilot_shingles)
        if shape and window_bytes(expectation, shape.keys, sketched=sketched) <= limit:
            return LiveTables(shape, expectation, sketched=sketched)
    return make_bit_sampled(options, expectation, limit, sketched=sketched)


def plan_shingles(options: Tables.Options, expectation: Expectation, pilot_shingles: PilotShingles) -> LiveShape | None:
    """Return a table of the fewest shingles a text that find the target share; None where none do."""
    found, n_least = shares_found(options, expectation.pilot(), pilot_shingles())
    if n_least is None:
        return None
    n_shingles = max(n_least, FEWEST_SHINGLES)
    n_buckets = max(expectation.n_texts * n_shingles / NUMBERS_A_BUCKET, 1.0)
    bucket_bits = min(max(round(log2(n_buckets)), FEWEST_KEY_BITS), MOST_SHINGLE_BITS)
    keys = ShingleKeys(n_shingles, bucket_bits, options.max_bucket_size or MOST_WITH_SHINGLE)
    share = float(found[n_shingles - 1])
    description = f"shingles: {n_shingles} of each text, 2^{bucket_bits} buckets, {share:.3f} of the pilot pairs found"
    return LiveShape(keys, description, exact=False, classes=classes_for(expectation))


def classes_for(expectation: Expectation) -> EntryClasses:
    """Return the classes of lengths that suit texts such as those of the pilot."""
    return cut_classes(expectation.pilot()[0].limits.lengths, expectation.n_texts)


def shares_found(
    options: Tables.Options, prints: tuple[Fingerprints, Fingerprints], shingles: tuple[UInt32s, UInt32s]
) -> tuple[Float64s, int | None]:
    """Return which shares of the pilot's pairs are found by one shingle of each text, by two, and so on.

    And how many find the target share, surely and not by a lucky sample; None = not even the most.
    """
    needed = n_needed(*shingles)[within_limits(*prints)]
    if not len(needed):
        return np.zeros(MOST_SHINGLES), None
    found = (needed[:, None] <= np.arange(1, MOST_SHINGLES + 1)).mean(axis=0)
    reaching = np.flatnonzero(found - one_error(options, len(needed)) >= options.target_recall) + 1
    return found, int(reaching[0]) if len(reaching) else None


def make_bit_sampled(options: Tables.Options, expectation: Expectation, limit: int, *, sketched: bool) -> LiveIndex:
    """Return tables of sampled bits that reach the target within a limit of bytes."""
    keys = sample_keys(expectation.bits, MAX_TABLES, options.seed)
    plan = choose_plan(list(list_plans(options, expectation, keys, sketched=sketched)), options.target_recall, limit)
    mean = expectation.n_texts / 2**plan.key_bits
    most = options.max_bucket_size or max(MOST_IN_BUCKET, int(MOST_TO_MEAN * mean))
    tables = TableShape(
        keys=[key[: plan.key_bits] for key in keys[: plan.n_tables]],
        bucket_bits=plan.key_bits,
        n_weak_bits=min(plan.n_weak_bits, plan.key_bits),
        max_bucket_size=most,
    )
    description = (
        f"tables: {plan.n_tables} of {plan.key_bits} sampled bits, {1 << tables.n_weak_bits} probes each, "
        f"{plan.recall:.3f} of the pilot pairs found"
    )
    shape = LiveShape(FingerprintKeys(tables), description, exact=False, classes=classes_for(expectation))
    return LiveTables(shape, expectation, sketched=sketched)


def choose_plan(plans: list[LivePlan], target: float, memory: int) -> LivePlan:
    """Return the cheapest plan that reaches the target within the memory.

    Where none does, the one within the memory that finds most; where none is within the memory, the smallest.
    """
    fitting = [plan for plan in plans if plan.n_bytes <= memory]
    reaching = [plan for plan in fitting if plan.sure >= target]
    if reaching:
        return min(reaching, key=lambda plan: plan.cost)
    return max(fitting, key=lambda plan: plan.recall) if fitting else min(plans, key=lambda plan: plan.n_bytes)


def list_plans(
    options: Tables.Options, expectation: Expectation, keys: Int64s, *, sketched: bool
) -> Iterator[LivePlan]:
    """Yield the plans for every number of key bits and of weak bits that is worth a try.

    Each has the fewest tables that find the target share, and there are some with fewer, for want of memory.
    """
    earlier, later = pairs_to_find(expectation)
    fullest = max(expectation.n_texts.bit_length(), FEWEST_KEY_BITS)
    key_bits_choices = range(max(fullest - 9, FEWEST_KEY_BITS), min(fullest + 1, MOST_KEY_BITS) + 1)
    for key_bits in [options.key_bits] if options.key_bits else key_bits_choices:
        needed = needed_weak_bits(earlier.bits, later.bits, later.strengths, keys, key_bits)
        for n_weak_bits in range(MAX_WEAK_BITS + 1) if options.n_weak_bits is None else [options.n_weak_bits]:
            found: Float64s = np.logical_or.accumulate(needed <= n_weak_bits, axis=0).mean(axis=1)
            error = one_error(options, len(earlier))
            enough = min(int(np.searchsorted(found - error, options.target_recall)) + 1, MAX_TABLES)
            for n_tables in [options.n_tables] if options.n_tables else range(max(enough // 2, 1), enough + 1):
                recall = float(found[n_tables - 1])
                yield plan_of(key_bits, n_tables, n_weak_bits, recall, recall - error, expectation, sketched=sketched)


def plan_of(
    key_bits: int,
    n_tables: int,
    n_weak_bits: int,
    recall: float,
    sure: float,
    expectation: Expectation,
    *,
    sketched: bool,
) -> LivePlan:
    """Return a plan with its cost and its memory."""
    n_texts, n_buckets = expectation.n_texts, 1 << key_bits
    bucket = CROWDING * n_texts / n_buckets
    a_probe = COST_OF_LOOK_UP + COST_OF_COMPARISON * bucket
    cost = n_tables * (COST_OF_ADDING + 2**n_weak_bits * a_probe)
    a_table = table_bytes(n_texts, n_buckets)
    a_text = text_bytes(expectation.bits, 0, sketched=sketched)
    return LivePlan(key_bits, n_tables, n_weak_bits, cost, n_texts * a_text + n_tables * a_table, recall, sure)


def window_bytes(expectation: Expectation, keys: BucketKeys, *, sketched: bool) -> int:
    """Return about how many bytes a full window takes with these keys."""
    n_texts = expectation.n_texts
    a_text = text_bytes(expectation.bits, keys.n_shingles, sketched=sketched)
    return n_texts * a_text + table_bytes(n_texts * keys.n_of_text, keys.n_buckets)


def text_bytes(bits: int, n_shingles: int, *, sketched: bool) -> int:
    """Return how many bytes the ring has for a text."""
    return bits // 8 + 5 + 16 * sketched + 4 * n_shingles


def table_bytes(n_numbers: int, n_buckets: int) -> int:
    """Return about how many bytes so many numbers take in so many buckets, some of texts that are forgotten."""
    chunk_bits = best_chunk_bits(n_numbers / n_buckets)
    chunks = expected_chunks(n_numbers, n_buckets, chunk_bits) * (1 + 1 / FEWEST_SWEEPS)
    return 4 * n_buckets + int(chunks * (4 << chunk_bits))


def one_error(options: Tables.Options, n_pairs: int) -> float:
    """Return the standard error of the target share, seen on so many pairs."""
    return sqrt(options.target_recall * (1 - options.target_recall) / n_pairs)


def pairs_to_find(expectation: Expectation) -> tuple[Fingerprints, Fingerprints]:
    """Return the pilot's pairs within their limits, or modeled ones where there are none."""
    earlier, later = expectation.pilot()
    within = within_limits(earlier, later)
    if not within.any():
        earlier, later = model_pairs(expectation.bits, expectation.max_hamming_distance)
        within = within_limits(earlier, later)
    return earlier.take(within), later.take(within)
