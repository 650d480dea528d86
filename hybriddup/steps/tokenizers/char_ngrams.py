"""The default tokenizer, `char_ngrams`: overlapping character n-grams, in compiled code."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from hybriddup.data.records import Tokens, encode_texts
from hybriddup.kernels.text.ngrams import script_ngrams
from hybriddup.steps.options import Options as ComponentOptions

LARGEST_NGRAM = 16


def check_sizes(sizes: tuple[int, int]) -> tuple[int, int]:
    """Return ``sizes`` if valid; raise ValueError if the smallest exceeds the largest, or one is out of range."""
    smallest, largest = sizes
    if not 1 <= smallest <= largest <= LARGEST_NGRAM:
        message = f"must be [smallest, largest] with 1 <= smallest <= largest <= {LARGEST_NGRAM}"
        raise ValueError(message)
    return sizes


Sizes = Annotated[tuple[int, int], AfterValidator(check_sizes)]


class CharNgrams:
    """Character n-grams, shorter in dense scripts: a Han character has the information of three or four letters."""

    class Options(ComponentOptions):
        """Sizes of the n-grams."""

        cjk: Sizes = (1, 2)
        """Smallest and largest n-gram in Han, kana, hangul and emoji."""
        other: Sizes = (3, 3)
        """Smallest and largest n-gram in all other scripts and in digits."""

    holds_interpreter = False

    def __init__(self, options: Options) -> None:
        self.options = options
        self._cjk = np.array(options.cjk, np.int64)
        self._other = np.array(options.other, np.int64)

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the n-grams of each text; a run of one script shorter than the smallest size is one token."""
        code_points, offsets = encode_texts(texts)
        starts, lengths, token_offsets = script_ngrams(code_points, offsets, self._cjk, self._other)
        return Tokens(code_points, starts, lengths, token_offsets)
