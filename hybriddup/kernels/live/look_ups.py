"""Looks up texts in posting lists, and compares them with the earlier texts in the lists.

A look-up waits for memory three times: for the slot of a key, for its list, and for the fingerprints of the texts in
the list. So look-ups form a pipeline: the memory for one look-up is prefetched while the previous ones go on.
"""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, NearPairs, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.live.lists import ANY_LENGTH, BLOCK_BITS, NUMBER_MASK, Postings, number_at, read_header, word_of
from hybriddup.kernels.live.reads import READ_AT_ONCE, compare_read, fetch_texts, keep_least_depths
from hybriddup.kernels.live.table import IS_LIST, fetch_header, fetch_home, value_of
from hybriddup.kernels.live.texts import LaterTexts, Ring, classes_of_partners, select_in_ring, widest_limit
from hybriddup.kernels.popcount import HALF
from hybriddup.kernels.search.key_groups import NO_KEY, place_of_key
from hybriddup.kernels.search.rings import table_of
from hybriddup.kernels.sorting import sort_run
from hybriddup.kernels.vectors import fetch_early

N_STAGES = 4
"""Number of texts in the pipeline of look-ups, one in each stage."""
WORDS_OF_LINE, CLASSES_OF_LINE = 16, 64
"""Number of words (uint32), and of length classes (uint8, for ranges of lengths), in a cache line of 64 bytes."""
MOST_FETCHED = 512
"""Maximum number of entries of a list that are prefetched."""


@njit(cache=True, nogil=True)
def look_up(postings: Postings, keys: UInt64s, ring: Ring, later: LaterTexts) -> NearPairs:
    """For each later text, find the live texts of ``ring`` that share a key with it and are within the limits.

    Return the pairs, distinct and sorted. The depth of a pair is the smallest rank of the live text in the lists of the
    shared keys, 1 = the newest. At most the newest `Postings.ring_size` - 1 texts of a list are read.

    Parameters
    ----------
    keys
        uint64[n_later, n_keys]: the keys of each later text, padded with `NO_KEY`.
    """
    n_keys = keys.shape[1]
    values, read = np.zeros((N_STAGES, n_keys), np.uint64), np.empty(np.int64(READ_AT_ONCE), np.uint64)
    near, depths, n_near = np.empty(4096, np.uint64), np.empty(4096, np.int32), np.int64(0)
    for step in range(len(keys) + N_STAGES - 1):
        fetch_ahead(postings, keys, values, step)
        row, first, n_read = step - (N_STAGES - 1), n_near, np.uint64(0)
        if row < 0:
            continue
        limit = widest_limit(ring, later, row)
        lengths = classes_of_partners(ring, later, row)
        for i in range(n_keys):
            value, depth, is_read = values[row % N_STAGES, i], np.uint64(0), False
            while not is_read:
                n_read, depth, is_read = read_list(postings, value, ring, read, n_read, depth, lengths)
                if n_read == READ_AT_ONCE or (is_read and i == n_keys - 1):
                    if n_near + np.int64(n_read) > len(near):
                        near = with_room_for(near, n_near, np.int64(n_read))
                        depths = with_room_for(depths, first, len(near) - first)
                    n_near = compare_read(ring, read, n_read, later, row, limit, near, n_near)
                    n_read = np.uint64(0)
        sort_run(near, first, n_near)
        n_near = keep_least_depths(near, depths, first, n_near, row)
    return select_in_ring(near[:n_near], depths[:n_near], ring, later)


@njit(cache=True, nogil=True, inner=True)
def fetch_ahead(postings: Postings, keys: UInt64s, values: UInt64s, step: int) -> None:
    """Prefetch the slots of row ``step``, the list headers of row ``step - 1``, and the lists of row ``step - 2``.

    ``values``, uint64[N_STAGES, n_keys], holds the slot values of the rows in the pipeline, 0 for keys that are not in
    the table. Changed in place.
    """
    for i in range(keys.shape[1]):
        if step < len(keys) and keys[step, i] != NO_KEY:
            fetch_home(postings, keys[step, i])
    row = step - 1
    if 0 <= row < len(keys):
        for i in range(keys.shape[1]):
            value = np.uint64(0) if keys[row, i] == NO_KEY else value_of(postings, keys[row, i])
            values[row % N_STAGES, i] = value
            fetch_header(postings, value)
    row = step - 2
    if 0 <= row < len(keys):
        for i in range(keys.shape[1]):
            fetch_lines(postings, values[row % N_STAGES, i])


@njit(cache=True, nogil=True, inner=True)
def fetch_lines(postings: Postings, value: np.uint64) -> None:
    """Prefetch the list that a slot's value points to, if any."""
    if value & IS_LIST:
        start = (value ^ IS_LIST) << BLOCK_BITS
        _, n, _ = read_header(postings.words, start, postings.ring_size)
        n_words = min(np.int64(n), np.int64(MOST_FETCHED))
        for word in range(WORDS_OF_LINE, n_words, WORDS_OF_LINE):
            fetch_early(postings.words, start + np.uint64(word))
        for word in range(0, n_words, CLASSES_OF_LINE):
            fetch_early(postings.length_classes, start + np.uint64(word))


@njit(cache=True, nogil=True, inner=True)
def read_list(
    postings: Postings,
    value: np.uint64,
    ring: Ring,
    read: UInt64s,
    n_read: np.uint64,
    depth: np.uint64,
    lengths: tuple[np.uint64, np.uint64],
) -> tuple[np.uint64, np.uint64, bool]:
    """Append the live texts of a list to ``read``, the newest first, and prefetch their fingerprints.

    Texts whose length rules them out, typically about two thirds of a list, are skipped.

    Parameters
    ----------
    value
        Value of the key's slot: 0, the number of the key's only text, or the block of its list.
    read
        uint64[READ_AT_ONCE]: each item has, in the upper 32 bits, the rank of a text among all live texts, and in the
        lower, its rank in the list (1 = the newest).
    n_read, depth
        Number of texts in ``read``, and number of texts of this list that were read before.
    lengths
        As returned by `classes_of_partners`.

    Returns
    -------
    n_read, depth, is_read
        The new values, and whether the whole list has been read. If not, ``read`` is full.
    """
    words, is_list, start = postings.words, value & IS_LIST != 0, (value & ~IS_LIST) << BLOCK_BITS
    n, end, first_new = np.uint64(value != 0), np.uint64(1), n_read
    if is_list:
        _, n, oldest = read_header(words, start, postings.ring_size)
        end = oldest + n
    n = min(n, np.uint64(postings.ring_size - 1))
    while depth < n and n_read < READ_AT_ONCE:
        number, class_of_length = value, ANY_LENGTH
        if is_list:
            at = word_of(start, end - np.uint64(1) - depth, postings.ring_size)
            number, class_of_length = np.uint64(words[at]), np.uint64(postings.length_classes[at])
        n_back = (ring.next_number - number) & NUMBER_MASK
        if n_back > ring.span:
            n = depth
            break
        depth += np.uint64(1)
        read[n_read] = ring.span - n_back << HALF | depth
        n_read += np.uint64((class_of_length - lengths[0] <= lengths[1]) | (class_of_length == ANY_LENGTH))
    fetch_texts(ring, read, first_new, n_read)
    return n_read, depth, depth >= n


IN_NO_LIST = np.int64(2**40)
"""Placeholder for the number of a text that is not live; larger than every number in a list."""


@njit(cache=True, nogil=True)
def depths_by_key(
    postings: Postings, keys: UInt64s, rows: Int64s, numbers: Int64s, next_number: int, first_live: int
) -> Int32s:
    """Return int32[n, n_keys]: for each pair, the depth of the earlier text in the list of each key of the later text.

    The depth is the rank in the list, 1 = the newest. It is 0 if the earlier text is not live or not among the newest
    that a look-up reads, or if the key is `NO_KEY`.

    Parameters
    ----------
    keys
        uint64[n_later, n_keys]: the keys of the later texts.
    rows
        int64[n], ascending: for each pair, the later text's row in ``keys``.
    numbers
        int64[n]: for each pair, the number of the earlier text. No pair occurs twice.
    next_number, first_live
        Texts are live if their numbers are ``first_live`` to ``next_number - 1``.
    """
    depths = np.zeros((len(rows), keys.shape[1]), np.int32)
    wanted = np.where((numbers >= first_live) & (numbers < next_number), numbers & np.int64(NUMBER_MASK), IN_NO_LIST)
    first = 0
    while first < len(rows):
        last = first
        while last < len(rows) and rows[last] == rows[first]:
            last += 1
        table, places = table_of(wanted, first, last)
        for i in range(keys.shape[1]):
            if keys[rows[first], i] != NO_KEY:
                note_depths(postings, value_of(postings, keys[rows[first], i]), table, places, depths[:, i])
        first = last
    return depths


@njit(cache=True, nogil=True, inner=True)
def note_depths(postings: Postings, value: np.uint64, table: UInt64s, places: Int64s, depths: Int32s) -> None:
    """Write the ranks of a posting list's texts to ``depths``, 1 = the newest, if their numbers are in ``table``.

    ``value`` is the value of the key's slot; ``table`` and ``places`` are as returned by `table_of`.
    """
    n, start, newest = np.uint64(value != 0), np.uint64(0), np.uint64(0)
    if value & IS_LIST:
        start = (value ^ IS_LIST) << BLOCK_BITS
        _, n, oldest = read_header(postings.words, start, postings.ring_size)
        newest, n = oldest + n, min(n, np.uint64(postings.ring_size - 1))
    for depth in range(np.uint64(1), n + np.uint64(1)):
        number = value
        if value & IS_LIST:
            number = number_at(postings.words, start, newest - np.uint64(depth), postings.ring_size)
        at = place_of_key(table, np.uint64(number))
        if table[at] == np.uint64(number):
            depths[places[at]] = np.int32(depth)
