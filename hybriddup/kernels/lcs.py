"""Length of the longest common subsequence, bit by bit in parallel.

After Hyyrö 2004, "Bit-parallel LCS-length computation revisited", with a bound from character counts that spares most
pairs the work.

Texts are arrays of symbols: code points renumbered 0, 1, 2, ... by first use, so that a table by symbol is small.
"""

import numpy as np
from numba import njit

from hybriddup.kernels.popcount import popcount
from hybriddup.records import Bools, Int32s, Int64s, UInt8s, UInt32s, UInt64s

ONE = np.uint64(1)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
N_CLASSES = 64
"""Classes that characters are counted by: with 64, one in 20 candidate pairs of English posts passes the bound, one in
50 of Chinese ones; with 32 it is one in 4."""
MANY = np.uint8(255)


@njit(cache=True, nogil=True)
def renumber(code_points: UInt32s, symbol_of: Int32s, n_symbols: int) -> tuple[Int32s, int]:
    """Return the symbol of each code point, int32[n], and how many symbols there are now.

    ``symbol_of`` int32[0x110000] is -1 where a code point has no symbol yet; it is filled in place.
    """
    symbols = np.empty(len(code_points), np.int32)
    for i in range(len(code_points)):
        code_point = code_points[i]
        if symbol_of[code_point] < 0:
            symbol_of[code_point] = n_symbols
            n_symbols += 1
        symbols[i] = symbol_of[code_point]
    return symbols, n_symbols


@njit(cache=True, nogil=True)
def count_characters(symbols: Int32s, offsets: Int64s) -> UInt8s:
    """Return uint8[n_texts, N_CLASSES]: how many characters of each class a text has, 255 standing for more too.

    Symbols are dealt to the classes by a hash, so that the common ones do not meet in a few.
    """
    counts = np.zeros((len(offsets) - 1, N_CLASSES), np.uint8)
    for text in range(len(offsets) - 1):
        for i in range(offsets[text], offsets[text + 1]):
            symbol_class = np.int64((np.uint64(symbols[i]) * np.uint64(2654435761)) >> np.uint64(8)) & (N_CLASSES - 1)
            if counts[text, symbol_class] < MANY:
                counts[text, symbol_class] += np.uint8(1)
    return counts


@njit(cache=True, nogil=True)
def common_characters(counts: UInt8s, a: int, b: int) -> int:
    """Return an upper bound on how many characters two texts can have in common, whatever their order; -1 = unknown."""
    n_common = np.int32(0)
    most = np.uint8(0)
    for symbol_class in range(N_CLASSES):
        smaller = min(counts[a, symbol_class], counts[b, symbol_class])
        n_common += np.int32(smaller)
        most = max(most, smaller)
    return np.int64(-1) if most == MANY else np.int64(n_common)


@njit(cache=True, nogil=True)
def lcs_upper_bounds(counts: UInt8s, lengths: Int64s, earlier: Int64s, later: Int64s) -> Int64s:
    """Return int64[n_pairs]: the LCS of each pair is at most this long."""
    bounds = np.empty(len(earlier), np.int64)
    for pair in range(len(earlier)):
        n_common = common_characters(counts, earlier[pair], later[pair])
        shorter = min(lengths[earlier[pair]], lengths[later[pair]])
        bounds[pair] = shorter if n_common < 0 else min(n_common, shorter)
    return bounds


@njit(cache=True, nogil=True)
def mark_places(places: UInt64s, symbols: Int32s, start: int, end: int) -> None:
    """Set bit ``i`` of ``places[symbol]`` where the symbol stands at ``start + i``; changed in place."""
    for i in range(start, end):
        places[symbols[i], (i - start) >> 6] |= ONE << np.uint64((i - start) & 63)


@njit(cache=True, nogil=True)
def clear_places(places: UInt64s, symbols: Int32s, start: int, end: int) -> None:
    """Undo `mark_places`."""
    n_words = (end - start + 63) >> 6
    for i in range(start, end):
        for word in range(n_words):
            places[symbols[i], word] = np.uint64(0)


@njit(cache=True, nogil=True)
def lcs_one_word(places: UInt64s, symbols: Int32s, start: int, end: int) -> int:
    """Return the LCS length of a marked text of up to 64 symbols and ``symbols[start:end]``."""
    state = ALL_ONES
    for i in range(start, end):
        common = state & places[symbols[i], 0]
        state = (state + common) | (state - common)
    return np.int64(popcount(~state))


@njit(cache=True, nogil=True)
def lcs_many_words(places: UInt64s, symbols: Int32s, start: int, end: int, state: UInt64s) -> int:
    """Return the LCS length of a marked text of ``64 * len(state)`` symbols at most and ``symbols[start:end]``."""
    state[:] = ALL_ONES
    for i in range(start, end):
        carry = np.uint64(0)
        for word in range(len(state)):
            common = state[word] & places[symbols[i], word]
            total = state[word] + common
            with_carry = total + carry
            carry = np.uint64(total < common) | np.uint64(with_carry < carry)
            state[word] = with_carry | (state[word] - common)
    length = np.int64(0)
    for word in range(len(state)):
        length += np.int64(popcount(~state[word]))
    return length


@njit(cache=True, nogil=True)
def lcs_lengths(
    symbols: Int32s, offsets: Int64s, n_symbols: int, earlier: Int64s, later: Int64s, wanted: Bools
) -> Int64s:
    """Return int64[n_pairs]: the LCS length of each wanted pair, 0 for the others.

    Parameters
    ----------
    symbols, offsets
        The texts: int32[n] symbols below ``n_symbols``, int64[n_texts + 1].
    earlier, later
        int64[n_pairs]: text numbers. Pairs of one later text should stand together: its table is then made once.
    """
    lengths = np.zeros(len(earlier), np.int64)
    places = np.zeros((n_symbols, 1), np.uint64)
    state = np.empty(1, np.uint64)
    marked = np.int64(-1)
    for pair in range(len(earlier)):
        if not wanted[pair]:
            continue
        a, b = earlier[pair], later[pair]
        start_b, end_b = offsets[b], offsets[b + 1]
        if b != marked:
            if marked >= 0:
                clear_places(places, symbols, offsets[marked], offsets[marked + 1])
            n_words = (end_b - start_b + 63) >> 6
            if n_words > places.shape[1]:
                places = np.zeros((n_symbols, n_words), np.uint64)
            state = np.empty(n_words, np.uint64)
            mark_places(places, symbols, start_b, end_b)
            marked = b
        if len(state) == 1:
            lengths[pair] = lcs_one_word(places, symbols, offsets[a], offsets[a + 1])
        else:
            lengths[pair] = lcs_many_words(places, symbols, offsets[a], offsets[a + 1], state)
    return lengths
