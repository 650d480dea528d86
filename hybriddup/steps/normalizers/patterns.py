"""Patterns and rewriting rules of `microblog`, in the order in which they apply.

Every rule takes time linear in the text: repeats are possessive (``++``) or bounded, and no pattern begins with a
repeat after which the match can still fail. Patterns begin with a literal if possible, because a literal is found
fastest, and expect folded text: they do not match full-width ``@`` and ``#``. A dropped part leaves a space, so that
its neighbors do not join into a new match. The order of the rules makes normalizing idempotent.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from hybriddup.data.records import characters_between

BOUNDARY = "\ufdd0"
"""Separator of texts that are rewritten together: a code point that Unicode guarantees to be no character, so that it
never matches as a letter, a mark or white space."""

CUT = "\ufdd1"
"""Placeholder of a repost marker, such as ``//@user:``, until the quoted posts after it are dropped. Like `BOUNDARY`, a
code point that Unicode guarantees to be no character."""


class Pattern(NamedTuple):
    """A part of a post, as a regular expression."""

    source: str
    """Source of the regular expression, before compiling."""
    needs: str = ""
    """Literal that every match contains; empty if there is none."""


_NAME = r"[\w·\-]{1,30}+"
_NAMES = rf"@(?:(?<![a-z0-9_]@)|(?![a-z0-9_])){_NAME}(?:@{_NAME})*+"
_COLON = r"(?:\s*+[:：]++)?+"

REPOST_MARKERS = (
    Pattern(rf"//\s*+@{_NAME}{_COLON}", "@"),
    Pattern(rf"rt(?<![a-z0-9]rt)\s*+@{_NAME}{_COLON}", "@"),
    Pattern(rf"\"\s*+@{_NAME}\s*+[:：]++", "@"),
    Pattern(rf"mt @(?<![a-z0-9]mt @){_NAME}{_COLON}", "mt @"),
    Pattern(rf"回[复復覆]\s*+@{_NAME}{_COLON}", "@"),
)
"""Patterns of repost markers: ``//@user:``, ``RT @user:`` (``MT`` for a modified one), ``"@user:``, ``回复@user:``."""

REPOST_COMMENTS = tuple(
    Pattern(rf"{words}(?<![^\s\]:：{CUT}{BOUNDARY}].{{4}})(?!\w)", words) for words in ("转发微博", "轉發微博")
)
"""``转发微博``, Weibo's stock comment on a repost, except within a sentence."""

CROSS_POSTS = tuple(
    Pattern(source, mark)
    for mark in ("xpost", "x-post", "crosspost", "cross-post")
    for source in (
        rf"[(\[]{mark}[^)\]{BOUNDARY}]{{0,200}}+[)\]]",
        rf"{mark}(?<!\w{mark})(?:ed)?+ (?:from )?+/?+r/\w++:?+",
    )
)
"""Patterns of notes on cross-posts, as on Reddit: ``(x-post from r/pics)``, ``crossposted from /r/pics:``."""

LINKS = (
    # Chinese text and #话题# follow without a space
    Pattern(r"""https?://(?:[!-"$-.0-~]++|/(?!/@)|#(?=[!-~]))++""", "://"),
    Pattern(r"www\.(?=\w)[!-~]++", "www."),
    *(
        Pattern(rf"{re.escape(host)}(?<![a-z0-9.-]{re.escape(host)})[a-z0-9_-]++", host)
        for host in ("t.cn/", "bit.ly/", "goo.gl/", "ow.ly/", "fb.me/", "youtu.be/", "tinyurl.com/", "pic.twitter.com/")
    ),
)
"""Patterns of links. Short links count without a scheme, too: platforms and their exports leave it out."""
ICON_LINK = Pattern(r"o网页链接", "o网页链接")
"""Weibo's text for a link, including the letter O in place of its icon."""
WORD_LINK = Pattern(
    rf"网页链接(?<![这那此该个击开载看]网页链接)(?:网页链接)*+(?=[ #@{CUT}{BOUNDARY}]|\Z|http)", "网页链接"
)
"""Weibo's text for a link without the icon, after words but not within a sentence (``点击这个网页链接``)."""

MENTION = Pattern(_NAMES, "@")
"""``@user``; an ASCII name after an ASCII letter is a mail address and does not match."""
MENTIONS = Pattern(rf"{_NAMES}(?:[ ,、&+/]*+(?:and |y |et |und |e |和)?+{_NAMES})*+", "@")
"""A run of mentions, with the separators and words for "and" between them."""

HASHTAGS = (Pattern(rf"#(?=\S)[^#{BOUNDARY}]++(?<=\S)#", "#"), Pattern(r"#(?=\d*+[^\W\d])\w++", "#"))
"""Patterns of hashtags: ``#topic words#`` as on Weibo, then ``#topic`` as on other platforms."""

DIGITS = Pattern(r"\d++")

_PICTOGRAPHS = "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\ue000-\uf8ff"
_ASTRAL_PICTOGRAPHS = "\U0001f000-\U0001f0ff\U0001f18e\U0001f191-\U0001f1ff\U0001f200-\U0001faff"
_ATTACHED = "\u200d\ufe0f\U000e0020-\U000e007f"
EMOJI = Pattern(
    rf"(?:[{_PICTOGRAPHS}{_ASTRAL_PICTOGRAPHS}][{_ATTACHED}]*+|[0-9#*]\ufe0f?\u20e3|\[[^\W\d_]\w{{0,9}}+\])++"
)
"""A run of emoji, pictographs, private-use characters (icons of Weibo and old phones) and emoticons such as ``[doge]``:
brackets around one to ten letters or digits, a letter first."""

_ENDS = rf"(?=[ @{CUT}{BOUNDARY}]|\Z)"
_UNIT = "[年月日时号个人点名次位周天岁万亿千百十例]"
_CLIP = (
    rf"l(?<![a-z0-9@]l)[^\s,。!?{CUT}{BOUNDARY}]{{1,30}}?"
    "的(?:微博|秒拍|优酷|美拍|腾讯|土豆|酷燃|快手|抖音|西瓜|一直播)"
)
QUESTIONS = Pattern(rf" \?++{_ENDS}", " ?")
RESIDUE = (
    Pattern(rf"收起(?:全文d?+(?![a-z])|d{_ENDS})", "收起"),
    Pattern(rf"展开(?:全文c?+(?![a-z])|(?:(?<=[….]展开)|(?<=[….] 展开))c?+{_ENDS})", "展开"),
    Pattern(rf"全文(?:(?<=[….]全文)|(?<=[….] 全文)){_ENDS}", "全文"),
    Pattern(r"查看图片", "查看图片"),
    Pattern(rf"来自[^\s,。!?…{CUT}{BOUNDARY}]{{1,20}}?客户端{_ENDS}", "客户端"),
    Pattern(
        rf" o(?<=[^\s#<@{CUT}{BOUNDARY}]{{8}} o)(?=[\"【《「]?[\u4e00-\u9fff])(?!o?型)[^#<{CUT}{BOUNDARY}]{{6,}}+", " o"
    ),
    Pattern(f"{_CLIP}视频", "视频"),
    Pattern(f"{_CLIP}直播", "直播"),
    Pattern(rf" 2(?!{_UNIT})[\u4e00-\u9fff]{{2,12}}+(?:·[\u4e00-\u9fff]{{2,12}}+)?+{_ENDS}", " 2"),
    QUESTIONS,
)
"""Residue of Weibo and its crawlers: ``收起全文d``, ``…全文``, ``来自iPhone客户端``, ``L新华网的秒拍视频``,
``o你怎么看`` (the title of a link), ``2内江`` (a place), and question marks between spaces, which were emoji. L, o and
2 are remains of icons; ``o`` counts only after at least eight other characters. The patterns are applied in this order,
because some match only text that an earlier one has uncovered.
"""

MARKS = (
    '[!"$-.:-@\\[-^`{-~¡-©«-±´¶-¸»¿×÷\u2010-\u2027\u2030-\u205e\u2190-\u23e8\u2500-\u25ff\u3001-\u3003\u3008-\u3020'
    "\u3030\ufe30-\ufe6f！＂＄-．：-＠［-＾｀｛-･]"
)
"""Character class of the punctuation and symbols whose runs collapse to one character. It lacks ``#``, because
``#one##two#`` is two topics, and ``/``, because of ``://``."""


@cache
def marks() -> str:
    """Return the punctuation and symbols whose runs collapse to one; all are in the Basic Multilingual Plane."""
    return "".join(re.findall(f"{MARKS}++", characters_between(0, 0x10000)))


Replacement = str | Callable[[re.Match[str]], str]


class Rule(NamedTuple):
    """A rule of `microblog`: replaces the matches of a pattern in a folded text."""

    pattern: re.Pattern[str]
    replacement: Replacement
    needs: str
    """Literal that every match contains; empty if there is none."""


def first_comment(text: re.Match[str]) -> str:
    """Split a text at each `CUT`; return the first part with a letter or digit.

    If no part has a letter or digit, return all parts joined by spaces.
    """
    parts = text[0].split(CUT)
    return next((part for part in parts if any(map(str.isalnum, part))), " ".join(parts))


TRAIL = Rule(re.compile(rf"[^{BOUNDARY}]++"), first_comment, CUT)
"""Rule for a text up to the next `BOUNDARY` in which an earlier rule has replaced a repost marker with `CUT`; it drops
the quoted posts after the marker."""

WHITE_SPACE = {
    "keep": [],
    "collapse": [Rule(re.compile("  ++"), " ", "  ")],
    "drop": [Rule(re.compile(" ++"), "", " ")],
}
"""Rules for spaces, by the value of the option ``white_space``; folding has replaced all white space with spaces."""
