"""Words among the parts into which texts are cut, without a Python object for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Bools, EncodedTexts, Int64s, Tokens, encode_texts
from hybriddup.kernels.words import take_words
from hybriddup.steps.tokenizers.meaning import meaningful_characters


def words_among_parts(texts: Sequence[str], lengths: Int64s) -> Tokens:
    """Return the parts that are words, as `hybriddup.steps.tokenizers.meaning.is_word` says.

    Parameters
    ----------
    lengths
        int64[n_parts]: code points of each part, at least 1. Put together, the parts of a text are the text.

    Examples
    --------
    >>> words_among_parts(["big, cat", ""], np.array([3, 1, 1, 3])).strings(0)
    ['big', 'cat']
    """
    encoded = encode_texts(texts)
    begins = np.zeros(len(encoded.code_points), np.bool_)
    begins[np.cumsum(lengths) - lengths] = True
    return words_between(encoded, begins)


def words_between(texts: EncodedTexts, begins: Bools) -> Tokens:
    """Return the parts that are words; ``begins`` bool[n_code_points] says at which character each part begins."""
    return Tokens(texts.code_points, *take_words(*texts, begins, meaningful_characters()))
