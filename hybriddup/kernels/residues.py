"""Residues of a fingerprint: nine bits that tell of most texts that they are too far away, without looking at them.

Of every third bit of a word, from the first, the second and the third on, the ones are counted modulo eight. A bit that
differs moves one of the counts by one, around the circle. So the sum of the circular distances of the residues of two
fingerprints, their Lee distance (Lee 1958), is at most their Hamming distance. Of the 512 triples of residues 63 are
within 3 of a given one.
"""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount

BITS_OF_RESIDUES = 9
THIRD_BITS = np.uint64(0x9249249249249249)
"""Every third bit, from the first on."""
ONE, TWO = np.uint64(1), np.uint64(2)
LAST, SHIFT = np.uint64(7), np.uint64(3)
"""The largest residue, and its bits."""
FARTHEST = np.uint64(12)
"""The largest Lee distance of two triples."""
OF_FIRST_ZERO = np.uint64(0x0101010101010101)
"""Of a bit for each pair of residues, those whose first residue is 0."""


@njit(cache=True, nogil=True, inner=True)
def residues_of(bits: UInt64s, row: int) -> np.uint64:
    """Return the residues of the fingerprint in a row of uint64[n, words], the first of them lowest."""
    first, second, third = np.uint64(0), np.uint64(0), np.uint64(0)
    for word in range(bits.shape[1]):
        first += np.uint64(popcount(bits[row, word] & THIRD_BITS))
        second += np.uint64(popcount(bits[row, word] & THIRD_BITS << ONE))
        third += np.uint64(popcount(bits[row, word] & THIRD_BITS << TWO))
    return (first & LAST) | (second & LAST) << SHIFT | (third & LAST) << SHIFT * TWO


@njit(cache=True, nogil=True, inner=True)
def want_residues(residues: np.uint64, distance: np.uint64, wanted: UInt64s) -> None:
    """Write into uint64[8] the triples of residues within a Lee distance of one: a word for each third residue.

    A word has a bit for each pair of the first two. What these do not take of the distance is left to the third.
    """
    wanted[:] = np.uint64(0)
    third, farthest = residues >> SHIFT * TWO, min(distance, FARTHEST)
    pairs = ONE << (residues & ((ONE << SHIFT * TWO) - ONE))
    for taken in range(farthest + ONE):
        left = farthest - np.uint64(taken)
        if left <= np.uint64(4):
            wanted[(third + left) & LAST] = wanted[(third - left) & LAST] = pairs
        pairs = widen(pairs)


@njit(cache=True, nogil=True, inner=True)
def widen(pairs: np.uint64) -> np.uint64:
    """Return some pairs of residues, a bit each, and those at a Lee distance of one from any of them."""
    last = OF_FIRST_ZERO << LAST
    up, down = (pairs & ~last) << ONE | (pairs & last) >> LAST, (pairs & ~OF_FIRST_ZERO) >> ONE
    down |= (pairs & OF_FIRST_ZERO) << LAST
    a_row, others = LAST + ONE, np.uint64(56)
    return pairs | up | down | pairs << a_row | pairs >> others | pairs >> a_row | pairs << others
