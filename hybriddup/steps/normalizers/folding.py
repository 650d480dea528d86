"""Folding: characters that look or mean the same become one (width, case, traditional Chinese, invisible marks).

Nearly every character folds by itself, whatever stands beside it. Only texts with a character that acts on its
neighbors (an accent, a Hangul letter) go through `unicodedata`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import regex

from hybriddup.data.records import Bools, UInt32s
from hybriddup.kernels.folding import MAX_SEVERAL
from hybriddup.steps.normalizers.traditional import simplified_characters

INVISIBLE = dict.fromkeys(
    map(
        ord,
        "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
        "\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff",
    )
)
"""Soft hyphen, zero-width space, direction marks, word joiners, text or emoji style; as `str.translate` deletes them.
Zero-width joiner and non-joiner are not among them: they make one emoji of several, and spell Persian."""


_LONG_RUN_OF_MARKS = regex.compile(r"[\p{M}--\u034f]{30}(?=[\p{M}--\u034f])", regex.V1)
"""Sorting a run of marks takes time quadratic in its length. Unicode's Stream-Safe Text Format (UAX 15) breaks such
runs with U+034F, which shows nothing, after 30 marks: more than any language uses."""


class Folding(NamedTuple):
    """What folding changes."""

    nfkc: bool
    """Compatibility forms: full width, ligatures, accents written apart (Unicode normalization form KC)."""
    case: bool
    simplify: bool
    """Traditional Chinese characters become simplified ones."""
    plain_space: bool
    """Each character of white space becomes a space, and invisible characters are left out."""

    def fold_text(self, text: str) -> str:
        """Return the text folded, but for traditional Chinese and white space.

        Folding case can undo NFKC and the other way round, so both are repeated until nothing changes.
        """
        if self.plain_space:
            text = text.translate(INVISIBLE)
        text = self._compose(text)
        before = None
        while text != before:
            before = text
            text = self._compose(text.casefold() if self.case else text)
        return text

    def _compose(self, text: str) -> str:
        return unicodedata.normalize("NFKC", _LONG_RUN_OF_MARKS.sub("\\g<0>\u034f", text)) if self.nfkc else text

    def fold_character(self, character: str) -> str | None:
        """Return what a character becomes in any text, or None where that depends on the text or is too long.

        None for all combining marks and Hangul letters: only they are drawn into the character before them.
        """
        if self._is_plain(character):
            return character
        folded = self.fold_text(character)
        if not folded:  # left out before anything else, so that not even an invisible mark is drawn anywhere
            return folded
        if len(folded) > MAX_SEVERAL or any(map(_may_join, character + folded)):
            return None
        return "".join(map(self._fold_alone, folded))

    def _is_plain(self, character: str) -> bool:
        """Return whether the character surely stays as it is: asked first, because it is quick and true of most."""
        return (
            unicodedata.category(character)[0] in "LNPS"  # no mark, no white space, nothing invisible
            and unicodedata.is_normalized("NFKC", character)
            and character.casefold() == character
            and not _may_join(character)
            and character not in simplified_characters()
        )

    def _fold_alone(self, character: str) -> str:
        if self.plain_space and character.isspace():
            return " "
        return simplified_characters().get(character, character) if self.simplify else character


def _may_join(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or "\u1100" <= character <= "\u11ff"


class FoldedCharacters(NamedTuple):
    """Folding by code point."""

    points: UInt32s
    """uint32[0x110000]: the code point that each becomes; itself where it is special or becomes several."""
    special: Bools
    """bool[0x110000]: the character must be folded together with its text."""
    several: dict[int, str]
    """The characters, none or several, that one becomes."""


@cache
def folded_characters(folding: Folding) -> FoldedCharacters:
    """Return what becomes of each character; the same object for the same folding."""
    points = np.arange(0x110000, dtype=np.uint32)
    special = np.ones(0x110000, np.bool_)
    several = {}
    for start, end in _UNCHANGED:
        special[start:end] = False
    for point in _points_to_ask():
        folded = folding.fold_character(chr(point))
        special[point] = folded is None
        if folded is not None and len(folded) == 1:
            points[point] = ord(folded)
        elif folded is not None:
            several[point] = folded
    if folding.simplify:
        for traditional, simplified in simplified_characters().items():
            points[ord(traditional)] = ord(simplified)
    return FoldedCharacters(points, special, several)


_UNCHANGED = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xF900), (0x20000, 0x2F800), (0x30000, 0x32000))
"""Han, Hangul syllables, surrogates, private use: no NFKC, no case, and too many to ask one by one."""

_ASKED = ((0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x10000), (0x1F000, 0x20000))
"""The rest of the basic plane, and emoji. All others are rare and count as special."""


def _points_to_ask() -> Iterator[int]:
    return (point for start, end in _ASKED for point in range(start, end))
