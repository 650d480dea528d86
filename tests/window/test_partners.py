"""What a later text may match, by its length: no pair is passed over."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.pair_limits import length_class
from hybriddup.window.index.text_ring import LONGEST_TOLD, find_partners
from tests.builders import make_limits

LENGTHS = st.lists(st.integers(0, 6000), min_size=1, max_size=40)


@given(LENGTHS, st.lists(st.integers(0, 9000), min_size=40, max_size=40), st.lists(st.integers(-1, 9), min_size=40))
def test_no_text_that_may_match_is_shorter_or_has_a_larger_limit(
    lengths: list[int], reaches: list[int], limits: list[int]
) -> None:
    """Whatever the length of the later one."""
    n = len(lengths)
    texts = make_limits(
        n, lengths=lengths, max_hamming_distances=limits[:n], max_partner_lengths=[max(each, 0) for each in reaches[:n]]
    )
    partners = find_partners(texts)
    for later in [*lengths, 0, 1, 50, LONGEST_TOLD + 7]:
        of_shorter = [
            (limit, length)
            for length, reach, limit in zip(lengths, reaches, limits, strict=False)
            if length <= later <= max(reach, length)
        ]
        row = min(later, LONGEST_TOLD)
        assert partners.max_distances[row] >= max((limit for limit, _ in of_shorter), default=-1)
        assert partners.shortest[row] <= min((length for _, length in of_shorter), default=later)


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**20))
def test_a_longer_length_has_no_smaller_class(length: int, more: int) -> None:
    """From 0 to 255, one by one at first."""
    assert 0 <= length_class(length) <= length_class(length + more) <= 255
    assert length_class(length % 32) == length % 32
