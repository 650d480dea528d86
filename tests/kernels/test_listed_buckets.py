"""Buckets of texts, by bits of their fingerprints."""

from __future__ import annotations

import numpy as np

from hybriddup.kernels.listed_buckets import KeyList, list_heads
from tests.builders import make_prints


def test_texts_look_into_the_buckets_of_their_keys_and_neighbours() -> None:
    """Table by table; own bucket first, then the neighbours."""
    prints = make_prints([0b0101_0010])
    keys = KeyList(
        positions=np.array([0, 1, 2, 4, 5, 6]),
        starts=np.array([0, 3, 6]),
        offsets=np.array([0, 0b100, 0], np.uint32),
        offset_starts=np.array([0, 2, 3]),
        bucket_bits=3,
    )
    own = list_heads(prints.bits, keys, True)
    listed = list_heads(prints.bits, keys, False)

    assert own.tolist() == [[0b0_010, 0b1_101]]
    assert listed.tolist() == [[0b0_010, 0b0_110, 0b1_101]]
