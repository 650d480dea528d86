"""Which mentions and links of a post are decoration, and which are a part of what it says.

A mention at the beginning (an answer), at the end, after ``via`` or in brackets is decoration, as a link is. A mention
inside a sentence is content, and so is a link inside a short one. Next to few words, a mention at the end and a link
are content too: there is nothing else that tells ``New post: LINK`` from another one. Next to no words, all of it is
content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum

from hybriddup.steps.normalizers.patterns import (
    BOUNDARY,
    CUT,
    EMOJI,
    HASHTAGS,
    LINKS,
    MENTION,
)
from hybriddup.steps.normalizers.wordless import MASK, has_words


class Said(IntEnum):
    """How much a post says without its links and mentions."""

    ENOUGH = 0
    LITTLE = 1
    NOTHING = 2


LITTLE_SAID = 24
"""Letters that are few, at most; see `WEIGHTS`. Chosen by reading posts that differ in their link alone: up to here
most are notices of other things (``New post on my blog``), above it most are one piece of news sent again."""
WEIGHTS = ((3, "\u3400-\u9fff\uf900-\ufaff"), (2, "\u3040-\u30ff\uac00-\ud7a3"))
"""Letters of Latin script that a character is worth: Han, then kana and Hangul."""
LITTLE_LENGTH = 72
"""Characters, marks and mentions included, over which a post with words says enough."""
LOOKED_AT = 200
"""Characters after a mention within which a post ends, if the mention is at its end."""

_NOT_COUNTED = re.compile(rf"{MASK}|{MENTION.source}|[\W_]")
_HEAVY = [(weight - 1, re.compile(f"[{characters}]")) for weight, characters in WEIGHTS]
_END = rf"(?:[{CUT}{BOUNDARY}]|<repost>|\Z)"
_PLENTY = re.compile(f"[\u3400-\u9fff]{{9}}|{HASHTAGS[0].source}")
"""Nine Han characters in a row, or a Weibo topic, which names what the post is about: readers call two posts on one
topic with other links the same."""
_DECORATION = "|".join(pattern.source for pattern in (*LINKS, *HASHTAGS, EMOJI, MENTION))
_NOTHING_FOLLOWS = re.compile(
    rf"(?:{_DECORATION}|(?!<repost>)[^\w{CUT}{BOUNDARY}]|_){{0,{LOOKED_AT}}}+{_END}", re.IGNORECASE
)
_BEFORE_NAMES = re.compile(
    r"(?:\b(?:via|cc|ht|h/t|source|fuente|kaynak)|来自|分享自|转自|来源|作者|摄影|编辑|通过)[:：]? ?\Z|#\w+ ?\Z",
    re.IGNORECASE,
)
INSIDE_SENTENCE = re.compile(
    r"[^\W\d_],? (?:https?://|www\.)\S+ (?!(?:via|from|by|rt|source|cc|https?|www)\b)[^\W\d_]+ [^\W\d_]", re.IGNORECASE
)
"""A link that a sentence goes on after: ``Installed NAME LINK on my phone``."""
_SENTENCE_ENDS = frozenset(".!?…。！？|)]】》>~#([（")
"""What stands before a mention that belongs to no sentence."""
_LONGEST_BEFORE = 40


def said_in(rest: str, post: str) -> Said:
    """Return how much a post says, by what is left of it without decoration; little if a link is a part of it.

    Examples
    --------
    >>> [said_in(rest, "").name for rest in ("new post on my blog:", "<repost> …", "they closed the swimming pool")]
    ['LITTLE', 'NOTHING', 'ENOUGH']
    """
    if _PLENTY.search(rest):
        return Said.ENOUGH
    if not has_words(rest):
        return Said.NOTHING
    if len(rest) > LITTLE_LENGTH:
        return Said.ENOUGH
    letters = _NOT_COUNTED.sub("", rest)
    n_letters = len(letters)
    if n_letters <= LITTLE_SAID and not letters.isascii():
        n_letters += sum(more * len(characters.findall(letters)) for more, characters in _HEAVY)
    return Said.LITTLE if n_letters <= LITTLE_SAID or INSIDE_SENTENCE.search(post) else Said.ENOUGH


def content_of_mentions(mentions: re.Match[str]) -> str:
    """Return a run of mentions where it is inside a sentence, else a space."""
    text = mentions.string
    inside = _follows_words(text, mentions.start()) and not _NOTHING_FOLLOWS.match(text, mentions.end())
    return mentions[0] if inside else " "


def content_of_mentions_with_little_said(mentions: re.Match[str]) -> str:
    """Return a run of mentions where it is inside or after a sentence, else a space."""
    return mentions[0] if _follows_words(mentions.string, mentions.start()) else " "


def _follows_words(text: str, start: int) -> bool:
    """Return whether a sentence goes on at a place, and not with a hashtag, ``via`` or the like."""
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    last = before.rstrip(" ")[-1:]
    if not last or last in _SENTENCE_ENDS or last in (BOUNDARY, CUT):
        return False
    return _BEFORE_NAMES.search(before) is None


MENTIONS_WHERE: dict[Said, Callable[[re.Match[str]], str] | None] = {
    Said.ENOUGH: content_of_mentions,
    Said.LITTLE: content_of_mentions_with_little_said,
    Said.NOTHING: None,
}
"""What is left of a run of mentions, by how much is said; None = all."""
