"""XXH3, 64 bits, of tokens of one to four code points: the sizes that n-grams have.

The bytes hashed are the token's UTF-32-LE code units, so 4, 8, 12 or 16 of them; values equal those of the xxhash
library on the same bytes. Longer tokens are left to that library.
"""

import numpy as np
from numba import njit

from hybriddup.records import Int32s, Int64s, UInt32s, UInt64s

LONGEST_TOKEN = 4
"""Code points of the longest token that `hash_short_tokens` hashes."""

# Words of the default secret of XXH3 (xxHash 0.8 specification, section "XXH3 algorithm"), at the offsets in bytes.
SECRET_8 = np.uint64(0x1CAD21F72C81017C)
SECRET_16 = np.uint64(0xDB979083E96DD4DE)
SECRET_24 = np.uint64(0x1F67B3B7A4A44072)
SECRET_32 = np.uint64(0x78E5C0CC4EE679CB)
SECRET_40 = np.uint64(0x2172FFCC7DD05A82)
SECRET_48 = np.uint64(0x8E2443F7744608B8)
PRIME_MX1 = np.uint64(0x165667919E3779F9)
PRIME_MX2 = np.uint64(0x9FB21C651E98DF25)
LOW_HALF = np.uint64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def rotate_left(word: np.uint64, count: np.uint64) -> np.uint64:
    """Return the word with its bits rotated; ``count`` is 1 to 63."""
    return (word << count) | (word >> (np.uint64(64) - count))


@njit(cache=True, nogil=True)
def swap_bytes(word: np.uint64) -> np.uint64:
    """Return the word with its eight bytes in reverse order."""
    word = ((word & np.uint64(0x00FF00FF00FF00FF)) << np.uint64(8)) | (
        (word >> np.uint64(8)) & np.uint64(0x00FF00FF00FF00FF)
    )
    word = ((word & np.uint64(0x0000FFFF0000FFFF)) << np.uint64(16)) | (
        (word >> np.uint64(16)) & np.uint64(0x0000FFFF0000FFFF)
    )
    return rotate_left(word, np.uint64(32))


@njit(cache=True, nogil=True)
def fold_product(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the low and the high half of the 128-bit product, combined by exclusive or."""
    a_low, a_high = a & LOW_HALF, a >> np.uint64(32)
    b_low, b_high = b & LOW_HALF, b >> np.uint64(32)
    low_low, high_low = a_low * b_low, a_high * b_low
    low_high, high_high = a_low * b_high, a_high * b_high
    cross = (low_low >> np.uint64(32)) + (high_low & LOW_HALF) + low_high
    upper = (high_low >> np.uint64(32)) + (cross >> np.uint64(32)) + high_high
    lower = (cross << np.uint64(32)) | (low_low & LOW_HALF)
    return upper ^ lower


@njit(cache=True, nogil=True)
def hash_4_or_8_bytes(first: np.uint64, last: np.uint64, n_bytes: np.uint64, seed: np.uint64) -> np.uint64:
    """Return XXH3 of one code point (``first`` is ``last``) or two."""
    low_seed = swap_bytes(seed & LOW_HALF) >> np.uint64(32)
    mixed_seed = seed ^ (low_seed << np.uint64(32))
    word = (last + (first << np.uint64(32))) ^ ((SECRET_8 ^ SECRET_16) - mixed_seed)
    word ^= rotate_left(word, np.uint64(49)) ^ rotate_left(word, np.uint64(24))
    word *= PRIME_MX2
    word ^= (word >> np.uint64(35)) + n_bytes
    word *= PRIME_MX2
    return word ^ (word >> np.uint64(28))


@njit(cache=True, nogil=True)
def hash_12_or_16_bytes(head: np.uint64, tail: np.uint64, n_bytes: np.uint64, seed: np.uint64) -> np.uint64:
    """Return XXH3 of three or four code points, given as the first eight bytes and the last eight."""
    low = head ^ ((SECRET_24 ^ SECRET_32) + seed)
    high = tail ^ ((SECRET_40 ^ SECRET_48) - seed)
    word = n_bytes + swap_bytes(low) + high + fold_product(low, high)
    word ^= word >> np.uint64(37)
    word *= PRIME_MX1
    return word ^ (word >> np.uint64(32))


@njit(cache=True, nogil=True)
def hash_short_token(code_points: UInt32s, start: int, length: int, seed: np.uint64) -> np.uint64:
    """Return XXH3 of the token of 1 to 4 code points that begins at ``start``."""
    n_bytes = np.uint64(4 * length)
    first = np.uint64(code_points[start])
    last = np.uint64(code_points[start + length - 1])
    if length <= 2:
        return hash_4_or_8_bytes(first, last, n_bytes, seed)
    second = np.uint64(code_points[start + 1])
    last_but_one = np.uint64(code_points[start + length - 2])
    head = first | (second << np.uint64(32))
    tail = last_but_one | (last << np.uint64(32))
    return hash_12_or_16_bytes(head, tail, n_bytes, seed)


@njit(cache=True, nogil=True)
def hash_short_tokens(code_points: UInt32s, starts: Int64s, lengths: Int32s, words: int, seed: np.uint64) -> UInt64s:
    """Return uint64[n_tokens, words]: word ``w`` of a token is its XXH3 with seed ``seed + w``.

    Rows of tokens longer than `LONGEST_TOKEN` are left at 0 for the caller to fill.
    """
    hashes = np.zeros((len(starts), words), np.uint64)
    for token in range(len(starts)):
        if lengths[token] <= LONGEST_TOKEN:
            for word in range(words):
                hashes[token, word] = hash_short_token(
                    code_points, starts[token], np.int64(lengths[token]), seed + np.uint64(word)
                )
    return hashes
