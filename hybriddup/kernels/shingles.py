"""Shingles of texts: the runs of a few characters from every place on, of which a text keeps those of smallest hash.

A. Z. Broder, On the resemblance and containment of documents, 1997: of two texts that share a part of their shingles,
about the same part of those with the smallest hashes is shared (the bottom sketch, section 4). Shingles known to be
common come after all others, whatever their hashes: what most texts have tells none of them apart.

The hash of a run is that of R. M. Karp and M. O. Rabin (1987), a polynomial modulo 2**64 of its characters, finished by
the mixer of MurmurHash3 (A. Appleby, public domain): it is made in the same time whatever the length of the run.
"""

import numpy as np

from hybriddup.data.records import Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.ngrams import is_dense_script

NO_SHINGLE = np.uint32(2**32 - 1)
"""Stands where a text has no more shingles."""
DENSE_UNITS, OTHER_UNITS = np.uint8(2), np.uint8(1)
"""What a character counts: one of a dense script, such as Han, says as much as two letters or more."""
BASE = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(33)
MOST_UNITS = 16
COMMON_BITS = 20
"""Leading bits of a hash by which it is known to be common; others that have the same are taken for common, too."""
WORDS_OF_COMMON = 1 << (COMMON_BITS - 5)


@njit(cache=True, nogil=True)
def bottom_shingles(
    code_points: UInt32s, offsets: Int64s, units: int, n_kept: int, n_dense: int, common: UInt32s
) -> UInt32s:
    """Return uint32[n_texts, n_kept]: the first of each text's shingles, rising, each once.

    A shingle is 31 bits of its hash, under a bit that says whether it is common.

    Where a text has fewer, smaller shingles of it follow, also rising, and `NO_SHINGLE` stands in what is left: a short
    text that was edited in its middle has few shingles in common with what it was.

    Parameters
    ----------
    code_points, offsets
        The texts, as `hybriddup.data.records.EncodedTexts`.
    units
        A shingle is as many characters as it takes to reach this, 2 to `MOST_UNITS`; see `DENSE_UNITS`.
    n_kept, n_dense
        How many are kept of a text, and of one that is mostly in a dense script, 1 to ``n_kept``.
    common
        uint32[WORDS_OF_COMMON]: a bit for each value of the leading bits of a hash, set where it is common.
    """
    kept = np.full((len(offsets) - 1, n_kept), NO_SHINGLE, np.uint32)
    prefixes, weights, powers = hash_prefixes(code_points), count_units(code_points), powers_of_base()
    for text in range(len(offsets) - 1):
        first, last = offsets[text], offsets[text + 1]
        wanted = n_dense if is_mostly_dense(weights, first, last) else n_kept
        n = keep_smallest(prefixes, weights, powers, first, last, units, common, kept[text, :wanted], 0)
        if n < wanted and units > DENSE_UNITS:
            smaller = units - np.int64(DENSE_UNITS)
            keep_smallest(prefixes, weights, powers, first, last, smaller, common, kept[text, :wanted], n)
    return kept


@njit(cache=True, nogil=True, counts_references=False)
def is_mostly_dense(weights: UInt8s, first: int, last: int) -> bool:
    """Return whether at least half of a text's characters are of a dense script."""
    n_units = np.int64(0)
    for i in range(first, last):
        n_units += np.int64(weights[i])
    return bool(2 * n_units >= 3 * (last - first))


@njit(cache=True, nogil=True)
def hash_prefixes(code_points: UInt32s) -> UInt64s:
    """Return uint64[n + 1]: the hash of the first ``i`` code points, a polynomial modulo 2**64."""
    prefixes = np.zeros(len(code_points) + 1, np.uint64)
    for i in range(len(code_points)):
        prefixes[i + 1] = prefixes[i] * BASE + np.uint64(code_points[i]) + np.uint64(1)
    return prefixes


@njit(cache=True, nogil=True)
def count_units(code_points: UInt32s) -> UInt8s:
    """Return uint8[n]: what each character counts."""
    units = np.empty(len(code_points), np.uint8)
    for i in range(len(code_points)):
        units[i] = DENSE_UNITS if is_dense_script(code_points[i]) else OTHER_UNITS
    return units


@njit(cache=True, nogil=True)
def powers_of_base() -> UInt64s:
    """Return uint64[MOST_UNITS + 1]: the powers of the base, from 0 on."""
    powers = np.ones(MOST_UNITS + 1, np.uint64)
    for i in range(MOST_UNITS):
        powers[i + 1] = powers[i] * BASE
    return powers


@njit(cache=True, nogil=True, counts_references=False)
def end_of_shingle(weights: UInt8s, start: int, last: int, units: int) -> int:
    """Return where the shingle ends that begins at ``start``; past ``last`` where text is missing."""
    n_units, end = np.int64(0), start
    while n_units < units:
        if end == last:
            return last + 1
        n_units += np.int64(weights[end])
        end += 1
    return end


@njit(cache=True, nogil=True, counts_references=False)
def hash_run(prefixes: UInt64s, powers: UInt64s, start: int, end: int) -> np.uint32:
    """Return the hash of the characters from ``start`` to ``end``, at most `MOST_UNITS`."""
    length = end - start
    hashed = prefixes[end] - prefixes[start] * powers[length]
    return np.uint32(mixed(hashed ^ np.uint64(length)) >> np.uint64(32))


@njit(cache=True, nogil=True, counts_references=False)
def keep_smallest(
    prefixes: UInt64s,
    weights: UInt8s,
    powers: UInt64s,
    first: int,
    last: int,
    units: int,
    common: UInt32s,
    kept: UInt32s,
    n_before: int,
) -> int:
    """Write the first of a text's shingles into ``kept`` from ``n_before`` on; return how many there are now.

    Those that stand before are left out. A text shorter than a shingle is one by itself.
    """
    n = n_before
    for start in range(first, last):
        end = end_of_shingle(weights, start, last, units)
        if end > last:
            if start > first:
                break
            end = last
        hashed = after_others_if_common(hash_run(prefixes, powers, start, end), common)
        if n == len(kept) and hashed >= kept[n - 1]:
            continue
        place = n
        while place > n_before and kept[place - 1] > hashed:
            place -= 1
        if hashed == NO_SHINGLE or (place > n_before and kept[place - 1] == hashed) or hashed in kept[:n_before]:
            continue
        n = min(n + 1, len(kept))
        for i in range(n - 1, place, -1):
            kept[i] = kept[i - 1]
        kept[place] = hashed
    return n


@njit(cache=True, nogil=True, counts_references=False)
def after_others_if_common(hashed: np.uint32, common: UInt32s) -> np.uint32:
    """Return 31 bits of a hash, under a bit that says whether it is common."""
    leading = hashed >> np.uint32(32 - COMMON_BITS)
    is_common = (common[leading >> np.uint32(5)] >> (leading & np.uint32(31))) & np.uint32(1)
    return np.uint32((hashed & np.uint32(0x7FFFFFFF)) | (is_common << np.uint32(31)))


@njit(cache=True, nogil=True)
def count_texts_with(code_points: UInt32s, offsets: Int64s, units: int) -> UInt32s:
    """Return uint32[2**COMMON_BITS]: in how many texts there is a shingle with these leading bits of the hash."""
    n_texts = np.zeros(1 << COMMON_BITS, np.uint32)
    last_text = np.full(1 << COMMON_BITS, -1, np.int64)
    prefixes, weights, powers = hash_prefixes(code_points), count_units(code_points), powers_of_base()
    for text in range(len(offsets) - 1):
        for start in range(offsets[text], offsets[text + 1]):
            end = end_of_shingle(weights, start, offsets[text + 1], units)
            if end > offsets[text + 1]:
                break
            leading = hash_run(prefixes, powers, start, end) >> np.uint32(32 - COMMON_BITS)
            if last_text[leading] != text:
                last_text[leading] = text
                n_texts[leading] += np.uint32(1)
    return n_texts


@njit(cache=True, nogil=True)
def mark_common(n_texts: UInt32s, common_in: int) -> UInt32s:
    """Return uint32[WORDS_OF_COMMON]: ``common`` for `bottom_shingles`, set where so many texts have a shingle."""
    common = np.zeros(WORDS_OF_COMMON, np.uint32)
    for leading in range(len(n_texts)):
        if n_texts[leading] >= common_in:
            common[leading >> 5] |= np.uint32(1) << np.uint32(leading & 31)
    return common


@njit(cache=True, nogil=True, counts_references=False)
def mixed(word: np.uint64) -> np.uint64:
    """Return a word of which every bit depends on every bit of the one given."""
    word = (word ^ (word >> HALF)) * FIRST_FACTOR
    word = (word ^ (word >> HALF)) * SECOND_FACTOR
    return word ^ (word >> HALF)
