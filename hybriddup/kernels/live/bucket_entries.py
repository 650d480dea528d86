"""Compares texts with the entries of buckets that were read from a shared store."""

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import differing_bits


@njit(cache=True, nogil=True)
def near_entries(
    begins: Int64s, ends: Int64s, rows: Int64s, text_bits: UInt64s, entry_bits: UInt64s, most_bits: int
) -> tuple[Int64s, Int64s]:
    """Compare texts with the entries of their buckets, and return the pairs with similar fingerprints.

    Parameters
    ----------
    begins, ends
        int64[n_looks]: look-up ``i`` compares a text with the entries ``begins[i]`` to ``ends[i] - 1``. Ranges may
        overlap.
    rows
        int64[n_looks]: for each look-up, the row of its text in ``text_bits``.
    text_bits, entry_bits
        uint64[n_texts, words], uint64[n_entries, words]: fingerprints.
    most_bits
        The fingerprints of a pair differ in at most this many bits.

    Returns
    -------
    entries, looks
        int64[n], int64[n]: for each pair, the index of its entry and of its look-up.
    """
    n = np.int64(0)
    for look in range(len(rows)):
        for entry in range(begins[look], ends[look]):
            n += differing_bits(text_bits, rows[look], entry_bits, entry) <= most_bits
    entries, looks = np.empty(n, np.int64), np.empty(n, np.int64)
    n = np.int64(0)
    for look in range(len(rows)):
        for entry in range(begins[look], ends[look]):
            if differing_bits(text_bits, rows[look], entry_bits, entry) <= most_bits:
                entries[n], looks[n] = entry, look
                n += 1
    return entries, looks
