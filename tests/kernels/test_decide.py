"""The decision kernel against the greedy rule in plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.decide import decide_in_order
from tests import reference
from tests.builders import make_pairs

N_TEXTS = 12
pair_sets = st.sets(st.tuples(st.integers(0, N_TEXTS - 2), st.integers(1, N_TEXTS - 1)).filter(lambda p: p[0] < p[1]))


@given(pair_sets)
def test_decisions_equal_the_greedy_rule(matches: set[tuple[int, int]]) -> None:
    """A text goes exactly where an earlier kept text matches it, and the earliest such text is its keeper."""
    pairs, kept = make_pairs(sorted(matches)), np.ones(N_TEXTS, np.bool_)
    deciding = decide_in_order(pairs.earlier, pairs.later, kept)
    expected = reference.greedy_decide(range(N_TEXTS), dict.fromkeys(matches))
    assert np.flatnonzero(kept).tolist() == expected.kept
    keepers = zip(pairs.later[deciding].tolist(), pairs.earlier[deciding].tolist(), strict=True)
    assert dict(keepers) == {text: found[0] for text, found in expected.keepers.items()}


@given(pair_sets, st.integers(0, N_TEXTS))
def test_deciding_in_two_calls_is_deciding_in_one(matches: set[tuple[int, int]], cut: int) -> None:
    """What was decided before is passed on in the flags alone."""
    pairs, at_once, in_parts = make_pairs(sorted(matches)), np.ones(N_TEXTS, np.bool_), np.ones(N_TEXTS, np.bool_)
    decide_in_order(pairs.earlier, pairs.later, at_once)
    for part in (pairs.later < cut, pairs.later >= cut):
        decide_in_order(pairs.earlier[part], pairs.later[part], in_parts)
    assert in_parts.tolist() == at_once.tolist()


def test_removed_text_removes_nothing() -> None:
    """In a chain A-B-C, B goes for A, and C, which matches only B, stays."""
    kept = np.ones(3, np.bool_)
    pairs = make_pairs([(0, 1), (1, 2)])
    decide_in_order(pairs.earlier, pairs.later, kept)
    assert kept.tolist() == [True, False, True]
