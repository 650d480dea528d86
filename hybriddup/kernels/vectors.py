"""SIMD operations on several words, and prefetching: machine instructions, or plain Python if the JIT is off.

On machines with shorter vectors, LLVM splits the operations. They are written by hand because LLVM's own vectorizer
never uses the widest vectors of a machine.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from hybriddup.data.records import UInt32s, UInt64s

N_LANES = 8
"""Number of texts that `near_of_eight` compares at once, one per vector lane."""
N_COMPARED = 4
"""Number of 64-bit words that `equal_of_four` compares at once."""

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def near_of_eight(
        words: UInt32s,
        place: np.uint64,
        mask: np.uint64,
        shortest: np.uint64,
        more: np.uint64,
        fingerprints: UInt64s,
        first: np.uint64,
        step: np.uint64,
        first_word: np.uint64,
        second_word: np.uint64,
        limit: np.uint64,
    ) -> np.uint64:
        """Compare eight texts with a query; return a bit set of the texts within its limits.

        The bits under ``mask`` of the texts' ``words``, from ``place`` on, are a length class, which must be between
        ``shortest`` and ``shortest + more``. The first words of the fingerprints begin at ``first``, their second words
        at ``first + step``. At most ``limit`` bits may differ from ``first_word`` and ``second_word``.
        """
        near = 0
        for lane in range(N_LANES):
            of_length = int(words[int(place) + lane]) & int(mask)
            one, other = (int(fingerprints[int(first) + column * int(step) + lane]) for column in range(2))
            distance = (one ^ int(first_word)).bit_count() + (other ^ int(second_word)).bit_count()
            near |= bool(distance <= limit and 0 <= of_length - int(shortest) <= more) << lane
        return np.uint64(near)

    def equal_of_four(words: UInt64s, place: np.uint64, word: np.uint64) -> np.uint64:
        """Return a bit set of the four words from flat index ``place`` on that equal ``word``."""
        four = words.ravel()[int(place) : int(place) + N_COMPARED]
        return np.uint64(sum(int(other == word) << lane for lane, other in enumerate(four)))

    def fetch_early(array: Any, place: np.uint64) -> None:
        """Prefetch the element at a flat index of an array into the CPU cache."""

    def add_where(sums: Any, start: np.uint64, word: np.uint64, weight: np.int16) -> None:
        """Add the weight to ``sums[start + b]``, int16, for each 1-bit ``b`` of the word; in place."""
        for bit in range(64):
            if int(word) >> bit & 1:
                sums[int(start) + bit] += weight

else:
    WORD, WORDS = ir.IntType(64), ir.VectorType(ir.IntType(64), N_LANES)
    SUMS = ir.VectorType(ir.IntType(16), 64)
    MASK = ir.VectorType(ir.IntType(1), 64)
    ALL_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), 64), None)
    """Shuffle mask of zeros, which copies the first number of a vector to all lanes."""

    @intrinsic
    def near_of_eight(
        typing_context: Any,  # noqa: ARG001  (numba passes the context by position)
        words: Any,
        place: Any,
        mask: Any,  # noqa: ARG001
        shortest: Any,  # noqa: ARG001
        more: Any,  # noqa: ARG001
        fingerprints: Any,
        first: Any,
        step: Any,
        first_word: Any,
        second_word: Any,
        limit: Any,
    ) -> Any:
        """Compare eight texts with a query; return a bit set of the texts within its limits. See the Python version."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, at, mask, least, span, prints, firsts, apart, one, other, most = arguments
            words = words_from(builder, data_of(context, builder, signature.args[0], array), at)
            classes = builder.and_(words, in_all_lanes(builder, mask))
            over = builder.sub(classes, in_all_lanes(builder, least))  # a shorter one wraps around
            is_length = builder.icmp_unsigned("<=", over, in_all_lanes(builder, span))
            data, seconds = data_of(context, builder, signature.args[5], prints), builder.add(firsts, apart)
            distances = builder.add(
                distances_from(builder, data, firsts, one), distances_from(builder, data, seconds, other)
            )
            is_near = builder.icmp_unsigned("<=", distances, in_all_lanes(builder, most))
            return as_flags(builder, builder.and_(is_near, is_length))

        of_length = types.uint32, types.uint32, types.uint32
        of_fingerprint = first, step, first_word, second_word, limit
        return types.uint64(words, place, *of_length, fingerprints, *of_fingerprint), generate

    @intrinsic
    def equal_of_four(typing_context: Any, words: Any, place: Any, word: Any) -> Any:  # noqa: ARG001
        """Return a bit set of the four words from flat index ``place`` on that equal ``word``."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, first, one = arguments
            four = words_from(builder, data_of(context, builder, signature.args[0], array), first, N_COMPARED)
            return as_flags(builder, builder.icmp_unsigned("==", four, in_all_lanes(builder, one, N_COMPARED)))

        return types.uint64(words, types.uint64, types.uint64), generate

    @intrinsic
    def fetch_early(typing_context: Any, array: Any, place: Any) -> Any:  # noqa: ARG001
        """Prefetch the element at a flat index of an array into the CPU cache."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            flag, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
            kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
            prefetch = builder.module.declare_intrinsic("llvm.prefetch.p0i8", fnty=kind)
            element = builder.gep(data_of(context, builder, signature.args[0], arguments[0]), [arguments[1]])
            # for reading, in all cache levels, data
            builder.call(prefetch, [builder.bitcast(element, pointer), flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return types.void(array, place), generate

    @intrinsic
    def add_where(typing_context: Any, sums: Any, start: Any, word: Any, weight: Any) -> Any:  # noqa: ARG001
        """Add the weight to ``sums[start + b]``, int16, for each 1-bit ``b`` of the word; in place.

        The caller guarantees 64 sums from ``start`` on, and that none overflows. Uses vectors, because a loop over
        shifted bits compiles to several times as many instructions.
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

    def data_of(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
        """Return the pointer to the first element of an array."""
        return context.make_array(array_type)(context, builder, array).data

    def in_all_lanes(builder: Any, word: Any, n_lanes: int = N_LANES) -> Any:
        """Return a vector with the word in every lane."""
        undefined = ir.Constant(ir.VectorType(word.type, n_lanes), ir.Undefined)
        first_lane = builder.insert_element(undefined, word, ir.IntType(32)(0))
        return builder.shuffle_vector(first_lane, undefined, ir.VectorType(ir.IntType(32), n_lanes)([0] * n_lanes))

    def as_flags(builder: Any, lanes: Any) -> Any:
        """Pack a vector of booleans into the low bits of a 64-bit word."""
        return builder.zext(builder.bitcast(lanes, ir.IntType(lanes.type.count)), WORD)

    def words_from(builder: Any, data: Any, start: Any, n_lanes: int = N_LANES) -> Any:
        """Load the words from ``start`` on as a vector."""
        word = data.type.pointee
        lanes = ir.VectorType(word, n_lanes).as_pointer()
        return builder.load(builder.bitcast(builder.gep(data, [start]), lanes), align=word.width // 8)

    def distances_from(builder: Any, data: Any, start: Any, word: Any) -> Any:
        """Return the Hamming distances between a word and the eight words from ``start`` on."""
        kind = ir.FunctionType(WORDS, [WORDS])
        popcount = builder.module.declare_intrinsic(f"llvm.ctpop.v{N_LANES}i64", fnty=kind)
        return builder.call(popcount, [builder.xor(words_from(builder, data, start), in_all_lanes(builder, word))])
