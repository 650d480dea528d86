"""A radix-partitioned group-by of the block keys of many texts: equal keys get the same number, their group.

The keys of each slice of the texts are partitioned by their hash, so that the hash table of a part fits into the cache.
Groups are numbered part by part, and within a part in the order of its hash table.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int64s, UInt32s, UInt64s, UInts
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import ONE, SPREAD, power_of_two

NO_KEY = np.uint64(2**64 - 1)
"""Padding in arrays of keys, for texts with fewer keys than other texts."""
NO_GROUP = np.uint32(2**32 - 1)
"""Group number of a key that no other text has; also used as padding."""
SPREAD_AGAIN = np.uint64(0xD6E8FEB86659FD93)
"""An odd factor for hashing within a part; parts are selected by `SPREAD`."""
PLACE_SHIFT = np.uint64(20)


class DealtKeys(NamedTuple):
    """The keys of some texts, partitioned by hash."""

    keys: UInts
    """uint32[n_keys] or uint64[n_keys]: the keys, part by part."""
    entries: UInt32s
    """uint32[n_keys]: index of each key in the original, flattened array, in ascending order within a part."""
    bounds: Int64s
    """int64[n_parts + 1]: part ``p`` is ``keys[bounds[p]:bounds[p + 1]]``."""


@njit(cache=True, nogil=True)
def deal_keys(keys: UInt64s, part_bits: int, dealt: UInts, entries: UInt32s) -> DealtKeys:
    """Partition the keys of some texts by hash, leaving out `NO_KEY`.

    Parameters
    ----------
    keys
        uint64[n_texts, n_keys]: the keys of each text, padded with `NO_KEY`.
    part_bits
        Binary logarithm of the number of parts, 0 to 20.
    dealt
        Buffer for the keys: uint64[n], or uint32[n] if all keys are below 2**32; n is at least ``n_texts * n_keys``.
    entries
        Buffer for the index of each key: uint32[n].
    """
    n_parts = 1 << part_bits
    flat, bounds = keys.ravel(), np.zeros(n_parts + 1, np.int64)
    for entry in range(len(flat)):
        if flat[entry] != NO_KEY:
            bounds[part_of(flat[entry], part_bits) + ONE] += 1
    for part in range(n_parts):
        bounds[part + 1] += bounds[part]
    places = bounds[:-1].copy()
    for entry in range(len(flat)):
        key = flat[entry]
        if key != NO_KEY:
            part = part_of(key, part_bits)
            dealt[places[part]], entries[places[part]] = key, np.uint32(entry)
            places[part] += 1
    return DealtKeys(dealt[: bounds[n_parts]], entries[: bounds[n_parts]], bounds)


@njit(cache=True, nogil=True, inner=True)
def part_of(key: np.uint64, part_bits: int) -> np.uint64:
    """Return the index of the part to which a key belongs, 0 to ``2**part_bits - 1``."""
    # two shifts, because a shift by 64 is undefined
    return (key * SPREAD) >> ONE >> np.uint64(63 - part_bits)


@njit(cache=True, nogil=True)
def number_keys(keys: UInts, fewest: int) -> tuple[UInt32s, UInt32s]:
    """Number the distinct keys of one part, starting at 0, and count how often each occurs.

    Parameters
    ----------
    keys
        uint32[n] or uint64[n].
    fewest
        A key that occurs less often gets `NO_GROUP` as number; 1 or more.

    Returns
    -------
    numbers, sizes
        uint32[n] and uint32[n_numbers]: the number of each key, and how often each number occurs.
    """
    n_places = power_of_two(max(2 * len(keys), 2))
    table, counts = np.empty(n_places, keys.dtype), np.zeros(n_places, np.uint32)
    numbers, mask = np.empty(len(keys), np.uint32), np.uint64(n_places - 1)
    for i in range(len(keys)):
        place = home_of(table, np.uint64(keys[i]))
        while counts[place] != 0 and table[place] != keys[i]:
            place = (place + ONE) & mask
        table[place] = keys[i]
        counts[place] += np.uint32(1)
        numbers[i] = np.uint32(place)
    sizes, n = np.empty(len(keys), np.uint32), np.uint32(0)
    for place in range(n_places):
        if counts[place] == 0:
            continue
        if counts[place] < fewest:
            counts[place] = NO_GROUP
            continue
        sizes[n], counts[place] = counts[place], n
        n += np.uint32(1)
    for i in range(len(keys)):
        numbers[i] = counts[numbers[i]]
    return numbers, sizes[:n].copy()


@njit(cache=True, nogil=True, inner=True)
def home_of(table: UInts, key: np.uint64) -> np.uint64:
    """Return the index in a hash table where probing for a key starts; the table's length is a power of two."""
    return (key * SPREAD_AGAIN >> PLACE_SHIFT) & np.uint64(len(table) - 1)


@njit(cache=True, nogil=True, inner=True)
def place_of_key(table: UInt64s, key: np.uint64) -> np.uint64:
    """Return the index of a key in a hash table, or of the free element (`NO_KEY`) where it would be inserted."""
    mask, place = np.uint64(len(table) - 1), home_of(table, key)
    while table[place] != key and table[place] != NO_KEY:
        place = (place + ONE) & mask
    return place


@njit(cache=True, nogil=True)
def write_groups(numbered: DealtKeys, first_groups: Int64s, groups: UInt32s) -> None:
    """Write the group of each key of some texts into ``groups``; `NO_GROUP` if a key has no group.

    Parameters
    ----------
    numbered
        The partitioned keys of these texts, each replaced with its number from `number_keys`.
    first_groups
        int64[n_parts + 1]: key number ``i`` of part ``p`` gets the group ``first_groups[p] + i``.
    groups
        uint32[n_texts, n_keys], changed in place; it may share its memory with ``numbered.entries``.
    """
    entries, flat = numbered.entries.copy(), groups.ravel()
    flat[:] = NO_GROUP
    for part in range(len(numbered.bounds) - 1):
        for i in range(numbered.bounds[part], numbered.bounds[part + 1]):
            number = np.uint32(numbered.keys[i])
            if number != NO_GROUP:
                flat[entries[i]] = number + np.uint32(first_groups[part])


@njit(cache=True, nogil=True)
def list_groups(groups: UInt32s) -> tuple[UInt32s, UInt32s]:
    """Convert the groups of texts, uint32[n, m], to compressed rows, leaving out `NO_GROUP`.

    Returns
    -------
    listed, ends
        uint32[n_listed] and uint32[n + 1]: the groups of text ``i`` are ``listed[ends[i]:ends[i + 1]]``.
    """
    ends = np.zeros(len(groups) + 1, np.uint32)
    for i in range(len(groups)):
        n = np.uint32(0)
        for j in range(groups.shape[1]):
            n += np.uint32(groups[i, j] != NO_GROUP)
        ends[i + 1] = ends[i] + n
    listed, place = np.empty(ends[-1], np.uint32), np.uint64(0)
    for i in range(len(groups)):
        for j in range(groups.shape[1]):
            if groups[i, j] != NO_GROUP:
                listed[place] = groups[i, j]
                place += ONE
    return listed, ends


@njit(cache=True, nogil=True)
def groups_of_texts(listed: UInt32s, ends: UInt32s, rows: Int64s, width: int) -> UInt32s:
    """Return uint32[n, width]: the groups of the texts with row numbers ``rows``, int64[n], padded with `NO_GROUP`.

    No text has more than ``width`` groups. ``listed`` and ``ends`` are as returned by `list_groups`.
    """
    groups = np.full((len(rows), width), NO_GROUP, np.uint32)
    for i in range(len(rows)):
        first = np.int64(ends[rows[i]])
        for j in range(np.int64(ends[rows[i] + 1]) - first):
            groups[i, j] = listed[first + j]
    return groups


@njit(cache=True, nogil=True)
def renumber_groups(listed: UInt32s, ends: UInt32s, numbers: UInt32s, is_marked: Bools) -> Bools:
    """Renumber the groups in place; return bool[n]: whether each text has a marked group.

    Parameters
    ----------
    listed, ends
        As returned by `list_groups`.
    numbers, is_marked
        uint32[n_groups] and bool[n_groups]: the new number of each group, and whether it is marked.
    """
    has_marked = texts_in_marked(listed, ends, is_marked)
    for i in range(len(listed)):
        listed[i] = numbers[listed[i]]
    return has_marked


@njit(cache=True, nogil=True)
def texts_in_marked(listed: UInt32s, ends: UInt32s, is_marked: Bools) -> Bools:
    """Return bool[n]: whether each text is in any marked group; ``is_marked`` is bool[n_groups].

    ``listed`` and ``ends`` are as returned by `list_groups`.
    """
    has_marked = np.zeros(len(ends) - 1, np.bool_)
    for text in range(len(has_marked)):
        for i in range(ends[text], ends[text + 1]):
            has_marked[text] |= is_marked[listed[i]]
    return has_marked


@njit(cache=True, nogil=True)
def note_keys(keys: UInt64s, group_of: UInt32s, table: UInt64s, numbers: UInt32s) -> None:
    """Insert each key and its group in ``group_of`` into a hash map for `find_groups`; leave out keys without a group.

    The map consists of ``table``, initially filled with `NO_KEY`, and ``numbers``, uint32[len(table)], initially
    filled with `NO_GROUP`.
    """
    flat_keys, flat_groups = keys.ravel(), group_of.ravel()
    for entry in range(len(flat_keys)):
        if flat_groups[entry] != NO_GROUP:
            place = place_of_key(table, flat_keys[entry])
            table[place], numbers[place] = flat_keys[entry], flat_groups[entry]


@njit(cache=True, nogil=True)
def find_groups(keys: UInt64s, table: UInt64s, numbers: UInt32s) -> UInt32s:
    """Look up keys in the hash map filled by `note_keys`; return uint32[n, m]: their groups, `NO_GROUP` if absent."""
    groups = np.full(keys.shape, NO_GROUP, np.uint32)
    flat_keys, flat_groups = keys.ravel(), groups.ravel()
    for entry in range(len(flat_keys)):
        if flat_keys[entry] != NO_KEY:
            flat_groups[entry] = numbers[place_of_key(table, flat_keys[entry])]
    return groups
