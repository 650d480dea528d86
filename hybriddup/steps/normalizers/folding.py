"""Folding: characters that look or mean the same become one (width, case, traditional Chinese, invisible marks).

Nearly every character folds by itself, whatever stands beside it. Only texts with a character that acts on its
neighbors (an accent, a Hangul letter) go through `unicodedata`.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
import regex

from hybriddup.data.records import Bools, UInt8s, UInt32s, encode_texts
from hybriddup.kernels.text.folding import (
    DOT,
    ELLIPSIS,
    ENDS_LITERAL,
    IDEOGRAPHIC_STOP,
    MAX_SEVERAL,
    NUMBER_SHIFT,
    SEVERAL,
    SPACE,
    SPECIAL,
    STANDS_ONCE,
    TEXT_HAS_LITERAL,
    TEXT_HAS_SIGN,
    TEXT_IS_SPECIAL,
    FoldingTable,
    fold_texts,
)
from hybriddup.steps.normalizers.patterns import BOUNDARY
from hybriddup.steps.normalizers.spellings import spellings
from hybriddup.steps.normalizers.tables import simplified_characters

KEPT_INVISIBLE = "\u200c\u200d"
"""Zero-width non-joiner and joiner spell words and make one emoji of several: spellings.py has them."""
OTHER_INVISIBLE = "\u2800\ufff9-\ufffb"
"""Shown as nothing, though Unicode counts them as signs: the empty Braille pattern, and marks of annotations."""
TAGS = "\U000e0020-\U000e007f"
"""Invisible letters, which make the flags of England and Scotland after a black flag."""

_LONG_RUN_OF_MARKS = regex.compile(r"(\P{ccc=0}{30})\P{ccc=0}+")
"""Sorting a run of marks takes time quadratic in its length. No language uses more than 30 in a row (Unicode's
Stream-Safe Text Format, UAX 15), so what follows is left out."""


_LOOSE_TAGS = re.compile(f"[{TAGS}](?<![\U0001f3f4{TAGS}].)[{TAGS}]*+", re.DOTALL)


@cache
def invisible() -> re.Pattern[str]:
    """Return the pattern of characters that show nothing (Default_Ignorable_Code_Point), wherever they stand."""
    points = "".join(map(chr, (*range(0x10000), *range(0x1BC00, 0x1BD00), *range(0x1D100, 0x1D200))))
    ignorable = regex.findall(rf"(?V1)[\p{{Default_Ignorable_Code_Point}}--[{KEPT_INVISIBLE}]]", points)
    others = "\U000e0000-\U000e001f\U000e0080-\U000e0fff"
    return re.compile(f"[{''.join(ignorable)}{OTHER_INVISIBLE}{others}]")


@cache
def _drawn_to_the_one_before() -> frozenset[str]:
    """Return the characters that may become one with the character before them: the seconds of compositions."""
    parts = (unicodedata.decomposition(chr(point)).split() for point in range(0x20000))
    seconds = {chr(int(two[1], 16)) for two in parts if len(two) == 2 and not two[0].startswith("<")}
    return frozenset(seconds | set(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))))


class Folding(NamedTuple):
    """What folding changes."""

    nfkc: bool
    """Compatibility forms: full width, ligatures, accents written apart (Unicode normalization form KC)."""
    case: bool
    simplify: bool
    """Traditional Chinese characters become simplified ones."""
    plain_space: bool
    """Each character of white space becomes a space, and invisible characters are left out."""
    spelling: bool
    """Each word has one spelling, as far as `spellings` knows its script."""

    def fold_text(self, text: str) -> str:
        """Return the text folded, but for traditional Chinese and white space.

        Each part can undo another one, so all are repeated until nothing changes: 30 times at most, since only the
        marks of one run can become something new each time.
        """
        before = None
        while text != before:
            before = text
            if self.plain_space:
                text = _LOOSE_TAGS.sub("", invisible().sub("", text))
            if self.spelling:
                text = spellings().fold(text)
            text = self._compose(text)
            if self.case:
                text = self._compose(text.casefold())
        return text

    def _compose(self, text: str) -> str:
        return unicodedata.normalize("NFKC", _LONG_RUN_OF_MARKS.sub(r"\1", text)) if self.nfkc else text

    def fold_character(self, character: str) -> str | None:
        """Return what a character becomes in any text, or None where that depends on the text or is too long.

        None for marks that are sorted, or drawn into the character before them, and what is spelled together.
        """
        if self._is_plain(character):
            return character
        if self.spelling and character in spellings().together:
            return None
        folded = self.fold_text(character)
        if not folded:  # left out before anything else, so that not even an invisible mark is drawn anywhere
            return folded
        if len(folded) > MAX_SEVERAL or any(map(_may_join, character + folded)):
            return None
        return "".join(map(self._fold_alone, folded))

    def _is_plain(self, character: str) -> bool:
        """Return whether the character surely stays as it is: asked first, because it is quick and true of most."""
        return (
            unicodedata.category(character)[0] in "LNPSM"  # no white space
            and unicodedata.is_normalized("NFKC", character)
            and character.casefold() == character
            and character not in _never_plain()
        )

    def _fold_alone(self, character: str) -> str:
        if self.plain_space and character.isspace():
            return " "
        return simplified_characters().get(character, character) if self.simplify else character


def _may_join(character: str) -> bool:
    """Return whether a character is sorted among its neighbors, or drawn into the one before it."""
    return unicodedata.combining(character) != 0 or character in _drawn_to_the_one_before()


@cache
def _never_plain() -> frozenset[str]:
    """Return the characters that no folding may take for plain, though Unicode's forms leave them alone."""
    basic_plane = "".join(map(chr, range(0x10000)))
    return frozenset(
        {*simplified_characters(), *spellings().becomes, *spellings().together, *invisible().findall(basic_plane)}
        | _drawn_to_the_one_before()
        | set(filter(unicodedata.combining, basic_plane))
    )


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


class Folded(NamedTuple):
    """Folded texts."""

    texts: list[str]
    has_literal: Bools
    """bool[n_texts]"""
    has_sign: Bools
    """bool[n_texts]"""
    literals: set[str]
    """The literals and signs that any of the texts holds."""


class Folder:
    """Folds texts, each as if it stood alone.

    ``once`` are characters, as they are after folding, that are left out after themselves; with a space among them, a
    text has none at its ends either. ``literals`` and ``signs``, at most 128 and none empty, are what `fold` looks for.
    ``drops_questions`` leaves out question marks that stand alone, between two spaces, or a space and the end; the
    space must stand once. ``joins_dots`` makes an ellipsis of two dots or more, and needs NFKC.
    """

    def __init__(
        self,
        folding: Folding,
        *,
        once: Collection[str] = (),
        literals: Collection[str] = (),
        signs: Collection[str] = (),
        drops_questions: bool = False,
        joins_dots: bool = False,
    ) -> None:
        self._folding = folding
        flags = np.zeros(0x110000, np.uint32)
        flags[[ord(character) for character in once]] |= STANDS_ONCE
        by_end = sorted({*literals, *signs}, key=lambda literal: literal[::-1])
        states = [TEXT_HAS_LITERAL * (one in literals) | TEXT_HAS_SIGN * (one in signs) for one in by_end]
        for number, literal in reversed(list(enumerate(by_end))):  # the first with an end comes last, and is kept
            flags[ord(literal[-1])] = flags[ord(literal[-1])] & STANDS_ONCE | ENDS_LITERAL | number << NUMBER_SHIFT
        looked_at = [SPACE] * drops_questions + [DOT, ELLIPSIS, IDEOGRAPHIC_STOP] * joins_dots
        for point in looked_at:
            if not flags[point] & ENDS_LITERAL:
                flags[point] |= ENDS_LITERAL | len(by_end) << NUMBER_SHIFT  # of no literal
        self._literals = by_end
        table = _folding_table(folding, flags, by_end, drops_questions, joins_dots)
        self._table = table._replace(literal_states=np.array(states, np.uint8))

    def fold(self, texts: Sequence[str]) -> Folded:
        """Return the folded texts, in the same order, one for each, and what is in them."""
        found = np.zeros(len(self._literals), np.bool_)
        folded, states = self._fold(texts, False, found)
        special = np.flatnonzero(states & TEXT_IS_SPECIAL).tolist()
        if special:
            again, states[special] = self._fold(self._fold_special([texts[place] for place in special]), True, found)
            for place, text in zip(special, again, strict=True):
                folded[place] = text
        literals = {literal for literal, is_found in zip(self._literals, found.tolist(), strict=True) if is_found}
        return Folded(folded, states & TEXT_HAS_LITERAL != 0, states & TEXT_HAS_SIGN != 0, literals)

    def _fold_special(self, texts: Sequence[str]) -> list[str]:
        """Return the texts after what depends on neighbors, done for all of them together."""
        folded = self._folding.fold_text(BOUNDARY.join(texts)).split(BOUNDARY)
        if len(folded) == len(texts):
            return folded
        return [self._folding.fold_text(text) for text in texts]  # one holds the boundary itself

    def _fold(self, texts: Sequence[str], fold_special: bool, found: Bools) -> tuple[list[str], UInt8s]:
        points, offsets = encode_texts(texts)
        room = np.empty(MAX_SEVERAL * len(points), np.uint32)
        bounds, states = fold_texts(points, offsets, self._table, fold_special, found, room)
        joined = str(room[: bounds[-1]].data, _UTF_32, "surrogatepass")
        return [joined[start:end] for start, end in pairwise(bounds.tolist())], states


shared_folder = lru_cache(maxsize=8)(Folder)
"""The same folder for all that ask for one: its table has four megabytes and takes ten milliseconds."""


def _folding_table(
    folding: Folding, flags: UInt32s, literals: Sequence[str], drops_questions: bool, joins_dots: bool
) -> FoldingTable:
    """Return the folding with flags, uint32[0x110000] by folded character, for the kernel."""
    characters = folded_characters(folding)
    entries = characters.points | flags[characters.points] | np.where(characters.special, SPECIAL, np.uint32(0))
    several: list[int] = []
    for point, folded in characters.several.items():
        if joins_dots and set(folded) == {"."}:  # NFKC makes three dots of an ellipsis
            entries[point] = ELLIPSIS | flags[ELLIPSIS]
            continue
        entries[point] = SEVERAL | np.uint32(len(folded)) << NUMBER_SHIFT | np.uint32(len(several))
        several.extend(ord(part) | int(flags[ord(part)]) for part in folded)
    points, bounds = encode_texts(literals)
    states = np.zeros(len(literals), np.uint8)
    return FoldingTable(entries, np.array(several, np.uint32), points, bounds, states, drops_questions, joins_dots)
