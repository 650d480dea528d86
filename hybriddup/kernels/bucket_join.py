"""Looking into the buckets: comparing a later text with what is inside, and keeping the pairs within their limits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.kernels.buckets import BLOCK_SIZE, BucketedPrints, SortedProbes
from hybriddup.kernels.cache import njit
from hybriddup.kernels.characters import common_characters, count_lacking
from hybriddup.kernels.popcount import lowest_bit, popcount
from hybriddup.records import Float32s, Int32s, Int64s, UInt8s, UInt32s, UInt64s

LOW_HALF = np.uint64(0xFFFFFFFF)


class PrintColumns(NamedTuple):
    """Fingerprints by row, as `hybriddup.records.Fingerprints` has them."""

    positions: Int64s
    bits: UInt64s
    lengths: Int32s
    max_distances: Int32s
    max_partner_lengths: Int32s
    common_of_shorter: Float32s
    common_of_longer: Float32s


QUERY = np.dtype(
    [
        ("first_word", np.uint64),
        ("second_word", np.uint64),
        ("low_counts", np.uint64),
        ("high_counts", np.uint64),
        ("length", np.int32),
        ("distance_limit", np.int32),
        ("first_class", np.int32),
        ("last_class", np.int32),
        ("unused", np.int32, 4),
    ]
)
"""A later text, in 64 bytes, so that looking one up waits for memory once. Nothing farther away than
``distance_limit``, over the first two words, can be within the limit of the pair, and nothing matches outside the
length classes ``first_class`` to ``last_class``."""

Queries = NDArray[np.void]


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
def near_places(
    first_words: UInt64s,
    second_words: UInt64s,
    start: np.uint64,
    first_word: np.uint64,
    second_word: np.uint64,
    limit: np.uint64,
) -> np.uint64:
    """Return which of the block that begins at ``start`` are within the limit over the first two words, bit by bit.

    Indices are unsigned: a signed one might count from the end, and checking that costs ten times the comparing.
    """
    near = np.uint64(0)
    for i in range(BLOCK_SIZE):
        place = start + np.uint64(i)
        distance = popcount(first_words[place] ^ first_word) + popcount(second_words[place] ^ second_word)
        near |= np.uint64(distance <= limit) << np.uint64(i)
    return near


@njit(cache=True, nogil=True)
def with_room_for(found: UInt64s, n_found: int, n_more: int) -> UInt64s:
    """Return a larger array that begins with what is in this one, at least twice as large."""
    larger = np.empty(max(2 * len(found), n_found + n_more + 1), np.uint64)
    for i in range(n_found):  # a loop, because assigning a slice takes a second to compile
        larger[i] = found[i]
    return larger


@njit(cache=True, nogil=True)
def look_into_bucket(
    bucketed: BucketedPrints,
    queries: Queries,
    probing: UInt32s,
    of_shorter: np.float32,
    of_longer: np.float32,
    cell: int,
    near: UInt64s,
    n_near: int,
) -> tuple[int, int, int]:
    """Write what a bucket holds near the texts that look into it, as `find_near` returns it, until the room is filled.

    Parameters
    ----------
    probing
        uint32[n]: rows of the later texts.
    cell
        The first cell of the bucket.
    near, n_near
        Written from ``n_near`` on, in place.

    Returns
    -------
    How many of ``probing`` are done, how many are written by now, and how many comparisons that took.

    Notes
    -----
    Arrays are taken out of their tuples before the loops, and ``near`` is not made larger here, because both count
    references, which the comparing would have to wait for at every block.
    """
    starts, order = bucketed.starts, bucketed.order
    first_words, second_words = bucketed.first_words, bucketed.second_words
    sketches, lengths = bucketed.sketches, bucketed.lengths
    n_comparisons = np.int64(0)
    for probe in range(len(probing)):
        query = queries[np.uint64(probing[probe])]
        start = np.int64(starts[cell + query["first_class"]])
        end = np.int64(starts[cell + query["last_class"] + 1])
        size = max(end - start, np.int64(0))
        if n_near + size >= len(near):
            return probe, n_near, n_comparisons
        n_comparisons += size
        limit, length = np.uint64(max(query["distance_limit"], 0)), query["length"]
        first_word, second_word = query["first_word"], query["second_word"]
        low, high = query["low_counts"], query["high_counts"]
        row = np.uint64(probing[probe]) << np.uint64(32)
        for block in range(start, end, BLOCK_SIZE):
            found = near_places(first_words, second_words, np.uint64(block), first_word, second_word, limit)
            if end - block < BLOCK_SIZE:
                found &= (np.uint64(1) << np.uint64(end - block)) - np.uint64(1)
            while found != 0:
                place = np.uint64(block) + lowest_bit(found)
                found &= found - np.uint64(1)
                near[np.uint64(n_near)] = row | np.uint64(order[place])
                other_low, other_high = sketches[place, np.uint64(0)], sketches[place, np.uint64(1)]
                if length <= lengths[place]:
                    lacking = count_lacking(low, high, other_low, other_high)
                    needed = least_in_common(length, lengths[place], of_shorter, of_longer)
                    n_near += lacking <= length - needed
                else:
                    lacking = count_lacking(other_low, other_high, low, high)
                    needed = least_in_common(lengths[place], length, of_shorter, of_longer)
                    n_near += lacking <= lengths[place] - needed
    return len(probing), n_near, n_comparisons


@njit(cache=True, nogil=True)
def find_near(
    bucketed: BucketedPrints,
    probes: SortedProbes,
    queries: Queries,
    of_shorter: np.float32,
    of_longer: np.float32,
    max_bucket_size: int,
    most: int,
) -> tuple[UInt64s, JoinCounts]:
    """Return what the buckets hold near the later texts that look into them, before any finer question is asked.

    Parameters
    ----------
    bucketed, probes, queries
        The earlier texts; which later texts look where; and the later texts.
    of_shorter, of_longer
        At least these shares of the two lengths, added up, are the characters that any pair has in common.
    max_bucket_size
        Larger buckets are passed over and counted; 0 = no limit.
    most
        Where more than so many come up, the rest is left out.

    Returns
    -------
    near
        uint64[n_near]: row of the later text in the upper 32 bits, row of the index in the lower.
    """
    starts, n_classes, probe_starts, rows = bucketed.starts, bucketed.n_classes, probes.starts, probes.rows
    near, n_near = np.empty(1024, np.uint64), np.int64(0)
    n_comparisons, largest, n_skipped = np.int64(0), np.int64(0), np.int64(0)
    for bucket in range(len(probe_starts) - 1):
        if n_near > most:
            break
        cell = bucket * n_classes
        size = np.int64(starts[cell + n_classes] - starts[cell])
        first, last = probe_starts[bucket], probe_starts[bucket + 1]
        if size == 0 or first == last:
            continue
        largest = max(largest, size)
        if 0 < max_bucket_size < size:
            n_skipped += last - first
            continue
        while True:
            n_done, n_near, n_compared = look_into_bucket(
                bucketed, queries, rows[first:last], of_shorter, of_longer, cell, near, n_near
            )
            first += n_done
            n_comparisons += n_compared
            if first == last or n_near > most:
                break
            near = with_room_for(near, n_near, size)
    return near[:n_near], JoinCounts(len(rows), n_comparisons, largest, n_skipped)


@njit(cache=True, nogil=True)
def select_pairs(near: UInt64s, index: PrintColumns, later: PrintColumns, counts: UInt8s) -> UInt64s:
    """Return those that are pairs within their limits, by position.

    Parameters
    ----------
    near
        As `find_near` returns it.
    counts
        uint8[n_texts, N_CLASSES], by position, as `count_characters` returns it; no rows = characters are not asked.

    Returns
    -------
    pairs
        uint64[n_pairs]: later position in the upper 32 bits, earlier position in the lower.
    """
    pairs, n_pairs = np.empty(len(near), np.uint64), np.int64(0)
    for rows in near:
        q, i = np.int64(rows >> np.uint64(32)), np.int64(rows & LOW_HALF)
        earlier_position, later_position = index.positions[i], later.positions[q]
        if earlier_position >= later_position:
            continue
        is_shorter = index.lengths[i] < later.lengths[q]
        longer, shorter = max(index.lengths[i], later.lengths[q]), min(index.lengths[i], later.lengths[q])
        limit = index.max_distances[i] if is_shorter else later.max_distances[q]
        longest = index.max_partner_lengths[i] if is_shorter else later.max_partner_lengths[q]
        if longer > longest or differing_bits(index.bits, i, later.bits, q) > limit:
            continue
        if len(counts) > 0:
            of_shorter = index.common_of_shorter[i] if is_shorter else later.common_of_shorter[q]
            of_longer = index.common_of_longer[i] if is_shorter else later.common_of_longer[q]
            in_common = common_characters(counts, earlier_position, later_position)
            if in_common < least_in_common(shorter, longer, of_shorter, of_longer):
                continue
        pairs[n_pairs] = (np.uint64(later_position) << np.uint64(32)) | np.uint64(earlier_position)
        n_pairs += 1
    return pairs[:n_pairs].copy()


@njit(cache=True, nogil=True)
def least_in_common(shorter: int, longer: int, of_shorter: np.float32, of_longer: np.float32) -> float:
    """Return a number that the characters in common of a pair within its limits are not below.

    Float32 rounds a share by less than 1e-7 of it, which a millionth of the characters makes up for.
    """
    slack = 1e-6 * (shorter + longer) + 1e-3
    return np.float64(of_shorter) * shorter + np.float64(of_longer) * longer - slack
