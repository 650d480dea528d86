"""Adds texts to posting lists, removes them, and counts the keys with more texts than a look-up reads."""

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.live.lists import (
    BLOCK_BITS,
    NUMBER_MASK,
    Age,
    Postings,
    append,
    is_crowded,
    is_dead,
    pair_up,
    read_header,
    word_of,
)
from hybriddup.kernels.live.table import (
    IS_LIST,
    fetch_header,
    fetch_home,
    find_slot,
    has_room,
    rebuild_shard,
    shard_of,
    slots_of,
    tag_of,
    value_of,
)
from hybriddup.kernels.popcount import HALF, LOW_HALF
from hybriddup.kernels.search.key_groups import NO_KEY
from hybriddup.kernels.search.pair_limits import length_class
from hybriddup.kernels.vectors import fetch_early

IS_ADDED, IS_FULL, NO_BLOCK = 0, 1, 2
"""Results of `add_number`, in this order: added; the shard of the table is full; no free block for the list."""
FETCH_SLOT, FETCH_LIST, FETCH_TAIL = 48, 32, 16
"""How many insertions ahead each item is prefetched: the slot of a key, the header of its list, and the list's end."""


@njit(cache=True, nogil=True)
def add_texts(
    postings: Postings, keys: UInt64s, numbers: Int64s, lengths: Int32s, kept: Bools, first_live: int, first: int
) -> tuple[int, int]:
    """Add the kept texts to the posting lists of their keys, and count the crowded keys of all texts, kept or not.

    Parameters
    ----------
    postings
        Changed in place.
    keys
        uint64[n, n_keys]: the distinct keys of each text, padded with `NO_KEY`.
    numbers
        int64[n], ascending: the running number under which the lists store each text, larger than in earlier calls.
    lengths
        int32[n]: the length of each text.
    kept
        bool[n]: whether each text is added.
    first_live
        Texts with smaller numbers have expired; their numbers are *dead*, all others *live*.
    first
        Index in the flattened ``keys`` at which to start.

    Returns
    -------
    last, n_crowded
        Index, in the flattened ``keys``, of the first key that could not be added because memory ran out, or
        ``keys.size``; and the number of crowded keys before this index. A key is crowded if it has more live texts
        than a look-up reads.
    """
    flat, n_of_text, n_crowded = keys.ravel(), keys.shape[1], np.int64(0)
    values = np.zeros(FETCH_LIST, np.uint64)
    for i in range(min(first + FETCH_LIST, len(flat))):
        fetch_for_adding(postings, flat, i - FETCH_LIST, values)
    for i in range(first, len(flat)):
        fetch_for_adding(postings, flat, i, values)
        key, row = flat[np.uint64(i)], i // n_of_text
        if key == NO_KEY:
            continue
        age = Age(np.uint64(numbers[row]), np.uint64(numbers[row] - first_live))
        at = find_slot(postings, key)
        value = postings.slots[at] & LOW_HALF
        is_one_more = value & IS_LIST != 0 and is_crowded(postings, value ^ IS_LIST, age)
        if kept[row]:
            class_of_length = np.uint64(length_class(np.int64(lengths[row])))
            status = add_number(postings, key, at, class_of_length, age)
            if status == IS_FULL:
                rebuild_shard(postings, shard_of(postings, tag_of(key)), age, False)
                status = add_number(postings, key, find_slot(postings, key), class_of_length, age)
            if status != IS_ADDED:
                return i, n_crowded
        n_crowded += np.int64(is_one_more)
    return len(flat), n_crowded


@njit(cache=True, nogil=True)
def count_crowded(postings: Postings, keys: UInt64s, next_number: int, first_live: int) -> int:
    """Return how many of the keys, uint64[n], have more live texts than a look-up reads.

    The live texts have the numbers ``first_live`` to ``next_number - 1``.
    """
    age, n_crowded = Age(np.uint64(next_number), np.uint64(next_number - first_live)), np.int64(0)
    for key in keys:
        value = np.uint64(0) if key == NO_KEY else value_of(postings, key)
        n_crowded += np.int64(value & IS_LIST != 0 and is_crowded(postings, value ^ IS_LIST, age))
    return n_crowded


@njit(cache=True, nogil=True, inner=True)
def fetch_for_adding(postings: Postings, flat: UInt64s, i: int, values: UInt64s) -> None:
    """Prefetch the slots, list headers and list ends of the keys that are added soon after key ``i``.

    ``values``, uint64[FETCH_LIST], caches the slot values of these keys. They may be out of date, so they are used for
    prefetching only.
    """
    for_slot, for_list, for_tail = i + FETCH_SLOT, i + FETCH_LIST, i + FETCH_TAIL
    if for_slot < len(flat) and flat[np.uint64(for_slot)] != NO_KEY:
        fetch_home(postings, flat[np.uint64(for_slot)])
    if for_list < len(flat):
        key = flat[np.uint64(for_list)]
        value = np.uint64(0) if key == NO_KEY else value_of(postings, key)
        values[np.uint64(for_list % FETCH_LIST)] = value
        fetch_header(postings, value)
    if 0 <= for_tail < len(flat):
        fetch_tail(postings, values[np.uint64(for_tail % FETCH_LIST)])


@njit(cache=True, nogil=True, inner=True)
def fetch_tail(postings: Postings, value: np.uint64) -> None:
    """If a slot's value points to a list, prefetch the memory to which the list's next number will be written."""
    if value & IS_LIST:
        start = (value ^ IS_LIST) << BLOCK_BITS
        _, n, oldest = read_header(postings.words, start, postings.ring_size)
        at = oldest if n == np.uint64(postings.ring_size) else n
        fetch_early(postings.words, start + np.uint64(1) + at)


@njit(cache=True, nogil=True, inner=True)
def add_number(postings: Postings, key: np.uint64, at: np.uint64, class_of_length: np.uint64, age: Age) -> int:
    """Add the number ``age.next_number`` to the posting list of ``key``; ``at`` is the slot of the key.

    ``class_of_length`` is the length class of the text with this number. Return `IS_ADDED`; or, without changing
    anything, `IS_FULL` if the shard must be rebuilt first, or `NO_BLOCK` if memory ran out.
    """
    slots, uppers, number = postings.slots, postings.uppers, age.next_number & NUMBER_MASK
    high, value = slots[at] & ~LOW_HALF, slots[at] & LOW_HALF
    if value == 0:
        shard = shard_of(postings, tag_of(key))
        if not has_room(np.int64(postings.n_keys[shard]) + 1, slots_of(postings, shard)):
            return IS_FULL
        slots[at] = tag_of(key) << HALF | number
        if len(uppers) > 0:
            uppers[at] = np.uint32(key >> HALF)
        postings.n_keys[shard] += 1
        return IS_ADDED
    is_list = value & IS_LIST != 0
    if not is_list and is_dead(value, age):
        slots[at] = high | number
        return IS_ADDED
    if is_list:
        block = append(postings, value ^ IS_LIST, number, class_of_length, age)
    else:
        block = pair_up(postings, value, number, class_of_length)
    if block == 0:
        return NO_BLOCK
    slots[at] = high | IS_LIST | block
    return IS_ADDED


@njit(cache=True, nogil=True)
def remove_number(postings: Postings, keys: UInt64s, number: int, first_live: int) -> None:
    """Remove text ``number`` from the lists of its keys, leaving a tombstone; the other numbers keep their order.

    Parameters
    ----------
    postings
        Changed in place.
    keys
        uint64[n]: the keys of the text, padded with `NO_KEY`.
    first_live
        Texts with smaller numbers have expired, so that their numbers can serve as tombstones.
    """
    wanted, dead = np.uint64(number) & NUMBER_MASK, np.uint64(first_live - 1) & NUMBER_MASK
    if dead == 0:  # 0 means an empty slot
        dead = np.uint64(first_live - 2) & NUMBER_MASK
    for key in keys:
        if key == NO_KEY:
            continue
        at = find_slot(postings, key)
        value = postings.slots[at] & LOW_HALF
        if value & IS_LIST:
            remove_from_list(postings, value ^ IS_LIST, wanted, dead)
        elif value == wanted:
            postings.slots[at] = postings.slots[at] & ~LOW_HALF | dead


@njit(cache=True, nogil=True, inner=True)
def remove_from_list(postings: Postings, block: np.uint64, wanted: np.uint64, dead: np.uint64) -> None:
    """Remove the number ``wanted`` from the list in ``block``, if it is there.

    The older numbers are shifted by one to fill the gap. ``dead``, the number of an expired text, becomes the oldest.
    """
    words, classes, start = postings.words, postings.length_classes, block << BLOCK_BITS
    _, n, oldest = read_header(words, start, postings.ring_size)
    place = np.uint64(0)
    while place < n and words[word_of(start, oldest + place, postings.ring_size)] != np.uint32(wanted):
        place += np.uint64(1)
    if place == n:
        return
    while place > np.uint64(0):
        at = word_of(start, oldest + place, postings.ring_size)
        before = word_of(start, oldest + place - np.uint64(1), postings.ring_size)
        words[at], classes[at] = words[before], classes[before]
        place -= np.uint64(1)
    words[word_of(start, oldest, postings.ring_size)] = np.uint32(dead)
