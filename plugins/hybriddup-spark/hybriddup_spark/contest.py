"""Decide the posts of a round in order by their links, which are matching pairs; posts that need more stay open."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int8s, Int64s
from hybriddup.kernels.cache import njit

COPY, KEPT, GONE, OPEN = np.int8(0), np.int8(1), np.int8(2), np.int8(3)
"""Status of a post of a round: equal to an earlier post, kept, removed, or undecided."""
OF_INDEX = np.int64(-1)
"""Value of ``earlier`` for a text that was kept in an earlier round, which has no row in this one."""
NONE = np.int64(-1)


class RoundLinks(NamedTuple):
    """Matching pairs, ordered by later, then by earlier text."""

    later: Int64s
    earlier: Int64s
    """int64[n]: rows of the texts in the round; ``earlier`` may be `OF_INDEX`."""
    is_sure: Bools
    """bool[n]: whether the pair is compared no matter which other posts of the round are kept."""


@njit(cache=True, nogil=True)
def decide_by_links(status: Int8s, links: RoundLinks) -> Int64s:
    """Decide the posts whose ``status`` is `KEPT`, in place: they stay kept, or become `GONE` or `OPEN`.

    The earliest match that is kept or open decides: if it is kept and sure, the post is removed; otherwise it is open.

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
