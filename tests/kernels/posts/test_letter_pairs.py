"""Pairs of adjacent letters: counted as a plain loop would count them, and the same from either side."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.data.records import encode_texts
from hybriddup.kernels.posts.letter_pairs import letter_pairs_of
from hybriddup.steps.posts.characters import load_characters
from hybriddup.steps.verifiers.post.verifier import are_paired
from tests.steps.slow_post import lacking_letter_pairs, letter_pairs

texts = st.lists(st.text("abcé7 .我ส한ب", max_size=40), min_size=2, max_size=6)


@given(texts)
def test_pairs_skip_all_but_letters_and_digits_of_alphabets(some: list[str]) -> None:
    hashes, offsets = letter_pairs_of(*encode_texts(some), load_characters().kinds)
    of_texts = np.split(hashes, offsets[1:-1])
    assert [of_text.tolist() for of_text in of_texts] == [letter_pairs(text) for text in some]


@given(texts)
@example(["the red boat sails at noon", "a boat as red as the sail"])
@example(["abcdef", "abcdxy", "abcxyz"])
@example(["", "one"])
def test_texts_may_lack_one_letter_pair_for_three_characters(some: list[str]) -> None:
    earlier, later = (places.ravel() for places in np.indices((len(some), len(some))))
    expected = [
        lacking_letter_pairs(some[a], some[b]) <= min(len(some[a]), len(some[b])) / 3
        for a, b in zip(earlier, later, strict=True)
    ]
    assert are_paired(encode_texts(some), earlier, later).tolist() == expected
