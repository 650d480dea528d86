"""The largest Hamming limit of what a later text may match, by its length: no pair is passed over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybriddup.window.index.partner_limits import LONGEST_TOLD, partner_limits
from tests.builders import make_limits

LENGTHS = st.lists(st.integers(0, 6000), min_size=1, max_size=40)


@given(LENGTHS, st.lists(st.integers(0, 9000), min_size=40, max_size=40), st.lists(st.integers(-1, 9), min_size=40))
def test_no_text_that_may_match_has_a_larger_limit(lengths: list[int], reaches: list[int], limits: list[int]) -> None:
    """Whatever the length of the later one."""
    n = len(lengths)
    texts = make_limits(
        n, lengths=lengths, max_hamming_distances=limits[:n], max_partner_lengths=[max(each, 0) for each in reaches[:n]]
    )
    largest = partner_limits(texts)
    for later in [*lengths, 0, 1, 50, LONGEST_TOLD + 7]:
        of_shorter = [
            limit
            for length, reach, limit in zip(lengths, reaches, limits, strict=False)
            if length <= later <= max(reach, length)
        ]
        assert largest[min(later, LONGEST_TOLD)] >= max(of_shorter, default=-1)
