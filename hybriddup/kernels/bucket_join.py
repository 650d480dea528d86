"""Looking into the buckets: comparing a later text with what is inside, and keeping the pairs within their limits."""

from typing import NamedTuple

import numpy as np
from numba import njit

from hybriddup.kernels.buckets import BLOCK_SIZE, BucketedPrints
from hybriddup.kernels.popcount import popcount
from hybriddup.records import Int32s, Int64s, UInt32s, UInt64s

LOW_HALF = np.uint64(0xFFFFFFFF)


class PrintColumns(NamedTuple):
    """Fingerprints by row, as `hybriddup.records.Fingerprints` has them."""

    positions: Int64s
    bits: UInt64s
    lengths: Int32s
    max_distances: Int32s
    max_partner_lengths: Int32s


class Probes(NamedTuple):
    """Which buckets each later text looks into, in one table."""

    buckets: UInt32s
    """uint32[n]: the bucket of the text's own key."""
    offsets: UInt32s
    """uint32[n_offsets]: bucket offsets that every text probes; the first is 0, its own bucket."""
    weak_flips: UInt32s
    """uint32[n, n_weak_bits]: bucket offsets of the text's weak bits, probed in all combinations."""


class LengthRange(NamedTuple):
    """The length classes of the index, inclusive, outside which nothing can match each later text."""

    first: Int32s
    """int32[n_later]."""
    last: Int32s
    """int32[n_later]."""


class JoinCounts(NamedTuple):
    """What looking into the buckets of a table took."""

    n_look_ups: int
    n_comparisons: int
    largest_bucket: int
    n_buckets_skipped: int


@njit(cache=True, nogil=True)
def differing_bits(a: UInt64s, row_a: int, b: UInt64s, row_b: int) -> int:
    """Return the Hamming distance of two rows of fingerprints uint64[n, words]."""
    distance = np.int64(0)
    for word in range(a.shape[1]):
        distance += np.int64(popcount(a[row_a, word] ^ b[row_b, word]))
    return distance


@njit(cache=True, nogil=True)
def is_found_by(a: UInt64s, row_a: int, b: UInt64s, row_b: int, masks: UInt64s, table: int, radius: int) -> bool:
    """Return whether two rows differ in at most ``radius`` bits of a table's mask."""
    mask_row = min(row_b, masks.shape[1] - 1)
    n_bits = np.int64(0)
    for word in range(a.shape[1]):
        n_bits += np.int64(popcount((a[row_a, word] ^ b[row_b, word]) & masks[table, mask_row, word]))
    return n_bits <= radius


@njit(cache=True, nogil=True)
def is_found_first_by(a: UInt64s, row_a: int, b: UInt64s, row_b: int, masks: UInt64s, table: int, radius: int) -> bool:
    """Return whether ``table`` is the first of the tables that find this pair, so that it is listed once.

    ``masks`` is uint64[n_tables, n_b or 1, words]: the bits in which a pair must agree to be found.
    """
    for earlier_table in range(table):
        if is_found_by(a, row_a, b, row_b, masks, earlier_table, radius):
            return False
    return is_found_by(a, row_a, b, row_b, masks, table, radius)


@njit(cache=True, nogil=True)
def smallest_distance(
    first_words: UInt64s, second_words: UInt64s, start: np.uint64, first_word: np.uint64, second_word: np.uint64
) -> np.uint64:
    """Return the smallest Hamming distance over the first two words, 0 to 128, in the block that begins at ``start``.

    Indices are unsigned: a signed one might count from the end, and checking that costs ten times the comparing.
    """
    smallest = np.uint64(255)
    for i in range(BLOCK_SIZE):
        place = start + np.uint64(i)
        distance = popcount(first_words[place] ^ first_word) + popcount(second_words[place] ^ second_word)
        smallest = distance if distance < smallest else smallest
    return smallest


@njit(cache=True, nogil=True)
def measure_block(
    first_words: UInt64s,
    second_words: UInt64s,
    start: np.uint64,
    first_word: np.uint64,
    second_word: np.uint64,
    out: UInt64s,
) -> None:
    """Write the distances that `smallest_distance` looks at; ``out`` uint64[`BLOCK_SIZE`] is changed in place."""
    for i in range(BLOCK_SIZE):
        place = start + np.uint64(i)
        distance = popcount(first_words[place] ^ first_word) + popcount(second_words[place] ^ second_word)
        out[np.uint64(i)] = distance


@njit(cache=True, nogil=True)
def note_near(
    near: UInt64s, n_near: int, distances: UInt64s, limit: np.uint64, q: np.uint64, order: Int32s, block: int, end: int
) -> int:
    """Write what a block holds within the limit into ``near`` from ``n_near`` on; return how many it holds now.

    Every place is written and only those within the limit are counted, which costs less than a branch.
    """
    for place in range(min(BLOCK_SIZE, end - block)):
        near[n_near] = (q << np.uint64(32)) | np.uint64(order[block + place])
        n_near += distances[place] <= limit
    return n_near


@njit(cache=True, nogil=True)
def doubled(found: UInt64s) -> UInt64s:
    """Return an array of twice the size that begins with what is in this one."""
    larger = np.empty(2 * len(found), np.uint64)
    for i in range(len(found)):  # a loop, because assigning a slice takes a second to compile
        larger[i] = found[i]
    return larger


@njit(cache=True, nogil=True)
def probed_bucket(probes: Probes, q: int, probe: int) -> int:
    """Return the bucket of a later text's probe: the lower bits of its number choose weak flips, the rest an offset."""
    n_weak_bits = probes.weak_flips.shape[1]
    bucket = probes.buckets[q] ^ probes.offsets[probe >> n_weak_bits]
    for weak in range(n_weak_bits):
        if (probe >> weak) & 1:
            bucket ^= probes.weak_flips[q, weak]
    return np.int64(bucket)


@njit(cache=True, nogil=True)
def list_probes(probes: Probes, q: int, out: Int64s) -> None:
    """Write the buckets that a later text looks into; ``out`` int64[n_probes] is changed in place."""
    for probe in range(len(out)):
        out[probe] = probed_bucket(probes, q, probe)


@njit(cache=True, nogil=True)
def find_near(
    bucketed: BucketedPrints,
    bits: UInt64s,
    distance_limits: Int32s,
    classes: LengthRange,
    probes: Probes,
    max_bucket_size: int,
    first: int,
    last: int,
) -> tuple[UInt64s, JoinCounts]:
    """Return what the buckets hold near the later texts ``first`` to ``last``, before any finer question is asked.

    Parameters
    ----------
    bucketed
        The earlier texts.
    bits
        uint64[n_later, words].
    distance_limits
        int32[n_later]: nothing farther from a later text, over the first two words, can be within the pair's limit.
    max_bucket_size
        Larger buckets are passed over and counted; 0 = no limit.

    Returns
    -------
    near
        uint64[n_near]: row of the later text in the upper 32 bits, row of the index in the lower.

    Notes
    -----
    Arrays are taken out of their tuples before the loops, because taking one out counts a reference, atomically; a
    look into an empty bucket would cost ten times what it needs.
    """
    starts, n_classes, order = bucketed.starts, bucketed.n_classes, bucketed.order
    first_words, second_words = bucketed.first_words, bucketed.second_words
    first_classes, last_classes = classes.first, classes.last
    near, n_near = np.empty(1024, np.uint64), np.int64(0)
    n_comparisons, largest, n_skipped = np.int64(0), np.int64(0), np.int64(0)
    distances = np.empty(BLOCK_SIZE, np.uint64)
    buckets = np.empty(len(probes.offsets) << probes.weak_flips.shape[1], np.int64)
    for q in range(first, last):
        list_probes(probes, q, buckets)
        limit = np.uint64(max(distance_limits[q], 0))
        first_word, second_word = bits[q, 0], bits[q, 1] if bits.shape[1] > 1 else np.uint64(0)
        for bucket in buckets:
            cell = bucket * n_classes
            size = np.int64(starts[cell + n_classes] - starts[cell])
            largest = max(largest, size)
            if 0 < max_bucket_size < size:
                n_skipped += 1
                continue
            start, end = int(starts[cell + first_classes[q]]), int(starts[cell + last_classes[q] + 1])
            n_comparisons += max(end - start, 0)
            for block in range(start, end, BLOCK_SIZE):
                if smallest_distance(first_words, second_words, np.uint64(block), first_word, second_word) > limit:
                    continue
                measure_block(first_words, second_words, np.uint64(block), first_word, second_word, distances)
                if n_near + BLOCK_SIZE > len(near):
                    near = doubled(near)
                n_near = note_near(near, n_near, distances, limit, np.uint64(q), order, block, end)
    return near[:n_near], JoinCounts((last - first) * len(buckets), n_comparisons, largest, n_skipped)


@njit(cache=True, nogil=True)
def select_pairs(
    near: UInt64s, index: PrintColumns, later: PrintColumns, masks: UInt64s, table: int, radius: int
) -> UInt64s:
    """Return those that are pairs within their limits which ``table`` is the first to find, by position.

    Parameters
    ----------
    near
        As `find_near` returns it.
    masks, table, radius
        As in `is_found_first_by`; masks belong to the later texts.

    Returns
    -------
    pairs
        uint64[n_pairs]: later position in the upper 32 bits, earlier position in the lower.
    """
    index_bits, index_positions, index_lengths = index.bits, index.positions, index.lengths
    index_limits, index_partners = index.max_distances, index.max_partner_lengths
    later_bits, later_positions, later_lengths = later.bits, later.positions, later.lengths
    later_limits, later_partners = later.max_distances, later.max_partner_lengths
    pairs, n_pairs = np.empty(len(near), np.uint64), np.int64(0)
    for rows in near:
        q, i = np.int64(rows >> np.uint64(32)), np.int64(rows & LOW_HALF)
        if index_positions[i] >= later_positions[q]:
            continue
        is_shorter = index_lengths[i] < later_lengths[q]
        limit = index_limits[i] if is_shorter else later_limits[q]
        longest = index_partners[i] if is_shorter else later_partners[q]
        if max(index_lengths[i], later_lengths[q]) > longest:
            continue
        if differing_bits(index_bits, i, later_bits, q) > limit:
            continue
        if is_found_first_by(index_bits, i, later_bits, q, masks, table, radius):
            pairs[n_pairs] = (np.uint64(later_positions[q]) << np.uint64(32)) | np.uint64(index_positions[i])
            n_pairs += 1
    return pairs[:n_pairs].copy()
