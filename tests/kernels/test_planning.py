"""What plans the sampled tables, against checks in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.kernels.planning import count_compatible, needed_weak_bits
from tests.builders import clustered_numbers, pack_strengths, words_of


def fewest_weak_bits(difference: int, strengths: list[int], key: list[int]) -> int:
    """The fewest weak bits with which every differing bit of the key is among them, trying one after another."""
    weakest_first = sorted(range(len(key)), key=lambda place: (strengths[key[place]], place))
    for n_weak_bits in range(len(key) + 1):
        weak = {key[place] for place in weakest_first[:n_weak_bits]}
        if all(position in weak or not difference >> position & 1 for position in key):
            return n_weak_bits
    raise AssertionError("with all bits weak every difference is covered")


@pytest.mark.parametrize("words", [1, 2, 4])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), n_key_bits=st.integers(1, 10))
def test_needed_weak_bits_equal_trying_each_number(words: int, seed: int, n_key_bits: int) -> None:
    """For any key and strengths, ties among them, the count is the first with which the table finds the pair."""
    rng = np.random.default_rng(seed)
    bits, n_pairs, n_tables = 64 * words, 6, 3
    earlier, later = (clustered_numbers(rng, n_pairs, bits, bits // 4, n_patterns=1) for _ in range(2))
    strengths = rng.integers(0, 6, (n_pairs, bits)).astype(np.uint8)
    keys = np.array([rng.permutation(bits) for _ in range(n_tables)], np.int64)
    needed = needed_weak_bits(
        words_of(earlier, words), words_of(later, words), pack_strengths(strengths), keys, n_key_bits
    )
    expected = [
        [
            fewest_weak_bits(earlier[pair] ^ later[pair], strengths[pair].tolist(), key[:n_key_bits].tolist())
            for pair in range(n_pairs)
        ]
        for key in keys
    ]
    assert needed.tolist() == expected


def test_equal_fingerprints_need_no_weak_bits() -> None:
    """Their keys are equal in every table."""
    bits, strengths = words_of([12345], 1), np.zeros((1, 32), np.uint8)
    assert needed_weak_bits(bits, bits, strengths, np.arange(64)[None, :], 16).tolist() == [[0]]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 14)), max_size=8))
def test_compatible_pairs_equal_a_plain_count(texts: list[tuple[int, int]]) -> None:
    """Both orders of each pair count, where the longer text is within reach of the shorter one."""
    # Texts of one length share their reach, as they do where reach goes by length.
    reach_of = dict(texts)
    lengths = [length for length, _ in texts]
    expected = sum(
        max(lengths[a], lengths[b]) <= reach_of[min(lengths[a], lengths[b])]
        for a in range(len(texts))
        for b in range(len(texts))
        if a != b
    )
    reaches = [reach_of[length] for length in lengths]
    assert count_compatible(np.array(lengths, np.int32), np.array(reaches, np.int32)) == expected
