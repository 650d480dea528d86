"""Length of the longest common subsequence, bit by bit in parallel.

After Hyyrö 2004, "Bit-parallel LCS-length computation revisited". Texts are arrays of symbols, which
`hybriddup.characters` explains.
"""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount
from hybriddup.records import Int32s, Int64s, UInt64s

ONE = np.uint64(1)
ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


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
        common = state & places[np.uint64(symbols[np.uint64(i)]), np.uint64(0)]
        state = (state + common) | (state - common)
    return np.int64(popcount(~state))


@njit(cache=True, nogil=True)
def lcs_two_words(places: UInt64s, symbols: Int32s, start: int, end: int) -> int:
    """Return the LCS length of a marked text of up to 128 symbols and ``symbols[start:end]``.

    As `lcs_many_words`, with the state in registers: most posts are no longer than that.
    """
    low, high = ALL_ONES, ALL_ONES
    for i in range(start, end):
        symbol = np.uint64(symbols[np.uint64(i)])
        common = low & places[symbol, np.uint64(0)]
        total = low + common
        carry = np.uint64(total < common)
        low = total | (low - common)
        common = high & places[symbol, np.uint64(1)]
        high = (high + common + carry) | (high - common)
    return np.int64(popcount(~low) + popcount(~high))


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
def lcs_lengths(symbols: Int32s, offsets: Int64s, n_symbols: int, earlier: Int64s, later: Int64s) -> Int64s:
    """Return int64[n_pairs]: the LCS length of each pair.

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
        elif len(state) == 2:
            lengths[pair] = lcs_two_words(places, symbols, offsets[a], offsets[a + 1])
        else:
            lengths[pair] = lcs_many_words(places, symbols, offsets[a], offsets[a + 1], state)
    return lengths
