"""Pairs of adjacent letters: counted as a plain loop would count them, and the same from either side."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.data.records import encode_texts
from hybriddup.kernels.posts.letter_pairs import letter_pairs_of, share_letter_pairs
from hybriddup.steps.posts.characters import load_characters
from tests.steps.slow_post import lacking_letter_pairs, letter_pairs

texts = st.lists(st.text("abcé7 .我ส한ب", max_size=40), min_size=2, max_size=6)


@given(texts)
def test_pairs_skip_all_but_letters_and_digits_of_alphabets(some: list[str]) -> None:
    pairs = letter_pairs_of(*encode_texts(some), load_characters().kinds)
    of_texts = np.split(pairs.hashes, pairs.offsets[1:-1])
    assert [of_text.tolist() for of_text in of_texts] == [letter_pairs(text) for text in some]


@given(texts, st.integers(0, 20))
@example(["the red boat sails at noon", "a boat as red as the sail"], 7)
@example(["", "one"], 0)
def test_a_pair_of_texts_may_lack_as_many_as_allowed(some: list[str], may_lack: int) -> None:
    pairs = letter_pairs_of(*encode_texts(some), load_characters().kinds)
    earlier, later = (places.ravel() for places in np.indices((len(some), len(some))))
    shared = share_letter_pairs(pairs, earlier, later, np.full(len(later), float(may_lack)))
    expected = [lacking_letter_pairs(some[a], some[b]) <= may_lack for a, b in zip(earlier, later, strict=True)]
    assert shared.tolist() == expected
