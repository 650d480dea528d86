"""What `microblog` looks for in a post, as rewriting rules in the order in which they apply.

Every rule takes time linear in the text: repeats are possessive (``++``) or bounded, and no pattern begins with one
that a later character can fail. Patterns begin with a literal where they can, which is found quickest, and expect
folded text: full-width ``@`` and ``#`` are not looked for. What is dropped leaves a space, so that its neighbors do
not grow together into something new. The order, and what the rules leave alone, make a second pass change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from hybriddup.steps.normalizers.folding import BOUNDARY

CUT = "\ufdd1"
"""Stands where a repost marker was, until the trail of quotes is dropped; like `BOUNDARY`, no character."""

_NAME = r"[\w·\-]{1,30}+"
_COLON = r"(?:\s*+[:：]++)?+"

REPOST_MARKERS = (
    rf"//\s*+@{_NAME}{_COLON}",
    rf"rt(?<![a-z0-9]rt)\s*+@{_NAME}{_COLON}",
    rf"回[复復覆]\s*+@{_NAME}{_COLON}",
)
"""``//@user:``, ``RT @user:``, ``回复@user:``."""

REPOST_COMMENTS = tuple(rf"{words}(?<![^\s\]:：{CUT}{BOUNDARY}].{{4}})(?!\w)" for words in ("转发微博", "轉發微博"))
"""``转发微博``, which Weibo writes for those who write nothing, but not within a sentence."""

URLS = (
    r"""https?://(?:[!-"$-.0-~]++|/(?!/@)|#(?=[!-~]))++""",  # Chinese text and #话题# follow without a space
    r"www\.(?=\w)[!-~]++",
    r"t\.cn/(?<![a-z0-9.-]t\.cn/)[a-z0-9]++",
    r"o网页链接",  # what Weibo shows for a link, with the O of its icon
)

MENTION = rf"@(?:(?<![a-z0-9_]@)|(?![a-z0-9_])){_NAME}(?:@{_NAME})*+"
"""``@user``; an ASCII name after an ASCII letter is a mail address and stays."""

HASHTAGS = (
    rf"#(?=\S)[^#{BOUNDARY}]++(?<=\S)#",
    r"#(?=\d*+[^\W\d])\w++",
)
"""Weibo's ``#topic words#``, then everyone else's ``#topic``."""

_PICTOGRAPHS = "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\ue000-\uf8ff"
_ASTRAL_PICTOGRAPHS = "\U0001f000-\U0001f0ff\U0001f18e\U0001f191-\U0001f1ff\U0001f200-\U0001faff"
_ATTACHED = "\u200d\ufe0f\U000e0020-\U000e007f"
EMOJI = rf"(?:[{_PICTOGRAPHS}{_ASTRAL_PICTOGRAPHS}][{_ATTACHED}]*+|[0-9#*]\ufe0f?\u20e3|\[[^\W\d_]\w{{0,9}}+\])++"
"""A run of emoji, of symbols drawn like them, of private characters (what Weibo's and old phones' icons are), of
``[doge]`` and the like: brackets around one to ten letters or digits, a letter first."""

REPEATED = (
    '([!"$-.:-@\\[-^`{-~¡-©«-±´¶-¸»¿×÷\u2010-\u2027\u2030-\u205e\u2190-\u23e8\u2500-\u25ff\u3001-\u3003\u3008-\u3020'
    "\u3030\ufe30-\ufe6f！＂＄-．：-＠［-＾｀｛-･])\\1++"
)
"""The same mark twice or more. Not ``#``, since ``#one##two#`` is two topics, and not ``/``, which ``://`` needs."""


Replacement = str | Callable[[re.Match[str]], str]


class Rule(NamedTuple):
    """One rewriting rule."""

    pattern: re.Pattern[str]
    replacement: Replacement


def rules(*sources: str, replacement: Replacement, ignore_case: bool) -> list[Rule]:
    """Return one rule a pattern, in order."""
    flags = re.IGNORECASE if ignore_case else re.NOFLAG
    return [Rule(re.compile(source, flags), replacement) for source in sources]
