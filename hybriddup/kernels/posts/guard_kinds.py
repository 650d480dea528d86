"""Flags, tables and limits for *signs*: characters and words that guards look for, such as digits and negations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import UInt8s, UInt64s

NUMBER, NEGATION, OPPOSITE, NAME = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
"""Flags, one for each guard. On a character or word, a flag means that the guard looks for it; on a pair, that the
guard must check it. In scripts without spaces, a character has a flag if a word with this flag may contain it."""
DIGIT, NUMERAL, LETTER, ALONE = np.uint8(16), np.uint8(32), np.uint8(64), np.uint8(128)
"""Flags of a character: digit, Han numeral, letter of a script with spaces, letter of a script without spaces."""
DAY = LETTER
"""Flag of a word: name of a weekday or month. Such a word also has `DIGIT`: in a large difference, it counts like
digits."""
ALL = np.uint8(15)
IN_WORDS = DIGIT | NUMERAL | LETTER | ALONE
MOST_LETTERS, MOST_ALONE = 64, 24
"""Maximum number of characters in a small difference; `MOST_ALONE` if the difference has Han characters or kana."""
PARTICLES = tuple(ord(character) for character in "了啦吧呀啊哦噢喔哟诶欸唉哎嗯呃额阿哇咯喽罗哒嘞么呢嘛的")
APOSTROPHE, TYPOGRAPHIC, MODIFIER = (np.uint32(ord(character)) for character in "'\u2019\u02bc")


class Signs(NamedTuple):
    """Tables of the characters, words and names that guards look for."""

    kinds: UInt8s
    """uint8[n_code_points]: table from each code point to the flags of the character."""
    words: UInt64s
    """uint64[n_words], ascending: hashes of the words that guards look for, in scripts with spaces."""
    of_words: UInt8s
    """uint8[n_words]: flags of each word."""
    with_negation: UInt64s
    """uint64[n], ascending: hashes of the words that may be added together with a negation, such as "do"."""
    names: UInt64s
    """uint64[n_names], ascending: hashes of names of two or more Han characters, and of one-character surnames."""
