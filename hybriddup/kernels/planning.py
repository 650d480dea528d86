"""How many weak bits a table must probe to find a pair: what the plan of sampled tables is chosen by."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.simhash import strength_of
from hybriddup.records import Int32s, Int64s, UInt8s, UInt64s


@njit(cache=True, nogil=True)
def strongest_difference(difference: UInt64s, strengths: UInt8s, row: int, key: Int64s, n_key_bits: int) -> int:
    """Return the strength of the strongest key bit that differs, ties broken by key order; -1 where none differs.

    Strength and place in the key are packed as ``256 * strength + place``.
    """
    strongest = np.int64(-1)
    for place in range(n_key_bits):
        position = key[place]
        if (difference[position >> 6] >> np.uint64(position & 63)) & np.uint64(1):
            strongest = max(strongest, strength_of(strengths, row, position) * 256 + place)
    return strongest


@njit(cache=True, nogil=True)
def needed_weak_bits(
    bits_earlier: UInt64s, bits_later: UInt64s, strengths: UInt8s, keys: Int64s, n_key_bits: int
) -> UInt8s:
    """Return uint8[n_tables, n_pairs]: the fewest weak bits with which a table finds a pair.

    Parameters
    ----------
    bits_earlier, bits_later
        uint64[n_pairs, words].
    strengths
        uint8[n_pairs, 32 * words], packed, of the later texts.
    keys
        int64[n_tables, >= n_key_bits]: bit positions, of which the first ``n_key_bits`` are used.
    """
    n_tables, n_pairs = len(keys), len(bits_later)
    needed = np.zeros((n_tables, n_pairs), np.uint8)
    for pair in range(n_pairs):
        difference = bits_earlier[pair] ^ bits_later[pair]
        for table in range(n_tables):
            strongest = strongest_difference(difference, strengths, pair, keys[table], n_key_bits)
            for place in range(n_key_bits):
                if strength_of(strengths, pair, keys[table, place]) * 256 + place <= strongest:
                    needed[table, pair] += np.uint8(1)
    return needed


@njit(cache=True, nogil=True)
def count_compatible(lengths: Int32s, max_partner_lengths: Int32s) -> int:
    """Return how many ordered pairs of different texts have lengths that allow a match."""
    n_compatible = np.int64(0)
    for a in range(len(lengths)):
        for b in range(a):
            shorter = a if lengths[a] < lengths[b] else b
            if max(lengths[a], lengths[b]) <= max_partner_lengths[shorter]:
                n_compatible += 2
    return n_compatible
