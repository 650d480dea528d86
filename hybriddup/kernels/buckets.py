"""Buckets of fingerprints that agree on a key: numbering them, filling them, and what a text probes besides its own.

A key is a choice of bit positions. Its bits are folded into a bucket number by exclusive or, which is linear, so the
bucket of a key with some bits flipped is the key's own bucket combined with a fixed offset for each flipped bit.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.records import Int32s, Int64s, UInt8s, UInt16s, UInt32s, UInt64s

BLOCK_SIZE = 32
"""Fingerprints compared before the near ones are picked out: a fixed number, so that the comparing loop has no
branches and no remainder. The last block of a range may reach past its end, for which the arrays are padded."""

ROWS_AT_A_TIME = 1024
"""Texts whose key bits are looked at together, bit by bit: as many as stay in the fastest cache."""
TAKEN = np.uint16(2**16 - 1)


class BucketedPrints(NamedTuple):
    """The index side of a join: fingerprints ordered by bucket, and by length class inside each bucket."""

    starts: Int32s
    """int32[n_buckets * n_classes + 1]: where each class of each bucket begins."""
    n_classes: int
    first_words: UInt64s
    """uint64[n + BLOCK_SIZE]: word 0 of each fingerprint, then padding."""
    second_words: UInt64s
    """uint64[n + BLOCK_SIZE]: word 1, all 0 where fingerprints have one word, then padding."""
    details: UInt64s
    """uint64[n, 3], together because they are read together: the two sketches of the characters of each text, as
    `sketch_characters` returns them; then its length in the upper 32 bits, its row of the index in the lower."""


@njit(cache=True, nogil=True)
def fold_keys(bits: UInt64s, key_positions: Int64s, bucket_bits: int) -> UInt32s:
    """Return uint32[n]: the bucket of each fingerprint uint64[n, words].

    Key bit ``i`` goes to bucket bit ``i % bucket_bits``. Bit by bit over some fingerprints at a time, word by word next
    to each other, so that many go into one instruction.
    """
    buckets = np.zeros(len(bits), np.uint32)
    columns = np.empty((bits.shape[1], ROWS_AT_A_TIME), np.uint64)
    for start in range(0, len(bits), ROWS_AT_A_TIME):
        first, n = np.uint64(start), min(ROWS_AT_A_TIME, len(bits) - start)
        for word in range(bits.shape[1]):
            for i in range(n):
                columns[word, np.uint64(i)] = bits[first + np.uint64(i), word]
        for bit in range(len(key_positions)):
            word, shift = np.uint64(key_positions[bit] >> 6), np.uint64(key_positions[bit] & 63)
            place = np.uint64(bit % bucket_bits) if bucket_bits > 0 else np.uint64(0)
            for i in range(n):
                folded = ((columns[word, np.uint64(i)] >> shift) & np.uint64(1)) << place
                buckets[first + np.uint64(i)] ^= np.uint32(folded)
    return buckets


@njit(cache=True, nogil=True)
def fill_buckets(
    bits: UInt64s,
    sketches: UInt64s,
    positions: Int64s,
    lengths: Int32s,
    buckets: UInt32s,
    n_buckets: int,
    classes: Int32s,
    n_classes: int,
) -> BucketedPrints:
    """Return the fingerprints by bucket and length class, in order of row inside each; a counting sort.

    ``sketches`` is uint64[n_texts, 2] by position, or has no rows; ``positions`` int64[n], ``lengths`` int32[n];
    ``buckets`` uint32[n] and ``classes`` int32[n] are below ``n_buckets`` and ``n_classes``.
    """
    n = len(bits)
    starts = np.zeros(n_buckets * n_classes + 1, np.int32)
    for row in range(n):
        starts[np.int64(buckets[row]) * n_classes + classes[row] + 1] += 1
    for cell in range(n_buckets * n_classes):
        starts[cell + 1] += starts[cell]
    free = starts.copy()
    first_words, second_words = np.zeros(n + BLOCK_SIZE, np.uint64), np.zeros(n + BLOCK_SIZE, np.uint64)
    details = np.zeros((n, 3), np.uint64)
    for row in range(n):
        cell = np.int64(buckets[row]) * n_classes + classes[row]
        place = free[cell]
        free[cell] += 1
        if len(sketches) > 0:
            details[place, 0] = sketches[positions[row], 0]
            details[place, 1] = sketches[positions[row], 1]
        details[place, 2] = (np.uint64(lengths[row]) << np.uint64(32)) | np.uint64(row)
        first_words[place] = bits[row, 0]
        if bits.shape[1] > 1:
            second_words[place] = bits[row, 1]
    return BucketedPrints(starts, n_classes, first_words, second_words, details)


@njit(cache=True, nogil=True)
def find_weak_bits(strengths: UInt8s, key_positions: Int64s, n_weak_bits: int) -> UInt8s:
    """Return uint8[n, n_weak_bits]: the places in the key of each text's weakest key bits, the weakest first.

    Parameters
    ----------
    strengths
        uint8[n, 32 * words], packed; of equally weak bits, the one that comes first in the key is the weaker.
    key_positions
        int64[n_key_bits], distinct; at most 255.
    """
    weak_places = np.zeros((len(strengths), n_weak_bits), np.uint8)
    if n_weak_bits == 0:
        return weak_places
    ranks = np.empty((len(key_positions), ROWS_AT_A_TIME), np.uint16)
    weakest = np.empty(ROWS_AT_A_TIME, np.uint16)
    for start in range(0, len(strengths), ROWS_AT_A_TIME):
        n = min(ROWS_AT_A_TIME, len(strengths) - start)
        rank_strengths(strengths, start, n, key_positions, ranks)
        for weak in range(n_weak_bits):
            take_weakest(ranks, n, weakest)
            for i in range(n):
                weak_places[start + i, weak] = np.uint8(weakest[i] & np.uint16(255))
    return weak_places


@njit(cache=True, nogil=True)
def rank_strengths(strengths: UInt8s, start: int, n: int, key_positions: Int64s, ranks: UInt16s) -> None:
    """Write the strength of each key bit and its place in the key into uint16[n_key_bits, n], in one number.

    The smallest is the weakest, and the first of those equally weak.
    """
    for bit in range(len(key_positions)):
        byte, shift = np.uint64(key_positions[bit] >> 1), np.uint16(4 * (key_positions[bit] & 1))
        for i in range(n):
            pair = np.uint16(strengths[np.uint64(start + i), byte])
            ranks[bit, np.uint64(i)] = (((pair >> shift) & np.uint16(15)) << np.uint16(8)) | np.uint16(bit)


@njit(cache=True, nogil=True)
def take_weakest(ranks: UInt16s, n: int, weakest: UInt16s) -> None:
    """Write the smallest rank of each text into uint16[n], and put `TAKEN` in its place."""
    for i in range(n):
        weakest[np.uint64(i)] = TAKEN
    for bit in range(len(ranks)):
        for i in range(n):
            rank, so_far = ranks[bit, np.uint64(i)], weakest[np.uint64(i)]
            weakest[np.uint64(i)] = rank if rank < so_far else so_far
    for bit in range(len(ranks)):
        for i in range(n):
            rank = ranks[bit, np.uint64(i)]
            ranks[bit, np.uint64(i)] = TAKEN if rank == weakest[np.uint64(i)] else rank


class SortedProbes(NamedTuple):
    """Which later texts look into each bucket, bucket by bucket: what is in a bucket is then read from the cache."""

    starts: Int64s
    """int64[n_buckets + 1]: where the probes of each bucket begin."""
    rows: UInt32s
    """uint32[n_probes]: rows of the later texts, rising inside each bucket."""


@njit(cache=True, nogil=True)
def list_probes(buckets: UInt32s, offsets: UInt32s, weak_places: UInt8s, bucket_bits: int) -> UInt32s:
    """Return uint32[n * n_probes]: the buckets that each text looks into, text by text.

    Parameters
    ----------
    buckets
        uint32[n]: the bucket of each text's own key, of ``bucket_bits`` bits.
    offsets
        uint32[n_offsets]: bucket offsets that every text probes; the first is 0, its own bucket.
    weak_places
        uint8[n, n_weak_bits]: places in the key of the bits that a text flips, in all combinations.
    """
    n_combinations = 1 << weak_places.shape[1]
    listed = np.empty(len(buckets) * len(offsets) * n_combinations, np.uint32)
    flips = np.empty(weak_places.shape[1], np.uint32)
    n_listed = 0
    for row in range(len(buckets)):
        for weak in range(len(flips)):
            flips[weak] = np.uint32(1) << np.uint32(np.int64(weak_places[row, weak]) % bucket_bits)
        for offset in offsets:
            listed[n_listed] = buckets[row] ^ offset
            # each further combination is one listed before with one more bit flipped
            for weak in range(len(flips)):
                for before in range(1 << weak):
                    listed[n_listed + (1 << weak) + before] = listed[n_listed + before] ^ flips[weak]
            n_listed += n_combinations
    return listed


@njit(cache=True, nogil=True)
def sort_probes(listed: UInt32s, n_probes: int, first_row: int, n_buckets: int) -> SortedProbes:
    """Return the probes by bucket; a counting sort.

    ``listed`` is what `list_probes` returns of the texts from ``first_row`` on, ``n_probes`` of each.
    """
    starts = np.zeros(n_buckets + 1, np.int64)
    for bucket in listed:
        starts[np.int64(bucket) + 1] += 1
    for bucket in range(n_buckets):
        starts[bucket + 1] += starts[bucket]
    free = starts.copy()
    rows = np.empty(len(listed), np.uint32)
    place = 0
    for row in range(len(listed) // n_probes):
        for _ in range(n_probes):
            bucket = np.int64(listed[place])
            rows[free[bucket]] = first_row + row
            free[bucket] += 1
            place += 1
    return SortedProbes(starts, rows)
