"""The signs that guards look for, such as digits and negations: flags, tables of characters and words, and limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import UInt8s, UInt64s

NUMBER, NEGATION, OPPOSITE, NAME = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
"""Flags of signs and pairs, one for each guard. A character has `NUMBER` if a day or time may begin with it."""
DIGIT, NUMERAL, LETTER, ALONE = np.uint8(16), np.uint8(32), np.uint8(64), np.uint8(128)
"""Flags of a character: digit, Han numeral, letter of a script written with spaces, letter of one written without."""
ALL = np.uint8(15)
IN_WORDS = DIGIT | NUMERAL | LETTER | ALONE
MOST_LETTERS, MOST_ALONE = 64, 24
"""Largest number of characters in a small difference; `MOST_ALONE` if it has Han characters or kana."""
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Constants of the 64-bit hash FNV-1a."""
PARTICLES = tuple(ord(character) for character in "了啦吧呀啊哦噢喔哟诶欸唉哎嗯呃额阿哇咯喽罗哒嘞么呢嘛的")
APOSTROPHE, TYPOGRAPHIC, MODIFIER = (np.uint32(ord(character)) for character in "'\u2019\u02bc")


class Signs(NamedTuple):
    """Tables of the characters, words and names that are signs."""

    kinds: UInt8s
    """uint8[n_code_points]: flags of each character."""
    words: UInt64s
    """uint64[n_words], ascending: hashes of the words that are signs, in scripts written with spaces."""
    of_words: UInt8s
    """uint8[n_words]: flags of each word."""
    names: UInt64s
    """uint64[n_names], ascending: hashes of names of two or more Han characters, and of one-character surnames."""
