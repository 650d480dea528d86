"""Shingles of texts: the runs of so much text from every place on, of which each text keeps those of smallest hash.

A. Z. Broder, On the resemblance and containment of documents, 1997: of two texts that share a part of their shingles,
about the same part of those with the smallest hashes is shared (the bottom sketch, section 4).
"""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.ngrams import is_dense_script
from hybriddup.records import Int64s, UInt32s

NO_SHINGLE = np.uint32(2**32 - 1)
"""Stands where a text has no more shingles."""
DENSE_UNITS, OTHER_UNITS = 2, 1
"""What a character counts: one of a dense script, such as Han, says as much as two letters or more."""
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(33)


@njit(cache=True, nogil=True)
def bottom_shingles(code_points: UInt32s, offsets: Int64s, units: int, n_kept: int) -> UInt32s:
    """Return uint32[n_texts, n_kept]: the smallest hashes of each text's shingles, rising, each once.

    Where a text has fewer, smaller shingles of it follow, also rising, and `NO_SHINGLE` stands in what is left: a short
    text that was edited in its middle has few shingles in common with what it was.

    Parameters
    ----------
    code_points, offsets
        The texts, as `hybriddup.records.EncodedTexts`.
    units
        A shingle is as many characters as it takes to reach this, at least 2; see `DENSE_UNITS`.
    """
    kept = np.full((len(offsets) - 1, n_kept), NO_SHINGLE, np.uint32)
    for text in range(len(offsets) - 1):
        n = keep_smallest(code_points, offsets[text], offsets[text + 1], units, kept[text], 0)
        if n < n_kept and units > DENSE_UNITS:
            keep_smallest(code_points, offsets[text], offsets[text + 1], units - DENSE_UNITS, kept[text], n)
    return kept


@njit(cache=True, nogil=True)
def keep_smallest(code_points: UInt32s, first: int, last: int, units: int, kept: UInt32s, n_before: int) -> int:
    """Write the smallest hashes of a text's shingles into ``kept`` from ``n_before`` on; return how many there are now.

    A text shorter than a shingle is one by itself.
    """
    n = n_before
    for start in range(first, last):
        hashed, end = hash_shingle(code_points, start, last, units)
        if end > last and start > first:
            break
        if n == len(kept) and hashed >= kept[n - 1]:
            continue
        place = n
        while place > n_before and kept[place - 1] > hashed:
            place -= 1
        if hashed == NO_SHINGLE or (place > n_before and kept[place - 1] == hashed):
            continue
        n = min(n + 1, len(kept))
        for i in range(n - 1, place, -1):
            kept[i] = kept[i - 1]
        kept[place] = hashed
    return n


@njit(cache=True, nogil=True)
def hash_shingle(code_points: UInt32s, start: int, last: int, units: int) -> tuple[np.uint32, int]:
    """Return the hash of the shingle that begins at ``start``, and where it ends; past ``last`` where text is missing.

    The finalizer of MurmurHash3 (A. Appleby, public domain) mixes each character in.
    """
    hashed, n_units, place = np.uint64(units), 0, start
    while n_units < units and place < last:
        code_point = code_points[place]
        n_units += DENSE_UNITS if is_dense_script(code_point) else OTHER_UNITS
        hashed = mixed(hashed ^ np.uint64(code_point))
        place += 1
    return np.uint32(hashed >> np.uint64(32)), place if n_units >= units else last + 1


@njit(cache=True, nogil=True)
def mixed(word: np.uint64) -> np.uint64:
    """Return a word of which every bit depends on every bit of the one given."""
    word = (word ^ (word >> HALF)) * FIRST_FACTOR
    word = (word ^ (word >> HALF)) * SECOND_FACTOR
    return word ^ (word >> HALF)
