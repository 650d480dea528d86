"""Renumbers the characters of texts to keep tables small, and sketches texts to bound the scores of pairs."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import ONE

SPREAD = np.uint32(2654435761)
"""Odd multiplier for hashing a code point to a class, near 2**32 divided by the golden ratio, so that neighboring code
points get distant classes."""
OCCURRENCE_SPREAD = np.uint32(2246822519)
"""Odd multiplier for hashing how often a class of characters has occurred in a text, so that each further occurrence
sets a distant bit of the sketch."""
N_CLASSES, CLASS_SHIFT = 1024, np.uint32(22)
"""Number of classes of characters, and number of bits to shift a 32-bit hash right, which gives a class."""
BIT_SHIFT = np.uint32(24)
"""Number of bits to shift a 32-bit hash right, which gives one of the 256 bits of a sketch."""


@njit(cache=True, nogil=True)
def renumber(code_points: UInt32s, symbol_of: Int32s) -> tuple[Int32s, int]:
    """Number the distinct code points 0, 1, 2, ... in order of first use.

    Return int32[n], the number of each code point, and how many code points are distinct.

    ``symbol_of``, int32[highest code point + 1], maps code points to numbers. It must be filled with -1, and is changed
    in place.
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
def sketch_characters(code_points: UInt32s, offsets: Int64s, sketches: UInt64s) -> None:
    """Set one bit of a text's sketch per character: one for the first ``a``, another for the second ``a``, and so on.

    Parameters
    ----------
    code_points, offsets
        As in `hybriddup.data.records.EncodedTexts`.
    sketches
        uint64[n_texts, SKETCH_WORDS], zeros; changed in place. A hash selects the bit.
    """
    n_before = np.zeros(N_CLASSES, np.uint32)
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            of_point = np.uint32(code_points[i] * SPREAD) >> CLASS_SHIFT
            hashed = np.uint32(of_point * SPREAD + n_before[of_point] * OCCURRENCE_SPREAD) >> BIT_SHIFT
            sketches[text, np.uint64(hashed >> np.uint32(6))] |= ONE << np.uint64(hashed & np.uint32(63))
            n_before[of_point] += np.uint32(1)
        for i in range(offsets[text], offsets[text + 1]):
            n_before[np.uint32(code_points[i] * SPREAD) >> CLASS_SHIFT] = np.uint32(0)
