"""Shingles of texts: the runs of so much text from every place on, of which each text keeps those of smallest hash.

A. Z. Broder, On the resemblance and containment of documents, 1997: of two texts that share a part of their shingles,
about the same part of those with the smallest hashes is shared (the bottom sketch, section 4). Shingles known to be
common come after all others, whatever their hashes: what most texts have tells none of them apart.
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
COMMON_BITS = 20
"""Leading bits of a hash by which it is known to be common; others that have the same are taken for common, too."""
WORDS_OF_COMMON = 1 << (COMMON_BITS - 5)


@njit(cache=True, nogil=True)
def bottom_shingles(code_points: UInt32s, offsets: Int64s, units: int, n_kept: int, common: UInt32s) -> UInt32s:
    """Return uint32[n_texts, n_kept]: the first of each text's shingles, rising, each once.

    A shingle is 31 bits of its hash, under a bit that says whether it is common.

    Where a text has fewer, smaller shingles of it follow, also rising, and `NO_SHINGLE` stands in what is left: a short
    text that was edited in its middle has few shingles in common with what it was.

    Parameters
    ----------
    code_points, offsets
        The texts, as `hybriddup.records.EncodedTexts`.
    units
        A shingle is as many characters as it takes to reach this, at least 2; see `DENSE_UNITS`.
    common
        uint32[WORDS_OF_COMMON]: a bit for each value of the leading bits of a hash, set where it is common.
    """
    kept = np.full((len(offsets) - 1, n_kept), NO_SHINGLE, np.uint32)
    for text in range(len(offsets) - 1):
        n = keep_smallest(code_points, offsets[text], offsets[text + 1], units, common, kept[text], 0)
        if n < n_kept and units > DENSE_UNITS:
            keep_smallest(code_points, offsets[text], offsets[text + 1], units - DENSE_UNITS, common, kept[text], n)
    return kept


@njit(cache=True, nogil=True)
def keep_smallest(
    code_points: UInt32s, first: int, last: int, units: int, common: UInt32s, kept: UInt32s, n_before: int
) -> int:
    """Write the first of a text's shingles into ``kept`` from ``n_before`` on; return how many there are now.

    A text shorter than a shingle is one by itself.
    """
    n = n_before
    for start in range(first, last):
        full_hash, end = hash_shingle(code_points, start, last, units)
        hashed = after_others_if_common(full_hash, common)
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
def after_others_if_common(hashed: np.uint32, common: UInt32s) -> np.uint32:
    """Return 31 bits of a hash, under a bit that says whether it is common."""
    leading = hashed >> np.uint32(32 - COMMON_BITS)
    is_common = (common[leading >> np.uint32(5)] >> (leading & np.uint32(31))) & np.uint32(1)
    return np.uint32((hashed & np.uint32(0x7FFFFFFF)) | (is_common << np.uint32(31)))


@njit(cache=True, nogil=True)
def mark_common(shingles: UInt32s) -> UInt32s:
    """Return uint32[WORDS_OF_COMMON]: ``common`` for `bottom_shingles`, with these full hashes in it."""
    common = np.zeros(WORDS_OF_COMMON, np.uint32)
    for i in range(len(shingles)):
        leading = shingles[i] >> np.uint32(32 - COMMON_BITS)
        common[leading >> np.uint32(5)] |= np.uint32(1) << (leading & np.uint32(31))
    return common


@njit(cache=True, nogil=True)
def all_shingles(code_points: UInt32s, offsets: Int64s, units: int) -> tuple[UInt32s, Int64s]:
    """Return uint32[n], int64[n]: the full hash of every shingle, as often as it stands there, and its text."""
    hashes, texts, n = np.empty(len(code_points), np.uint32), np.empty(len(code_points), np.int64), 0
    for text in range(len(offsets) - 1):
        for start in range(offsets[text], offsets[text + 1]):
            hashed, end = hash_shingle(code_points, start, offsets[text + 1], units)
            if end > offsets[text + 1]:
                break
            hashes[n], texts[n] = hashed, text
            n += 1
    return hashes[:n].copy(), texts[:n].copy()


@njit(cache=True, nogil=True)
def mixed(word: np.uint64) -> np.uint64:
    """Return a word of which every bit depends on every bit of the one given."""
    word = (word ^ (word >> HALF)) * FIRST_FACTOR
    word = (word ^ (word >> HALF)) * SECOND_FACTOR
    return word ^ (word >> HALF)
