"""The texts of one batch in groups that share a key, and the pairs among them."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.group_search import (
    Facts,
    NearPairs,
    Places,
    SearchCounts,
    TextColumns,
    first_pairs,
    keep_pairs,
    new_pairs,
    note_near,
    two_words,
)
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.key_groups import NO_GROUP, NO_KEY, find_place
from hybriddup.kernels.vectors import N_LANES


class BatchGroups(NamedTuple):
    """The groups of a batch. A group has the texts that have its key as their own, in order."""

    starts: Int64s
    """int64[n_groups + 1]: the places of a group."""
    places: Places
    ranks: Int32s
    """int32[n, m]: how many texts of each group that a text looks into stand before it."""


@njit(cache=True, nogil=True)
def number_batch(keys: UInt64s) -> tuple[UInt32s, int]:
    """Return the number of each key that stands there several times, and how many numbers there are.

    ``keys`` is uint64[n, m]; the numbers are uint32[n, m], rising by first use, `NO_GROUP` for the others.
    """
    n_places = 2
    while n_places < 2 * keys.size:
        n_places *= 2
    table, counts = np.empty(n_places, np.uint64), np.zeros(n_places, np.uint32)
    numbers, flat, n = np.full(keys.shape, NO_GROUP, np.uint32), keys.ravel(), np.uint32(0)
    flat_numbers = numbers.ravel()
    for entry in range(len(flat)):
        if flat[entry] != NO_KEY:
            place = find_place(table, counts, flat[entry])
            table[place] = flat[entry]
            counts[place] += np.uint32(1)
            flat_numbers[entry] = np.uint32(place)
    of_place = np.full(n_places, NO_GROUP, np.uint32)
    for entry in range(len(flat)):
        place = flat_numbers[entry]
        if place == NO_GROUP:
            continue
        if counts[place] > 1 and of_place[place] == NO_GROUP:
            of_place[place] = n
            n += np.uint32(1)
        flat_numbers[entry] = of_place[place]
    return numbers, np.int64(n)


@njit(cache=True, nogil=True)
def gather_groups(texts: TextColumns, own: UInt32s, probed: UInt32s, n_groups: int) -> BatchGroups:
    """Return the texts of a batch by group.

    Parameters
    ----------
    own, probed
        uint32[n, n_keys], uint32[n, m]: the groups of each text and those that it looks into; `NO_GROUP` for none.
    """
    starts = np.zeros(n_groups + 1, np.int64)
    for i in range(len(own)):
        for j in range(own.shape[1]):
            if own[i, j] != NO_GROUP:
                starts[own[i, j] + 1] += 1
    for group in range(n_groups):
        starts[group + 1] += starts[group]
    filled, n_places = starts[:-1].copy(), starts[n_groups] + N_LANES
    places = Places(np.zeros(n_places, np.uint64), np.zeros(n_places, np.uint64), np.zeros(n_places, np.uint32))
    ranks = np.zeros(probed.shape, np.int32)
    for i in range(len(own)):
        for j in range(probed.shape[1]):
            if probed[i, j] != NO_GROUP:
                ranks[i, j] = filled[probed[i, j]] - starts[probed[i, j]]
        first_word, second_word = two_words(texts.bits, i)
        for j in range(own.shape[1]):
            if own[i, j] != NO_GROUP:
                place = filled[own[i, j]]
                places.first_words[place], places.second_words[place] = first_word, second_word
                places.texts[place] = np.uint32(i)
                filled[own[i, j]] += 1
    return BatchGroups(starts, places, ranks)


@njit(cache=True, nogil=True)
def search_batch(
    texts: TextColumns, facts: Facts, rows: Int64s, probed: UInt32s, groups: BatchGroups, widest: int
) -> tuple[NearPairs, SearchCounts]:
    """Return the pairs of some texts of a batch with those before them.

    Parameters
    ----------
    facts
        As `pack_facts` returns them for the batch.
    rows
        int64[n_rows]: the texts that are looked up.
    probed
        uint32[n, m]: the groups that each text looks into, `NO_GROUP` for none.
    widest
        The largest Hamming limit of any text.
    """
    found = new_pairs(len(rows))
    hits, n_pairs = np.empty(1024, np.uint64), np.int64(0)
    n_look_ups, n_comparisons, largest = np.int64(0), np.int64(0), np.int64(0)
    for row in rows:
        first_word, second_word = two_words(texts.bits, row)
        n_hits = np.int64(0)
        for j in range(probed.shape[1]):
            size = np.int64(groups.ranks[row, j])
            if probed[row, j] == NO_GROUP or size == 0:
                continue
            n_look_ups += 1
            n_comparisons += size
            largest = max(largest, size)
            if n_hits + size > len(hits):
                hits = with_room_for(hits, n_hits, size)
            start = groups.starts[probed[row, j]]
            n_hits = note_near(groups.places, start, size, size - 1, first_word, second_word, widest, hits, n_hits)
        n_pairs, found = keep_pairs(texts, facts, row, hits, n_hits, found, n_pairs)
    return first_pairs(found, n_pairs), SearchCounts(n_look_ups, n_comparisons, largest)


@njit(cache=True, nogil=True)
def most_in_groups(probed: UInt32s, starts: Int64s) -> tuple[Int64s, int]:
    """Return int64[n], the size of the largest group that each text looks into, and how many comparisons that takes."""
    most, n_comparisons = np.zeros(len(probed), np.int64), np.int64(0)
    for i in range(len(probed)):
        for j in range(probed.shape[1]):
            if probed[i, j] != NO_GROUP:
                size = starts[probed[i, j] + 1] - starts[probed[i, j]]
                most[i] = max(most[i], size)
                n_comparisons += size // 2
    return most, n_comparisons


@njit(cache=True, nogil=True)
def count_kept_before(own: UInt32s, probed: UInt32s, is_kept: Bools, n_groups: int) -> Int64s:
    """Return int64[n]: at most so many kept texts of the batch stand before each and share a key with it."""
    counts, n_kept = np.zeros(len(own), np.int64), np.zeros(n_groups, np.int64)
    for i in range(len(own)):
        for j in range(probed.shape[1]):
            if probed[i, j] != NO_GROUP:
                counts[i] += n_kept[probed[i, j]]
        for j in range(own.shape[1]):
            if is_kept[i] and own[i, j] != NO_GROUP:
                n_kept[own[i, j]] += 1
    return counts
