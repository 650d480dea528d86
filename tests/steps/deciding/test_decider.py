"""What is decided equals the rule in plain Python, however the texts are cut into batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.steps.deciding.crowds import as_outcome, decide_by_package, decide_by_rule, make_crowd

seeds = st.integers(0, 2**32)


@given(seeds, st.sampled_from([1, 2, 7, 16, 2**14]))
def test_decisions_and_counted_limits_equal_the_rule(seed: int, texts_per_batch: int) -> None:
    crowd = make_crowd(seed)
    assert as_outcome(*decide_by_package(crowd, texts_per_batch)) == decide_by_rule(crowd)


@given(seeds, st.sampled_from([1, 3, 10]))
def test_deciding_crowded_batches_in_halves_changes_nothing(seed: int, fewest_texts: int) -> None:
    crowd = make_crowd(seed)
    halved = decide_by_package(crowd, fewest_texts=fewest_texts, most_comparisons=0)
    assert as_outcome(*halved) == decide_by_rule(crowd)


@given(seeds, st.sampled_from([7, 20]), st.integers(1, 3))
def test_depths_may_be_asked_for_a_few_texts_at_a_time(seed: int, texts_per_batch: int, asked_together: int) -> None:
    crowd = make_crowd(seed)
    decided = decide_by_package(crowd, texts_per_batch, asked_together=asked_together)
    assert as_outcome(*decided) == decide_by_rule(crowd)


@given(seeds, st.sampled_from([3, 7, 20]), st.sampled_from([1, 3, 2**20]))
def test_batches_may_be_made_ahead(seed: int, texts_per_batch: int, most_comparisons: int) -> None:
    crowd = make_crowd(seed)
    decided = decide_by_package(crowd, texts_per_batch, 2, fewest_texts=1, most_comparisons=most_comparisons)
    assert as_outcome(*decided) == decide_by_rule(crowd)


@given(seeds, st.sampled_from([7, 40]), st.sampled_from([1, 10]), st.sampled_from([0, 3]), st.integers(1, 3))
@example(2627635026, 40, 10, 0, 2)
def test_whatever_is_done_at_a_time_the_rule_decides(
    seed: int, texts_per_batch: int, fewest_texts: int, most_comparisons: int, asked_together: int
) -> None:
    crowd = make_crowd(seed)
    limits = {"fewest_texts": fewest_texts, "most_comparisons": most_comparisons, "asked_together": asked_together}
    assert as_outcome(*decide_by_package(crowd, texts_per_batch, **limits)) == decide_by_rule(crowd)


@pytest.mark.parametrize("texts_per_batch", [1500, 4000])
def test_workers_change_nothing(texts_per_batch: int) -> None:
    names = np.unique(np.random.default_rng(5).integers(0, 5000, 4000), return_inverse=True)[1]
    crowd = make_crowd(11, n_distinct=int(names.max()) + 1, n_keys=300, names=names, max_bucket_size=3)
    (alone, report), (shared, shared_report) = (decide_by_package(crowd, texts_per_batch, n) for n in (1, 2))
    assert as_outcome(alone, report) == as_outcome(shared, shared_report)
    assert report == shared_report
    assert as_outcome(alone, report).near
