"""Determines which mentions and links of a post are decoration, and which are content.

A link is decoration, and so is a mention at the beginning (an answer), at the end, after ``via`` or in brackets. A
mention inside a sentence is content, and so is a link inside a short sentence. In a post with few words, a mention at
the end and a link are also content: nothing else distinguishes one ``New post: LINK`` from the next. In a post without
words, everything is content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum

from hybriddup.steps.normalizers.patterns import BOUNDARY, CUT, EMOJI, HASHTAGS, LINKS, MENTION
from hybriddup.steps.normalizers.wordless import MASK, has_words


class Wording(IntEnum):
    """How much text a post has in addition to its links and mentions."""

    ENOUGH = 0
    LITTLE = 1
    NONE = 2


LITTLE_WEIGHT = 24
"""Maximum number of letters, weighted by `WEIGHTS`, in a post with little wording. Chosen by reading posts that differ
only in their link: most shorter posts announce different things (``New post on my blog``), most longer posts repeat one
piece of news."""
WEIGHTS = ((3, "\u3400-\u9fff\uf900-\ufaff"), (2, "\u3040-\u30ff\uac00-\ud7a3"))
"""Number of Latin letters that one character counts as: Han, then kana and Hangul."""
LITTLE_LENGTH = 72
"""Maximum length of a post with little wording, in characters, including punctuation, placeholders and mentions."""
MAX_TRAILER_LENGTH = 200
"""Approximate maximum length of the decoration that may follow a mention at the end of a post, in characters."""

_NOT_COUNTED = re.compile(rf"{MASK}|{MENTION.source}|[\W_]")
_HEAVY = [(weight - 1, re.compile(f"[{characters}]")) for weight, characters in WEIGHTS]
_END = rf"(?:[{CUT}{BOUNDARY}]|<repost>|\Z)"
_PLENTY = re.compile(f"[\u3400-\u9fff]{{9}}|{HASHTAGS[0].source}")
"""Pattern of text that makes the wording of a post `Wording.ENOUGH`: nine Han characters in a row, or a Weibo topic.
A topic names the subject: readers judge two posts on one topic as repeats even if their links differ."""
_DECORATION = "|".join(pattern.source for pattern in (*LINKS, *HASHTAGS, EMOJI, MENTION))
_NOTHING_FOLLOWS = re.compile(
    rf"(?:{_DECORATION}|(?!<repost>)[^\w{CUT}{BOUNDARY}]|_){{0,{MAX_TRAILER_LENGTH}}}+{_END}", re.IGNORECASE
)
_BEFORE_NAMES = ("via", "cc", "ht", "h/t", "source", "fuente", "kaynak")
_BEFORE_NAMES_HAN = ("来自", "分享自", "转自", "来源", "作者", "摄影", "编辑", "通过")
_NAMES_FOLLOW = re.compile(
    rf"(?:\b(?:{'|'.join(_BEFORE_NAMES)})|{'|'.join(_BEFORE_NAMES_HAN)})[:：]? ?\Z", re.IGNORECASE
)
_LAST_BEFORE_NAMES = frozenset(word[-1] for word in _BEFORE_NAMES + _BEFORE_NAMES_HAN)
"""Last letters of the words that `_NAMES_FOLLOW` matches. Most texts end in another letter and need not be searched."""
_LAST_HASHTAG = re.compile(r"#\w+ ?\Z")
INSIDE_SENTENCE = re.compile(
    r"[^\W\d_],? (?:https?://|www\.)\S+ (?!(?:via|from|by|rt|source|cc|https?|www)\b)[^\W\d_]+ [^\W\d_]", re.IGNORECASE
)
"""Pattern of a link in the middle of a sentence: ``Installed NAME LINK on my phone``."""
_SENTENCE_ENDS = frozenset(".!?…。！？|)]】》>~#([（")
"""Characters after which a mention does not continue a sentence."""
_LONGEST_BEFORE = 40


def wording_of(rest: str, post: str) -> Wording:
    """Classify a post by ``rest``, its text without decoration.

    ``post`` is the whole text: a link inside a sentence makes it `Wording.LITTLE`, unless ``rest`` is long or has no
    words.

    Examples
    --------
    >>> [wording_of(rest, "").name for rest in ("new post on my blog:", "<repost> …", "they closed the swimming pool")]
    ['LITTLE', 'NONE', 'ENOUGH']
    """
    if _PLENTY.search(rest):
        return Wording.ENOUGH
    if not has_words(rest):
        return Wording.NONE
    if len(rest) > LITTLE_LENGTH:
        return Wording.ENOUGH
    letters = _NOT_COUNTED.sub("", rest)
    weight = len(letters)
    if weight <= LITTLE_WEIGHT and not letters.isascii():
        weight += sum(more * len(characters.findall(letters)) for more, characters in _HEAVY)
    return Wording.LITTLE if weight <= LITTLE_WEIGHT or INSIDE_SENTENCE.search(post) else Wording.ENOUGH


def keep_inside_sentence(mentions: re.Match[str]) -> str:
    """Return a run of mentions unchanged if it is inside a sentence, else a space to replace it."""
    text = mentions.string
    inside = _follows_words(text, mentions.start()) and not _NOTHING_FOLLOWS.match(text, mentions.end())
    return mentions[0] if inside else " "


def keep_after_words(mentions: re.Match[str]) -> str:
    """Return a run of mentions unchanged if it is inside or after a sentence, else a space to replace it."""
    return mentions[0] if _follows_words(mentions.string, mentions.start()) else " "


def _follows_words(text: str, start: int) -> bool:
    """Return whether an unfinished sentence precedes index ``start``; ``via``, hashtags and the like do not count."""
    before = text[max(0, start - _LONGEST_BEFORE) : start]
    last = before.rstrip(" ")[-1:]
    if not last or last in _SENTENCE_ENDS or last in (BOUNDARY, CUT):
        return False
    if before.rstrip(" :：")[-1:].lower() in _LAST_BEFORE_NAMES and _NAMES_FOLLOW.search(before):
        return False
    hashtag = before.rfind("#")
    return hashtag < 0 or _LAST_HASHTAG.match(before, hashtag) is None


MENTION_REPLACEMENTS: dict[Wording, Callable[[re.Match[str]], str] | None] = {
    Wording.ENOUGH: keep_inside_sentence,
    Wording.LITTLE: keep_after_words,
    Wording.NONE: None,
}
"""Function that returns the replacement of a run of mentions, by the wording of the post; None = all runs stay."""
