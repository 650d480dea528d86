"""Adding a number to those of 64 sums whose bit of a word is set: a few masked additions where the machine has them."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def add_where(sums: Any, start: np.uint64, word: np.uint64, weight: np.int16) -> None:
        """Add the weight to ``sums[start + b]``, int16, for each bit ``b`` of the word that is 1; in place."""
        for bit in range(64):
            if int(word) >> bit & 1:
                sums[int(start) + bit] += weight

else:
    SUMS = ir.VectorType(ir.IntType(16), 64)
    MASK = ir.VectorType(ir.IntType(1), 64)
    ALL_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), 64), None)
    """Shuffled by all zeros, a vector holds its first number everywhere."""

    @intrinsic
    def add_where(typing_context: Any, sums: Any, start: Any, word: Any, weight: Any) -> Any:  # noqa: ARG001
        """Add the weight to ``sums[start + b]``, int16, for each bit ``b`` of the word that is 1; in place.

        The caller sees to it that there are 64 sums from ``start`` on and that none overflows. Written as vectors,
        because a loop over shifted bits is compiled to several times as many instructions.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, first, bits, number = arguments
            data = context.make_array(signature.args[0])(context, builder, array).data
            place = builder.bitcast(builder.gep(data, [first]), SUMS.as_pointer())
            before = builder.load(place, align=2)
            one = builder.insert_element(ir.Constant(SUMS, ir.Undefined), number, ir.IntType(32)(0))
            everywhere = builder.shuffle_vector(one, ir.Constant(SUMS, ir.Undefined), ALL_FIRST)
            after = builder.select(builder.bitcast(bits, MASK), builder.add(before, everywhere), before)
            builder.store(after, place, align=2)
            return context.get_dummy_value()

        return types.void(sums, types.uint64, types.uint64, types.int16), generate
