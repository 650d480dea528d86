"""Entries of buckets that were read from a shared store: which are near a text, and which number each has."""

import numpy as np

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import differing_bits


@njit(cache=True, nogil=True)
def near_entries(
    begins: Int64s, ends: Int64s, rows: Int64s, text_bits: UInt64s, entry_bits: UInt64s, most_bits: int
) -> tuple[Int64s, Int64s]:
    """Return int64[n], int64[n]: the entries near the text that looks into their bucket, and which bucket each is of.

    Parameters
    ----------
    begins, ends
        int64[n_buckets]: where the entries of each bucket begin, and end.
    rows
        int64[n_buckets]: the text that looks into each.
    text_bits, entry_bits
        uint64[n_texts, words], uint64[n_entries, words]: fingerprints.
    most_bits
        Differing bits of what is near, at most.
    """
    entries, buckets, n = np.empty(len(entry_bits), np.int64), np.empty(len(entry_bits), np.int64), np.int64(0)
    for bucket in range(len(rows)):
        for entry in range(begins[bucket], ends[bucket]):
            entries[n], buckets[n] = entry, bucket
            n += differing_bits(text_bits, rows[bucket], entry_bits, entry) <= most_bits
    return entries[:n].copy(), buckets[:n].copy()


@njit(cache=True, nogil=True)
def numbers_in_buckets(positions: Int64s, begins: Int64s, ends: Int64s, chosen: Int64s) -> Int64s:
    """Return int64[n_chosen]: the number of each chosen entry in its bucket, 1 being that with the largest position.

    Buckets are mostly in order, but not always; so the larger ones are counted, which for the few that are chosen takes
    less than sorting all.

    Parameters
    ----------
    positions
        int64[n]: of the entries, those of a bucket after one another; no position twice in one, but for negative ones,
        which count for nothing.
    begins, ends
        int64[n_chosen]: where the bucket of each chosen entry begins, and ends.
    chosen
        int64[n_chosen]: entries.
    """
    numbers = np.ones(len(chosen), np.int64)
    for number in range(len(chosen)):
        own = positions[chosen[number]]
        for other in range(begins[number], ends[number]):
            numbers[number] += positions[other] > own
    return numbers
