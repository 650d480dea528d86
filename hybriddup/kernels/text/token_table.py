"""Hash tables that map the 64-bit hash of a token to a number: occurrences, document frequency or fitted weight."""

import numpy as np

from hybriddup.data.records import Float32s, Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import longest_of
from hybriddup.kernels.popcount import HALF, LOW_HALF, ONE, lowest_bit, power_of_two
from hybriddup.kernels.text.ngrams import is_dense_script
from hybriddup.kernels.vectors import equal_of_four

# Slots hold the key itself; a key of 0 marks an empty slot, so a token that hashes to 0 is stored as 1.
EMPTY = np.uint64(0)
BUCKET = 4
"""Number of slots per bucket, filled in order; `equal_of_four` compares all of them."""
LAST_SLOT = np.uint64(BUCKET - 1)


@njit(cache=True, nogil=True, inner=True)
def find_slot(keys: UInt64s, key: np.uint64) -> np.uint64:
    """Return the slot of a key, or the empty slot where it would be inserted; ``len(keys)`` is a power of 2."""
    mask = np.uint64(len(keys) - 1)
    slot = (key ^ (key >> HALF)) & mask
    while keys[slot] != EMPTY and keys[slot] != key:
        slot = (slot + ONE) & mask
    return slot


@njit(cache=True, nogil=True)
def count_documents(hashes: UInt64s, offsets: Int64s) -> tuple[UInt64s, Int32s]:
    """Return uint64[n], int32[n]: the distinct hashes, in order of first use, and how many texts contain each.

    Parameters
    ----------
    hashes
        uint64[n_tokens]: the hash of each token.
    offsets
        int64[n_texts + 1]: text ``i`` has the tokens ``offsets[i]`` to ``offsets[i + 1] - 1``.
    """
    distinct, n_distinct = np.empty(len(hashes), np.uint64), 0
    # a note: upper half, the last text with the key, counted from 1; lower half, the number of texts with the key
    keys, notes = np.zeros(slots_for(0), np.uint64), np.zeros(slots_for(0), np.uint64)
    for text in range(len(offsets) - 1):
        first, last = offsets[text], offsets[text + 1]
        while 2 * (n_distinct + last - first) > len(keys):
            keys, notes = larger_table(keys, notes)
        n_distinct = note_tokens(hashes, first, last, np.uint64(text + 1) << HALF, keys, notes, distinct, n_distinct)
    counts = np.empty(n_distinct, np.int32)
    for i in range(n_distinct):
        counts[i] = np.int32(notes[find_slot(keys, distinct[i])] & LOW_HALF)
    return distinct[:n_distinct].copy(), counts


@njit(cache=True, nogil=True, inner=True)
def note_tokens(
    hashes: UInt64s,
    first: int,
    last: int,
    stamp: np.uint64,
    keys: UInt64s,
    notes: UInt64s,
    distinct: UInt64s,
    n_distinct: int,
) -> int:
    """Add a text to the document counts of its tokens; append the hashes of new tokens to ``distinct``.

    Return the new ``n_distinct``. The text's tokens are ``first`` to ``last - 1``, and the upper half of ``stamp`` is
    the one-based number of the text. The hash table, ``keys`` and ``notes``, must be large enough. This is a
    separate function because numba counts references in each iteration of a loop that may replace the table.
    """
    for token in range(first, last):
        key = max(hashes[token], ONE)
        slot = find_slot(keys, key)
        if keys[slot] == EMPTY:
            keys[slot] = distinct[n_distinct] = key
            n_distinct += 1
        if notes[slot] < stamp:
            notes[slot] = stamp | ((notes[slot] & LOW_HALF) + ONE)
    return n_distinct


@njit(cache=True, nogil=True)
def larger_table(keys: UInt64s, notes: UInt64s) -> tuple[UInt64s, UInt64s]:
    """Copy a hash table of ``keys`` and their values ``notes`` to one four times as large.

    Tables start small, to fit the CPU cache.
    """
    more_keys, more_notes = np.zeros(4 * len(keys), np.uint64), np.zeros(4 * len(keys), np.uint64)
    for old in range(len(keys)):
        if keys[old] != EMPTY:
            slot = find_slot(more_keys, keys[old])
            more_keys[slot], more_notes[slot] = keys[old], notes[old]
    return more_keys, more_notes


@njit(cache=True, nogil=True)
def count_occurrences(hashes: UInt64s, offsets: Int64s) -> Int32s:
    """Return int32[n_tokens]: how often each token occurs in its text; `count_documents` explains the parameters."""
    longest = longest_of(offsets)
    n_slots = slots_for(longest)
    keys = np.empty(n_slots, np.uint64)
    counts = np.empty(n_slots, np.int32)
    text_of_slot = np.full(n_slots, -1, np.int64)  # slots of other texts count as empty
    slots = np.empty(longest, np.uint64)
    occurrences = np.empty(len(hashes), np.int32)
    for text in range(len(offsets) - 1):
        first, n_tokens = offsets[text], offsets[text + 1] - offsets[text]
        mask = np.uint64(slots_for(n_tokens) - 1)
        for place in range(n_tokens):
            key = hashes[first + place]
            slot = (key ^ (key >> np.uint64(32))) & mask
            while text_of_slot[slot] == text and keys[slot] != key:
                slot = (slot + np.uint64(1)) & mask
            if text_of_slot[slot] != text:
                text_of_slot[slot], keys[slot], counts[slot] = text, key, 0
            counts[slot] += 1
            slots[place] = slot
        for place in range(n_tokens):
            occurrences[first + place] = counts[slots[place]]
    return occurrences


@njit(cache=True, nogil=True)
def slots_for(n_keys: int) -> int:
    """Return the size of a hash table for ``n_keys`` keys: a power of 2, at least 16, at least ``2 * n_keys``."""
    return power_of_two(max(2 * n_keys, 16))


@njit(cache=True, nogil=True)
def first_bucket(key: np.uint64, n_buckets: int) -> np.uint64:
    """Return the bucket in which the search for a key begins; ``n_buckets`` is a power of 2."""
    return (key ^ (key >> np.uint64(32))) & np.uint64(n_buckets - 1)


@njit(cache=True, nogil=True)
def build_table(keys: UInt64s, values: Float32s) -> tuple[UInt64s, Float32s]:
    """Build a hash table from distinct keys; return its keys and values, two arrays of shape [n_buckets, BUCKET].

    At most an eighth of the slots are used, so that full buckets are rare; their keys overflow into the next bucket.
    """
    n_buckets = power_of_two(max(8 * len(keys) // BUCKET, 4))
    table_keys = np.zeros((n_buckets, BUCKET), np.uint64)
    table_values = np.zeros((n_buckets, BUCKET), np.float32)
    for index in range(len(keys)):
        key = max(keys[index], ONE)
        bucket, place = np.int64(first_bucket(key, n_buckets)), 0
        while table_keys[bucket, place] != EMPTY:
            place += 1
            if place == BUCKET:
                bucket, place = (bucket + 1) % n_buckets, 0
        table_keys[bucket, place] = key
        table_values[bucket, place] = values[index]
    return table_keys, table_values


@njit(cache=True, nogil=True)
def look_up(
    table_keys: UInt64s,
    table_values: Float32s,
    hashes: UInt64s,
    absent: np.float32,
    code_points: UInt32s,
    starts: Int64s,
    other: np.float32,
) -> Float32s:
    """Return float32[n_tokens]: the value of each token, ``absent`` if the table does not contain it.

    Parameters
    ----------
    hashes
        uint64[n_tokens, words]; the first word is the key.
    code_points, starts
        uint32[n_code_points], int64[n_tokens]: characters, and the index of each token's first one.
    other
        Value of the tokens that do not begin in a dense script, such as Han; 0 = these are also looked up.
    """
    values = np.empty(len(hashes), np.float32)
    for token in range(len(hashes)):
        is_looked_up = other == 0.0 or is_dense_script(code_points[np.uint64(starts[token])])
        values[token] = value_of(table_keys, table_values, hashes[token, 0], absent) if is_looked_up else other
    return values


@njit(cache=True, nogil=True, inner=True)
def value_of(table_keys: UInt64s, table_values: Float32s, hashed: np.uint64, absent: np.float32) -> np.float32:
    """Return the value of one token, given its hash; ``absent`` if the table does not contain it.

    All keys of a bucket are compared, without branches: about half of the tokens of a post are in the table, so
    that a branch would be unpredictable.
    """
    n_buckets, key, value = len(table_keys), max(hashed, ONE), absent
    bucket = first_bucket(key, n_buckets)
    while True:
        is_it = equal_of_four(table_keys, bucket * np.uint64(BUCKET), key)
        found = table_values[bucket, lowest_bit(is_it | ONE << LAST_SLOT)]
        value = found if is_it != 0 else value
        if table_keys[bucket, LAST_SLOT] == EMPTY:
            return value
        bucket = (bucket + ONE) & np.uint64(n_buckets - 1)
