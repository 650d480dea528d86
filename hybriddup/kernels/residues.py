"""Residues of a fingerprint: six bits that tell of most texts that they are too far away, without looking at them.

Of its even bits and of its odd ones, the ones are counted modulo eight. A bit that differs moves one of the counts by
one, around the circle. So the sum of the circular distances of the residues of two fingerprints, their Lee distance
(Lee 1958), is at most their Hamming distance. Of the 64 pairs of residues 25 are within 3 of a given one.
"""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount
from hybriddup.records import UInt64s

BITS_OF_RESIDUES = 6
N_CLASSES = 1 << BITS_OF_RESIDUES
EVEN_BITS = np.uint64(0x5555555555555555)
LAST = np.uint64(7)
"""The largest residue."""
SHIFT = np.uint64(3)


@njit(cache=True, nogil=True, counts_references=False)
def residues_of(bits: UInt64s, row: int) -> np.uint64:
    """Return the residues of the fingerprint in a row of uint64[n, words], those of the even bits lowest."""
    n_even, n_odd = np.uint64(0), np.uint64(0)
    for word in range(bits.shape[1]):
        n_even += np.uint64(popcount(bits[row, word] & EVEN_BITS))
        n_odd += np.uint64(popcount(bits[row, word] & ~EVEN_BITS))
    return (n_even & LAST) | (n_odd & LAST) << SHIFT


@njit(cache=True, nogil=True)
def lee_distance(first: np.uint64, second: np.uint64) -> np.uint64:
    """Return the sum of the circular distances of two pairs of residues."""
    of_even, of_odd = (first - second) & LAST, ((first >> SHIFT) - (second >> SHIFT)) & LAST
    return min(of_even, LAST + np.uint64(1) - of_even) + min(of_odd, LAST + np.uint64(1) - of_odd)


@njit(cache=True, nogil=True)
def classes_within(residues: np.uint64, distance: np.uint64) -> np.uint64:
    """Return the pairs of residues within a Lee distance of one, a bit each."""
    within = np.uint64(0)
    for other in range(N_CLASSES):
        within |= np.uint64(lee_distance(residues, np.uint64(other)) <= distance) << np.uint64(other)
    return within
