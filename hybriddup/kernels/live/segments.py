"""Segments: runs of consecutive texts of a live index, each sorted by bucket, as in a log-structured merge tree.

The size of a segment is a power of two, and it starts at a multiple of its size. The number that the next text will get
determines which segments exist: all full segments of the largest size, then at most one of half that size, and so on
down to the smallest size. The texts after the last segment are unsorted, and a look-up compares all of them. Building a
segment is a counting sort of its texts; it replaces the smaller segments of the same texts.

The buckets belong to several tables, each with its own key bits, and a text has an entry in one bucket of each table.
The entry holds the index of the text in the segment, and a tag: the fingerprint folded by exclusive or. Each bit
of the fingerprint affects one bit of the tag, so the tags of two texts differ in no more bits than their fingerprints
do. Therefore tags alone rule out most texts of a bucket.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, NearPairs, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.live.reads import compare_places, compare_read, fetch_texts, keep_least_depths
from hybriddup.kernels.live.texts import LaterTexts, Ring, select_in_ring, slot_of_place, widest_limit
from hybriddup.kernels.popcount import HALF, ONE, popcount
from hybriddup.kernels.sorting import sort_run
from hybriddup.kernels.vectors import fetch_early

ROWS_PER_BLOCK = 1024
"""Number of texts whose key bits are gathered together; their fingerprints fit into the fastest cache."""


class BucketKeys(NamedTuple):
    """The fingerprint bits that select the buckets of a text in each table, one table after another."""

    positions: Int64s
    """int64[n]: positions of the fingerprint bits that form a bucket number, from its lowest bit up."""
    starts: Int64s
    """int64[n_tables + 1]: table ``t`` uses ``positions[starts[t]:starts[t + 1]]``."""
    offsets: UInt32s
    """uint32[n_probes]: masks; the exclusive or of a text's bucket and each mask gives the buckets to search. The first
    mask of each table is 0."""
    offset_starts: Int64s
    """int64[n_tables + 1]: table ``t`` uses ``offsets[offset_starts[t]:offset_starts[t + 1]]``."""
    bucket_bits: int


@njit(cache=True, nogil=True)
def buckets_of(bits: UInt64s, keys: BucketKeys, table: int) -> UInt32s:
    """Return uint32[n]: the bucket of each fingerprint in table number ``table``; ``bits`` is uint64[n, words].

    Fingerprints are processed in blocks, transposed to columns, so that the inner loop, over the fingerprints of a
    block, is vectorized.
    """
    buckets = np.zeros(len(bits), np.uint32)
    positions = keys.positions[keys.starts[table] : keys.starts[table + 1]]
    columns = np.empty((bits.shape[1], ROWS_PER_BLOCK), np.uint64)
    for start in range(0, len(bits), ROWS_PER_BLOCK):
        first, n = np.uint64(start), min(ROWS_PER_BLOCK, len(bits) - start)
        for word in range(bits.shape[1]):
            for i in range(n):
                columns[word, np.uint64(i)] = bits[first + np.uint64(i), word]
        for bit in range(len(positions)):
            word, shift = np.uint64(positions[bit] >> 6), np.uint64(positions[bit] & 63)
            for i in range(n):
                its_bit = (columns[word, np.uint64(i)] >> shift) & np.uint64(1)
                buckets[first + np.uint64(i)] |= np.uint32(its_bit << np.uint64(bit))
    return buckets


@njit(cache=True, nogil=True)
def list_buckets(bits: UInt64s, keys: BucketKeys) -> UInt64s:
    """Return uint64[n, n_probes]: the buckets to search for each text, as ``table << bucket_bits | bucket``."""
    listed = np.empty((len(bits), len(keys.offsets)), np.uint64)
    for table in range(len(keys.starts) - 1):
        own, first = buckets_of(bits, keys, table), np.uint64(table) << np.uint64(keys.bucket_bits)
        for probe in range(keys.offset_starts[table], keys.offset_starts[table + 1]):
            for row in range(len(bits)):
                listed[row, probe] = first | np.uint64(own[row] ^ keys.offsets[probe])
    return listed


PLACE_BITS = np.uint64(20)
LARGEST_SEGMENT = 1 << 20
PLACE_MASK = np.uint64(LARGEST_SEGMENT - 1)
"""Mask of the low bits of an entry, which hold the index of its text in the segment; the high bits hold its tag."""
TAG_BITS = np.uint64(12)
TAG_MASK = np.uint64((1 << 12) - 1)


class Segments(NamedTuple):
    """All segments of a live index: their entries, the starts of their buckets, and the range of segment sizes."""

    entries: UInt32s
    """uint32[n_tables * capacity]: the entries of a segment whose first text has number ``n`` begin at index
    ``n % capacity * n_tables``. The capacity is a multiple of `largest`."""
    starts: UInt32s
    """uint32[n_rows, n_buckets + 1], a row per segment: start of each bucket, relative to the segment's first entry."""
    smallest: int
    largest: int


class Listing(NamedTuple):
    """The segments that currently exist and their storage locations, in ascending order of text numbers."""

    numbers: Int64s
    """int64[n + 1]: the number of the first text in each segment, then the number after the last segment."""
    rows: Int64s
    """int64[n]: the row of each segment in `Segments.starts`."""
    places: Int64s
    """int64[n]: the index of each segment's first entry in `Segments.entries`."""


@njit(cache=True, nogil=True)
def list_segments(segments: Segments, first: int, last: int, n_tables: int) -> Listing:
    """Locate the segments of the texts numbered ``first`` to ``last - 1``.

    The oldest segment may begin before ``first``.
    """
    _, starts, smallest, largest = segments
    capacity, size, row = len(segments.entries) // n_tables, np.int64(largest), np.int64(0)
    number = first - first % size
    numbers, rows = np.empty(len(starts) + 1, np.int64), np.empty(len(starts), np.int64)
    places, n = np.empty(len(starts), np.int64), 0
    while size >= smallest:
        n_rows = capacity // size if size == largest else np.int64(1)
        while number + size <= last:
            numbers[n], rows[n] = number, row + number // size % n_rows
            places[n] = number % capacity * n_tables
            number += size
            n += 1
        row, size = row + n_rows, size // 2
    numbers[n] = number
    return Listing(numbers[: n + 1], rows[:n], places[:n])


@njit(cache=True, nogil=True)
def build_segments(segments: Segments, keys: BucketKeys, ring: Ring, before: int) -> None:
    """Build the segments that contain texts numbered ``before`` or higher; all other segments must exist already."""
    last = np.int64(ring.next_number)
    numbers, rows, places = list_segments(segments, last - np.int64(ring.span), last, len(keys.starts) - 1)
    for i in range(len(rows)):
        if numbers[i + 1] > before:
            build_segment(segments, keys, ring, numbers[i : i + 2], rows[i], places[i])


@njit(cache=True, nogil=True)
def build_segment(segments: Segments, keys: BucketKeys, ring: Ring, bounds: Int64s, row: int, place: int) -> None:
    """Build the segment of the texts numbered ``bounds[0]`` to ``bounds[1] - 1``.

    It is stored at ``row`` and ``place``, which are its values in `Listing.rows` and `Listing.places`.
    """
    first_live, ring_bits = np.int64(ring.next_number - ring.span), ring.columns.bits
    first, capacity = max(first_live, bounds[0]), np.uint64(len(ring_bits))
    bits = np.empty((bounds[1] - first, ring_bits.shape[1]), np.uint64)
    entries = np.empty(len(bits), np.uint32)
    for i in range(len(bits)):
        slot = slot_of_place(np.uint64(first - first_live + i), ring.first_slot, capacity)
        for word in range(bits.shape[1]):
            bits[i, word] = ring_bits[slot, word]
        entries[i] = np.uint32(tag_of(bits, i) << PLACE_BITS | np.uint64(first + i - bounds[0]))
    n_buckets = 1 << keys.bucket_bits
    for table in range(len(keys.starts) - 1):
        buckets, ends = buckets_of(bits, keys, table), np.zeros(n_buckets, np.uint32)
        for i in range(len(buckets)):
            ends[buckets[i]] += np.uint32(1)
        start = np.uint32(table * len(bits))
        for bucket in range(n_buckets):
            segments.starts[row, table * n_buckets + bucket] = start
            ends[bucket], start = start, start + ends[bucket]
        segments.starts[row, (table + 1) * n_buckets] = start
        for i in range(len(buckets)):
            segments.entries[place + np.int64(ends[buckets[i]])] = entries[i]
            ends[buckets[i]] += np.uint32(1)


@njit(cache=True, nogil=True, inner=True)
def tag_of(bits: UInt64s, row: int) -> np.uint64:
    """Return the tag of the fingerprint in row ``row`` of ``bits``: its parts of `TAG_BITS` bits, combined by XOR."""
    tag = np.uint64(0)
    for word in range(bits.shape[1]):
        left = bits[row, word]
        while left != 0:
            tag ^= left & TAG_MASK
            left >>= TAG_BITS
    return tag


@njit(cache=True, nogil=True)
def look_up(segments: Segments, keys: BucketKeys, ring: Ring, later: LaterTexts) -> NearPairs:
    """For each later text, find the live texts of ``ring`` that are within the limits.

    Return the pairs, distinct and sorted. A later text is compared only with the texts in its buckets and with the
    newest texts, which are in no segment yet. Every pair gets depth 1, as if its live text were the newest in the
    bucket. Memory for one later text is prefetched while the previous two are compared.
    """
    listed, first = list_buckets(later.texts.bits, keys), np.int64(ring.next_number - ring.span)
    listing = list_segments(segments, first, np.int64(ring.next_number), len(keys.starts) - 1)
    n_sorted = max(listing.numbers[-1] - first, 0)
    n_unsorted, n_entries, read = np.int64(ring.span) - n_sorted, np.int64(0), np.empty(4096, np.uint64)
    near, depths, n_near = np.empty(4096, np.uint64), np.empty(4096, np.int32), np.int64(0)
    flat = ring.columns.bits.ravel()
    for step in range(len(listed) + 2):
        fetch_starts(segments, listing, listed, step)
        n_before, n_entries = n_entries, fetch_entries(segments, listing, listed, step - 1)
        row = step - 2
        if row < 0:
            continue
        if n_before > len(read):
            read = np.empty(2 * n_before, np.uint64)
        n_read = read_buckets(segments, listing, listed, row, first, ring, later, read)
        fetch_texts(ring, read, np.uint64(0), n_read)
        if n_near + n_before + n_unsorted > len(near):
            near = with_room_for(near, n_near, n_before + n_unsorted)
            depths = with_room_for(depths, n_near, len(near))
        limit = widest_limit(ring, later, row)
        n_found = compare_read(ring, read, n_read, later, row, limit, near, n_near)
        sort_run(near, n_near, n_found)
        n_near = keep_least_depths(near, depths, n_near, n_found, row)
        n_near = compare_places(ring, flat, n_sorted, np.int64(ring.span), later, row, limit, near, n_near)
    all_newest = np.ones(n_near, np.int32)
    return select_in_ring(near[:n_near], all_newest, ring, later)


@njit(cache=True, nogil=True, inner=True)
def fetch_starts(segments: Segments, listing: Listing, listed: UInt64s, row: int) -> None:
    """Prefetch the starts of the buckets that are searched for text ``row``, if the row exists."""
    if row >= len(listed):
        return
    for segment in range(len(listing.rows)):
        first = np.uint64(listing.rows[np.uint64(segment)]) * np.uint64(segments.starts.shape[1])
        for probe in range(listed.shape[1]):
            fetch_early(segments.starts, first + listed[np.uint64(row), np.uint64(probe)])


@njit(cache=True, nogil=True, inner=True)
def fetch_entries(segments: Segments, listing: Listing, listed: UInt64s, row: int) -> int:
    """Prefetch the entries in text ``row``'s buckets, if the row exists; return the number of these entries."""
    n_entries = np.int64(0)
    for probe in range(listed.shape[1] if 0 <= row < len(listed) else 0):
        for segment in range(len(listing.rows)):
            start, end = bounds_of(segments, listing, segment, listed[np.uint64(row), np.uint64(probe)])
            fetch_early(segments.entries, start)
            fetch_early(segments.entries, end - ONE)
            n_entries += np.int64(end - start)
    return n_entries


@njit(cache=True, nogil=True, inner=True)
def bounds_of(segments: Segments, listing: Listing, segment: int, bucket: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the index of the first entry of a bucket of a listed segment, and the index after its last entry."""
    row, place = np.uint64(listing.rows[np.uint64(segment)]), np.uint64(listing.places[np.uint64(segment)])
    return place + np.uint64(segments.starts[row, bucket]), place + np.uint64(segments.starts[row, bucket + ONE])


@njit(cache=True, nogil=True, inner=True)
def read_buckets(
    segments: Segments,
    listing: Listing,
    listed: UInt64s,
    row: int,
    first: int,
    ring: Ring,
    later: LaterTexts,
    read: UInt64s,
) -> np.uint64:
    """Find the live texts in the buckets of text ``row``, except texts that their tags rule out.

    At most `widest_limit` bits of a tag may differ from the tag of text ``row``. Write the texts found to ``read``,
    which must have room for all texts of the buckets, and return how many there are. ``first`` is the number of the
    oldest live text.
    """
    limit, tag, n_read = widest_limit(ring, later, row), tag_of(later.texts.bits, row), np.uint64(0)
    for segment in range(len(listing.rows)):
        before = np.uint64(listing.numbers[np.uint64(segment)] - first)  # a text that is not live wraps around
        for probe in range(listed.shape[1]):
            start, end = bounds_of(segments, listing, segment, listed[np.uint64(row), np.uint64(probe)])
            for i in range(start, end):
                entry = np.uint64(segments.entries[i])
                place = before + (entry & PLACE_MASK)
                read[n_read] = place << HALF | ONE
                n_read += np.uint64(popcount(entry >> PLACE_BITS ^ tag) <= limit) & np.uint64(place < ring.span)
    return n_read
