"""Rows of a result that belong together: by keeper, or, for analysis, by chains of verified pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Int64s, Removed
from hybriddup.data.removed import removed_rows, rows_with_keepers


def keeper_clusters(removed: Sequence[Removed]) -> list[list[int]]:
    """Return each kept row with the rows removed for it: keeper first, then rising; clusters by their keeper's row.

    Every member matches the first. Kept rows for which nothing was removed are left out.
    """
    members: dict[int, list[int]] = {}
    for row, keeper in np.stack(rows_with_keepers(removed), axis=1).tolist():
        members.setdefault(keeper, []).append(row)
    return [[keeper, *sorted(members[keeper])] for keeper in sorted(members)]


def connected_clusters(removed: Sequence[Removed], verified_rows: Int64s) -> list[list[int]]:
    """Return the connected components of all verified pairs and exact repeats, where they have two rows or more.

    Kept rows first, then removed rows, each rising; clusters by their first row. A component may chain texts that do
    not match each other, and may hold several kept rows: it is a view of the corpus, not what was decided.

    ``verified_rows`` is int64[n_pairs, 2].
    """
    edges = evidence(removed, verified_rows)
    rows, ends = np.unique(edges, return_inverse=True)
    labels = label_components(ends.reshape(edges.shape), len(rows))
    is_removed = np.isin(rows, removed_rows(removed))
    order = np.lexsort((rows, is_removed, labels))
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return sorted(part.tolist() for part in np.split(rows[order], bounds) if len(part))


def evidence(removed: Sequence[Removed], verified_rows: Int64s) -> Int64s:
    """Return int64[n_pairs, 2]: the rows of all verified pairs, and of each removed row with its keeper."""
    return np.concatenate([verified_rows.reshape(-1, 2), np.stack(rows_with_keepers(removed), axis=1)])


def label_components(ends: Int64s, n_nodes: int) -> Int64s:
    """Return int64[n_nodes]: the number of each node's connected component."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends), np.bool_), (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes))
    _, labels = connected_components(graph, directed=False)
    return np.asarray(labels, np.int64)
