"""The buckets that texts look into, and those that they are in, by bits of their fingerprints, through all tables."""

from typing import NamedTuple

import numpy as np

from hybriddup.kernels.buckets import find_weak_bits, fold_keys, list_probes
from hybriddup.kernels.cache import njit
from hybriddup.records import Int64s, UInt8s, UInt32s, UInt64s


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
def list_heads(bits: UInt64s, strengths: UInt8s, keys: KeyList, n_weak_bits: int, own_only: bool) -> UInt64s:
    """Return uint64[n, n_probes]: places in `Chains.heads` of the buckets that each text looks into, table by table.

    ``strengths`` is uint8[n, 32 * words], packed; ``own_only`` lists the bucket of the text's own key in each table.
    """
    n_tables, bucket_bits = len(keys.starts) - 1, keys.bucket_bits
    n_all = n_tables if own_only else len(keys.offsets) << n_weak_bits
    listed, n_listed = np.empty((len(bits), n_all), np.uint64), np.uint64(0)
    for table in range(n_tables):
        key = keys.positions[keys.starts[table] : keys.starts[table + 1]]
        buckets = fold_keys(bits, key, bucket_bits)
        if not own_only:
            weak_places = find_weak_bits(strengths, key, n_weak_bits)
            offsets = keys.offsets[keys.offset_starts[table] : keys.offset_starts[table + 1]]
            buckets = list_probes(buckets, offsets, weak_places, bucket_bits)
        first, n_of_text = np.uint64(table) << np.uint64(bucket_bits), np.uint64(len(buckets) // max(len(bits), 1))
        for row in range(len(bits)):
            for i in range(n_of_text):
                bucket = np.uint64(buckets[np.uint64(row) * n_of_text + np.uint64(i)])
                listed[np.uint64(row), n_listed + np.uint64(i)] = first | bucket
        n_listed += n_of_text
    return listed
