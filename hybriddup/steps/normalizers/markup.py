"""HTML in posts, as the APIs of platforms send it: tags and entities such as ``&amp;``.

Only well-formed HTML tags are dropped: ``<3``, ``a < b`` and ``<url>`` stay. All patterns take time linear in the text.
"""

from __future__ import annotations

import html
import re

from hybriddup.steps.normalizers.patterns import EMOJI

_INLINE = (
    "abbr|acronym|big|bdi|bdo|b|cite|code|data|del|dfn|em|font|ins|i|kbd|mark|q|samp|small|span|strike|strong|sub|sup|s|"
    "tt|u|var|wbr"
)
"""Names of the tags that can be inside a word. They are removed; all other tags are replaced with a space."""
_OTHERS = (
    "address|area|article|aside|audio|a|base|blockquote|body|br|button|caption|center|col|colgroup|dd|details|div|dl|dt|"
    "embed|fieldset|figcaption|figure|footer|form|frame|h[1-6r]|header|head|html|iframe|img|input|label|legend|link|li|"
    "main|map|meta|nav|noscript|object|ol|option|param|picture|pre|p|script|section|select|source|style|summary|svg|"
    "table|tbody|td|textarea|tfoot|thead|th|title|track|tr|ul|video"
)
_ATTRIBUTE = r"""\s*+[a-z_:@][\w:.\-]*+\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+'|[^\s"'<>]++)"""
TAG = re.compile(rf"</?+(?:({_INLINE})|({_OTHERS}))(?![\w\-])(?:(?=\s){_ATTRIBUTE})*+\s*+/?+>", re.IGNORECASE)
_ALT = re.compile(r"""\salt\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)'|([^\s"'<>]++))""", re.IGNORECASE)
_EMOTICON = re.compile(EMOJI.source)
_ENTITY = re.compile(
    r"&(?:(?:amp|#38|#x26);)*+((?:amp|#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});)?+", re.IGNORECASE
)
"""Pattern of an ampersand, possibly escaped several times, with the rest of an HTML entity if one follows."""
SIGNS_OF_MARKUP = ("&", "<")
"""Characters that markup begins with: a text without any of these has no markup."""


def without_markup(text: str) -> str:
    """Remove the HTML tags of a text and decode its entities, even if they were escaped several times.

    An inline tag such as ``<b>`` leaves nothing, the image of an emoticon its alt text, and any other tag a space.

    Examples
    --------
    >>> without_markup('Tom &amp;amp; Kay<br />are <b>back</b> <3 <img alt="[doge]" src="x.png">')
    'Tom & Kay are back <3 [doge]'
    """
    text = TAG.sub(_left_by, text) if "<" in text else text
    return _ENTITY.sub(_character, text) if "&" in text else text


def has_tags(text: str) -> bool:
    """Return whether a text has HTML tags."""
    return TAG.search(text) is not None


def _left_by(tag: re.Match[str]) -> str:
    """Return the replacement of a tag: empty for an inline tag, the alt text of an emoticon, otherwise a space."""
    if tag[1]:
        return ""
    alt = _ALT.search(tag[0]) if tag[2].lower() == "img" else None
    text = (alt[1] or alt[2] or alt[3] or "") if alt else ""
    return text if _EMOTICON.fullmatch(text) else " "


def _character(entity: re.Match[str]) -> str:
    name = entity[1]
    return html.unescape(f"&{name}") if name else "&"
