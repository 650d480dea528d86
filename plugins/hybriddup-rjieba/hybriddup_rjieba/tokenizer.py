"""Tokenizer `rjieba`: Chinese words from jieba's dictionary, cut by the Rust package rjieba."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from typing import Any

import numpy as np
import rjieba
from pydantic import Field

import hybriddup
from hybriddup.data.records import Tokens
from hybriddup.steps.tokenizers.words import words_among_parts

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class RjiebaOptions(hybriddup.Options):
    """How `rjieba` cuts."""

    hmm: bool = Field(False, description="Whether words that are in no dictionary are guessed from their characters.")


class Rjieba:
    """Splits texts into dictionary words; white space and punctuation are not tokens, as with `jieba`.

    Notes
    -----
    The interpreter lock is held while words are converted to Python strings, which takes most of the time for posts: in
    a measurement, two threads were no faster than one.
    """

    Options = RjiebaOptions
    holds_interpreter = True

    def __init__(self, options: RjiebaOptions) -> None:
        self.options = options

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options only: each process loads the dictionary itself, in a tenth of a second."""
        return type(self), (self.options,)

    def recipe(self) -> dict[str, str]:
        """Return rjieba's version, which identifies the dictionary that is compiled into it."""
        return {"rjieba": version("rjieba")}

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the words of each text, in order; none if it has only punctuation and white space."""
        # rjieba takes UTF-8, which cannot encode lone surrogates. Like spaces, they are not words but separate words.
        clean = [_LONE_SURROGATE.sub(" ", text) for text in texts]
        cut, hmm = self._jieba.cut, self.options.hmm
        parts = chain.from_iterable(cut(text, hmm) for text in clean)
        return words_among_parts(clean, np.fromiter(map(len, parts), np.int64))

    @cached_property
    def _jieba(self) -> rjieba.Jieba:
        return rjieba.Jieba()
