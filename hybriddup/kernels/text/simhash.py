"""Simhash: add up the token hashes bit by bit, keep the signs (Charikar 2002; Manku, Jain and Das Sarma 2007)."""

import numpy as np

from hybriddup.data.limits import MAX_WEIGHT
from hybriddup.data.records import Float32s, Int16s, Int32s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.vectors import add_where

WEIGHT_UNIT = 256
"""Number of units in a weight of 1.0. Weights are whole numbers of units, so that sums are exact and do not depend on
the order of tokens."""
MAX_BLOCK_WEIGHT = 32767
"""Largest total weight of a block of tokens, so that its sums fit into 16 bits, which halves the registers needed."""


@njit(cache=True, nogil=True)
def count_weights(weights: Float32s) -> Int32s:
    """Return int32[n_tokens]: the weights in units of 1 / `WEIGHT_UNIT`, rounded, and at least 1."""
    units = np.empty(len(weights), np.int32)
    for token in range(len(weights)):
        rounded = np.rint(weights[token] * np.float32(WEIGHT_UNIT))
        units[token] = np.int32(min(max(rounded, np.float32(1)), np.float32(MAX_WEIGHT * WEIGHT_UNIT)))
    return units


@njit(cache=True, nogil=True, inner=True)
def move_block(block: Int16s, sums: Int64s) -> None:
    """Add the sums per bit in ``block``, int16[64 * words], to ``sums``, int64[64 * words]; then clear ``block``."""
    for bit in range(len(sums)):
        sums[bit] += block[bit]
        block[bit] = 0


@njit(cache=True, nogil=True, inner=True)
def add_heavy_token(sums: Int64s, hashes: UInt64s, token: int, weight: int) -> None:
    """Add the weight of a token directly to ``sums``, because it is too large for the 16-bit sums of a block."""
    for bit in range(len(sums)):
        sums[bit] += weight * np.int64((hashes[token, bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1))


@njit(cache=True, nogil=True, inner=True)
def sum_bits(sums: Int64s, block: Int16s, hashes: UInt64s, weights: Int32s, first: int, last: int) -> int:
    """Set ``sums[b]`` to the total weight of the tokens with bit ``b`` in their hash; return the weight of all tokens.

    The tokens are ``first`` to ``last - 1``. ``sums`` is int64[64 * words]. ``block``, int16[64 * words], is a scratch
    buffer, all 0 before and after the call.
    """
    for bit in range(len(sums)):
        sums[bit] = 0
    total, room = np.int64(0), np.int64(MAX_BLOCK_WEIGHT)
    for token in range(first, last):
        weight = np.int64(weights[token])
        total += weight
        if weight > MAX_BLOCK_WEIGHT:
            add_heavy_token(sums, hashes, token, weight)
            continue
        if weight > room:
            move_block(block, sums)
            room = np.int64(MAX_BLOCK_WEIGHT)
        room -= weight
        for word in range(hashes.shape[1]):
            add_where(block, np.uint64(64 * word), hashes[token, word], np.int16(weight))
    move_block(block, sums)
    return total


@njit(cache=True, nogil=True, inner=True)
def keep_signs(sums: Int64s, total: int, bits: UInt64s, text: int) -> None:
    """Write the fingerprint of a text, the signs of its sums, to its row of ``bits``, uint64[n_texts, words].

    The tokens that lack a bit weigh ``total - sums``, so the signed sum is ``2 * sums - total``. A signed sum of 0
    gives a bit of 0.
    """
    for word in range(bits.shape[1]):
        value = np.uint64(0)
        for bit in range(64):
            value |= np.uint64(2 * sums[64 * word + bit] > total) << np.uint64(bit)
        bits[text, word] = value


@njit(cache=True, nogil=True)
def simhash(hashes: UInt64s, weights: Int32s, offsets: Int64s) -> UInt64s:
    """Return uint64[n_texts, words]: the fingerprint of each text.

    Parameters
    ----------
    hashes
        uint64[n_tokens, words]: the hash of each token.
    weights
        int32[n_tokens], in units of 1 / `WEIGHT_UNIT`, 1 to 256,000.
    offsets
        int64[n_texts + 1]: text ``i`` has the tokens ``offsets[i]`` to ``offsets[i + 1] - 1``. A text without tokens
        gets the fingerprint 0.
    """
    n_texts = len(offsets) - 1
    words = hashes.shape[1]
    bits = np.zeros((n_texts, words), np.uint64)
    sums, block = np.empty(64 * words, np.int64), np.zeros(64 * words, np.int16)
    for text in range(n_texts):
        total = sum_bits(sums, block, hashes, weights, offsets[text], offsets[text + 1])
        keep_signs(sums, total, bits, text)
    return bits
