"""Bits of a word: one machine instruction each when compiled, plain Python when the JIT is off."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

HALF, LOW_HALF, ONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1)
"""The bits of half a word, a word in which the lower half is set, and one in which the lowest bit is."""

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def popcount(word: np.uint64) -> np.uint64:
        """Return the number of 1-bits of a 64-bit word, 0 to 64."""
        return np.uint64(int(word).bit_count())

    def lowest_bit(word: np.uint64) -> np.uint64:
        """Return the place of the lowest 1-bit of a 64-bit word, 0 to 63; the word must not be 0."""
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
        """Return the place of the lowest 1-bit of a 64-bit word, 0 to 63; the word must not be 0."""

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.uint64(types.uint64), generate
