"""Deciding a round by its links, in order. What only more knowledge could decide stays open."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int8s, Int64s
from hybriddup.kernels.cache import njit

COPY, KEPT, GONE, OPEN = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""What is known of a post of a round: that it equals an earlier one, that it stays, that it goes, or nothing yet."""
OF_INDEX = np.int64(-1)
"""In the place of a row: the earlier text was kept in an earlier round."""
NONE = np.int64(-1)


class RoundLinks(NamedTuple):
    """Pairs that match, by later text, then from the earliest on."""

    later: Int64s
    earlier: Int64s
    """int64[n]: rows of the round, the earlier one may be `OF_INDEX`."""
    is_sure: Bools
    """bool[n]: whether the earlier text is looked at, whatever else is kept of the round."""


@njit(cache=True, nogil=True)
def decide_by_links(status: Int8s, links: RoundLinks) -> Int64s:
    """Decide the posts that are not open from the start; ``status``, int8[n], is changed in place.

    A post goes where its earliest kept match is sure. Where one that comes before it is open itself or not sure, the
    post is open, too.

    Returns
    -------
    int64[n]
        The link by which each post goes, `NONE` for the others.
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
