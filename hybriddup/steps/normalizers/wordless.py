"""Posts without words: only emoji, emoticons in brackets, marks, links and mentions.

Normalizing removes most of their content. So such a post repeats another one only if the two were equal before
normalizing, apart from repeated signs: 👍 equals 👍👍👍.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from hybriddup.data.records import Bools
from hybriddup.steps.normalizers import patterns

MASK = r"<[a-z]+>"
"""Pattern of the placeholders of masked parts, such as ``<url>``."""
LINKS = (*patterns.LINKS, patterns.ICON_LINK, patterns.WORD_LINK)
NO_WORDS = re.compile(
    rf"(?:{'|'.join(pattern.source for pattern in (*LINKS, patterns.MENTION, patterns.EMOJI))}|{MASK}|[\W_])*+",
    re.IGNORECASE,
)
REPEATED = re.compile(r"(\[\w{1,11}\]|[^\w\s<>/])(?:\s*+\1)++")


def have_words(texts: Sequence[str]) -> Bools:
    """Return bool[n]: whether each normalized text has a letter or a digit outside links, mentions and emoticons.

    Examples
    --------
    >>> have_words(["early", "1", "👍!", "[doge][doge]", "@someone http://t.cn/a", "<repost> 👍", ""]).tolist()
    [True, True, False, False, False, False, False]
    """
    return np.fromiter((match is None for match in map(NO_WORDS.fullmatch, texts)), np.bool_, len(texts))


def has_words(text: str) -> bool:
    """Return whether a normalized text has a letter or a digit outside links, mentions and emoticons."""
    return NO_WORDS.fullmatch(text) is None


def without_repeats(text: str) -> str:
    """Collapse repeated signs in a post without words.

    Examples
    --------
    >>> [without_repeats(text) for text in ("[doge][doge] [doge]", "👍👍!!", "👍😊👍")]
    ['[doge]', '👍!', '👍😊👍']
    """
    return REPEATED.sub(itemgetter(1), text)
