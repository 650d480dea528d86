"""Looking into the buckets: comparing a later text with what is inside, and keeping the pairs within their limits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.kernels.buckets import BLOCK_SIZE, BucketedPrints, SortedProbes
from hybriddup.kernels.cache import njit
from hybriddup.kernels.characters import common_characters, count_lacking
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.hamming import differing_bits
from hybriddup.kernels.popcount import lowest_bit, popcount
from hybriddup.kernels.vectors import fetch_early, near_places
from hybriddup.records import Float32s, Int32s, Int64s, UInt8s, UInt32s, UInt64s

LOW_HALF = np.uint64(0xFFFFFFFF)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
LOOK_AHEAD = 24
"""Later texts between one that is fetched and the one that is compared: memory takes that long to answer."""
BLOCKS_NOTED = 1024
"""Blocks with near texts that are noted before those are looked at; so few stay in the cache."""


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
def note_near_blocks(
    bucketed: BucketedPrints,
    queries: Queries,
    rows: UInt32s,
    first: int,
    last: int,
    cell: int,
    masks: UInt64s,
    blocks: UInt64s,
) -> tuple[int, int, int, int]:
    """Note the blocks of a bucket with texts near those that look into it, until the room is filled.

    Parameters
    ----------
    rows, first, last
        uint32[n_probes]: rows of the later texts, of which those from ``first`` to ``last`` look into this bucket.
    cell
        The first cell of the bucket.
    masks, blocks
        Written in place: which of a block are near, bit by bit; and the later text's row in the upper 32 bits, the
        first place of the block in the lower.

    Returns
    -------
    The first of ``rows`` not done, how many blocks are noted, how many texts are near in them, and how many
    comparisons that took.

    Notes
    -----
    Which block has a near text cannot be foreseen, so that there is no branch on it: every block is written, and the
    next one over it if none is near. Indices are unsigned: a signed one might count from the end, and checking that
    costs more than comparing.
    """
    starts, first_words, second_words = bucketed.starts, bucketed.first_words, bucketed.second_words
    n_noted, n_found, n_comparisons = np.uint64(0), np.uint64(0), np.int64(0)
    for probe in range(first, last):
        fetch_early(queries, np.uint64(rows[np.uint64(min(probe + LOOK_AHEAD, len(rows) - 1))]))
        row = np.uint64(rows[np.uint64(probe)])
        query = queries[row]
        start = np.int64(starts[cell + query["first_class"]])
        end = np.int64(starts[cell + query["last_class"] + 1])
        size = max(end - start, np.int64(0))
        if np.int64(n_noted) + size // BLOCK_SIZE + 1 > len(masks):
            return probe, np.int64(n_noted), np.int64(n_found), n_comparisons
        n_comparisons += size
        limit = np.uint64(max(query["distance_limit"], 0))
        first_word, second_word = query["first_word"], query["second_word"]
        for block in range(start, end, BLOCK_SIZE):
            found = near_places(first_words, second_words, np.uint64(block), first_word, second_word, limit)
            if end - block < BLOCK_SIZE:
                found &= (np.uint64(1) << np.uint64(end - block)) - np.uint64(1)
            masks[n_noted] = found
            blocks[n_noted] = (row << np.uint64(32)) | np.uint64(block)
            n_noted += np.uint64(found != 0)
            n_found += popcount(found)
    return last, np.int64(n_noted), np.int64(n_found), n_comparisons


@njit(cache=True, nogil=True)
def list_places(details: UInt64s, masks: UInt64s, blocks: UInt64s, n_noted: int, near: UInt64s, n_near: int) -> int:
    """Write the near texts of the noted blocks from ``n_near`` on, and return how many are written by now.

    ``near`` is changed in place: row of the later text in the upper 32 bits, place in ``details`` in the lower.
    """
    flat, n_columns = details.ravel(), np.uint64(details.shape[1])
    n = np.uint64(n_near)
    for noted in range(n_noted):
        found, block = masks[np.uint64(noted)], blocks[np.uint64(noted)]
        while found != 0:
            near[n] = block + lowest_bit(found)
            fetch_early(flat, (near[n] & LOW_HALF) * n_columns)
            n += np.uint64(1)
            found &= found - np.uint64(1)
    return np.int64(n)


@njit(cache=True, nogil=True)
def keep_enough_in_common(
    details: UInt64s,
    queries: Queries,
    of_shorter: np.float32,
    of_longer: np.float32,
    near: UInt64s,
    n_near: int,
    n_listed: int,
) -> int:
    """Keep the listed texts whose characters do not rule a pair out, and return how many are written by now.

    ``near`` is changed in place from ``n_near`` to ``n_listed``: places become rows of the index. Which text is the
    shorter is as good as chance, so that there is no branch on it.
    """
    n = np.uint64(n_near)
    for listed in range(n_near, n_listed):
        row, place = near[np.uint64(listed)] >> np.uint64(32), near[np.uint64(listed)] & LOW_HALF
        query, last_column = queries[row], details[place, np.uint64(2)]
        low, high, length = query["low_counts"], query["high_counts"], np.int64(query["length"])
        other_low, other_high = details[place, np.uint64(0)], details[place, np.uint64(1)]
        other_length = np.int64(last_column >> np.uint64(32))
        if_longer = ALL_ONES * np.uint64(length > other_length)
        swap_low, swap_high = (low ^ other_low) & if_longer, (high ^ other_high) & if_longer
        lacking = count_lacking(low ^ swap_low, high ^ swap_high, other_low ^ swap_low, other_high ^ swap_high)
        shorter, longer = min(length, other_length), max(length, other_length)
        near[n] = (row << np.uint64(32)) | (last_column & LOW_HALF)
        n += np.uint64(lacking <= shorter - least_in_common(shorter, longer, of_shorter, of_longer))
    return np.int64(n)


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
    starts, n_classes, details = bucketed.starts, bucketed.n_classes, bucketed.details
    probe_starts, rows = probes.starts, probes.rows
    near, n_near = np.empty(1024, np.uint64), np.int64(0)
    masks, blocks = np.empty(BLOCKS_NOTED, np.uint64), np.empty(BLOCKS_NOTED, np.uint64)
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
        if size // BLOCK_SIZE >= len(masks):
            masks, blocks = np.empty(size // BLOCK_SIZE * 2, np.uint64), np.empty(size // BLOCK_SIZE * 2, np.uint64)
        while first < last and n_near <= most:
            first, n_noted, n_found, n_compared = note_near_blocks(
                bucketed, queries, rows, first, last, cell, masks, blocks
            )
            n_comparisons += n_compared
            if n_near + n_found >= len(near):
                near = with_room_for(near, n_near, n_found)
            n_listed = list_places(details, masks, blocks, n_noted, near, n_near)
            n_near = keep_enough_in_common(details, queries, of_shorter, of_longer, near, n_near, n_listed)
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
