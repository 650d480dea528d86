"""Buckets of fingerprints that agree on a key: numbering them, filling them, and what a text probes besides its own.

A key is a choice of bit positions. Its bits are folded into a bucket number by exclusive or, which is linear, so the
bucket of a key with some bits flipped is the key's own bucket combined with a fixed offset for each flipped bit.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from hybriddup.records import Int32s, Int64s, UInt8s, UInt32s, UInt64s

BLOCK_SIZE = 32
"""Fingerprints compared before the near ones are picked out: a fixed number, so that the comparing loop has no
branches and no remainder. The last block of a range may reach past its end, for which the arrays are padded."""


class BucketedPrints(NamedTuple):
    """The index side of a join: fingerprints ordered by bucket, and by length class inside each bucket."""

    starts: Int32s
    """int32[n_buckets * n_classes + 1]: where each class of each bucket begins."""
    n_classes: int
    order: Int32s
    """int32[n]: the row of the index that stands at each place."""
    first_words: UInt64s
    """uint64[n + BLOCK_SIZE]: word 0 of each fingerprint, then padding."""
    second_words: UInt64s
    """uint64[n + BLOCK_SIZE]: word 1, all 0 where fingerprints have one word, then padding."""


@njit(cache=True, nogil=True)
def fold_key(bits: UInt64s, key_positions: Int64s, bucket_bits: int) -> np.uint32:
    """Return the bucket of one fingerprint uint64[words]: key bit ``i`` goes to bucket bit ``i % bucket_bits``."""
    bucket = np.uint32(0)
    for i in range(len(key_positions)):
        position = key_positions[i]
        bit = np.uint32((bits[position >> 6] >> np.uint64(position & 63)) & np.uint64(1))
        bucket ^= np.uint32(bit << np.uint32(i % bucket_bits))
    return bucket


@njit(cache=True, nogil=True)
def fold_keys(bits: UInt64s, key_positions: Int64s, bucket_bits: int) -> UInt32s:
    """Return uint32[n]: the bucket of each fingerprint uint64[n, words]."""
    buckets = np.empty(len(bits), np.uint32)
    for row in range(len(bits)):
        buckets[row] = fold_key(bits[row], key_positions, bucket_bits)
    return buckets


@njit(cache=True, nogil=True)
def fill_buckets(bits: UInt64s, buckets: UInt32s, n_buckets: int, classes: Int32s, n_classes: int) -> BucketedPrints:
    """Return the fingerprints by bucket and length class, in order of row inside each; a counting sort.

    ``buckets`` uint32[n] and ``classes`` int32[n] are below ``n_buckets`` and ``n_classes``.
    """
    n = len(bits)
    starts = np.zeros(n_buckets * n_classes + 1, np.int32)
    for row in range(n):
        starts[np.int64(buckets[row]) * n_classes + classes[row] + 1] += 1
    for cell in range(n_buckets * n_classes):
        starts[cell + 1] += starts[cell]
    free = starts.copy()
    order = np.empty(n, np.int32)
    first_words, second_words = np.zeros(n + BLOCK_SIZE, np.uint64), np.zeros(n + BLOCK_SIZE, np.uint64)
    for row in range(n):
        cell = np.int64(buckets[row]) * n_classes + classes[row]
        place = free[cell]
        free[cell] += 1
        order[place] = row
        first_words[place] = bits[row, 0]
        if bits.shape[1] > 1:
            second_words[place] = bits[row, 1]
    return BucketedPrints(starts, n_classes, order, first_words, second_words)


@njit(cache=True, nogil=True)
def find_weak_bits(
    strengths: UInt8s, key_positions: Int64s, n_weak_bits: int, bucket_bits: int, words: int
) -> tuple[UInt32s, UInt64s]:
    """Return the bucket offsets of each text's weakest key bits, and the key bits that are not weak.

    Parameters
    ----------
    strengths
        uint8[n, 64 * words]; of equally weak bits, the one that comes first in the key is the weaker.
    key_positions
        int64[n_key_bits], distinct.

    Returns
    -------
    weak_flips
        uint32[n, n_weak_bits].
    strict_masks
        uint64[n, words]: the key bits in which a pair must agree to be found by this table.
    """
    n, n_key_bits = len(strengths), len(key_positions)
    weak_flips = np.zeros((n, n_weak_bits), np.uint32)
    strict_masks = np.zeros((n, words), np.uint64)
    values = np.empty(n_key_bits, np.int64)
    for row in range(n):
        for i in range(n_key_bits):
            position = key_positions[i]
            values[i] = strengths[row, position]
            strict_masks[row, position >> 6] |= np.uint64(1) << np.uint64(position & 63)
        for weak in range(n_weak_bits):
            weakest = np.argmin(values)
            position = key_positions[weakest]
            values[weakest] = 256
            weak_flips[row, weak] = np.uint32(1) << np.uint32(weakest % bucket_bits)
            strict_masks[row, position >> 6] &= ~(np.uint64(1) << np.uint64(position & 63))
    return weak_flips, strict_masks
