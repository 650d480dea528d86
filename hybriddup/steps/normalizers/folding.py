"""Folding: characters that look or mean the same become one (width, case, traditional Chinese, invisible marks).

Nearly every character folds by itself, whatever stands beside it. Only texts with a character that acts on its
neighbors (an accent, a Hangul letter) go through `unicodedata`.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import regex

from hybriddup.data.records import Bools, UInt8s, UInt32s, encode_texts
from hybriddup.kernels.folding import (
    ENDS_LITERAL,
    MAX_SEVERAL,
    NUMBER_SHIFT,
    SEVERAL,
    SPACE,
    SPECIAL,
    STANDS_ONCE,
    TEXT_HAS_LITERAL,
    TEXT_IS_SPECIAL,
    FoldingTable,
    fold_texts,
)
from hybriddup.steps.normalizers.tables import simplified_characters

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
    for point in chain.from_iterable(range(*asked) for asked in _ASKED):
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


_UTF_32 = f"utf-32-{sys.byteorder[0]}e"


class Folder:
    """Folds texts, each as if it stood alone.

    ``once`` are characters, as they are after folding, that are left out after themselves; with a space among them, a
    text has none at its ends either. ``literals``, at most 128 and none empty, are what `fold` looks for.
    ``drops_questions`` leaves out question marks that stand alone, between two spaces, or a space and the end; the
    space must stand once.
    """

    def __init__(
        self,
        folding: Folding,
        *,
        once: Collection[str] = (),
        literals: Collection[str] = (),
        drops_questions: bool = False,
    ) -> None:
        self._folding = folding
        flags = np.zeros(0x110000, np.uint32)
        flags[[ord(character) for character in once]] |= STANDS_ONCE
        by_end = sorted(literals, key=lambda literal: literal[::-1])
        for number, literal in reversed(list(enumerate(by_end))):  # the first with an end comes last, and is kept
            flags[ord(literal[-1])] = flags[ord(literal[-1])] & STANDS_ONCE | ENDS_LITERAL | number << NUMBER_SHIFT
        if drops_questions and not flags[SPACE] & ENDS_LITERAL:
            flags[SPACE] |= ENDS_LITERAL | len(by_end) << NUMBER_SHIFT  # of no literal
        self._table = _folding_table(folding, flags, by_end, drops_questions)

    def fold(self, texts: Sequence[str]) -> tuple[list[str], Bools]:
        """Return the folded texts, in the same order, one for each, and bool[n_texts]: which hold a literal."""
        folded, states = self._fold(texts, fold_special=False)
        special = np.flatnonzero(states & TEXT_IS_SPECIAL).tolist()
        if special:
            again, states[special] = self._fold([self._folding.fold_text(texts[place]) for place in special], True)
            for place, text in zip(special, again, strict=True):
                folded[place] = text
        return folded, states & TEXT_HAS_LITERAL != 0

    def _fold(self, texts: Sequence[str], fold_special: bool) -> tuple[list[str], UInt8s]:
        points, offsets = encode_texts(texts)
        room = np.empty(MAX_SEVERAL * len(points), np.uint32)
        bounds, states = fold_texts(points, offsets, self._table, fold_special, room)
        joined = str(room[: bounds[-1]].data, _UTF_32, "surrogatepass")
        return [joined[start:end] for start, end in pairwise(bounds.tolist())], states


shared_folder = lru_cache(maxsize=8)(Folder)
"""The same folder for all that ask for one: its table has four megabytes and takes ten milliseconds."""


def _folding_table(folding: Folding, flags: UInt32s, literals: Sequence[str], drops_questions: bool) -> FoldingTable:
    """Return the folding with flags, uint32[0x110000] by folded character, for the kernel."""
    characters = folded_characters(folding)
    entries = characters.points | flags[characters.points] | np.where(characters.special, SPECIAL, np.uint32(0))
    several: list[int] = []
    for point, folded in characters.several.items():
        entries[point] = SEVERAL | np.uint32(len(folded)) << NUMBER_SHIFT | np.uint32(len(several))
        several.extend(ord(part) | int(flags[ord(part)]) for part in folded)
    points, bounds = encode_texts(literals)
    return FoldingTable(entries, np.array(several, np.uint32), points, bounds, drops_questions)
