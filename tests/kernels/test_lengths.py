"""How far lengths reach, by looking at every text."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.lengths import first_reaching, largest_so_far

some_lengths = st.lists(st.integers(0, 20), max_size=12)
texts_with_values = st.lists(st.tuples(st.integers(0, 20), st.integers(-1, 60)), max_size=12)


def int32s(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, np.int32)


def largest_up_to(texts: list[tuple[int, int]], length: int) -> int:
    """The largest value of the texts that are no longer; -1 where there is none."""
    return max((value for own, value in texts if own <= length), default=-1)


@given(texts_with_values, st.integers(0, 3))
def test_largest_so_far_is_that_of_no_longer_texts(texts: list[tuple[int, int]], beyond: int) -> None:
    """Whatever the order of the texts."""
    longest = max((length for length, _ in texts), default=0) + beyond
    lengths, values = int32s([length for length, _ in texts]), int32s([value for _, value in texts])
    expected = [largest_up_to(texts, length) for length in range(longest + 1)]
    assert largest_so_far(lengths, values, longest).tolist() == expected


@given(texts_with_values, some_lengths)
def test_first_that_reaches_is_the_shortest(texts: list[tuple[int, int]], later: list[int]) -> None:
    """By trying every length up to the text's own; its own where none reaches it."""
    longest = max([length for length, _ in texts] + later, default=0)
    lengths, reaches = int32s([length for length, _ in texts]), int32s([reach for _, reach in texts])
    first = first_reaching(largest_so_far(lengths, reaches, longest), int32s(later))
    expected = [
        next(n for n in range(length + 1) if n == length or largest_up_to(texts, n) >= length) for length in later
    ]
    assert first.tolist() == expected


@given(texts_with_values, some_lengths)
def test_no_text_that_reaches_a_later_one_is_below_the_first(texts: list[tuple[int, int]], later: list[int]) -> None:
    """Or a pair would be lost: what the length classes rely on."""
    longest = max([length for length, _ in texts] + later, default=0)
    lengths, reaches = int32s([length for length, _ in texts]), int32s([reach for _, reach in texts])
    first = first_reaching(largest_so_far(lengths, reaches, longest), int32s(later)).tolist()
    for length, bound in zip(later, first, strict=True):
        assert all(own >= bound for own, reach in texts if own <= length <= reach)
