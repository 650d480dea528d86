"""Tokenizer `words`: words as Unicode defines them (UAX 29), one for each Chinese character."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import regex

from hybriddup.records import Tokens, tokens_from_lists

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
    """

    holds_interpreter = True

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the words of each text, in order; none where it holds only punctuation and white space."""
        return tokens_from_lists([list(filter(is_word, _SEGMENT.findall(text))) for text in texts])


def is_word(token: str) -> bool:
    """Return whether a token says something: it has a letter, a digit, an emoji, an icon or other such symbol.

    Examples
    --------
    >>> [is_word(token) for token in ("好", "3.14", "👍", "，", " ", "$")]
    [True, True, True, False, False, False]
    """
    return token.isalnum() or any(_says_something(character) for character in token)


def _says_something(character: str) -> bool:
    # So: emoji and other symbols; Co: private characters, which old phones and Weibo use for icons.
    return character.isalnum() or unicodedata.category(character) in {"So", "Co"}
