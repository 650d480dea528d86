"""Deciding a round by its links, in order; posts that links alone cannot decide stay open."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int8s, Int64s
from hybriddup.kernels.cache import njit

COPY, KEPT, GONE, OPEN = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""Status of a post of a round: equal to an earlier post, kept, removed, or undecided."""
OF_INDEX = np.int64(-1)
"""Row of a text that was kept in an earlier round."""
NONE = np.int64(-1)


class RoundLinks(NamedTuple):
    """Matching pairs, ordered by later, then by earlier text."""

    later: Int64s
    earlier: Int64s
    """int64[n]: rows of the texts in the round; ``earlier`` may be `OF_INDEX`."""
    is_sure: Bools
    """bool[n]: whether the pair is compared whatever else is kept of the round."""


@njit(cache=True, nogil=True)
def decide_by_links(status: Int8s, links: RoundLinks) -> Int64s:
    """Decide the posts that are not open from the start; ``status``, int8[n], is changed in place.

    A post is removed if its earliest kept match is sure. It is open if an earlier match is open, or kept but not sure.

    Returns
    -------
    int64[n]
        The link that removes each post, `NONE` for other posts.
    """
    deciding = np.full(len(status), NONE)
    for link in range(len(links.later)):
        later, earlier = links.later[link], links.earlier[link]
        if status[later] != KEPT:
            continue
        before = KEPT if earlier == OF_INDEX else status[earlier]
        if before == OPEN or (before == KEPT and not links.is_sure[link]):
            status[later] = OPEN
        elif before == KEPT:
            status[later], deciding[later] = GONE, link
    return deciding
