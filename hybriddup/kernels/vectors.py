"""Eight words at once, and fetching what is read later: instructions of the machine, plain Python when the JIT is off.

LLVM splits the vectors where a machine has shorter ones. Left to itself it never takes the widest that there are.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from hybriddup.data.records import UInt64s

N_LANES = 8
"""Words of a vector."""

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def near_of_eight(
        first_words: UInt64s,
        second_words: UInt64s,
        place: np.uint64,
        first_word: np.uint64,
        second_word: np.uint64,
        limit: np.uint64,
    ) -> np.uint64:
        """Return which of eight fingerprints from ``place`` on are within the limit of a query, bit by bit."""
        near = 0
        for lane in range(N_LANES):
            differing = (first_words[int(place) + lane] ^ first_word, second_words[int(place) + lane] ^ second_word)
            near |= (sum(int(word).bit_count() for word in differing) <= limit) << lane
        return np.uint64(near)

    def near_in_line(words: UInt64s, place: np.uint64, word: np.uint64, limit: np.uint64) -> np.uint64:
        """Return which of eight fingerprints of one word from ``place`` on are within the limit, bit by bit."""
        differing = [words.flat[int(place) + lane] ^ word for lane in range(N_LANES)]
        return np.uint64(sum((int(each).bit_count() <= limit) << lane for lane, each in enumerate(differing)))

    def fetch_early(array: Any, place: np.uint64) -> None:
        """Let the cache fetch an element of an array, counted through all dimensions, or one that begins with it."""

else:
    WORD, WORDS = ir.IntType(64), ir.VectorType(ir.IntType(64), N_LANES)

    @intrinsic
    def near_of_eight(
        typing_context: Any,  # noqa: ARG001  (numba passes the context by position)
        first_words: Any,
        second_words: Any,
        place: Any,
        first_word: Any,
        second_word: Any,
        limit: Any,
    ) -> Any:
        """Return which of eight fingerprints from ``place`` on are within the limit of a query, bit by bit."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            firsts, seconds, start, first, second, most = arguments
            distances = builder.add(
                distances_from(builder, data_of(context, builder, signature.args[0], firsts), start, first),
                distances_from(builder, data_of(context, builder, signature.args[1], seconds), start, second),
            )
            return flags_within(builder, distances, most)

        return types.uint64(first_words, second_words, place, first_word, second_word, limit), generate

    @intrinsic
    def near_in_line(typing_context: Any, words: Any, place: Any, word: Any, limit: Any) -> Any:  # noqa: ARG001
        """Return which of eight fingerprints of one word from ``place`` on are within the limit, bit by bit."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, start, query, most = arguments
            distances = distances_from(builder, data_of(context, builder, signature.args[0], array), start, query)
            return flags_within(builder, distances, most)

        return types.uint64(words, place, word, limit), generate

    @intrinsic
    def fetch_early(typing_context: Any, array: Any, place: Any) -> Any:  # noqa: ARG001
        """Let the cache fetch an element of an array, counted through all dimensions, or one that begins with it."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            flag, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
            prefetch = builder.module.declare_intrinsic("llvm.prefetch.p0i8", fnty=kind)
            element = builder.gep(data_of(context, builder, signature.args[0], arguments[0]), [arguments[1]])
            # to be read, to be kept in all levels of the cache, data
            builder.call(prefetch, [builder.bitcast(element, pointer), flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.void(array, place), generate

    def data_of(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
        """Return the pointer to the first element."""
        return context.make_array(array_type)(context, builder, array).data

    def in_all_lanes(builder: Any, word: Any) -> Any:
        """Return a vector with the word in each lane."""
        undefined = ir.Constant(WORDS, ir.Undefined)
        first_lane = builder.insert_element(undefined, word, ir.IntType(32)(0))
        return builder.shuffle_vector(first_lane, undefined, ir.VectorType(ir.IntType(32), N_LANES)([0] * N_LANES))

    def flags_within(builder: Any, distances: Any, limit: Any) -> Any:
        """Return which of eight distances are within the limit, bit by bit."""
        within = builder.icmp_unsigned("<=", distances, in_all_lanes(builder, limit))
        return builder.zext(builder.bitcast(within, ir.IntType(N_LANES)), WORD)

    def distances_from(builder: Any, data: Any, start: Any, word: Any) -> Any:
        """Return how many bits of a word differ from each of the eight from ``start`` on."""
        words = builder.load(builder.bitcast(builder.gep(data, [start]), WORDS.as_pointer()), align=WORD.width // 8)
        kind = ir.FunctionType(WORDS, [WORDS])
        popcount = builder.module.declare_intrinsic(f"llvm.ctpop.v{N_LANES}i64", fnty=kind)
        return builder.call(popcount, [builder.xor(words, in_all_lanes(builder, word))])
