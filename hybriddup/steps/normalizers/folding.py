"""Folding: characters that look or mean the same become one (width, case, traditional Chinese, invisible marks).

Nearly every character folds by itself, so a whole batch is one array of code points and one look-up in a table. Only
texts with a character that acts on its neighbors (an accent, a Hangul letter) or becomes several go through
`unicodedata`, one by one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import regex

from hybriddup.records import Bools, UInt32s
from hybriddup.steps.normalizers.traditional import simplified_characters

BOUNDARY = "\ufdd0"
"""Stands between the texts of a batch: a code point that is no character, now or in any later Unicode, and so
neither composes with its neighbors nor is matched as a letter, a mark or white space."""

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

    def fold(self, joined: str) -> str:
        """Return the texts, joined by `BOUNDARY`, each folded as if it stood alone."""
        if self.nfkc:
            joined = joined.replace("…", "...")  # what NFKC makes of it: too common to send its texts the slow way
        table = _folding_table(self)
        points = _code_points(joined)
        special = np.flatnonzero(table.special[points])
        if special.size:
            points = _code_points(self._fold_one_by_one(joined, points, special))
        return table.folded[points].tobytes().decode("utf-32-le", "surrogatepass")

    def _fold_one_by_one(self, joined: str, points: UInt32s, special: np.ndarray) -> str:
        boundaries = np.flatnonzero(points == ord(BOUNDARY))
        texts = joined.split(BOUNDARY)
        for text in np.unique(np.searchsorted(boundaries, special)).tolist():
            texts[text] = self._fold_text(texts[text])
        return BOUNDARY.join(texts)

    def _fold_text(self, text: str) -> str:
        """Return the text folded, but for traditional Chinese.

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
        """Return what a character becomes in any text, or None where that depends on the text or is not one character.

        None for all combining marks and Hangul letters: only they are drawn into the character before them.
        """
        folded = self._fold_text(character)
        if len(folded) != 1 or any(map(_may_join, character + folded)):
            return None
        if self.plain_space and folded.isspace():
            return " "
        return simplified_characters().get(folded, folded) if self.simplify else folded


def _may_join(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" or "\u1100" <= character <= "\u11ff"


class FoldingTable(NamedTuple):
    """Folding by code point."""

    folded: UInt32s
    """uint32[0x110000]: what the character becomes; itself where it is special."""
    special: Bools
    """bool[0x110000]: the character must be folded together with its text."""


@cache
def _folding_table(folding: Folding) -> FoldingTable:
    folded = np.arange(0x110000, dtype="<u4")  # little-endian, as `fold` decodes it
    special = np.ones(0x110000, np.bool_)
    for start, end in _UNCHANGED:
        special[start:end] = False
    for point in _points_to_ask():
        character = folding.fold_character(chr(point))
        special[point] = character is None
        folded[point] = point if character is None else ord(character)
    if folding.simplify:
        for traditional, simplified in simplified_characters().items():
            folded[ord(traditional)] = ord(simplified)
    return FoldingTable(folded, special)


_UNCHANGED = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xF900), (0x20000, 0x2F800), (0x30000, 0x32000))
"""Han, Hangul syllables, surrogates, private use: no NFKC, no case, and too many to ask one by one."""

_ASKED = ((0, 0x3400), (0xA000, 0xAC00), (0xF900, 0x10000), (0x1F000, 0x20000))
"""The rest of the basic plane, and emoji. All others are rare and count as special."""


def _points_to_ask() -> Iterator[int]:
    return (point for start, end in _ASKED for point in range(start, end))


def _code_points(text: str) -> UInt32s:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
