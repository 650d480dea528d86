"""Tokenizer `words`: words as Unicode defines them (UAX 29), one for each Chinese character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import regex

from hybriddup.data.records import Bools, EncodedTexts, Int64s, Tokens, UInt8s, encode_texts
from hybriddup.kernels.words import (
    CONNECTOR,
    INVOLVED,
    KATAKANA,
    LETTER,
    NUMBER,
    OTHER,
    WITHIN_BOTH,
    WITHIN_LETTERS,
    WITHIN_NUMBERS,
    mark_words,
    take_words,
)
from hybriddup.steps.tokenizers.meaning import meaningful_characters

_SEGMENT = regex.compile(
    r"(?:[\p{Han}\p{Hiragana}]|\p{Regional_Indicator}{1,2}+)[\p{WB=Extend}\p{WB=Format}\p{WB=ZWJ}]*+"
    r"(?!(?<=\u200d)\p{Extended_Pictographic})|(?ws:.+?\b)",
    regex.V1,
)
"""All that stands between two word boundaries. Chinese characters are named first because that is quicker, flags
because boundaries between them come two by two, and the engine counts from where the run began at each. A joiner
binds them to a picture that follows, which the general rule knows."""


class Words:
    """Splits texts at Unicode word boundaries; letters keep their case.

    Tokens are the parts with a letter or digit (``don't``, ``3.14``, one Chinese character), an emoji or another
    symbol that is no operator or currency. White space and punctuation are no tokens.

    Notes
    -----
    Compiled for texts of the commonest scripts; only texts with characters that change their neighbors (accents that
    stand apart, joiners, flags) or of other scripts go through the regular expression.
    """

    holds_interpreter = False

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the words of each text, in order; none where it holds only punctuation and white space."""
        encoded = encode_texts(texts)
        begins = np.zeros(len(encoded.code_points), np.bool_)
        left_out = mark_words(*encoded, word_classes(), begins)
        for text in np.flatnonzero(left_out).tolist():
            lengths = np.fromiter(map(len, _SEGMENT.findall(texts[text])), np.int64)
            begins[encoded.offsets[text] + np.cumsum(lengths) - lengths] = True
        return words_between(encoded, begins)


@cache
def word_classes() -> UInt8s:
    """Return uint8[0x110000]: the class of each code point, for `hybriddup.kernels.words`."""
    classes = np.full(0x110000, INVOLVED, np.uint8)
    for start, end in _ASKED:
        characters = "".join(map(chr, range(start, end)))
        for properties, number in _CLASSES.items():
            for run in regex.finditer(rf"[{properties}]++", characters, regex.V1):
                classes[start + run.start() : start + run.end()] = number
    for start, end in _HAN:
        classes[start:end] = OTHER
    classes[_HANGUL[0] : _HANGUL[1]] = LETTER
    return classes


_CLASSES = {
    r"\p{WB=Other}\p{WB=CR}\p{WB=LF}\p{WB=Newline}\p{WB=WSegSpace}\p{WB=Double_Quote}": OTHER,
    r"\p{WB=ALetter}--\p{Han}": LETTER,
    r"\p{WB=Numeric}": NUMBER,
    r"\p{WB=Katakana}": KATAKANA,
    r"\p{WB=ExtendNumLet}": CONNECTOR,
    r"\p{WB=MidLetter}": WITHIN_LETTERS,
    r"\p{WB=MidNum}": WITHIN_NUMBERS,
    r"\p{WB=MidNumLet}\p{WB=Single_Quote}": WITHIN_BOTH,
}

_ASKED = ((0, 0x3400), (0xA000, 0xAC00), (0xF900, 0xFE00), (0xFE10, 0xFFF0), (0x1F000, 0x1FB00))
"""What microblogs are written in, but for Han and Hangul syllables, which are all of a kind."""
_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xE000, 0xF900))
"""Also private characters."""
_HANGUL = (0xAC00, 0xD7A4)


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
