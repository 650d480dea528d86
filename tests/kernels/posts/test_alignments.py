"""Alignments of keys against those of RapidFuzz, which reads the same states backwards in the same order."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from hybriddup.kernels.posts.alignments import LONGEST_ALIGNED, Side, align, enter_pair, make_room
from tests.inner_kernels import from_python

few_keys = st.lists(st.integers(1, 4), max_size=12)


def partners(pairs: list[tuple[list[int], list[int]]]) -> list[list[int]]:
    """The partner of each key of the first sequence of each pair, all aligned in the same room."""
    room, found = make_room(max((len(one) for pair in pairs for one in pair), default=0)), []
    for a, b in pairs:
        sides = Side(0, len(a), 0), Side(len(a), len(a) + len(b), 1)
        from_python(enter_pair)(np.array([*a, *b], np.uint64), *sides, room)
        from_python(align)(len(a), len(b), room)
        found.append(room.partners[: len(a)].tolist())
    return found


def expected(a: list[int], b: list[int]) -> list[int]:
    """The same by RapidFuzz."""
    found = [-1] * len(a)
    for step in LCSseq.opcodes(a, b):
        if step.tag == "equal":
            found[step.src_start : step.src_end] = range(step.dest_start, step.dest_end)
    return found


@given(st.lists(st.tuples(few_keys, few_keys), max_size=4))
@example([([], []), ([1], []), ([], [1]), ([1, 2], [1, 2]), ([1, 2, 1], [1]), ([1], [1, 1, 1])])
def test_short_sequences_are_aligned_as_by_rapidfuzz(pairs: list[tuple[list[int], list[int]]]) -> None:
    assert partners(pairs) == [expected(a, b) for a, b in pairs]


@pytest.mark.parametrize("n_keys", [2, 7, 60, 5000])
def test_long_sequences_are_aligned_as_by_rapidfuzz(n_keys: int) -> None:
    """Lengths around those where the state of a row needs one more word."""
    rng = np.random.default_rng(n_keys)
    sizes = [(63, 64), (64, 63), (65, 200), (128, 129), (129, 1), (1, 129), (500, 700)]
    pairs = [(rng.integers(0, n_keys, n).tolist(), rng.integers(0, n_keys, m).tolist()) for n, m in sizes]
    assert partners(pairs) == [expected(a, b) for a, b in pairs]


def test_a_pair_is_aligned_the_same_next_to_a_longer_one() -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(0, 900, LONGEST_ALIGNED).tolist()
    pair = (a, [key for key in a if rng.random() < 0.9])
    longer = (list(range(3 * LONGEST_ALIGNED)), list(range(1, 3 * LONGEST_ALIGNED)))
    assert partners([pair]) == [expected(*pair)] == partners([pair, longer])[:1]


def test_ends_of_very_long_sequences_are_aligned() -> None:
    n = LONGEST_ALIGNED + 1
    a = [*range(50), *range(100, 100 + n), *range(9000, 9020)]
    b = [*range(50), *range(101, 102 + n), *range(9000, 9020)]
    [found] = partners([(a, b)])
    assert found[:50] == list(range(50))
    assert found[50:-20] == [-1] * n
    assert found[-20:] == list(range(len(b) - 20, len(b)))
