"""What is decided equals the rule in plain Python, however the texts are cut into batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.steps.deciding.crowds import as_outcome, decide_by_package, decide_by_rule, make_crowd

seeds = st.integers(0, 2**32)


WAYS: dict[str, dict[str, list[int]]] = {
    "in batches": {"texts_per_batch": [1, 2, 7, 16, 2**14]},
    "crowded batches in halves": {"fewest_texts": [1, 3, 10], "most_comparisons": [0]},
    "depths of few texts at a time": {"texts_per_batch": [7, 20], "asked_together": [1, 2, 3]},
    "batches made ahead": {"texts_per_batch": [3, 7, 20], "workers": [2], "fewest_texts": [1]}
    | {"most_comparisons": [1, 3, 2**20]},
    "all of these": {"texts_per_batch": [7, 40], "fewest_texts": [1, 10], "most_comparisons": [0, 3]}
    | {"asked_together": [1, 2, 3]},
}


@pytest.mark.parametrize("way", WAYS)
@given(seed=seeds, data=st.data())
def test_decisions_and_counted_limits_equal_the_rule(way: str, seed: int, data: st.DataObject) -> None:
    crowd, chosen = make_crowd(seed), {name: data.draw(st.sampled_from(values)) for name, values in WAYS[way].items()}
    assert as_outcome(*decide_by_package(crowd, **chosen)) == decide_by_rule(crowd)


def test_a_crowd_in_halves_with_few_depths_at_a_time_is_decided_by_the_rule() -> None:
    crowd = make_crowd(2627635026)
    decided = decide_by_package(crowd, 40, fewest_texts=10, most_comparisons=0, asked_together=2)
    assert as_outcome(*decided) == decide_by_rule(crowd)


@pytest.mark.parametrize("texts_per_batch", [1500, 4000])
def test_workers_change_nothing(texts_per_batch: int) -> None:
    names = np.unique(np.random.default_rng(5).integers(0, 5000, 4000), return_inverse=True)[1]
    crowd = make_crowd(11, n_distinct=int(names.max()) + 1, n_keys=300, names=names, max_bucket_size=3)
    (alone, report), (shared, shared_report) = (decide_by_package(crowd, texts_per_batch, n) for n in (1, 2))
    assert as_outcome(alone, report) == as_outcome(shared, shared_report)
    assert report == shared_report
    assert as_outcome(alone, report).near
