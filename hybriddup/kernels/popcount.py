"""Bit operations on 64-bit words: one machine instruction each, or plain Python if the JIT is off."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit

HALF, LOW_HALF, ONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1)
"""Width of half a 64-bit word, in bits; a word with the lower half set; and a word with only the lowest bit set."""
SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio, the factor of multiplicative hashing (Knuth, volume 3, 6.4)."""

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def popcount(word: np.uint64) -> np.uint64:
        """Return the number of 1-bits of a 64-bit word, 0 to 64."""
        return np.uint64(int(word).bit_count())

    def lowest_bit(word: np.uint64) -> np.uint64:
        """Return the index of the lowest 1-bit of a 64-bit word, 0 to 63; the word must not be 0."""
        return np.uint64((int(word) & -int(word)).bit_length() - 1)

else:

    @intrinsic
    def popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001  (numba passes the context by position)
        """Return the number of 1-bits of a 64-bit word, 0 to 64."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.uint64(types.uint64), generate

    @intrinsic
    def lowest_bit(typing_context: Any, word: Any) -> Any:  # noqa: ARG001  (numba passes the context by position)
        """Return the index of the lowest 1-bit of a 64-bit word, 0 to 63; the word must not be 0."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True, inner=True)
def differing_bits(a: UInt64s, row_a: int, b: UInt64s, row_b: int) -> int:
    """Return the Hamming distance between two fingerprints: row ``row_a`` of ``a`` and row ``row_b`` of ``b``."""
    distance = np.int64(0)
    for word in range(a.shape[1]):
        distance += np.int64(popcount(a[row_a, word] ^ b[row_b, word]))
    return distance


@njit(cache=True, nogil=True, inner=True)
def power_of_two(least: int) -> int:
    """Return the smallest power of two that is at least ``least``."""
    power = np.int64(1)
    while power < least:
        power *= 2
    return power
