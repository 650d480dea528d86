"""Clusters of a result: by keeper, and by chains of verified pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.corpus import Corpus
from hybriddup.data.removed import RemovedBy, RemovedColumns, RemovedPosts
from hybriddup.run.result import Result
from hybriddup.run.summary import Summary
from tests import reference
from tests.builders import examples


def result_of(n_rows: int, keepers: dict[int, int], verified: list[tuple[int, int]]) -> Result:
    """A result in which ``keepers`` names the kept row of each removed one."""
    rows = np.arange(n_rows)
    corpus = Corpus([f"text {row}" for row in range(n_rows)], range(n_rows), rows, n_rows=n_rows)
    posts, of = (np.array(some, np.int64) for some in (sorted(keepers), [keepers[row] for row in sorted(keepers)]))
    numbers, scores = np.zeros(len(posts), np.int32), np.ones(len(posts))
    columns = RemovedColumns(posts, of, numbers > 0, numbers, numbers, scores, scores, numbers)
    removed = RemovedPosts(corpus, columns, RemovedBy(["edit"], ["7-20"], "weibo", "0a"))
    kept = np.array([row for row in range(n_rows) if row not in keepers], np.int64)
    return Result(kept, removed, Summary(), n_rows, np.array(verified, np.int64).reshape(-1, 2))


@st.composite
def decided(draw: st.DrawFn) -> Result:
    """Rows decided one by one over random matches, some of them only found after the decision."""
    n_rows = draw(st.integers(0, 14))
    pairs = [(a, b) for b in range(n_rows) for a in range(b)]
    matches = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    order = draw(st.permutations(range(n_rows)))
    decisions = reference.greedy_decide(order, dict.fromkeys(matches))
    return result_of(n_rows, {row: found[0] for row, found in decisions.keepers.items()}, sorted(matches))


@pytest.mark.parametrize(
    ("result", "clusters", "connected"),
    [
        (result_of(0, {}, []), [], []),
        (result_of(6, {1: 4, 0: 4, 2: 3}, [(0, 4), (1, 4), (2, 3)]), [[3, 2], [4, 0, 1]], [[3, 2], [4, 0, 1]]),
        (result_of(4, {1: 0}, [(0, 1), (1, 2)]), [[0, 1]], [[0, 2, 1]]),
        (result_of(3, {2: 0}, []), [[0, 2]], [[0, 2]]),
    ],
    ids=["no rows", "a keeper after its copies", "a chain with two kept rows", "exact repeats, which are not verified"],
)
def test_kept_rows_come_first(result: Result, clusters: list[list[int]], connected: list[list[int]]) -> None:
    assert (result.clusters(), result.clusters(connected=True)) == (clusters, connected)


@given(decided())
@examples(80)
def test_keeper_clusters_partition_the_removed_rows(result: Result) -> None:
    clusters = result.clusters()
    keepers = {removed.row: removed.keeper_row for removed in result.removed}
    assert {row: cluster[0] for cluster in clusters for row in cluster[1:]} == keepers
    assert sum(len(cluster) - 1 for cluster in clusters) == len(result.removed)
    assert {cluster[0] for cluster in clusters} <= set(result.kept)


@given(decided())
@examples(80)
def test_connected_clusters_equal_their_plain_twin(result: Result) -> None:
    edges = [*result.verified_rows.tolist(), *((removed.row, removed.keeper_row) for removed in result.removed)]
    expected = [part for part in reference.connected_components(range(result.n_rows), edges) if len(part) > 1]
    clusters, kept = result.clusters(connected=True), set(result.kept)
    assert sorted(map(sorted, clusters)) == sorted(expected)
    assert clusters == [sorted(cluster, key=lambda row: (row not in kept, row)) for cluster in clusters]
