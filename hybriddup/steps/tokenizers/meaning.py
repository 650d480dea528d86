"""Tests whether a part of a text is a word, and not only punctuation or white space. Fast to import."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from hybriddup.data.records import Bools, characters_between


def is_word(token: str) -> bool:
    """Return whether a token has a letter, a digit, an emoji, an icon or a similar symbol."""
    return token.isalnum() or any(is_meaningful(character) for character in token)


def is_meaningful(character: str) -> bool:
    """Return whether a character is a letter, digit, emoji or similar symbol.

    A token with at least one such character is a word.
    """
    # So: emoji and other symbols; Co: private-use characters, which old phones and Weibo use for icons.
    return character.isalnum() or unicodedata.category(character) in {"So", "Co"}


@cache
def meaningful_characters() -> Bools:
    """Return bool[0x110000]: the result of `is_meaningful` for each code point."""
    meaningful = np.zeros(0x110000, np.bool_)
    for start, end in _CHECKED:
        meaningful[start:end] = np.fromiter(map(is_meaningful, characters_between(start, end)), np.bool_, end - start)
    for start, end in _MEANINGFUL:
        meaningful[start:end] = True
    return meaningful


_MEANINGFUL = (
    (0x3400, 0x4DC0),
    (0x4E00, 0x9FFD),
    (0xAC00, 0xD7A4),
    (0xE000, 0xF900),
    (0xF0000, 0xFFFFE),
    (0x100000, 0x10FFFE),
)
"""Ranges of Han, Hangul and private-use characters: all meaningful, and too many to check one by one."""

_CHECKED = ((0, 0x3400), (0x4DC0, 0x4E00), (0x9FFD, 0xAC00), (0xD7A4, 0xE000), (0xF900, 0x33480), (0xE0000, 0xE0200))
"""Ranges that contain all assigned code points outside `_MEANINGFUL`; each code point in them is checked."""
