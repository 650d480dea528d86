"""Guards `links`, `mentions` and `emoji`: refuse two posts that differ in one of these, which is often the content."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import regex
from pydantic import Field

from hybriddup.steps.guards import PairGuard
from hybriddup.steps.options import Options as ComponentOptions

LINK = regex.compile(r"(?:https?://|www\.)\S+")
MENTION = regex.compile(r"(?<![\w.])@[\w.]*\w")
EMOJI = regex.compile(
    r"[\U0001F1E6-\U0001F1FF]{2}"
    r"|\p{Extended_Pictographic}\uFE0F?\p{EMod}?(?:\u200d\p{Extended_Pictographic}\uFE0F?\p{EMod}?)*"
    r"|[#*0-9]\uFE0F?\u20E3"
    r"|\[[\p{L}\p{N}]{1,8}\]"
)
"""Matches an emoji (including flags, keycaps, modifiers and joined emoji) or a Weibo emoticon such as ``[doge]``."""
AFTER_LINK = '.,;:!?)»”’"\uff0c\u3002\uff01\uff1f\uff09\uff1b\uff1a'
SKIN_AND_STYLE = regex.compile(r"[\U0001F3FB-\U0001F3FF\uFE0F]")


class _Marks(PairGuard):
    """Base class of guards that compare the marks of one kind, such as links, in two posts."""

    class Options(ComponentOptions):
        """Options of the guard."""

        strict: bool = Field(
            False,
            description="true: one that only one of two posts has keeps them apart. false: each post must have one "
            "that the other lacks.",
        )

    name: ClassVar[str]
    pattern: ClassVar[regex.Pattern[str]]

    def __init__(self, options: Options) -> None:
        self.strict = options.strict

    def reason(self, a: str, b: str) -> str | None:
        """Return the marks, such as links, that only one of two posts has; None if the pair is not refused."""
        if a == b:
            return None
        of_a, of_b = self.found(a), self.found(b)
        only_a, only_b = ([mark for mark in one if mark not in other] for one, other in ((of_a, of_b), (of_b, of_a)))
        if (only_a or only_b) if self.strict else (only_a and only_b):
            return f"{self.name} {_listed(only_a)} / {_listed(only_b)}"
        return None

    def found(self, text: str) -> list[str]:
        """Return the distinct marks of a text, such as links, normalized by `folded`, in order of first occurrence."""
        return list(dict.fromkeys(map(self.folded, self.pattern.findall(text))))

    def folded(self, mark: str) -> str:
        """Return the normalized form of a mark, such as a link; two marks with equal forms count as the same."""
        return mark


def _listed(marks: Iterable[str]) -> str:
    return " ".join(marks) or "none"


class Links(_Marks):
    """Keeps two posts apart that have different links, regardless of ``https://`` and of punctuation at the end."""

    name, pattern = "links", LINK

    def folded(self, mark: str) -> str:
        """Remove the scheme, ``www.``, trailing punctuation and trailing slashes from a link."""
        return mark.split("://", 1)[-1].removeprefix("www.").rstrip(AFTER_LINK).rstrip("/")


class Mentions(_Marks):
    """Keeps two posts apart that mention different accounts."""

    name, pattern = "mentions", MENTION


class Emoji(_Marks):
    """Keeps two posts with different emoji apart; their skin tones and repetitions do not count."""

    name, pattern = "emoji", EMOJI

    def folded(self, mark: str) -> str:
        """Remove the skin tone and the variation selector from an emoji."""
        return SKIN_AND_STYLE.sub("", mark)
