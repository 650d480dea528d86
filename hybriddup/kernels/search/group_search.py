"""Looks up texts in ring buffers of texts that share a key, and selects the pairs within their limits."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, Int64s, NearPairs, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.popcount import HALF, LOW_HALF, ONE, SPREAD, power_of_two
from hybriddup.kernels.search.key_groups import NO_GROUP
from hybriddup.kernels.search.pair_limits import (
    LookUpCounts,
    TextColumns,
    distance_within,
    first_pairs,
    larger_pairs,
    may_be_within,
    new_pairs,
)
from hybriddup.kernels.search.rings import (
    FETCH_HEADS,
    FETCH_REST,
    Rings,
    Wanted,
    class_of,
    fetch_heads,
    fetch_rest,
    is_wide,
    keep_near,
    n_added,
    newest_of,
    note_fitting,
    note_near,
    place_of,
    room_of,
    two_words,
)
from hybriddup.kernels.sorting import sort_run
from hybriddup.kernels.vectors import fetch_early

FITTING_TOGETHER = 64
"""Number of texts of matching length to collect before comparing their fingerprints, which are prefetched meanwhile."""


class Queries(NamedTuple):
    """Texts to look up, and the rings to search."""

    rows: Int64s
    """int64[n]: the row of each text in the `TextColumns`."""
    starts: UInt32s
    """uint32[n, m]: the starts of the rings to search for each text, `NO_GROUP` for none."""
    ranks: Int32s
    """int32[n, m]: number of texts in each ring before the query; texts added later are ignored. An array without rows
    means that no text is ignored."""

    def take(self, first: int, last: int) -> "Queries":
        """Return the queries ``first`` to ``last - 1``."""
        return Queries._make(column[first:last] for column in self)


@njit(cache=True, nogil=True)
def search_rings(texts: TextColumns, widest: int, queries: Queries, rings: Rings) -> tuple[NearPairs, LookUpCounts]:
    """Find all pairs of a queried text and a text in its rings that are within the pair's limits, and count look-ups.

    In a pair, the later text is given by the index of its query, and the earlier text by its row in ``texts``.
    ``widest`` is the largest Hamming limit of any text.
    """
    rows, starts, ranks = queries.rows, queries.starts, queries.ranks
    found, n_pairs = new_pairs(len(rows)), np.int64(0)
    hits, slots = np.empty(1024, np.uint64), np.zeros(2048, np.uint64)
    n_look_ups, n_comparisons, largest = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(rows)):
        fetch_heads(starts, min(i + FETCH_HEADS, len(rows) - 1), rings)
        fetch_rest(starts, min(i + FETCH_REST, len(rows) - 1), rings)
        wanted = what_is_wanted(texts, rows[i], widest, rings)
        n_near, n_hits = np.int64(0), np.int64(0)
        for j in range(starts.shape[1]):
            if starts[i, j] == NO_GROUP:
                continue
            head = place_of(starts[i, j])
            n_kept = np.int64(ranks[i, j]) if len(ranks) > 0 else n_added(rings, head)
            n_look_ups += 1
            if n_kept == 0:
                continue
            size = min(n_kept, room_of(rings, head))
            n_comparisons += size
            largest = max(largest, n_kept)
            if n_hits + size > len(hits):
                hits = with_room_for(hits, n_hits, size)
            newest = newest_of(n_kept, room_of(rings, head))
            if is_wide(rings, head):
                n_hits = keep_near(texts.bits, wanted, hits, n_near, n_hits)
                n_near = n_hits = note_near(rings, head, size, newest, wanted, hits, n_hits)
            else:
                n_hits = note_fitting(rings, head, size, newest, wanted, texts.bits, hits, n_hits)
                if n_hits - n_near >= FITTING_TOGETHER:
                    n_near = n_hits = keep_near(texts.bits, wanted, hits, n_near, n_hits)
        n_hits = keep_near(texts.bits, wanted, hits, n_near, n_hits)
        if 2 * n_hits > len(slots):
            slots = np.zeros(power_of_two(2 * n_hits), np.uint64)
        n_hits = keep_distinct(hits, n_hits, slots, np.uint64(i + 1))
        n_hits = keep_candidates(texts, rows[i], hits, n_hits)
        sort_run(hits, 0, n_hits)
        if n_pairs + n_hits > len(found.earlier):
            found = larger_pairs(found, n_pairs, n_hits)
        n_pairs = keep_pairs(texts, rows[i], i, hits, n_hits, found, n_pairs)
    return first_pairs(found, n_pairs), LookUpCounts(n_comparisons, n_look_ups, largest)


@njit(cache=True, nogil=True, inner=True)
def keep_distinct(hits: UInt64s, n_hits: int, slots: UInt64s, query: np.uint64) -> int:
    """Remove repeated texts from the first ``n_hits`` hits, keeping the smallest depth; return the number of hits left.

    A hit has the row of the text in the upper 32 bits and its depth in a ring, 1 = the newest, in the lower 32.
    ``slots``, uint64[n], is a hash table of indices into the hits; n is a power of two and at least ``2 * n_hits``. Its
    entries are tagged with ``query``, which must be 1 or more and differ from call to call, so that the table need not
    be cleared. With sorting instead of this table, a search would take 1.5 times as long.
    """
    n, mask = np.int64(0), np.uint64(len(slots) - 1)
    for i in range(n_hits):
        row = hits[i] >> HALF
        slot = (row * SPREAD >> HALF) & mask
        while slots[slot] >> HALF == query and hits[np.int64(slots[slot] & LOW_HALF)] >> HALF != row:
            slot = (slot + ONE) & mask
        if slots[slot] >> HALF == query:
            place = np.int64(slots[slot] & LOW_HALF)
            hits[place] = min(hits[place], hits[i])
        else:
            slots[slot] = (query << HALF) | np.uint64(n)
            hits[n] = hits[i]
            n += 1
    return n


@njit(cache=True, nogil=True, inner=True)
def keep_candidates(texts: TextColumns, row: int, hits: UInt64s, n_hits: int) -> int:
    """Remove text ``row`` and all texts that cannot match it, by length or sketch, from the hits.

    Return the number of hits left.
    """
    for i in range(n_hits):
        fetch_early(texts.facts, hits[i] >> HALF)
    n = np.int64(0)
    for i in range(n_hits):
        other = np.int64(hits[i] >> HALF)
        hits[n] = hits[i]
        n += other != row and may_be_within(texts, other, row)
    return n


@njit(cache=True, nogil=True, inner=True)
def what_is_wanted(texts: TextColumns, row: int, widest: int, rings: Rings) -> Wanted:
    """Return a query for the texts that text ``row`` may match by length, within ``widest`` bits of its fingerprint."""
    fact = texts.facts[row]
    longest = max(np.int64(texts.limits[fact["kind"]]["max_partner_length"]), np.int64(fact["length"]))
    least = class_of(rings, texts.shortest[fact["length"]])
    first_word, second_word = two_words(texts.bits, row)
    return Wanted(first_word, second_word, np.uint64(widest), least, class_of(rings, longest) - least)


@njit(cache=True, nogil=True, inner=True)
def keep_pairs(
    texts: TextColumns, row: int, place: int, hits: UInt64s, n_hits: int, found: NearPairs, n_pairs: int
) -> int:
    """Append the pairs of text ``row`` with hits within the Hamming limit to ``found``; return the new ``n_pairs``.

    In the pairs, ``earlier`` is the row of the hit. ``later`` is ``place``, the index of the query that looks up the
    text.
    """
    for i in range(n_hits):
        other = np.int64(hits[i] >> HALF)
        distance = distance_within(texts, other, row)
        if distance >= 0:
            found.earlier[n_pairs], found.later[n_pairs] = other, place
            found.distances[n_pairs], found.depths[n_pairs] = distance, np.int64(hits[i] & LOW_HALF)
            n_pairs += 1
    return n_pairs
