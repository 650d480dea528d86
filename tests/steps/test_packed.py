"""Packed tokens: they come out as they went in, and take less room on the way."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.steps.tokenizers.packed import narrow, pack_tokens, unpack_tokens


@st.composite
def any_tokens(draw: st.DrawFn) -> Tokens:
    """Slices anywhere in the code points, in any order; code points need not be characters."""
    points = draw(st.lists(st.one_of(st.integers(0, 200), st.integers(0, 2**32 - 1)), min_size=1, max_size=400))
    spans = st.integers(0, len(points) - 1).flatmap(
        lambda start: st.tuples(st.just(start), st.integers(1, min(300, len(points) - start)))
    )
    texts = draw(st.lists(st.lists(spans, max_size=5), max_size=5))
    flat = [span for text in texts for span in text]
    return Tokens(
        np.array(points, np.uint32),
        np.array([start for start, _ in flat], np.int64),
        np.array([length for _, length in flat], np.int32),
        np.cumsum([0, *map(len, texts)], dtype=np.int64),
    )


@given(any_tokens())
@example(tokens_from_lists([]))
@example(tokens_from_lists([[], []]))
@example(tokens_from_lists([["喊😀", "\ud800"], [], ["a" * 70000]]))
def test_tokens_come_out_as_they_went_in(tokens: Tokens) -> None:
    """Every array, with its type."""
    for before, after in zip(tokens, unpack_tokens(pack_tokens(tokens)), strict=True):
        assert after.dtype == before.dtype
        assert after.tolist() == before.tolist()


def test_words_take_a_third_of_the_bytes() -> None:
    """Two bytes a character, and two a word."""
    tokens = tokens_from_lists([["回家", "吃饭", "了", "明天"] * 10 + ["😀"]] * 256)
    assert 3 * len(pickle.dumps(pack_tokens(tokens))) < len(pickle.dumps(tokens))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], np.uint8), ([0, 255], np.uint8), ([0, 256], np.uint16), ([-1, 127], np.int8), ([-1, 128], np.int16)],
)
def test_numbers_have_the_narrowest_type_that_holds_them(numbers: list[int], expected: type) -> None:
    """With a sign only where one is needed."""
    narrowed = narrow(np.array(numbers, np.int64))
    assert narrowed.dtype == expected
    assert narrowed.tolist() == numbers
