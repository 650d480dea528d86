"""Exact repeats of a round: posts equal to a kept post of an earlier round or to an earlier post of the same round."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hybriddup.data.records import Int32s, Int64s
from hybriddup_spark.columns import longs, table_of
from hybriddup_spark.divided import Earlier
from hybriddup_spark.schemas import COPIES, REMOVED

NONE = -1


def find_copies(posts: pa.Table, earlier: Earlier) -> pa.Table:
    """Return the `COPIES` among the posts of a round, given `EQUAL` of this and all earlier rounds."""
    at = longs(posts, "position")
    posts = posts.filter(pa.array((at >= earlier.first) | earlier.stay(at)))
    a, b, positions = longs(posts, "equal_a"), longs(posts, "equal_b"), longs(posts, "position")
    is_kept = positions < earlier.first
    order = np.lexsort((positions, b, a))
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(a[order]) != 0) | (np.diff(b[order]) != 0)
    first = order[np.flatnonzero(is_first)[np.cumsum(is_first) - 1]]
    rows, firsts = order[~is_first], first[~is_first]
    keepers = np.where(is_kept[firsts], positions[firsts], NONE)
    return table_of(
        COPIES,
        position=positions[rows],
        length=longs(posts, "length")[rows],
        keeper=keepers,
        first=np.where(keepers == NONE, positions[firsts], NONE),
    )


def exact_removed(positions: Int64s, keepers: Int64s, bands: Int32s) -> pa.Table:
    """Return exact repeats as `REMOVED`, with distance 0, score and threshold 1.0."""
    n = len(positions)
    return table_of(
        REMOVED,
        position=positions,
        keeper=keepers,
        is_exact=np.ones(n, np.bool_),
        distance=np.zeros(n, np.int32),
        score=np.ones(n),
        threshold=np.ones(n),
        verifier=np.zeros(n, np.int32),
        band=bands,
    )
