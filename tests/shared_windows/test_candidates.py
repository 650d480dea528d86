"""Which posts in the buckets of a shared window a batch is compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config.load import open_session
from hybriddup.data.records import NO_KEY
from hybriddup.run.components import Components
from hybriddup.shared_windows import Block, Entries, entry_type
from hybriddup.shared_windows.candidates import may_be_undecided, near_meetings, ranks_from_newest
from tests.builders import make_batch, make_prints
from tests.window.reference_window import CONFIG

BUCKETS = st.lists(st.lists(st.integers(0, 60), unique=True, max_size=9), max_size=6)


@given(BUCKETS, st.sets(st.integers(0, 60)))
def test_a_rank_says_how_many_decided_posts_are_newer(buckets: list[list[int]], undecided: set[int]) -> None:
    positions = [-1 if one in undecided else one for bucket in buckets for one in bucket]
    found = ranks_from_newest(np.array(list(map(len, buckets)), np.int64), np.array(positions, np.int64))
    expected = [
        1 if one in undecided else sum(other >= one for other in set(bucket) - undecided)
        for bucket in buckets
        for one in bucket
    ]
    assert found.tolist() == expected


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), max_size=5), st.randoms())
def test_posts_of_unfinished_blocks_may_be_undecided(sizes: Sequence[tuple[int, int]], random: object) -> None:
    blocks, first = [], 0
    for gap, n in sizes:
        blocks.append(Block(first + gap, n))
        first += gap + n
    positions = np.arange(first + 9)
    expected = [any(one.first <= at < one.first + one.n for one in blocks) for at in range(first)]
    expected += [bool(blocks)] * 9
    random.shuffle(blocks)  # type: ignore[attr-defined]
    assert may_be_undecided(positions, blocks).tolist() == expected


def test_several_texts_look_into_one_bucket() -> None:
    """Their own entries are left out, and posts that may be undecided get rank 1."""
    settings, manager = open_session(CONFIG, ())
    bands = Components.create(settings, manager.registry, 1).bands
    keys = np.array([[5, 9], [NO_KEY, 5], [7, NO_KEY]], np.uint64)
    prints = make_prints([0, 0, 0], positions=[10, 11, 12])
    entries = np.zeros(5, entry_type(1))
    entries["position"], entries["length"] = [3, 8, 10, 11, 4], 20
    found = Entries(np.array([3, 1, 1], np.int64), entries)  # of the keys 5, 7 and 9
    met = near_meetings(make_batch(prints, None, keys, keys), found, bands, 0, [Block(8, 2), Block(10, 3)])
    looks = zip(met.later.tolist(), met.key.tolist(), met.positions.tolist(), met.numbers.tolist(), strict=True)
    assert list(looks) == [(0, 0, 3, 1), (0, 0, 8, 1), (0, 1, 4, 1), (1, 1, 3, 1), (1, 1, 8, 1)]
