"""Groups the texts of one batch by key.

An array with one element per group has an extra last element for `NO_GROUP`, which saves the loops a branch that the
processor would mispredict.
"""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt32s, UInts
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import power_of_two
from hybriddup.kernels.search.key_groups import NO_GROUP, NO_KEY, home_of, place_of_key
from hybriddup.kernels.vectors import fetch_early

FETCH_KEYS = 16
"""How many keys ahead the slots of the hash table are prefetched."""


@njit(cache=True, nogil=True)
def number_batch(keys: UInts) -> tuple[UInt32s, int]:
    """Number the keys that occur more than once, from 0; return the number of each key, and how many were numbered.

    Parameters
    ----------
    keys
        uint64[n, m], padded with `NO_KEY`; or uint32[n, m], padded with `NO_GROUP`.

    Returns
    -------
    numbers
        uint32[n, m]: the number of each key; `NO_GROUP` for a key that occurs only once.
    """
    n_places = power_of_two(max(2 * keys.size, 2))
    table, number_at = np.full(n_places, NO_KEY, np.uint64), np.empty(n_places, np.uint32)
    numbers, n = np.full(keys.shape, NO_GROUP, np.uint32), np.uint32(0)
    flat, flat_numbers, none = keys.ravel(), numbers.ravel(), np.iinfo(keys.dtype).max
    for entry in range(len(flat)):
        fetch_early(table, home_of(table, np.uint64(flat[min(entry + FETCH_KEYS, len(flat) - 1)])))
        if flat[entry] == none:
            continue
        place = place_of_key(table, np.uint64(flat[entry]))
        if table[place] == NO_KEY:
            table[place], number_at[place] = flat[entry], n
            n += np.uint32(1)
        flat_numbers[entry] = number_at[place]
    return numbers, number_shared(numbers, np.int64(n))


@njit(cache=True, nogil=True)
def number_shared(numbers: UInt32s, n_numbers: int) -> int:
    """Renumber the groups that occur more than once as 0, 1, ..., in place; return how many there are.

    ``numbers``: uint32[n, m], each below ``n_numbers`` or `NO_GROUP`. A number that occurs once becomes `NO_GROUP`.
    """
    counts, n_shared = count_keys(numbers, n_numbers), np.uint32(0)
    for number in range(n_numbers):
        is_shared = counts[number] > 1
        counts[number] = n_shared if is_shared else NO_GROUP
        n_shared += np.uint32(is_shared)
    counts[n_numbers] = NO_GROUP
    flat = numbers.ravel()
    for entry in range(len(flat)):
        flat[entry] = counts[place_of_group(flat[entry], n_numbers)]
    return np.int64(n_shared)


@njit(cache=True, nogil=True)
def count_keys(own: UInt32s, n_groups: int) -> UInt32s:
    """Return uint32[n_groups + 1]: how often each group occurs in ``own``, then how often `NO_GROUP` does.

    ``own``: uint32[n, n_keys], the groups of each text, padded with `NO_GROUP`.
    """
    counts, flat = np.zeros(n_groups + 1, np.uint32), own.ravel()
    for entry in range(len(flat)):
        counts[place_of_group(flat[entry], n_groups)] += np.uint32(1)
    return counts


@njit(cache=True, nogil=True, inner=True)
def place_of_group(group: np.uint32, n_groups: int) -> np.uint64:
    """Return the index of a group in an array of ``n_groups + 1`` elements, the last one for `NO_GROUP`."""
    return min(np.uint64(group), np.uint64(n_groups))


@njit(cache=True, nogil=True)
def count_before(own: UInt32s, probed: UInt32s, n_groups: int) -> tuple[Int32s, Int32s, Int64s, int]:
    """For each text of a batch, count the earlier texts of the batch, kept or not, in each group of the text.

    ``own``: the groups that contain each text. ``probed``: the groups in which each text is looked up.

    Returns
    -------
    before, places
        int32[n, m], int32[n, n_keys]: number of earlier texts in each ``probed`` group, and in each ``own`` group.
    most
        int64[n]: the largest count in each row of ``before``.
    n_comparisons
        The sum of ``before``.
    """
    before, places, most = np.zeros(probed.shape, np.int32), np.zeros(own.shape, np.int32), np.zeros(len(own), np.int64)
    n_before, n_comparisons = np.zeros(n_groups + 1, np.int64), np.int64(0)
    for i in range(len(own)):
        for j in range(probed.shape[1]):
            n = n_before[place_of_group(probed[i, j], n_groups)]
            before[i, j], most[i] = n, max(most[i], n)
            n_comparisons += n
        for j in range(own.shape[1]):
            places[i, j] = n_before[place_of_group(own[i, j], n_groups)]
            n_before[place_of_group(own[i, j], n_groups)] += 1
        n_before[n_groups] = 0
    return before, places, most, n_comparisons
