"""Fingerprints wait in parts, and are handed out in order, once."""

from __future__ import annotations

import weakref
from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.records import Fingerprints
from hybriddup.waiting import FingerprintQueue
from tests.builders import make_limits, make_prints

part_sizes = st.lists(st.integers(0, 5), min_size=1, max_size=5)


def parts_of(sizes: list[int]) -> list[Fingerprints]:
    """Parts of these sizes; position, fingerprint and length of a text tell its place."""
    ends = list(accumulate(sizes))
    return [
        make_prints(
            range(end - size, end),
            limits=make_limits(size, lengths=list(range(end - size, end))),
            positions=list(range(end - size, end)),
        )
        for size, end in zip(sizes, ends, strict=True)
    ]


def places(prints: Fingerprints) -> list[int]:
    """The places of the texts, which their columns agree about."""
    found = prints.positions.tolist()
    assert prints.bits[:, 0].tolist() == prints.limits.lengths.tolist() == found
    assert len(prints.strengths) == len(found)
    return found


@given(part_sizes, st.lists(st.integers(1, 7), max_size=12))
def test_everything_is_handed_out_once_in_order(sizes: list[int], wanted: list[int]) -> None:
    """However it came in parts, and however many are taken at a time."""
    waiting, n, taken = FingerprintQueue(parts_of(sizes)), sum(sizes), []
    for size in wanted:
        if not (size := min(size, len(waiting))):
            break
        taken += places(waiting.take_first(size))
        assert len(waiting) == n - len(taken)
    assert taken == list(range(len(taken)))


@given(part_sizes, st.data())
def test_some_can_be_looked_at_and_still_wait(sizes: list[int], data: st.DataObject) -> None:
    """Rows count over all parts."""
    waiting, n = FingerprintQueue(parts_of(sizes)), sum(sizes)
    rows = sorted(data.draw(st.sets(st.integers(0, max(n - 1, 0)), max_size=n)) if n else [])
    assert places(waiting.take_some(np.array(rows, np.int64))) == rows
    assert len(waiting) == n
    assert [place for part in waiting for place in places(part)] == list(range(n))


def test_parts_that_are_used_up_are_let_go() -> None:
    """Their strengths are most of the memory."""
    parts = parts_of([3, 3])
    strengths = [weakref.ref(part.strengths) for part in parts]
    waiting = FingerprintQueue(parts)
    del parts
    waiting.take_first(4)
    assert strengths[0]() is None
    assert strengths[1]() is not None
