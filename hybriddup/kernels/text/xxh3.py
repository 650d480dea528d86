"""Hashes tokens of 1 to 32 code points, which are n-grams and nearly all words, with 64-bit XXH3.

The hashed bytes are the token in UTF-32-LE, 4 to 128 bytes. The xxhash library gives the same results and hashes the
longer tokens.
"""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import LOW_HALF, ONE

LONGEST_TOKEN = 32
"""Number of code points of the longest token that `hash_short_tokens` hashes."""
LONGEST_NGRAM = 4
"""Number of code points of the longest token that fits into two 64-bit words, as most n-grams do. `hash_pairs` and
`hash_fours` hash such tokens."""

SECRET_BYTES = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
)
"""The first 128 bytes of the default secret of XXH3 (xxHash 0.8 specification, section "XXH3 algorithm")."""
SECRET: UInt64s = np.frombuffer(SECRET_BYTES, "<u8").astype(np.uint64)
SECRET_8, SECRET_16, SECRET_24, SECRET_32, SECRET_40, SECRET_48 = (np.uint64(word) for word in SECRET[1:7])
"""Words of `SECRET`; the number in the name is the offset in bytes."""
PRIME_1 = np.uint64(0x9E3779B185EBCA87)
PRIME_MX1 = np.uint64(0x165667919E3779F9)
PRIME_MX2 = np.uint64(0x9FB21C651E98DF25)
TWO = np.uint64(2)


@njit(cache=True, nogil=True)
def rotate_left(word: np.uint64, count: np.uint64) -> np.uint64:
    """Rotate the bits of a word to the left by ``count``, 1 to 63."""
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
    """Multiply two words; return the low and the high half of the 128-bit product, combined by exclusive or."""
    a_low, a_high = a & LOW_HALF, a >> np.uint64(32)
    b_low, b_high = b & LOW_HALF, b >> np.uint64(32)
    low_low, high_low = a_low * b_low, a_high * b_low
    low_high, high_high = a_low * b_high, a_high * b_high
    cross = (low_low >> np.uint64(32)) + (high_low & LOW_HALF) + low_high
    upper = (high_low >> np.uint64(32)) + (cross >> np.uint64(32)) + high_high
    lower = (cross << np.uint64(32)) | (low_low & LOW_HALF)
    return upper ^ lower


@njit(cache=True, nogil=True, inner=True)
def hash_pairs(
    code_points: UInt32s, starts: Int64s, lengths: Int32s, first: int, last: int, seed: np.uint64, hashes: UInt64s
) -> None:
    """Write the hashes of tokens ``first`` to ``last - 1``, which have one or two code points.

    ``hashes`` is uint64[n_tokens]. The loop has no branches, so that several tokens are hashed at once.
    """
    low_seed = swap_bytes(seed & LOW_HALF) >> np.uint64(32)
    flip = (SECRET_8 ^ SECRET_16) - (seed ^ (low_seed << np.uint64(32)))
    for token in range(np.uint64(first), np.uint64(last)):
        start, length = np.uint64(starts[token]), np.uint64(lengths[token])
        head, tail = np.uint64(code_points[start]), np.uint64(code_points[start + length - ONE])
        word = (tail + (head << np.uint64(32))) ^ flip
        word ^= rotate_left(word, np.uint64(49)) ^ rotate_left(word, np.uint64(24))
        word *= PRIME_MX2
        word ^= (word >> np.uint64(35)) + (length << TWO)
        word *= PRIME_MX2
        hashes[token] = word ^ (word >> np.uint64(28))


@njit(cache=True, nogil=True, inner=True)
def hash_fours(
    code_points: UInt32s, starts: Int64s, lengths: Int32s, first: int, last: int, seed: np.uint64, hashes: UInt64s
) -> None:
    """Write the hashes of tokens ``first`` to ``last - 1``, which have three or four code points.

    The first and the last eight bytes are mixed; for three code points they overlap. See `hash_pairs`.
    """
    low_flip, high_flip = (SECRET_24 ^ SECRET_32) + seed, (SECRET_40 ^ SECRET_48) - seed
    for token in range(np.uint64(first), np.uint64(last)):
        start, length = np.uint64(starts[token]), np.uint64(lengths[token])
        end = start + length
        head = np.uint64(code_points[start]) | (np.uint64(code_points[start + ONE]) << np.uint64(32))
        tail = np.uint64(code_points[end - TWO]) | (np.uint64(code_points[end - ONE]) << np.uint64(32))
        low, high = head ^ low_flip, tail ^ high_flip
        word = (length << TWO) + swap_bytes(low) + high + fold_product(low, high)
        word ^= word >> np.uint64(37)
        word *= PRIME_MX1
        hashes[token] = word ^ (word >> np.uint64(32))


@njit(cache=True, nogil=True)
def mix_four(code_points: UInt32s, start: int, secret: int, seed: np.uint64) -> np.uint64:
    """Mix four code points, from ``start`` on, with two words of `SECRET`, from index ``secret`` on."""
    place = np.uint64(start)
    low = np.uint64(code_points[place]) | (np.uint64(code_points[place + np.uint64(1)]) << np.uint64(32))
    place += np.uint64(2)
    high = np.uint64(code_points[place]) | (np.uint64(code_points[place + np.uint64(1)]) << np.uint64(32))
    return fold_product(low ^ (SECRET[np.uint64(secret)] + seed), high ^ (SECRET[np.uint64(secret + 1)] - seed))


@njit(cache=True, nogil=True)
def hash_word(code_points: UInt32s, start: int, length: int, seed: np.uint64) -> np.uint64:
    """Return the XXH3 hash of the token of 5 to 32 code points that begins at ``start``.

    Groups of four code points are mixed from both ends inward, until they meet or overlap.
    """
    word = np.uint64(4 * length) * PRIME_1
    for four in range((length + 7) // 8):
        word += mix_four(code_points, start + 4 * four, 4 * four, seed)
        word += mix_four(code_points, start + length - 4 * four - 4, 4 * four + 2, seed)
    word ^= word >> np.uint64(37)
    word *= PRIME_MX1
    return word ^ (word >> np.uint64(32))


@njit(cache=True, nogil=True)
def hash_words(code_points: UInt32s, starts: Int64s, lengths: Int32s, seed: np.uint64, hashes: UInt64s) -> None:
    """Write the hashes of the tokens of 5 to 32 code points to ``hashes``; do not change the rows of other tokens."""
    for token in range(len(starts)):
        length = np.int64(lengths[token])
        if LONGEST_NGRAM < length <= LONGEST_TOKEN:
            for word in range(hashes.shape[1]):
                hashes[token, word] = hash_word(code_points, starts[token], length, seed + np.uint64(word))


@njit(cache=True, nogil=True)
def hash_short_tokens(code_points: UInt32s, starts: Int64s, lengths: Int32s, words: int, seed: np.uint64) -> UInt64s:
    """Return uint64[n_tokens, words]: the hash of each token, in words; word ``w`` is XXH3 with the seed ``seed + w``.

    Rows of tokens longer than `LONGEST_TOKEN` are left at 0 for the caller to fill.
    """
    hashes, first, longest = np.zeros((len(starts), words), np.uint64), np.int64(0), np.int32(0)
    while first < len(starts):
        last, most = end_of_kind(lengths, first)
        for word in range(words):
            if most == 2:
                hash_pairs(code_points, starts, lengths, first, last, seed + np.uint64(word), hashes[:, word])
            elif most == LONGEST_NGRAM:
                hash_fours(code_points, starts, lengths, first, last, seed + np.uint64(word), hashes[:, word])
        longest, first = max(longest, most), last
    if longest > LONGEST_NGRAM:
        hash_words(code_points, starts, lengths, seed, hashes)
    return hashes


@njit(cache=True, nogil=True, inner=True)
def end_of_kind(lengths: Int32s, first: int) -> tuple[int, np.int32]:
    """Find the run of tokens from ``first`` on with lengths in one range: up to 2, 3 to `LONGEST_NGRAM`, or more.

    Return the end of the run, and the largest length in the range: 2, `LONGEST_NGRAM` or 2**31 - 1.
    """
    length = lengths[first]
    least = np.int32(0 if length <= 2 else 2 if length <= LONGEST_NGRAM else LONGEST_NGRAM)
    most = np.int32(2 if length <= 2 else LONGEST_NGRAM if length <= LONGEST_NGRAM else 2**31 - 1)
    last = first
    while last < len(lengths) and least < lengths[last] <= most:
        last += 1
    return last, most
