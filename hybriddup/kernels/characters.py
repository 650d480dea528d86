"""The characters of texts: renumbered so that tables by character are small, and counted so that pairs are bounded."""

import numpy as np

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import N_CLASSES, Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount

MANY = np.uint8(255)
SPREAD = np.uint32(2654435761)
"""Odd, and near 2**32 divided by the golden ratio: neighbours among the code points get classes far apart."""


@njit(cache=True, nogil=True)
def renumber(code_points: UInt32s, symbol_of: Int32s) -> tuple[Int32s, int]:
    """Return the symbol of each code point, int32[n], and how many symbols there are.

    ``symbol_of`` int32[highest code point + 1] is -1 everywhere; it is filled in place.
    """
    symbols, n_symbols = np.empty(len(code_points), np.int32), 0
    for i in range(len(code_points)):
        code_point = np.uint64(code_points[i])
        if symbol_of[code_point] < 0:
            symbol_of[code_point] = n_symbols
            n_symbols += 1
        symbols[i] = symbol_of[code_point]
    return symbols, n_symbols


@njit(cache=True, nogil=True)
def count_characters(code_points: UInt32s, offsets: Int64s, counts: UInt8s) -> None:
    """Write how many characters of each class the texts have, 255 standing for more too.

    Parameters
    ----------
    code_points, offsets
        As in `hybriddup.data.records.EncodedTexts`.
    counts
        uint8[n_texts, N_CLASSES], zeros; filled in place. Code points are dealt to the classes by a hash, so that the
        common ones do not meet in a few.
    """
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            code_point_class = np.uint32(code_points[i] * SPREAD) >> np.uint32(26)
            if counts[text, code_point_class] < MANY:
                counts[text, code_point_class] += np.uint8(1)


@njit(cache=True, nogil=True)
def sketch_characters(counts: UInt8s, sketches: UInt64s) -> None:
    """Write how many characters of each class each text has, up to three.

    ``sketches`` uint64[n_texts, 2] is filled in place: bit ``c`` of word 0 and of word 1 are the low and the high bit
    of the count of class ``c``.
    """
    for text in range(len(counts)):
        low, high = np.uint64(0), np.uint64(0)
        for i in range(N_CLASSES):
            count = np.uint64(min(counts[text, i], np.uint8(3)))
            low |= (count & np.uint64(1)) << np.uint64(i)
            high |= (count >> np.uint64(1)) << np.uint64(i)
        sketches[text, 0], sketches[text, 1] = low, high


@njit(cache=True, nogil=True, inner=True)
def count_lacking(low: np.uint64, high: np.uint64, other_low: np.uint64, other_high: np.uint64) -> int:
    """Return how many characters of one text the other one lacks at least, told by their sketches."""
    one = (low | high) & ~(other_low | other_high)
    two = high & ~other_high
    three = low & high & ~(other_low & other_high)
    return np.int64(popcount(one) + popcount(two) + popcount(three))


@njit(cache=True, nogil=True, inner=True)
def common_characters(counts: UInt8s, a: int, b: int) -> int:
    """Return an upper bound on how many characters two texts can have in common, whatever their order.

    It is `NO_BOUND` where a class has too many characters to count in both.
    """
    row_a, row_b = np.uint64(a), np.uint64(b)  # unsigned, because a signed index might count from the end
    n_common, most = np.int32(0), np.uint8(0)
    for i in range(N_CLASSES):
        count_a, count_b = counts[row_a, np.uint64(i)], counts[row_b, np.uint64(i)]
        smaller = count_a if count_a < count_b else count_b
        n_common += np.int32(smaller)
        most = smaller if smaller > most else most
    return NO_BOUND if most == MANY else n_common


@njit(cache=True, nogil=True)
def lcs_upper_bounds(counts: UInt8s, lengths: Int64s, earlier: Int64s, later: Int64s) -> Int64s:
    """Return int64[n_pairs]: the longest common subsequence of each pair is at most this long."""
    bounds = np.empty(len(earlier), np.int64)
    for pair in range(len(earlier)):
        n_common = common_characters(counts, earlier[pair], later[pair])
        shorter = min(lengths[earlier[pair]], lengths[later[pair]])
        bounds[pair] = min(n_common, shorter)
    return bounds
