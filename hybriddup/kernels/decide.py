"""The decision rule: a text is removed when it matches an earlier text that was kept."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.records import Bools, Int64s


@njit(cache=True, nogil=True)
def decide_in_order(earlier: Int64s, later: Int64s, kept: Bools) -> Int64s:
    """Return int64[n_pairs_that_decided]: for each text removed now, the pair that removed it.

    Parameters
    ----------
    earlier, later
        int64[n_pairs]: verified pairs, sorted by ``later``, then ``earlier``.
    kept
        bool[n_texts]: which texts are kept so far; texts removed now are set to False in place.

    Notes
    -----
    The keeper is the earliest kept text that matches. Because pairs are sorted by their later text, whether the
    earlier one is kept has always been settled before it is asked.
    """
    deciding = np.empty(len(earlier), np.int64)
    n_removed = 0
    for pair in range(len(earlier)):
        if kept[later[pair]] and kept[earlier[pair]]:
            kept[later[pair]] = False
            deciding[n_removed] = pair
            n_removed += 1
    return deciding[:n_removed].copy()
