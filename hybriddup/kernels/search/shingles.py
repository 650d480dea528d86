"""Bottom-k sketches of texts: the keys of a text are its shingles (character n-grams) with the smallest hashes.

If two texts share some fraction of their shingles, they share about the same fraction of those with the smallest hashes
(A. Z. Broder, On the resemblance and containment of documents, 1997, section 4). Common shingles come after all others,
whatever their hashes, because they do not distinguish texts.

A shingle is common if it occurs in several *surroundings*, the characters before and after it. The number of texts does
not count, because one text may be posted a hundred times, each time with a different ending. If its shingles counted as
common, its copies would take all keys from their different endings. A text of mostly common shingles takes a fixed
share of its keys from the common shingles, see `MOSTLY_COMMON`.

The hash is the rolling hash of R. M. Karp and M. O. Rabin (1987), a polynomial of the characters modulo 2**64, finished
by the mixer of MurmurHash3 (A. Appleby, public domain): its cost does not depend on the length of the shingle.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import longest_of
from hybriddup.kernels.search.key_groups import NO_KEY
from hybriddup.kernels.text.ngrams import is_dense_script

NO_SHINGLE = np.uint32(2**32 - 1)
"""Padding for texts with fewer shingles than other texts."""
DENSE_UNITS, OTHER_UNITS = np.uint8(2), np.uint8(1)
"""Weight of a character of a dense script, such as Han, and of any other character. In a dense script, one character
means as much as two letters."""
BASE = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
HALF, ONE = np.uint64(33), np.uint64(1)
COMMON = np.uint32(2**31)
"""Flag bit of common shingles, which makes them larger than all others."""
N_RANKED = np.uint64(32)
"""Largest number of shingles that are sorted by rank: for each, the smaller ones are counted, in a vectorized loop of
constant length."""
MOST_UNITS = 16
SURROUNDING = 8
"""Number of characters on each side of a shingle that belong to its surroundings; half as many in a dense script. A
shingle is common if it occurs in many different surroundings. With 16 characters, small edits between the copies of a
text would make its shingles common."""
SEEN_BITS = np.uint64(26)
"""Binary logarithm of the size, in bits, of a Bloom filter with one hash. It recognizes the surroundings of a shingle
(the characters before and after it) that were counted before."""
MOSTLY_COMMON, COMMON_PART = 3, 4
"""Shares, as denominators: if fewer than 1 / `MOSTLY_COMMON` of the shingles of a text are rare (not common), 1 /
`COMMON_PART` of its keys are reserved for common shingles."""
COMMON_BITS = 20
"""Number of leading bits of a hash by which common shingles are recognized; other shingles with the same bits count as
common."""
WORDS_OF_COMMON = 1 << (COMMON_BITS - 5)


class Room(NamedTuple):
    """Scratch buffers for hashing the shingles of one text at a time; reused, so that they stay in the cache."""

    prefixes: UInt64s
    """uint64[n + 1]: for each ``i``, the hash of the first ``i`` characters, a polynomial modulo 2**64."""
    units: UInt8s
    """uint8[n]: weight of each character."""
    ends: UInt64s
    """uint64[n]: end of the shingle that starts at each character."""
    shingles: UInt32s
    """uint32[n]: hash of the shingle that starts at each character."""
    small: UInt32s
    """uint32[n + 2 * N_RANKED]: shingles that are being sorted."""


@njit(cache=True, nogil=True)
def bottom_shingles(
    code_points: UInt32s, offsets: Int64s, units: int, n_kept: int, n_dense: int, common: UInt32s
) -> UInt32s:
    """Return uint32[n_texts, n_kept]: the distinct shingles of each text with the smallest hashes.

    A shingle is stored as 31 bits of its hash, below a bit that is set if the shingle is common. Shingles are in
    ascending order, but a text of mostly common shingles has a few common shingles first.

    If a text has too few shingles, shorter shingles follow, because a short text that was edited in its middle shares
    few long shingles with the original. The shorter shingles are also in ascending order. The rest of the row is filled
    with `NO_SHINGLE`.

    Parameters
    ----------
    code_points, offsets
        The texts, as in `hybriddup.data.records.EncodedTexts`.
    units
        Weight of a shingle, 2 to `MOST_UNITS`: it ends at the first character that brings it to this weight.
    n_kept, n_dense
        Number of shingles to keep for a text, and for a text mostly in a dense script; the latter is 1 to ``n_kept``.
    common
        uint32[WORDS_OF_COMMON]: a bit for each value of the leading bits of a hash, 1 = common.
    """
    kept = np.full((len(offsets) - 1, n_kept), NO_SHINGLE, np.uint32)
    powers, room = powers_of_base(), room_for_texts(offsets)
    for text in range(len(offsets) - 1):
        n_characters = offsets[text + 1] - offsets[text]
        n_units = read_text(code_points, offsets[text], n_characters, room)
        wanted = n_dense if 2 * n_units >= 3 * n_characters else n_kept
        n = keep_shingles(room, n_characters, units, powers, common, kept[text, :wanted], np.int64(0))
        if n < wanted and units > DENSE_UNITS:
            smaller = units - np.int64(DENSE_UNITS)
            keep_shingles(room, n_characters, smaller, powers, common, kept[text, :wanted], n)
    return kept


@njit(cache=True, nogil=True)
def keys_of_shingles(shingles: UInt32s) -> UInt64s:
    """Return uint64[n_texts, n_kept]: the shingles as block keys, `NO_KEY` for `NO_SHINGLE`."""
    keys = np.empty(shingles.shape, np.uint64)
    flat, flat_keys = shingles.ravel(), keys.ravel()
    for i in range(len(flat)):
        flat_keys[i] = NO_KEY if flat[i] == NO_SHINGLE else np.uint64(flat[i])
    return keys


@njit(cache=True, nogil=True)
def room_for_texts(offsets: Int64s) -> Room:
    """Allocate buffers that are large enough for the longest text."""
    longest = max(longest_of(offsets), 1)
    return Room(
        np.zeros(longest + 1, np.uint64),
        np.empty(longest, np.uint8),
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint32),
        np.empty(longest + 2 * np.int64(N_RANKED), np.uint32),
    )


@njit(cache=True, nogil=True, inner=True)
def read_text(code_points: UInt32s, first: int, n_characters: int, room: Room) -> int:
    """Read a text into ``room``: hash its prefixes and weigh its characters; return the sum of the weights."""
    hashed, n_units = np.uint64(0), np.int64(0)
    for i in range(np.uint64(n_characters)):
        code_point = code_points[np.uint64(first) + i]
        hashed = hashed * BASE + np.uint64(code_point) + ONE
        room.prefixes[i + ONE] = hashed
        room.units[i] = DENSE_UNITS if is_dense_script(code_point) else OTHER_UNITS
        n_units += np.int64(room.units[i])
    return n_units


@njit(cache=True, nogil=True)
def powers_of_base() -> UInt64s:
    """Return uint64[MOST_UNITS + 2 * SURROUNDING + 1]: `BASE` to the power of each index."""
    powers = np.ones(MOST_UNITS + 2 * SURROUNDING + 1, np.uint64)
    for i in range(MOST_UNITS + 2 * SURROUNDING):
        powers[i + 1] = powers[i] * BASE
    return powers


@njit(cache=True, nogil=True, inner=True)
def keep_shingles(
    room: Room, n_characters: int, units: int, powers: UInt64s, common: UInt32s, kept: UInt32s, n_before: int
) -> int:
    """Append the smallest shingles of the text in ``room`` to ``kept[:n_before]`` until ``kept`` is full.

    ``units`` is the weight of a shingle, as in `bottom_shingles`. Return the number of shingles in ``kept``, which is
    below ``len(kept)`` if the text has too few.
    """
    n_shingles, n_rare, n = hash_shingles(room, n_characters, units, powers), np.uint64(0), np.int64(n_before)
    for i in range(n_shingles):
        room.shingles[i] = after_others_if_common(room.shingles[i], common)
        n_rare += np.uint64(room.shingles[i] < COMMON)
    shingles = room.shingles[:n_shingles]
    if n == 0 and MOSTLY_COMMON * n_rare < n_shingles:
        n = keep_some_common(shingles, kept[: len(kept) // COMMON_PART])
    return keep_smallest(shingles, kept, n, room.small)


@njit(cache=True, nogil=True, inner=True)
def hash_shingles(room: Room, n_characters: int, units: int, powers: UInt64s) -> np.uint64:
    """Hash the shingles of the text in ``room`` into ``room.shingles``; return their number.

    A text shorter than a shingle is one shingle.
    """
    n = find_ends(room, n_characters, units)
    for start in range(n):  # a loop without branches, so that several are hashed at once
        length = room.ends[start] - start
        hashed = room.prefixes[room.ends[start]] - room.prefixes[start] * powers[length]
        room.shingles[start] = np.uint32(mixed(hashed ^ length) >> np.uint64(32))
    return n


@njit(cache=True, nogil=True, inner=True)
def find_ends(room: Room, n_characters: int, units: int) -> np.uint64:
    """Write the end of each shingle of the text in ``room`` to ``room.ends``; return the number of shingles."""
    end, n_units, n = np.uint64(0), np.int64(0), np.uint64(n_characters)
    for start in range(n):
        while n_units < units and end < n:
            n_units += np.int64(room.units[end])
            end += ONE
        if n_units < units and start > 0:
            return start
        room.ends[start] = end
        n_units -= np.int64(room.units[start])
    return n


@njit(cache=True, nogil=True, inner=True)
def keep_smallest(shingles: UInt32s, kept: UInt32s, n_before: int, small: UInt32s) -> int:
    """Append the smallest distinct shingles to ``kept[:n_before]``, in ascending order, until ``kept`` is full.

    Return the number of shingles in ``kept``, which is smaller than its length if there are too few. Shingles that
    ``kept[:n_before]`` already has are skipped. For most texts, the shingles below an estimated limit are few enough
    for `keep_ranked`, which takes half as long as inserting one by one. ``small`` is a scratch buffer of at least
    ``len(shingles) + 2 * N_RANKED``.
    """
    limit, n_small = limit_of_small(shingles, len(kept)), np.uint64(0)
    for i in range(np.uint64(len(shingles))):
        small[n_small] = shingles[i]
        n_small += np.uint64(shingles[i] < limit)
    n = np.int64(n_before)
    if n == 0 and n_small <= N_RANKED:
        n = keep_ranked(small, n_small, kept)
        if n == len(kept) or n_small == len(shingles):
            return n
    for i in range(len(shingles)):
        n = keep_if_small(shingles[i], kept, n, n_before)
    return n


@njit(cache=True, nogil=True, inner=True)
def keep_some_common(shingles: UInt32s, kept: UInt32s) -> int:
    """Write the smallest distinct common shingles that fit into ``kept``, in ascending order; return their number."""
    n = np.int64(0)
    for i in range(len(shingles) if len(kept) > 0 else 0):
        if shingles[i] >= COMMON:
            n = keep_if_small(shingles[i], kept, n, np.int64(0))
    return n


@njit(cache=True, nogil=True, inner=True)
def limit_of_small(shingles: UInt32s, n_wanted: int) -> np.uint32:
    """Estimate a limit such that about ``1.5 * n_wanted`` shingles are below it.

    If there are at most `N_RANKED` shingles, all of them are below the limit.
    """
    if len(shingles) <= N_RANKED:
        return NO_SHINGLE
    n_rare = np.int64(1)
    for i in range(np.uint64(len(shingles))):
        n_rare += shingles[i] < COMMON
    return np.uint32(min(np.int64(COMMON), np.int64(COMMON) // n_rare * n_wanted * 3 // 2))


@njit(cache=True, nogil=True, inner=True)
def keep_ranked(small: UInt32s, n_small: np.uint64, kept: UInt32s) -> int:
    """Sort ``small[:n_small]``, fill ``kept`` with the smallest distinct shingles, and return their number.

    Shingles are sorted by rank, the number of smaller shingles; equal shingles have the same rank. ``n_small`` is at
    most `N_RANKED`. The length of ``small`` is at least ``2 * N_RANKED``.
    """
    small[n_small:N_RANKED] = NO_SHINGLE
    small[N_RANKED : 2 * N_RANKED] = NO_SHINGLE
    for i in range(n_small):
        rank = np.uint32(0)
        for j in range(N_RANKED):
            rank += np.uint32(small[j] < small[i])
        small[N_RANKED + np.uint64(rank)] = small[i]
    n = np.int64(0)
    for i in range(N_RANKED, 2 * N_RANKED):
        if small[i] != NO_SHINGLE and n < len(kept):
            kept[n] = small[i]
            n += 1
    return n


@njit(cache=True, nogil=True, inner=True)
def keep_if_small(shingle: np.uint32, kept: UInt32s, n: int, n_before: int) -> int:
    """Insert a shingle into the sorted ``kept[n_before:n]`` if ``kept[:n]`` lacks it; return the new ``n``.

    If ``kept`` is full, the largest shingle is dropped.
    """
    if shingle == NO_SHINGLE or (n == len(kept) and shingle >= kept[n - 1]):
        return n
    place = n
    while place > n_before and kept[place - 1] > shingle:
        place -= 1
    if (place > n_before and kept[place - 1] == shingle) or shingle in kept[:n_before]:
        return n
    n = min(n + 1, len(kept))
    for i in range(n - 1, place, -1):
        kept[i] = kept[i - 1]
    kept[place] = shingle
    return n


@njit(cache=True, nogil=True, inner=True)
def after_others_if_common(hashed: np.uint32, common: UInt32s) -> np.uint32:
    """Replace the top bit of a shingle's hash with a flag for common shingles, so that common shingles sort last."""
    leading = hashed >> np.uint32(32 - COMMON_BITS)
    is_common = (common[leading >> np.uint32(5)] >> (leading & np.uint32(31))) & np.uint32(1)
    return np.uint32((hashed & (COMMON - np.uint32(1))) | (is_common << np.uint32(31)))


@njit(cache=True, nogil=True)
def count_surroundings(code_points: UInt32s, offsets: Int64s, scopes: Int64s, units: int) -> UInt32s:
    """Count the different surroundings of shingles; return uint32[2**COMMON_BITS], by the leading bits of their hash.

    The surroundings of a shingle are the characters before and after it. ``scopes``, int64[n_texts], ascending, holds
    the number of each text's scope; texts of different scopes are never compared, so a shingle gets its largest count
    within one scope. Texts shorter than a shingle do not count. A few surroundings are missed because of false
    positives of the Bloom filter.
    """
    n_most, n_here = np.zeros(1 << COMMON_BITS, np.uint32), np.zeros(1 << COMMON_BITS, np.uint32)
    scope_of, seen = np.full(1 << COMMON_BITS, -1, np.int64), np.zeros(ONE << (SEEN_BITS - np.uint64(6)), np.uint64)
    powers, room = powers_of_base(), room_for_texts(offsets)
    for text in range(len(offsets) - 1):
        n_characters = offsets[text + 1] - offsets[text]
        if read_text(code_points, offsets[text], n_characters, room) < units:
            continue
        for i in range(hash_shingles(room, n_characters, units, powers)):
            leading = room.shingles[i] >> np.uint32(32 - COMMON_BITS)
            hashed = hash_surroundings(room, np.int64(i), n_characters, powers)
            if scope_of[leading] != scopes[text]:
                scope_of[leading], n_here[leading] = scopes[text], np.uint32(0)
            place = mixed(hashed ^ np.uint64(leading) ^ (np.uint64(scopes[text]) << HALF)) >> (
                np.uint64(64) - SEEN_BITS
            )
            bit = ONE << (place & np.uint64(63))
            if seen[place >> np.uint64(6)] & bit == 0:
                seen[place >> np.uint64(6)] |= bit
                n_here[leading] += np.uint32(1)
                n_most[leading] = max(n_most[leading], n_here[leading])
    return n_most


@njit(cache=True, nogil=True, inner=True)
def hash_surroundings(room: Room, start: int, n_characters: int, powers: UInt64s) -> np.uint64:
    """Return the hash of the shingle at ``start`` with the characters around it (see `SURROUNDING`)."""
    reach = np.int64(SURROUNDING) // np.int64(room.units[start])
    first, last = max(start - reach, np.int64(0)), min(np.int64(room.ends[start]) + reach, np.int64(n_characters))
    return mixed((room.prefixes[last] - room.prefixes[first] * powers[last - first]) ^ np.uint64(last - first))


@njit(cache=True, nogil=True)
def mark_common(n_surroundings: UInt32s, common_in: int) -> UInt32s:
    """Return the bitmap of common shingles for `bottom_shingles`: 1 = in at least ``common_in`` surroundings.

    ``n_surroundings``: the result of `count_surroundings`.
    """
    common = np.zeros(WORDS_OF_COMMON, np.uint32)
    for leading in range(len(n_surroundings)):
        if n_surroundings[leading] >= common_in:
            common[leading >> 5] |= np.uint32(1) << np.uint32(leading & 31)
    return common


@njit(cache=True, nogil=True, inner=True)
def mixed(word: np.uint64) -> np.uint64:
    """Mix the bits of a word by a bijection, so that every bit of the result depends on every bit of the word."""
    word = (word ^ (word >> HALF)) * FIRST_FACTOR
    word = (word ^ (word >> HALF)) * SECOND_FACTOR
    return word ^ (word >> HALF)
