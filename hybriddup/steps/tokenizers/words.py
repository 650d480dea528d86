"""Tokenizer `words`: words by the Unicode rules (UAX 29), and single Chinese characters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import regex

from hybriddup.data.records import Bools, EncodedTexts, Int64s, Tokens, UInt8s, characters_between, encode_texts
from hybriddup.kernels.kept_tables import load_or_make
from hybriddup.kernels.text import words as kernel
from hybriddup.kernels.text.words import mark_words, take_words
from hybriddup.steps.tokenizers.meaning import meaningful_characters


class Words:
    """Splits texts at Unicode word boundaries; letters keep their case.

    A part is a token if it has a letter or digit (``don't``, ``3.14``, one Chinese character), an emoji or another
    symbol except operators and currency signs. White space and punctuation are not tokens.
    """

    holds_interpreter = False

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the words of each text, in order; none for a text of only punctuation and white space."""
        encoded = encode_texts(texts)
        return words_between(encoded, mark_words(*encoded, word_classes()))


@cache
def word_classes() -> UInt8s:
    """Return uint8[0x110000]: Word_Break class of each code point, numbered as in `hybriddup.kernels.text.words`."""
    return load_or_make("word-classes", _make_word_classes, [__file__], regex.__version__)


def _make_word_classes() -> UInt8s:
    classes = np.full(0x110000, kernel.OTHER, np.uint8)
    for start, end in _CHECKED:
        characters = characters_between(start, end)
        for properties, number in _CLASSES.items():
            for run in regex.finditer(rf"[{properties}]++", characters, regex.V1):
                classes[start + run.start() : start + run.end()] = number
    classes[_HANGUL[0] : _HANGUL[1]] = kernel.LETTER
    return classes


_CLASSES = {
    r"\p{WB=ALetter}--\p{Han}": kernel.LETTER,
    r"\p{WB=Hebrew_Letter}": kernel.HEBREW,
    r"\p{WB=Numeric}": kernel.NUMBER,
    r"\p{WB=Katakana}": kernel.KATAKANA,
    r"\p{WB=ExtendNumLet}": kernel.CONNECTOR,
    r"\p{WB=MidLetter}": kernel.WITHIN_LETTERS,
    r"\p{WB=MidNum}": kernel.WITHIN_NUMBERS,
    r"\p{WB=MidNumLet}": kernel.WITHIN_BOTH,
    r"\p{WB=Single_Quote}": kernel.APOSTROPHE,
    r"\p{WB=Double_Quote}": kernel.QUOTE,
    r"\p{WB=Regional_Indicator}": kernel.FLAG_HALF,
    r"\p{WB=Extend}\p{WB=Format}": kernel.EXTENDER,
    r"\p{WB=ZWJ}": kernel.JOINER,
    r"\p{WB=WSegSpace}": kernel.SPACE,
    r"\p{Extended_Pictographic}&&\p{WB=Other}": kernel.PICTURE,
    r"\p{WB=CR}": kernel.RETURN,
    r"\p{WB=LF}": kernel.LINE_FEED,
    r"\p{WB=Newline}": kernel.NEWLINE,
}
_CHECKED = ((0, 0x3400), (0xA000, 0xAC00), (0xD7A4, 0xE000), (0xF900, 0x20000), (0xE0000, 0xE0200))
"""Ranges whose code points differ in Word_Break: all except Han, Hangul syllables and private-use characters."""
_HANGUL = (0xAC00, 0xD7A4)


def split_at_words(text: str) -> list[str]:
    """Split a text into words and the parts between them; joined, the parts are the text.

    Examples
    --------
    >>> split_at_words("Don't go, 你好")
    ["Don't", ' ', 'go', ',', ' ', '你', '好']
    """
    begins = mark_words(*encode_texts([text]), word_classes())
    bounds = [*np.flatnonzero(begins).tolist(), len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


def words_among_parts(texts: Sequence[str], lengths: Int64s) -> Tokens:
    """Return the parts of texts that are words according to `hybriddup.steps.tokenizers.meaning.is_word`.

    Parameters
    ----------
    lengths
        int64[n_parts]: length of each part in code points, at least 1. Joined, the parts of a text are the text.

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
    """Return the parts of texts that are words.

    ``begins``, bool[n_code_points], marks the first character of each part.
    """
    return Tokens(texts.code_points, *take_words(*texts, begins, meaningful_characters()))
