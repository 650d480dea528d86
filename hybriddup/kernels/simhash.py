"""Simhash: add up the token hashes bit by bit, keep the signs (Charikar 2002; Manku, Jain and Das Sarma 2007)."""

import numpy as np
from numba import njit

from hybriddup.records import Int32s, Int64s, UInt8s, UInt64s

WEIGHT_UNIT = 256
"""Weights are counted in units of 1/256, as whole numbers: sums are exact and the order of tokens cannot matter."""
TOKENS_A_BLOCK = 4096
"""Tokens whose weights (at most 1,000 x 256 each) are sure to fit a sum of 32 bits."""
STRENGTH_SCALE = 1020
"""A bit whose sum is a quarter of the total weight has strength 255, the most."""


@njit(cache=True, nogil=True)
def add_tokens(sums: Int32s, hashes: UInt64s, weights: Int32s, first: int, last: int) -> None:
    """Add to the sum of each bit the weights of the tokens whose hash has it set; ``sums`` is changed in place.

    The bit becomes a mask of all ones or none, which a weight is cut by: that way a register holds many bits' sums.
    """
    for token in range(first, last):
        weight = weights[token]
        for word in range(hashes.shape[1]):
            low = np.int32(hashes[token, word] & np.uint64(0xFFFFFFFF))
            high = np.int32(hashes[token, word] >> np.uint64(32))
            for bit in range(32):
                sums[64 * word + bit] += weight & -((low >> np.int32(bit)) & np.int32(1))
            for bit in range(32):
                sums[64 * word + 32 + bit] += weight & -((high >> np.int32(bit)) & np.int32(1))


@njit(cache=True, nogil=True)
def sum_bits(sums: Int64s, block_sums: Int32s, hashes: UInt64s, weights: Int32s, first: int, last: int) -> int:
    """Fill ``sums`` int64[64 * words] with the weight of the 1-votes of each bit; return the total weight.

    ``block_sums`` int32[64 * words] is room to work in.
    """
    sums[:] = 0
    total = np.int64(0)
    for block in range(first, last, TOKENS_A_BLOCK):
        block_end = min(block + TOKENS_A_BLOCK, last)
        block_sums[:] = 0
        add_tokens(block_sums, hashes, weights, block, block_end)
        for bit in range(len(sums)):
            sums[bit] += block_sums[bit]
        for token in range(block, block_end):
            total += weights[token]
    return total


@njit(cache=True, nogil=True)
def keep_signs(sums: Int64s, total: int, bits: UInt64s, strengths: UInt8s) -> None:
    """Write one fingerprint uint64[words] and its strengths uint8[64 * words]; both are changed in place.

    The votes for 0 are ``total - sums``, so the signed sum is ``2 * sums - total``. A signed sum of 0 gives bit 0.
    """
    for word in range(len(bits)):
        value = np.uint64(0)
        for bit in range(64):
            signed = 2 * sums[64 * word + bit] - total
            if signed > 0:
                value |= np.uint64(1) << np.uint64(bit)
            strengths[64 * word + bit] = min(abs(signed) * STRENGTH_SCALE // max(total, 1), 255)
        bits[word] = value


@njit(cache=True, nogil=True)
def simhash(hashes: UInt64s, weights: Int32s, offsets: Int64s) -> tuple[UInt64s, UInt8s]:
    """Return fingerprints uint64[n_texts, words] and bit strengths uint8[n_texts, 64 * words].

    Parameters
    ----------
    hashes
        uint64[n_tokens, words].
    weights
        int32[n_tokens], in units of 1 / `WEIGHT_UNIT`, 1 to 256,000.
    offsets
        int64[n_texts + 1]: where each text's tokens begin. A text without tokens gets fingerprint 0.
    """
    n_texts = len(offsets) - 1
    words = hashes.shape[1]
    bits = np.zeros((n_texts, words), np.uint64)
    strengths = np.zeros((n_texts, 64 * words), np.uint8)
    sums, block_sums = np.empty(64 * words, np.int64), np.empty(64 * words, np.int32)
    for text in range(n_texts):
        total = sum_bits(sums, block_sums, hashes, weights, offsets[text], offsets[text + 1])
        keep_signs(sums, total, bits[text], strengths[text])
    return bits, strengths
