"""Which parts of a text are words: those that say something. Imports nothing heavy."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from hybriddup.data.records import Bools


def is_word(token: str) -> bool:
    """Return whether a token says something: it has a letter, a digit, an emoji, an icon or other such symbol."""
    return token.isalnum() or any(says_something(character) for character in token)


def says_something(character: str) -> bool:
    """Return whether a token with this character is a word."""
    # So: emoji and other symbols; Co: private characters, which old phones and Weibo use for icons.
    return character.isalnum() or unicodedata.category(character) in {"So", "Co"}


@cache
def meaningful_characters() -> Bools:
    """Return bool[0x110000]: `says_something` by code point."""
    says = np.zeros(0x110000, np.bool_)
    for start, end in _ASKED:
        says[start:end] = np.fromiter(map(says_something, map(chr, range(start, end))), np.bool_, end - start)
    for start, end in _MEANINGFUL:
        says[start:end] = True
    return says


_MEANINGFUL = (
    (0x3400, 0x4DC0),
    (0x4E00, 0x9FFD),
    (0xAC00, 0xD7A4),
    (0xE000, 0xF900),
    (0xF0000, 0xFFFFE),
    (0x100000, 0x10FFFE),
)
"""Han, Hangul and private characters, too many to ask for one by one."""

_ASKED = ((0, 0x3400), (0x4DC0, 0x4E00), (0x9FFD, 0xAC00), (0xD7A4, 0xE000), (0xF900, 0x33480), (0xE0000, 0xE0200))
"""The rest of the planes that have characters. All others are unassigned."""
