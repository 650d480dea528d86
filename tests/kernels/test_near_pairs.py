"""Pairs of a batch against comparing all with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.near_pairs import near_pairs
from hybriddup.records import Fingerprints
from hybriddup.testing.block_indexes import Pair, pairs_within_limits, planted_prints


def found_pairs(prints: Fingerprints) -> list[Pair]:
    """The pairs that the kernel finds."""
    lengths, max_distances, max_partner_lengths, _, _ = prints.limits
    earlier, later, distances = near_pairs(prints.bits, lengths, max_distances, max_partner_lengths, 0, len(prints))
    return list(
        zip(prints.positions[earlier].tolist(), prints.positions[later].tolist(), distances.tolist(), strict=True)
    )


@given(st.integers(0, 2**32), st.integers(0, 60), st.sampled_from([64, 128]), st.integers(0, 40))
def test_every_pair_is_found_once_and_in_order(seed: int, n: int, width: int, limit: int) -> None:
    """Whatever the lengths and limits, none of the shortest texts, which may only be equal."""
    prints = planted_prints(np.random.default_rng(seed), n, width, limit)
    found = found_pairs(prints)
    assert found == sorted(pairs_within_limits(prints), key=lambda pair: (pair[1], pair[0]))


@pytest.mark.parametrize("n", [0, 1, 100, 2000])
def test_equal_texts_are_all_pairs(n: int) -> None:
    """More pairs than texts, and no text at all."""
    prints = planted_prints(np.random.default_rng(0), 100, 64, 0).take(np.full(n, 7))
    lengths = np.full(n, 30, np.int32)
    earlier, later, distances = near_pairs(prints.bits, lengths, np.zeros(n, np.int32), lengths, 0, n)
    assert not distances.any()
    assert list(zip(later.tolist(), earlier.tolist(), strict=True)) == [(j, i) for j in range(n) for i in range(j)]
