"""Looking texts up in groups of texts that share a key, and keeping the pairs within their limits.

A *group* is a run of places. Each place holds a copy of the first two words of a fingerprint, so that a group is read
from contiguous memory, eight places at a time. `KeptGroups` has the kept texts of a run, the newest of each group in a
ring; `BatchGroups` the texts of one batch, in order.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Bools, Float32s, Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.characters import count_lacking
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.hamming import differing_bits
from hybriddup.kernels.key_groups import NO_GROUP
from hybriddup.kernels.popcount import lowest_bit
from hybriddup.kernels.ring_texts import least_common
from hybriddup.kernels.vectors import N_LANES, fetch_early, near_of_eight

HEAD = np.dtype([("start", np.int64), ("n_kept", np.uint32), ("room", np.uint32)])
"""A group of `KeptGroups`: its first place, how many texts were added to it, and how many places it has. 16 bytes, so
that asking for a group waits for memory once."""
Heads = NDArray[np.void]

FACT = np.dtype(
    [
        ("low", np.uint64),
        ("high", np.uint64),
        ("length", np.int32),
        ("max_partner_length", np.int32),
        ("common_of_shorter", np.float32),
        ("common_of_longer", np.float32),
    ]
)
"""What rules most pairs of a text out: the sketch of its characters, and its limits. 32 bytes, so that asking about a
text waits for memory once."""
Facts = NDArray[np.void]

FETCH_HEADS, FETCH_PLACES = 6, 3
"""Texts ahead of which heads and places are fetched: memory takes that long to answer."""
MOST_FETCHED = 48
"""Places of a group that are fetched early; what follows is read in order."""
FETCH_FACTS = 12
"""Hits ahead of which facts are fetched."""
DEPTH_BITS = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
ONE = np.uint64(1)


class TextColumns(NamedTuple):
    """What is known of each text, by row."""

    bits: UInt64s
    """uint64[n, words]."""
    lengths: Int32s
    max_distances: Int32s
    max_partner_lengths: Int32s
    common_of_shorter: Float32s
    common_of_longer: Float32s
    """As `hybriddup.data.records.PairLimits` has them."""
    sketches: UInt64s
    """As `hybriddup.data.records.CharacterCounts` has them; no rows = characters are not asked."""

    def take(self, chosen: Int64s | slice) -> "TextColumns":
        """Return the chosen texts, in the order given."""
        return TextColumns._make(column[chosen] if len(column) else column for column in self)


@njit(cache=True, nogil=True)
def pack_facts(texts: TextColumns) -> Facts:
    """Return FACT[n]: what rules most pairs of each text out."""
    facts = np.zeros(len(texts.lengths), FACT)
    for row in range(len(facts)):
        if len(texts.sketches) > 0:
            facts[row]["low"], facts[row]["high"] = texts.sketches[row, 0], texts.sketches[row, 1]
        facts[row]["length"] = texts.lengths[row]
        facts[row]["max_partner_length"] = texts.max_partner_lengths[row]
        facts[row]["common_of_shorter"] = texts.common_of_shorter[row]
        facts[row]["common_of_longer"] = texts.common_of_longer[row]
    return facts


class Places(NamedTuple):
    """Texts in groups, place by place; there are `N_LANES` places more than are used."""

    first_words: UInt64s
    second_words: UInt64s
    """uint64[n_places + N_LANES]: of the fingerprints; the second is 0 where there is one word."""
    texts: UInt32s
    """uint32[n_places + N_LANES]: the row of each text."""


class NearPairs(NamedTuple):
    """Pairs of texts within their limits, by later text, then by earlier, each once."""

    earlier: Int64s
    later: Int64s
    """int64[n_pairs]: rows."""
    distances: Int32s
    """int32[n_pairs]: differing bits."""
    depths: Int64s
    """int64[n_pairs]: how far from the newest the earlier text stands in a group that both share, 1 = the newest; in
    the group where it is nearest to that."""


class SearchCounts(NamedTuple):
    """What looking some texts up took."""

    n_look_ups: int
    n_comparisons: int
    largest_group: int


@njit(cache=True, nogil=True)
def search_kept(
    texts: TextColumns, facts: Facts, rows: Int64s, groups: UInt32s, heads: Heads, places: Places, widest: int
) -> tuple[NearPairs, SearchCounts]:
    """Return the pairs of some texts with those in the groups that they look into.

    Parameters
    ----------
    facts
        As `pack_facts` returns them for all texts.
    rows
        int64[n]: the texts that are looked up.
    groups
        uint32[n, n_keys]: the groups that each looks into, `NO_GROUP` for none.
    widest
        The largest Hamming limit of any text.
    """
    found = new_pairs(len(rows))
    hits, n_pairs = np.empty(1024, np.uint64), np.int64(0)
    n_look_ups, n_comparisons, largest = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(rows)):
        fetch_heads(heads, groups, min(i + FETCH_HEADS, len(rows) - 1))
        fetch_places(heads, groups, min(i + FETCH_PLACES, len(rows) - 1), places)
        first_word, second_word = two_words(texts.bits, rows[i])
        n_hits = np.int64(0)
        for j in range(groups.shape[1]):
            group = groups[i, j]
            if group == NO_GROUP:
                continue
            head = heads[group]
            size = np.int64(min(head["n_kept"], head["room"]))
            n_look_ups += 1
            if size == 0:
                continue
            n_comparisons += size
            largest = max(largest, np.int64(head["n_kept"]))
            if n_hits + size > len(hits):
                hits = with_room_for(hits, n_hits, size)
            newest = np.int64((head["n_kept"] - np.uint32(1)) % head["room"])
            n_hits = note_near(places, head["start"], size, newest, first_word, second_word, widest, hits, n_hits)
        n_pairs, found = keep_pairs(texts, facts, rows[i], hits, n_hits, found, n_pairs)
    return first_pairs(found, n_pairs), SearchCounts(n_look_ups, n_comparisons, largest)


@njit(cache=True, nogil=True, counts_references=False)
def fetch_heads(heads: Heads, groups: UInt32s, i: int) -> None:
    """Fetch the heads of the groups that a text looks into."""
    for j in range(groups.shape[1]):
        if groups[i, j] != NO_GROUP:
            fetch_early(heads, np.uint64(groups[i, j]))


@njit(cache=True, nogil=True, counts_references=False)
def fetch_places(heads: Heads, groups: UInt32s, i: int, places: Places) -> None:
    """Fetch the first places of the groups that a text looks into; their heads were fetched before."""
    for j in range(groups.shape[1]):
        group = groups[i, j]
        if group == NO_GROUP:
            continue
        start = np.int64(heads[group]["start"])
        size = min(np.int64(heads[group]["n_kept"]), np.int64(heads[group]["room"]))
        for place in range(start, start + min(size, np.int64(MOST_FETCHED)), N_LANES):
            fetch_early(places.first_words, np.uint64(place))
            fetch_early(places.second_words, np.uint64(place))


@njit(cache=True, nogil=True, counts_references=False)
def two_words(bits: UInt64s, row: int) -> tuple[np.uint64, np.uint64]:
    """Return the first two words of a fingerprint, the second 0 where there is one."""
    return bits[row, 0], bits[row, 1] if bits.shape[1] > 1 else np.uint64(0)


@njit(cache=True, nogil=True, counts_references=False)
def note_near(
    places: Places,
    start: int,
    size: int,
    newest: int,
    first_word: np.uint64,
    second_word: np.uint64,
    widest: int,
    hits: UInt64s,
    n_hits: int,
) -> int:
    """Write the texts of a group within a distance into ``hits`` after the first ``n_hits``; return how many there are.

    A hit is the row of the text in the upper 32 bits, its depth in the lower: 1 for the place ``newest`` of the group,
    and one more for each place before it, the last coming before the first. There is room for ``size`` more.
    """
    limit = np.uint64(widest)
    for block in range(start, start + size, N_LANES):
        near = near_of_eight(places.first_words, places.second_words, np.uint64(block), first_word, second_word, limit)
        left = start + size - block
        if left < N_LANES:
            near &= (ONE << np.uint64(left)) - ONE
        while near != 0:
            place = np.int64(block) + np.int64(lowest_bit(near))
            near &= near - ONE
            back = newest - (place - start)
            depth = back + 1 if back >= 0 else back + size + 1
            hits[n_hits] = (np.uint64(places.texts[place]) << DEPTH_BITS) | np.uint64(depth)
            n_hits += 1
    return n_hits


@njit(cache=True, nogil=True)
def keep_pairs(
    texts: TextColumns, facts: Facts, row: int, hits: UInt64s, n_hits: int, found: NearPairs, n_pairs: int
) -> tuple[int, NearPairs]:
    """Write the pairs of a text within their limits into ``found``; return how many there are, and where they are.

    The first ``n_hits`` of ``hits`` are changed in place. Most are ruled out by a few bytes, so that is asked before
    they are sorted; a text that was hit in several groups is kept once, at its smallest depth.
    """
    n = np.int64(0)
    for i in range(n_hits):
        fetch_early(facts, hits[min(i + FETCH_FACTS, n_hits - 1)] >> DEPTH_BITS)
        other = np.int64(hits[i] >> DEPTH_BITS)
        hits[n] = hits[i]
        n += other != row and may_be_within(facts, other, row)
    if n > 1:
        hits[:n].sort()
    if n_pairs + n > len(found.earlier):
        found = larger_pairs(found, n_pairs, n)
    before = np.int64(-1)
    for i in range(n):
        other = np.int64(hits[i] >> DEPTH_BITS)
        if other == before:
            continue
        before = other
        distance = distance_within(texts, other, row)
        if distance >= 0:
            found.earlier[n_pairs], found.later[n_pairs] = other, row
            found.distances[n_pairs], found.depths[n_pairs] = distance, np.int64(hits[i] & LOW_HALF)
            n_pairs += 1
    return n_pairs, found


@njit(cache=True, nogil=True, counts_references=False)
def may_be_within(facts: Facts, a: int, b: int) -> bool:
    """Return whether the lengths of two texts and the sketches of their characters leave a pair possible.

    Texts without sketches have all zeros, which lack nothing.
    """
    a_is_shorter = facts[a]["length"] < facts[b]["length"]
    shorter, longer = facts[a if a_is_shorter else b], facts[b if a_is_shorter else a]
    if longer["length"] > shorter["max_partner_length"]:
        return False
    lacking = count_lacking(shorter["low"], shorter["high"], longer["low"], longer["high"])
    needed = least_common(
        np.int64(shorter["length"]),
        np.int64(longer["length"]),
        shorter["common_of_shorter"],
        shorter["common_of_longer"],
    )
    return bool(lacking <= shorter["length"] - needed)


@njit(cache=True, nogil=True, counts_references=False)
def distance_within(texts: TextColumns, a: int, b: int) -> int:
    """Return how many bits of two texts differ, or -1 where that is more than the limit of the shorter one."""
    shorter = a if texts.lengths[a] < texts.lengths[b] else b
    distance = np.int64(differing_bits(texts.bits, a, texts.bits, b))
    return distance if distance <= texts.max_distances[shorter] else np.int64(-1)


@njit(cache=True, nogil=True)
def distances_within(texts: TextColumns, a: Int64s, b: Int64s) -> Int64s:
    """Return int64[n_pairs]: the differing bits of pairs of rows, -1 where limits rule the pair out."""
    distances = np.full(len(a), -1, np.int64)
    facts = pack_facts(texts)
    for pair in range(len(a)):
        if may_be_within(facts, a[pair], b[pair]):
            distances[pair] = distance_within(texts, a[pair], b[pair])
    return distances


@njit(cache=True, nogil=True)
def new_pairs(n: int) -> NearPairs:
    """Return room for some pairs."""
    room = n + 1024
    return NearPairs(
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)
    )


@njit(cache=True, nogil=True)
def larger_pairs(found: NearPairs, n_pairs: int, n_more: int) -> NearPairs:
    """Return the first pairs with room for more."""
    return NearPairs(
        with_room_for(found.earlier, n_pairs, n_more),
        with_room_for(found.later, n_pairs, n_more),
        with_room_for(found.distances, n_pairs, n_more),
        with_room_for(found.depths, n_pairs, n_more),
    )


@njit(cache=True, nogil=True)
def first_pairs(found: NearPairs, n: int) -> NearPairs:
    """Return the first pairs, without the room after them."""
    return NearPairs(
        found.earlier[:n].copy(), found.later[:n].copy(), found.distances[:n].copy(), found.depths[:n].copy()
    )


@njit(cache=True, nogil=True)
def add_kept(
    bits: UInt64s, rows: Int64s, is_kept: Bools, probed: UInt32s, own: UInt32s, heads: Heads, places: Places, most: int
) -> int:
    """Add the kept ones of some texts to their groups, in order; return how many look-ups met a crowded group.

    Parameters
    ----------
    rows, is_kept
        int64[n], bool[n].
    probed, own
        uint32[n, m], uint32[n, n_keys]: the groups that each text looked into, and those that it is added to.
    heads, places
        Changed in place: of a full group the oldest text makes room.
    most
        A group with more texts before a text is crowded for it; 0 = none is.
    """
    n_crowded = np.int64(0)
    for i in range(len(rows)):
        fetch_heads(heads, own, min(i + FETCH_HEADS, len(rows) - 1))
        if most > 0:
            for j in range(probed.shape[1]):
                n_crowded += probed[i, j] != NO_GROUP and heads[probed[i, j]]["n_kept"] > most
        if not is_kept[i]:
            continue
        first_word, second_word = two_words(bits, rows[i])
        for j in range(own.shape[1]):
            group = own[i, j]
            if group != NO_GROUP:
                place = heads[group]["start"] + np.int64(heads[group]["n_kept"] % heads[group]["room"])
                places.first_words[place], places.second_words[place] = first_word, second_word
                places.texts[place] = np.uint32(rows[i])
                heads[group]["n_kept"] += np.uint32(1)
    return n_crowded


@njit(cache=True, nogil=True)
def hold_texts(bits: UInt64s, rows: Int64s) -> Places:
    """Return texts as one group, in order."""
    n_places = len(rows) + N_LANES
    places = Places(np.zeros(n_places, np.uint64), np.zeros(n_places, np.uint64), np.zeros(n_places, np.uint32))
    for place in range(len(rows)):
        places.first_words[place], places.second_words[place] = two_words(bits, rows[place])
        places.texts[place] = np.uint32(rows[place])
    return places


@njit(cache=True, nogil=True)
def depths_in_groups(earlier: Int64s, own: UInt32s, groups: UInt32s, heads: Heads, places: Places) -> Int64s:
    """Return int64[n, m]: how far from the newest a text stands in each of some groups; 0 where it does not.

    Parameters
    ----------
    earlier, own
        int64[n], uint32[n, n_keys]: rows, and the groups that these texts are in.
    groups
        uint32[n, m].
    """
    depths = np.zeros(groups.shape, np.int64)
    for i in range(len(earlier)):
        for j in range(groups.shape[1]):
            for k in range(own.shape[1]):
                if groups[i, j] != NO_GROUP and own[i, k] == groups[i, j]:
                    depths[i, j] = depth_in_group(earlier[i], heads, groups[i, j], places)
    return depths


@njit(cache=True, nogil=True, counts_references=False)
def depth_in_group(row: int, heads: Heads, group: np.uint32, places: Places) -> int:
    """Return how far from the newest a text stands in a group, 1 = the newest; 0 where it does not."""
    start, n_kept = np.int64(heads[group]["start"]), np.int64(heads[group]["n_kept"])
    room = np.int64(heads[group]["room"])
    size = min(n_kept, room)
    for place in range(start, start + size):
        if np.int64(places.texts[place]) == row:
            back = (n_kept - 1) % room - (place - start)
            return back + 1 if back >= 0 else back + size + 1
    return np.int64(0)
