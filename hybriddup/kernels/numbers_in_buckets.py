"""Which number from the newest some posts have in their buckets."""

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.kernels.cache import njit


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
