"""The characters of many texts: the same whatever the batches and the workers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import SKETCH_WORDS, encode_texts, offsets_of
from hybriddup.kernels.text.characters import sketch_characters
from hybriddup.steps.candidates.sketches import sketch_texts
from hybriddup.steps.verifiers.characters import as_symbols

texts_of_all_kinds = st.lists(st.text(alphabet="abc好é\ud800\0😀\U0010ffff", max_size=9), max_size=9)


@given(texts_of_all_kinds)
def test_symbols_stand_for_the_characters(texts: list[str]) -> None:
    """Numbered by first use, so that the texts can be read back."""
    symbols, offsets, n_symbols = as_symbols(encode_texts(texts))
    first_uses = "".join(dict.fromkeys("".join(texts)))
    written = "".join(first_uses[symbol] for symbol in symbols.tolist())
    assert [written[first:last] for first, last in pairwise(offsets.tolist())] == texts
    assert n_symbols == len(first_uses)


@pytest.mark.parametrize("n_different", [2**16 - 1, 2**16 + 1, 0xD7FF * 3])
def test_many_different_characters_have_a_symbol_each(n_different: int) -> None:
    """More than two bytes could number, and most of the planes."""
    text = "".join(map(chr, range(n_different)))
    symbols, _, n_symbols = as_symbols(encode_texts([text[::-1], text]))
    assert n_symbols == n_different
    assert symbols.tolist() == [*range(n_different), *range(n_different - 1, -1, -1)]


@given(texts_of_all_kinds, st.integers(1, 4), st.integers(1, 3))
def test_sketches_are_those_of_the_kernel(texts: list[str], size: int, workers: int) -> None:
    expected = np.zeros((len(texts), SKETCH_WORDS), np.uint64)
    sketch_characters(*encode_texts(texts), expected)
    assert sketch_texts(texts, workers, texts_per_batch=size).tolist() == expected.tolist()


@pytest.mark.parametrize("n_texts", [4095, 4096, 4097, 20_000])
@pytest.mark.parametrize("workers", [1, 2])
def test_every_text_of_a_large_corpus_is_sketched(n_texts: int, workers: int) -> None:
    texts = ["a" * (row % 250 + 1) for row in range(n_texts)]
    assert np.bitwise_count(sketch_texts(texts, workers)).any(axis=1).all()


@given(texts_of_all_kinds)
def test_offsets_are_where_texts_begin_one_after_another(texts: list[str]) -> None:
    expected = [len("".join(texts[:end])) for end in range(len(texts) + 1)]
    assert offsets_of(texts).tolist() == expected == encode_texts(texts).offsets.tolist()
