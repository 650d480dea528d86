"""The buckets that texts are in, and those that they look into, by bits of their fingerprints, through all tables.

A key is a choice of bit positions. Its bits are folded into a bucket number by exclusive or, which is linear, so the
bucket of a key with some bits flipped is the key's own bucket combined with a fixed offset for each flipped bit.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit

ROWS_AT_A_TIME = 1024
"""Texts whose key bits are looked at together, bit by bit: as many as stay in the fastest cache."""


class KeyList(NamedTuple):
    """The keys of all tables, one after another, and which neighbours of them are probed."""

    positions: Int64s
    """int64[n]: bit positions."""
    starts: Int64s
    """int64[n_tables + 1]: where the key of each table begins."""
    offsets: UInt32s
    """uint32[m]: bucket offsets of the neighbours, the first of each table 0."""
    offset_starts: Int64s
    """int64[n_tables + 1]: where those of each table begin."""
    bucket_bits: int


@njit(cache=True, nogil=True)
def list_heads(bits: UInt64s, keys: KeyList, own_only: bool) -> UInt64s:
    """Return uint64[n, n_probes]: places in `Chains.heads` of the buckets that each text looks into, table by table.

    ``own_only`` lists the bucket of the text's own key in each table.
    """
    n_tables = len(keys.starts) - 1
    n_all = n_tables if own_only else len(keys.offsets)
    listed, n_listed = np.empty((len(bits), n_all), np.uint64), np.uint64(0)
    for table in range(n_tables):
        buckets = fold_keys(bits, keys.positions[keys.starts[table] : keys.starts[table + 1]], keys.bucket_bits)
        first = np.uint64(table) << np.uint64(keys.bucket_bits)
        first_offset = keys.offset_starts[table]
        n_probes = np.int64(1) if own_only else keys.offset_starts[table + 1] - first_offset
        for row in range(len(bits)):
            for i in range(n_probes):
                bucket = buckets[row] ^ keys.offsets[first_offset + i]  # the first is 0, the text's own
                listed[np.uint64(row), n_listed + np.uint64(i)] = first | np.uint64(bucket)
        n_listed += np.uint64(n_probes)
    return listed


@njit(cache=True, nogil=True)
def fold_keys(bits: UInt64s, key_positions: Int64s, bucket_bits: int) -> UInt32s:
    """Return uint32[n]: the bucket of each fingerprint uint64[n, words].

    Key bit ``i`` goes to bucket bit ``i % bucket_bits``. Bit by bit over some fingerprints at a time, word by word next
    to each other, so that many go into one instruction.
    """
    buckets = np.zeros(len(bits), np.uint32)
    columns = np.empty((bits.shape[1], ROWS_AT_A_TIME), np.uint64)
    for start in range(0, len(bits), ROWS_AT_A_TIME):
        first, n = np.uint64(start), min(ROWS_AT_A_TIME, len(bits) - start)
        for word in range(bits.shape[1]):
            for i in range(n):
                columns[word, np.uint64(i)] = bits[first + np.uint64(i), word]
        for bit in range(len(key_positions)):
            word, shift = np.uint64(key_positions[bit] >> 6), np.uint64(key_positions[bit] & 63)
            place = np.uint64(bit % bucket_bits) if bucket_bits > 0 else np.uint64(0)
            for i in range(n):
                folded = ((columns[word, np.uint64(i)] >> shift) & np.uint64(1)) << place
                buckets[first + np.uint64(i)] ^= np.uint32(folded)
    return buckets
