"""What guards look for: the kinds of signs, the characters and words that are some, and limits of what is read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import UInt8s, UInt64s

NUMBER, NEGATION, OPPOSITE, NAME = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
"""What a sign, and so a pair, may concern. Of a character, `NUMBER` says that a day or a time may begin with it."""
DIGIT, NUMERAL, LETTER, ALONE = np.uint8(16), np.uint8(32), np.uint8(64), np.uint8(128)
"""Of a character: a digit, a Han numeral, a letter of a script with spaces, a letter of one without."""
ALL = np.uint8(15)
IN_WORDS = DIGIT | NUMERAL | LETTER | ALONE
MOST_LETTERS, MOST_ALONE = 64, 24
"""Characters that may differ in a small difference; fewer if there are Han characters or kana."""
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Of the hash FNV-1a of 64 bits."""
PARTICLES = tuple(ord(character) for character in "了啦吧呀啊哦噢喔哟诶欸唉哎嗯呃额阿哇咯喽罗哒嘞么呢嘛的")
APOSTROPHE, TYPOGRAPHIC, MODIFIER = (np.uint32(ord(character)) for character in "'\u2019\u02bc")


class Signs(NamedTuple):
    """What guards know of characters and words."""

    kinds: UInt8s
    """uint8[n_code_points]: of each character."""
    words: UInt64s
    """uint64[n_words], rising: the hashes of words of scripts with spaces."""
    of_words: UInt8s
    """uint8[n_words]: what they concern."""
    names: UInt64s
    """uint64[n_names], rising: the hashes of names of two Han characters and more, and of surnames of one."""
