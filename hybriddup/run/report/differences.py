"""Marks the differences of two texts: different words, and different punctuation between words."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from itertools import groupby
from typing import NamedTuple

from rapidfuzz.distance import Indel

from hybriddup.steps.tokenizers.words import split_at_words

MOST_SHOWN = 600
"""Maximum number of characters of a text that a report shows."""


class MarkedText(NamedTuple):
    """A text with its differences from another text marked."""

    pieces: list[str]
    is_common: list[bool]

    def marked(self, begin: str, end: str, shown: Callable[[str], str]) -> str:
        """Return the text with each marked part between two strings; ``shown`` converts each part for display."""
        runs = groupby(zip(self.pieces, self.is_common, strict=True), key=lambda piece: piece[1])
        texts = ((is_common, shown("".join(piece for piece, _ in run))) for is_common, run in runs)
        return "".join(text if is_common else f"{begin}{text}{end}" for is_common, text in texts)

    def __html__(self) -> str:
        """Return the text as escaped HTML, which templates with autoescape insert unchanged."""
        return self.marked("<mark>", "</mark>", escape)


def marked_texts(a: str, b: str, most: int = MOST_SHOWN) -> tuple[MarkedText, MarkedText]:
    """Return both texts, with everything marked that is not in their longest common subsequence of words.

    Spaces and punctuation marks count as words. Texts are cut after ``most`` characters.

    Examples
    --------
    >>> a, b = marked_texts("see you at 10", "see you at 11 <soon>")
    >>> a.__html__(), b.__html__()
    ('see you at <mark>10</mark>', 'see you at <mark>11 &lt;soon&gt;</mark>')
    """
    of_a, of_b = split_at_words(shortened(a, most)), split_at_words(shortened(b, most))
    in_a, in_b = [False] * len(of_a), [False] * len(of_b)
    for part in Indel.opcodes(of_a, of_b):
        if part.tag == "equal":
            in_a[part.src_start : part.src_end] = [True] * (part.src_end - part.src_start)
            in_b[part.dest_start : part.dest_end] = [True] * (part.dest_end - part.dest_start)
    return MarkedText(of_a, in_a), MarkedText(of_b, in_b)


def shortened(text: str, most: int = MOST_SHOWN) -> str:
    """Return a text; if it is longer than ``most`` characters, its beginning with an ellipsis."""
    return text if len(text) <= most else f"{text[:most]}…"
