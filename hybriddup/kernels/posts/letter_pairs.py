"""Finds the pairs of adjacent letters in texts, for a test before posts are parsed.

Two long texts in an alphabet have most letters in common, whatever they say, but not most pairs of adjacent letters.
"""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import SPREAD
from hybriddup.kernels.posts.tokens import DIGIT, KIND, LETTER

LAST_ALPHABETIC = 0x2E7F
"""Code points above this belong to Han, kana, Hangul and the like."""
N_BUCKETS, TO_BUCKET = 4096, np.uint64(52)
"""Number of different hashes of letter pairs, and the shift to the right that reduces 64 bits to such a hash."""
PER_LETTER = np.uint64(0x110001)
"""Factor that gives each pair of code points a number of its own."""


@njit(cache=True, nogil=True)
def letter_pairs_of(points: UInt32s, offsets: Int64s, kinds: UInt8s) -> tuple[Int32s, Int64s]:
    """Return the pairs of successive letters or digits of alphabetic scripts; all other characters are skipped.

    The result is int32[n], the hash of each pair, below `N_BUCKETS`; and int64[n_texts + 1], the index of each text's
    first pair, which consists of code point 0 and the first letter. ``points`` and ``offsets``: the texts, as in
    `hybriddup.data.records.EncodedTexts`; ``kinds``: `Characters.kinds`.
    """
    hashes, bounds, n = np.empty(len(points), np.int32), np.zeros(len(offsets), np.int64), np.int64(0)
    for text in range(len(offsets) - 1):
        before = np.uint64(0)
        for at in range(offsets[text], offsets[text + 1]):
            point = np.uint64(points[np.uint64(at)])
            if point <= LAST_ALPHABETIC and LETTER <= kinds[point] & KIND <= DIGIT:
                hashes[n] = np.int32((before * PER_LETTER + point) * SPREAD >> TO_BUCKET)
                n, before = n + 1, point
        bounds[text + 1] = n
    return hashes[:n], bounds
