"""Every pair of some texts within its limits, for as many as one batch has."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount
from hybriddup.records import Int32s, Int64s, UInt64s


@njit(cache=True, nogil=True)
def near_pairs(
    bits: UInt64s, lengths: Int32s, max_distances: Int32s, max_partner_lengths: Int32s, by_length: Int64s
) -> tuple[Int64s, Int64s]:
    """Return the rows of the earlier and of the later texts of the pairs within their limits, sorted by later, earlier.

    Parameters
    ----------
    bits
        uint64[n, words]: fingerprints, fewer than 2^32.
    lengths, max_distances, max_partner_lengths
        int32[n]: as in `hybriddup.records.PairLimits`; those of the shorter text rule a pair.
    by_length
        int64[n]: the rows in order of their lengths.
    """
    n, half = len(bits), np.uint64(32)
    pairs, n_pairs = np.empty(max(n, 1024), np.uint64), np.uint64(0)
    for i in range(n):
        shorter = by_length[i]
        if np.int64(n_pairs) + n - i > len(pairs):
            larger = np.empty(2 * len(pairs) + n, np.uint64)
            larger[: np.int64(n_pairs)] = pairs[: np.int64(n_pairs)]
            pairs = larger
        for j in range(i + 1, n):
            longer = by_length[j]
            if lengths[longer] > max_partner_lengths[shorter]:
                break
            distance = np.uint64(0)
            for word in range(bits.shape[1]):
                distance += popcount(bits[shorter, word] ^ bits[longer, word])
            pairs[n_pairs] = np.uint64(max(shorter, longer)) << half | np.uint64(min(shorter, longer))
            n_pairs += np.uint64(np.int64(distance) <= np.int64(max_distances[shorter]))
    found = np.sort(pairs[: np.int64(n_pairs)])
    return (found & np.uint64(2**32 - 1)).astype(np.int64), (found >> half).astype(np.int64)
