"""Ring buffers, one for each group: the newest kept texts that share a key.

A ring is contiguous memory. It starts with two words of 32 bits: the number of texts that were added, and its capacity.
Each text is one more word: its row, and in the lowest bits its `length_class`, or the highest bits of the class if rows
need more than 24 bits. So a small ring takes one or two cache lines. Lengths rule out half of the texts. The
fingerprints of the others are prefetched, and compared in groups. If all rings had fingerprints instead, looking up
Weibo posts would take a fifth longer.

Large rings are *wide*: two columns of 64 bits follow, the first and the second words of the fingerprints, and eight
texts are compared at once. Without wide rings, looking up titles takes 1.5 times as long.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, ONE, lowest_bit, popcount, power_of_two
from hybriddup.kernels.search.key_groups import NO_GROUP, NO_KEY, place_of_key
from hybriddup.kernels.search.pair_limits import TextColumns, length_class
from hybriddup.kernels.vectors import N_LANES, fetch_early, near_of_eight

START_UNIT = 2
"""Alignment of rings, in 32-bit words. Ring starts are stored in this unit, so that 32 bits can address 32 GiB."""
HEAD_WORDS = 2
MOST_NARROW = 128
"""Largest capacity of a ring that is not wide, that is, stores no fingerprints. With 64 instead of 128, runs need up to
5 % more memory and are no faster."""
WIDE = np.uint32(1 << 31)
"""Flag in the capacity word of a wide ring, one that also stores the fingerprints of its texts."""
CLASS_BITS, WORD_BITS = 8, 32
FETCH_HEADS, FETCH_REST = 6, 3
"""How many texts ahead the heads of rings (`FETCH_HEADS`) and the rest of rings (`FETCH_REST`) are prefetched."""
FETCHED_WITH_HEAD = 12
"""Number of 32-bit words after the first word of a ring that are prefetched together with it."""
LINE_WORDS = 16
"""Number of 32-bit words in a cache line."""
MOST_FETCHED = 64
"""Maximum number of texts of a ring to prefetch; the rest is read in sequence, so the processor itself prefetches
it."""


class Rings(NamedTuple):
    """All rings, in one contiguous block of memory."""

    words: UInt32s
    fingerprints: UInt64s
    """``words``, uint32[2 * n], and ``fingerprints``, uint64[n], are two views of the same memory."""
    class_bits: np.uint64
    """Number of low bits that hold the length class, in the 32-bit word that a ring stores for a text."""


class Wanted(NamedTuple):
    """A query to rings: texts near a fingerprint, with lengths in a range."""

    first_word: np.uint64
    second_word: np.uint64
    limit: np.uint64
    """Maximum number of differing bits."""
    shortest: np.uint64
    more: np.uint64
    """Number of wanted length classes above `shortest`, the lowest wanted class."""


def make_rings(sizes: UInt32s, n_texts: int, most: int = 0, most_narrow: int = MOST_NARROW) -> tuple[Rings, UInt32s]:
    """Allocate empty rings; return the rings, and the start of each ring, uint32[n], in units of `START_UNIT`.

    Parameters
    ----------
    sizes
        uint32[n]: number of texts that will be added to each ring.
    n_texts
        Number of texts; all row numbers are below it.
    most
        Largest capacity, below 2**31; 0 = no limit.
    most_narrow
        A ring with a larger capacity is wide: it also stores fingerprints.

    Raises
    ------
    MemoryError
        The rings would take 32 GiB or more, which starts of 32 bits cannot address.
    """
    starts, n_units = find_starts(sizes, most, most_narrow)
    if n_units >= NO_GROUP:
        raise MemoryError("the kept texts, by key, would take 32 GiB or more")
    memory = np.zeros(n_units + N_LANES, np.uint64)  # numpy allocates large pages
    class_bits = min(max(WORD_BITS - max(n_texts - 1, 0).bit_length(), 0), CLASS_BITS)
    rings = Rings(memory.view(np.uint32), memory, np.uint64(class_bits))
    write_heads(rings, starts, sizes, most, most_narrow)
    return rings, starts


@njit(cache=True, nogil=True)
def find_starts(sizes: UInt32s, most: int, most_narrow: int) -> tuple[UInt32s, int]:
    """Return the start of each ring, and the end of the last ring, in units of `START_UNIT`.

    The parameters are as in `make_rings`.
    """
    starts, n_units = np.empty(len(sizes), np.uint32), np.int64(0)
    for ring in range(len(sizes)):
        starts[ring] = np.uint32(n_units)
        room = room_for(sizes[ring], most)
        n_units = first_fingerprint(n_units * START_UNIT, room) + (2 * room if room > most_narrow else 0)
    return starts, n_units


@njit(cache=True, nogil=True)
def write_heads(rings: Rings, starts: UInt32s, sizes: UInt32s, most: int, most_narrow: int) -> None:
    """Write the capacity of each new ring into its head, and flag the wide rings.

    ``starts`` is the result of `find_starts` for the last three parameters, which are as in `make_rings`.
    """
    for ring in range(len(starts)):
        room = room_for(sizes[ring], most)
        rings.words[place_of(starts[ring]) + 1] = np.uint32(room) | (WIDE if room > most_narrow else np.uint32(0))


@njit(cache=True, nogil=True, inner=True)
def room_for(size: np.uint32, most: int) -> int:
    """Return the capacity of a ring to which ``size`` texts will be added; ``most``: the limit, 0 = no limit."""
    return min(np.int64(size), np.int64(most)) if most > 0 else np.int64(size)


@njit(cache=True, nogil=True, inner=True)
def place_of(start: np.uint32) -> int:
    """Convert the start of a ring to the index of its head in `Rings.words`."""
    return np.int64(start) * START_UNIT


@njit(cache=True, nogil=True, inner=True)
def first_fingerprint(head: int, room: int) -> int:
    """Return the index in `Rings.fingerprints` of a ring's first fingerprint.

    The ring begins at ``Rings.words[head]`` and has the capacity ``room``.
    """
    return (head + HEAD_WORDS + room + START_UNIT - 1) // START_UNIT


@njit(cache=True, nogil=True, inner=True)
def n_added(rings: Rings, head: int) -> int:
    """Return the number of texts that were added to a ring."""
    return np.int64(rings.words[head])


@njit(cache=True, nogil=True, inner=True)
def room_of(rings: Rings, head: int) -> int:
    """Return the capacity of the ring that begins at ``rings.words[head]``."""
    return np.int64(rings.words[head + 1] & ~WIDE)


@njit(cache=True, nogil=True, inner=True)
def is_wide(rings: Rings, head: int) -> bool:
    """Return whether a ring has columns of fingerprints."""
    return bool(rings.words[head + 1] >= WIDE)


@njit(cache=True, nogil=True, inner=True)
def class_of(rings: Rings, length: int) -> np.uint64:
    """Return the upper bits of the `length_class` of a length, as many as these rings store."""
    return np.uint64(length_class(np.int64(length))) >> (np.uint64(CLASS_BITS) - rings.class_bits)


@njit(cache=True, nogil=True, inner=True)
def class_mask(rings: Rings) -> np.uint64:
    """Return the mask of the length class in the words that these rings store for texts, see `word_of`."""
    return (ONE << rings.class_bits) - ONE


@njit(cache=True, nogil=True, inner=True)
def word_of(rings: Rings, texts: TextColumns, row: int) -> np.uint32:
    """Return the word that a ring stores for the text in row ``row``: the row and the length class."""
    return np.uint32((np.uint64(row) << rings.class_bits) | class_of(rings, texts.facts[row]["length"]))


@njit(cache=True, nogil=True, inner=True)
def row_of(rings: Rings, word: np.uint32) -> np.uint64:
    """Return the row of a text, given the word that a ring stores for it."""
    return np.uint64(word) >> rings.class_bits


@njit(cache=True, nogil=True, inner=True)
def newest_of(n_kept: int, room: int) -> int:
    """Return the index of the newest text in a ring of capacity ``room``, after adding ``n_kept`` texts (1 or more)."""
    return (n_kept - 1) % room if n_kept > room else n_kept - 1


@njit(cache=True, nogil=True, inner=True)
def depth_of(place: int, newest: int, size: int) -> int:
    """Return the depth of the text at ``place`` in a ring of ``size`` texts; the text at ``newest`` has depth 1."""
    return newest - place + 1 if place <= newest else newest - place + size + 1


@njit(cache=True, nogil=True, inner=True)
def two_words(bits: UInt64s, row: int) -> tuple[np.uint64, np.uint64]:
    """Return the first two words of the fingerprint in row ``row``; the second is 0 if the fingerprint has one word."""
    return bits[row, 0], bits[row, 1] if bits.shape[1] > 1 else np.uint64(0)


@njit(cache=True, nogil=True, inner=True)
def add_to_ring(rings: Rings, start: np.uint32, texts: TextColumns, row: int, word: np.uint32) -> None:
    """Add text ``row`` to a ring of capacity 1 or more; if the ring is full, its oldest text is dropped.

    ``word``: result of `word_of` for the text.
    """
    head = place_of(start)
    n_kept, room = n_added(rings, head), room_of(rings, head)
    place = n_kept % room if n_kept >= room else n_kept
    rings.words[head + HEAD_WORDS + place] = word
    if is_wide(rings, head):
        first = first_fingerprint(head, room) + place
        rings.fingerprints[first], rings.fingerprints[first + room] = two_words(texts.bits, row)
    rings.words[head] += np.uint32(1)


@njit(cache=True, nogil=True)
def add_kept(
    texts: TextColumns, rows: Int64s, is_kept: Bools, probed: UInt32s, own: UInt32s, rings: Rings, most: int
) -> int:
    """Add the kept texts to the rings of their groups, in order; return the number of look-ups of crowded groups.

    Parameters
    ----------
    rows, is_kept
        int64[n], bool[n]: the row of each text, and whether it is kept.
    probed, own
        uint32[n, m], uint32[n, n_keys]: the starts of the rings that each text looked into, and of the rings that it is
        added to; `NO_GROUP` for none.
    most
        A group is crowded for a text if more than ``most`` earlier kept texts are in it; 0 = no group is ever crowded.
    """
    n_crowded = np.int64(0)
    for i in range(len(rows)):
        fetch_heads(own, min(i + FETCH_HEADS, len(rows) - 1), rings)
        if most > 0:
            for j in range(probed.shape[1]):
                n_crowded += probed[i, j] != NO_GROUP and n_added(rings, place_of(probed[i, j])) > most
        if is_kept[i]:
            word = word_of(rings, texts, rows[i])
            for j in range(own.shape[1]):
                if own[i, j] != NO_GROUP:
                    add_to_ring(rings, own[i, j], texts, rows[i], word)
    return n_crowded


@njit(cache=True, nogil=True, inner=True)
def fetch_heads(starts: UInt32s, i: int, rings: Rings) -> None:
    """Prefetch the heads of the rings of text ``i``, and the first words after each head."""
    for j in range(starts.shape[1]):
        if starts[i, j] != NO_GROUP:
            head = place_of(starts[i, j])
            fetch_early(rings.words, np.uint64(head))
            fetch_early(rings.words, np.uint64(head + FETCHED_WITH_HEAD))


@njit(cache=True, nogil=True, inner=True)
def fetch_rest(starts: UInt32s, i: int, rings: Rings) -> None:
    """Prefetch the rest of the larger rings of text ``i``, after their heads were prefetched."""
    for j in range(starts.shape[1]):
        if starts[i, j] == NO_GROUP:
            continue
        head = place_of(starts[i, j])
        size = min(n_added(rings, head), min(room_of(rings, head), MOST_FETCHED))
        for place in range(head + FETCHED_WITH_HEAD + LINE_WORDS, head + HEAD_WORDS + size, LINE_WORDS):
            fetch_early(rings.words, np.uint64(place))


@njit(cache=True, nogil=True, inner=True)
def note_fitting(
    rings: Rings, head: int, size: int, newest: int, wanted: Wanted, bits: UInt64s, hits: UInt64s, n_hits: int
) -> int:
    """Append the texts of a ring that have a wanted length to ``hits[:n_hits]``; return the new number of hits.

    A hit has the row of the text in the upper 32 bits and its depth in the lower 32. ``size``: number of texts in the
    ring; ``newest``: index of the newest text, which has depth 1. ``hits`` must have space for ``size`` more hits. The
    fingerprints of the new hits are prefetched for `keep_near`.
    """
    n, first = np.uint64(n_hits), np.uint64(head + HEAD_WORDS)
    depth = np.uint64(newest + 1)
    for place in range(np.uint64(newest + 1)):
        n = note_if_fitting(rings, rings.words[first + place], depth - place, wanted, hits, n)
    depth += np.uint64(size)
    for place in range(np.uint64(newest + 1), np.uint64(size)):
        n = note_if_fitting(rings, rings.words[first + place], depth - place, wanted, hits, n)
    for hit in range(np.uint64(n_hits), n):
        fetch_early(bits, (hits[hit] >> HALF) * np.uint64(bits.shape[1]))
    return np.int64(n)


@njit(cache=True, nogil=True, inner=True)
def note_if_fitting(
    rings: Rings, word: np.uint32, depth: np.uint64, wanted: Wanted, hits: UInt64s, n: np.uint64
) -> np.uint64:
    """Append the text that a ring stores as ``word`` to ``hits[:n]`` if its length is wanted; return the new ``n``.

    ``hits[n]`` is overwritten in any case.
    """
    hits[n] = (row_of(rings, word) << HALF) | depth
    of_length = np.uint64(word) & class_mask(rings)
    return n + np.uint64(of_length - wanted.shortest <= wanted.more)  # a shorter one wraps around


@njit(cache=True, nogil=True, inner=True)
def keep_near(bits: UInt64s, wanted: Wanted, hits: UInt64s, n_near: int, n_hits: int) -> int:
    """Remove the hits that exceed the Hamming limit from ``hits[n_near:n_hits]``.

    Return how many hits are left in all, including the first ``n_near``.
    """
    n = np.uint64(n_near)
    for hit in range(np.uint64(n_near), np.uint64(n_hits)):
        first_word, second_word = two_words(bits, hits[hit] >> HALF)
        distance = popcount(first_word ^ wanted.first_word) + popcount(second_word ^ wanted.second_word)
        hits[n] = hits[hit]
        n += np.uint64(distance <= wanted.limit)
    return np.int64(n)


@njit(cache=True, nogil=True, inner=True)
def note_near(rings: Rings, head: int, size: int, newest: int, wanted: Wanted, hits: UInt64s, n_hits: int) -> int:
    """Append the texts of a wide ring that meet all conditions of ``wanted`` to ``hits``; return the new ``n_hits``.

    The parameters are as in `note_fitting`.
    """
    room = room_of(rings, head)
    fingerprints = first_fingerprint(head, room)
    for first in range(0, size, N_LANES):
        place = head + HEAD_WORDS + first
        near = near_of_eight(
            rings.words,
            np.uint64(place),
            class_mask(rings),
            wanted.shortest,
            wanted.more,
            rings.fingerprints,
            np.uint64(fingerprints + first),
            np.uint64(room),
            wanted.first_word,
            wanted.second_word,
            wanted.limit,
        )
        if size - first < N_LANES:
            near &= (ONE << np.uint64(size - first)) - ONE
        while near != 0:
            lane = lowest_bit(near)
            near &= near - ONE
            depth = np.uint64(depth_of(first + np.int64(lane), newest, size))
            hits[n_hits] = (row_of(rings, rings.words[np.uint64(place) + lane]) << HALF) | depth
            n_hits += 1
    return n_hits


@njit(cache=True, nogil=True)
def depths_in_rings(rows: Int64s, earlier: Int64s, starts: UInt32s, rings: Rings) -> Int64s:
    """Return int64[n, m]: for each pair, the depth of the earlier text in each ring of the later text.

    The newest text of a ring has depth 1; depth 0 means that the text is not in the ring.

    Parameters
    ----------
    rows
        int64[n], ascending: for each pair, the later text's row in ``starts``.
    earlier
        int64[n]: for each pair, the row of the earlier text. No pair occurs twice.
    starts
        uint32[n_rows, m]: the starts of the rings of each later text, `NO_GROUP` for none.
    """
    depths, first = np.zeros((len(rows), starts.shape[1]), np.int64), 0
    while first < len(rows):
        last = first
        while last < len(rows) and rows[last] == rows[first]:
            last += 1
        table, places = table_of(earlier, first, last)
        for j in range(starts.shape[1]):
            if starts[rows[first], j] != NO_GROUP:
                note_depths(rings, place_of(starts[rows[first], j]), table, places, depths[:, j])
        first = last
    return depths


@njit(cache=True, nogil=True)
def table_of(texts: Int64s, first: int, last: int) -> tuple[UInt64s, Int64s]:
    """Build a hash table of ``texts[first:last]``; return, for each slot, the text and its index in ``texts``."""
    n_places = power_of_two(2 * (last - first))
    table, places = np.full(n_places, NO_KEY, np.uint64), np.empty(n_places, np.int64)
    for i in range(first, last):
        place = place_of_key(table, np.uint64(texts[i]))
        table[place], places[place] = np.uint64(texts[i]), i
    return table, places


@njit(cache=True, nogil=True, inner=True)
def note_depths(rings: Rings, head: int, table: UInt64s, places: Int64s, depths: Int64s) -> None:
    """Look up each text of a ring in a hash table; if found, write its depth in the ring, 1 = newest, to ``depths``.

    ``table`` and ``places`` are the results of `table_of`; an index in ``depths`` is an index in its ``texts``.
    """
    n_kept, room = n_added(rings, head), room_of(rings, head)
    size = min(n_kept, room)
    for place in range(size):
        text = row_of(rings, rings.words[head + HEAD_WORDS + place])
        at = place_of_key(table, text)
        if table[at] == text:
            depths[places[at]] = depth_of(place, newest_of(n_kept, room), size)
