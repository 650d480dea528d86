"""Length of the longest common subsequence (LCS), computed 64 symbols at a time.

After Hyyrö 2004, "Bit-parallel LCS-length computation revisited". Texts are arrays of symbols: renumbered code points,
see `hybriddup.steps.verifiers.characters`.

The positions of a text's symbols are stored as 64-bit masks: mask ``w * n_symbols + s`` has bit ``i`` set if symbol
``s`` is at position ``64 * w + i``. So the masks of a short text are adjacent, however long the longest text is.
"""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import ONE, popcount

ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
LOW_SIX_BITS = np.uint64(63)
WORDS_PER_STRIP = 4


@njit(cache=True, nogil=True)
def mark_places(places: UInt64s, n_symbols: int, symbols: Int32s, start: int, end: int) -> None:
    """Store the text ``symbols[start:end]`` in the masks ``places``: set the bit of each symbol's position."""
    for i in range(end - start):
        place = np.uint64((i >> 6) * n_symbols + symbols[np.uint64(start + i)])
        places[place] |= ONE << (np.uint64(i) & LOW_SIX_BITS)


@njit(cache=True, nogil=True)
def clear_places(places: UInt64s, n_symbols: int, symbols: Int32s, start: int, end: int) -> None:
    """Undo `mark_places`: reset the masks of the symbols in ``symbols[start:end]`` to 0."""
    for i in range(end - start):
        places[np.uint64((i >> 6) * n_symbols + symbols[np.uint64(start + i)])] = np.uint64(0)


@njit(cache=True, nogil=True, inner=True)
def next_state(state: np.uint64, marked: np.uint64, carry: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Advance one 64-bit word of the LCS state by a symbol with mask ``marked``; return the new word and carry bit."""
    common = state & marked
    total = state + common
    with_carry = total + carry
    return with_carry | (state - common), np.uint64(total < common) | np.uint64(with_carry < carry)


@njit(cache=True, nogil=True)
def lcs_one_word(places: UInt64s, symbols: Int32s, start: int, end: int) -> int:
    """Return the LCS length of ``symbols[start:end]`` and a text of up to 64 symbols, stored as masks ``places``."""
    state = ALL_ONES
    for i in range(start, end):
        common = state & places[np.uint64(symbols[np.uint64(i)])]
        state = (state + common) | (state - common)
    return np.int64(popcount(~state))


@njit(cache=True, nogil=True)
def lcs_two_words(places: UInt64s, n_symbols: int, symbols: Int32s, start: int, end: int) -> int:
    """Return the LCS length of ``symbols[start:end]`` and a text of up to 128 symbols, stored as masks ``places``."""
    low, high = ALL_ONES, ALL_ONES
    for i in range(start, end):
        symbol = np.uint64(symbols[np.uint64(i)])
        low, carry = next_state(low, places[symbol], np.uint64(0))
        high, carry = next_state(high, places[symbol + np.uint64(n_symbols)], carry)
    return np.int64(popcount(~low) + popcount(~high))


@njit(cache=True, nogil=True)
def lcs_strip(
    places: UInt64s, n_symbols: int, first_word: int, symbols: Int32s, start: int, end: int, carries: UInt8s
) -> int:
    """Return how much one strip of the text marked in ``places`` adds to the LCS length.

    The strip is the 64 * `WORDS_PER_STRIP` symbols from ``64 * first_word`` on. ``carries``, uint8[end - start],
    contains the carry bit of the previous strip at each symbol of the other text, ``symbols[start:end]``; 0 for the
    first strip. It is overwritten with the carry bits of this strip.
    """
    a, b, c, d = ALL_ONES, ALL_ONES, ALL_ONES, ALL_ONES
    of_word = np.uint64(n_symbols)
    first = np.uint64(first_word) * of_word
    for i in range(end - start):
        place = first + np.uint64(symbols[np.uint64(start + i)])
        a, carry = next_state(a, places[place], np.uint64(carries[np.uint64(i)]))
        b, carry = next_state(b, places[place + of_word], carry)
        c, carry = next_state(c, places[place + np.uint64(2) * of_word], carry)
        d, carry = next_state(d, places[place + np.uint64(3) * of_word], carry)
        carries[np.uint64(i)] = np.uint8(carry)
    return np.int64(popcount(~a) + popcount(~b) + popcount(~c) + popcount(~d))


@njit(cache=True, nogil=True)
def lcs_many_words(
    places: UInt64s, n_symbols: int, n_words: int, symbols: Int32s, start: int, end: int, carries: UInt8s
) -> int:
    """Return the LCS length of ``symbols[start:end]`` and a text of up to ``64 * n_words`` symbols.

    ``places`` has the masks of the second text, as set by `mark_places`. ``carries`` is a scratch buffer, uint8[n],
    with n at least ``end - start``.
    """
    for i in range(end - start):
        carries[i] = np.uint8(0)
    length = np.int64(0)
    for first_word in range(0, n_words, WORDS_PER_STRIP):
        length += lcs_strip(places, n_symbols, first_word, symbols, start, end, carries)
    return length


@njit(cache=True, nogil=True)
def longest_of(offsets: Int64s, texts: Int64s) -> int:
    """Return the length of the longest of the texts with indices ``texts``, in symbols; 0 if there are none."""
    longest = np.int64(0)
    for text in texts:
        longest = max(longest, offsets[text + 1] - offsets[text])
    return longest


@njit(cache=True, nogil=True)
def lcs_lengths(symbols: Int32s, offsets: Int64s, n_symbols: int, earlier: Int64s, later: Int64s) -> Int64s:
    """Return int64[n_pairs]: the LCS length of each pair.

    Parameters
    ----------
    symbols, offsets
        int32[n], int64[n_texts + 1]: the symbols of all texts, below ``n_symbols``, and the start of each text.
    earlier, later
        int64[n_pairs]: the indices of the two texts of each pair. Pairs with the same later text should be consecutive,
        so that the bit masks of this text are built only once.
    """
    lengths = np.zeros(len(earlier), np.int64)
    n_strips = longest_of(offsets, later) // (64 * WORDS_PER_STRIP) + 1
    places = np.zeros(n_strips * WORDS_PER_STRIP * n_symbols, np.uint64)
    carries = np.empty(longest_of(offsets, earlier), np.uint8)
    marked, n_words = np.int64(-1), np.int64(0)
    for pair in range(len(earlier)):
        a, b = earlier[pair], later[pair]
        if b != marked:
            if marked >= 0:
                clear_places(places, n_symbols, symbols, offsets[marked], offsets[marked + 1])
            mark_places(places, n_symbols, symbols, offsets[b], offsets[b + 1])
            n_words = (offsets[b + 1] - offsets[b] + 63) >> 6
            marked = b
        start, end = offsets[a], offsets[a + 1]
        if n_words <= 1:
            lengths[pair] = lcs_one_word(places, symbols, start, end)
        elif n_words == 2:
            lengths[pair] = lcs_two_words(places, n_symbols, symbols, start, end)
        else:
            lengths[pair] = lcs_many_words(places, n_symbols, n_words, symbols, start, end, carries)
    return lengths


@njit(cache=True, nogil=True)
def symbols_in_common(
    symbols: Int32s, offsets: Int64s, n_symbols: int, earlier: Int64s, later: Int64s, needed: Int64s
) -> Int64s:
    """Return int64[n_pairs]: the number of characters each pair has in common, in any order; at least the LCS length.

    If the number is below ``needed``, int64[n_pairs], counting stops early, and the result is some number below
    ``needed``. For the other parameters, see `lcs_lengths`, which takes ten times as long.
    """
    in_common = np.zeros(len(earlier), np.int64)
    left, counted = np.zeros(n_symbols, np.int32), np.int64(-1)
    for pair in range(len(earlier)):
        a, b = earlier[pair], later[pair]
        if b != counted:
            if counted >= 0:
                add_to_counts(left, symbols, offsets[counted], offsets[counted + 1], np.int32(-1))
            add_to_counts(left, symbols, offsets[b], offsets[b + 1], np.int32(1))
            counted = b
        start, end, n_lacking = offsets[a], offsets[a + 1], np.int64(0)
        i, may_lack = start, end - start - needed[pair]
        while i < end and n_lacking <= may_lack:
            symbol = np.uint64(symbols[np.uint64(i)])
            n_lacking += np.int64(left[symbol] <= 0)
            left[symbol] -= np.int32(1)
            i += 1
        in_common[pair] = end - start - n_lacking
        add_to_counts(left, symbols, start, i, np.int32(1))
    return in_common


@njit(cache=True, nogil=True, inner=True)
def add_to_counts(counts: Int32s, symbols: Int32s, start: int, end: int, number: np.int32) -> None:
    """Add ``number`` to the count of each symbol, a renumbered character, in ``symbols[start:end]``, per occurrence."""
    for i in range(start, end):
        counts[np.uint64(symbols[np.uint64(i)])] += number
