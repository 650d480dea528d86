"""Buckets of texts by bits of their fingerprints: those that they are in, and those that they look into.

A key is a choice of bit positions; its bits, as a number, are the bucket of the table. So the bucket of a key with some
bits flipped is the key's own, combined by exclusive or with an offset for these bits.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit

ROWS_AT_A_TIME = 1024
"""Texts whose key bits are looked at together, bit by bit: as many as stay in the fastest cache."""


class BucketKeys(NamedTuple):
    """The keys of all tables, one table after another."""

    positions: Int64s
    """int64[n]: bit positions."""
    starts: Int64s
    """int64[n_tables + 1]: where those of each table begin."""
    offsets: UInt32s
    """uint32[m]: the offsets of the buckets that are looked into, the first of each table 0."""
    offset_starts: Int64s
    """int64[n_tables + 1]: where those of each table begin."""
    bucket_bits: int


@njit(cache=True, nogil=True)
def buckets_of(bits: UInt64s, keys: BucketKeys, table: int) -> UInt32s:
    """Return uint32[n]: the bucket in one table of each fingerprint uint64[n, words].

    Bit by bit over some fingerprints at a time, word by word next to each other, so that many go into one instruction.
    """
    buckets = np.zeros(len(bits), np.uint32)
    positions = keys.positions[keys.starts[table] : keys.starts[table + 1]]
    columns = np.empty((bits.shape[1], ROWS_AT_A_TIME), np.uint64)
    for start in range(0, len(bits), ROWS_AT_A_TIME):
        first, n = np.uint64(start), min(ROWS_AT_A_TIME, len(bits) - start)
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
    """Return uint64[n, n_probes]: the buckets that texts look into, numbered through all tables."""
    listed = np.empty((len(bits), len(keys.offsets)), np.uint64)
    for table in range(len(keys.starts) - 1):
        own, first = buckets_of(bits, keys, table), np.uint64(table) << np.uint64(keys.bucket_bits)
        for probe in range(keys.offset_starts[table], keys.offset_starts[table + 1]):
            for row in range(len(bits)):
                listed[row, probe] = first | np.uint64(own[row] ^ keys.offsets[probe])
    return listed
