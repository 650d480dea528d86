"""Folding: maps characters that look or mean the same to one (width, case, traditional Chinese, invisible marks).

Nearly every character folds independently of its neighbors, by one table. Only texts with a character that interacts
with its neighbors (an accent, a Hangul letter) pass through `unicodedata`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import regex

from hybriddup.data.records import Bools, UInt8s, UInt32s, characters_between, decode_texts, encode_texts
from hybriddup.kernels.kept_tables import load_or_make
from hybriddup.kernels.text import folding as kernel
from hybriddup.steps.normalizers.patterns import BOUNDARY
from hybriddup.steps.normalizers.spellings import spellings
from hybriddup.steps.normalizers.tables import simplified_characters

KEPT_INVISIBLE = "\u200c\u200d"
"""Zero-width non-joiner and joiner, which spell words and combine emoji; spellings.py folds them."""
OTHER_INVISIBLE = "\u2800\ufff9-\ufffb"
"""Invisible characters that Unicode classifies as visible: the empty Braille pattern and annotation marks."""
TAGS = "\U000e0020-\U000e007f"
"""Range of the invisible tag letters, which after a black flag encode the flags of England and Scotland."""

_LONG_RUN_OF_MARKS = regex.compile(r"(\P{ccc=0}{30})\P{ccc=0}+")
"""Pattern of a run of more than 30 combining marks. `unicodedata` sorts a run in quadratic time, and no language uses
more than 30 in a row (Stream-Safe Text Format, UAX 15), so the marks after the first 30 are removed."""


_LOOSE_TAGS = re.compile(f"[{TAGS}](?<![\U0001f3f4{TAGS}].)[{TAGS}]*+", re.DOTALL)


@cache
def invisible() -> re.Pattern[str]:
    """Return a pattern for invisible characters (Default_Ignorable_Code_Point)."""
    blocks = ((0, 0x10000), (0x1BC00, 0x1BD00), (0x1D100, 0x1D200))
    points = "".join(characters_between(*block) for block in blocks)
    ignorable = regex.findall(rf"(?V1)[\p{{Default_Ignorable_Code_Point}}--[{KEPT_INVISIBLE}]]", points)
    others = "\U000e0000-\U000e001f\U000e0080-\U000e0fff"
    return re.compile(f"[{''.join(ignorable)}{OTHER_INVISIBLE}{others}]")


@cache
def _drawn_to_the_one_before() -> frozenset[str]:
    """Return the characters that can compose with the preceding character into a single one."""
    decompositions = map(unicodedata.decomposition, characters_between(0, 0x20000))
    parts = (decomposition.split() for decomposition in decompositions if " " in decomposition)
    seconds = {chr(int(two[1], 16)) for two in parts if len(two) == 2 and not two[0].startswith("<")}
    return frozenset(seconds | set(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))))


class Folding(NamedTuple):
    """Which differences between characters folding removes."""

    nfkc: bool
    """Whether full-width characters, ligatures and separate accents get their usual form (Unicode form NFKC)."""
    case: bool
    simplify: bool
    """Whether traditional Chinese characters become simplified ones."""
    plain_space: bool
    """Whether white space becomes spaces, and invisible characters are removed."""
    spelling: bool
    """Whether spelling variants become one spelling, for the scripts in `spellings`."""

    def fold_text(self, text: str) -> str:
        """Fold a text, except for traditional Chinese and white space.

        Each step can create work for another, so all are repeated until nothing changes. This takes at most 30 passes:
        only a run of combining marks can change in every pass, and `_LONG_RUN_OF_MARKS` limits a run to 30.
        """
        before = None
        while text != before:
            before, text = text, self._fold_once(text)
        return text

    def _fold_once(self, text: str) -> str:
        if self.plain_space:
            text = _LOOSE_TAGS.sub("", invisible().sub("", text))
        if self.spelling:
            text = spellings().fold(text)
        text = self._compose(text)
        return self._compose(text.casefold()) if self.case else text

    def _compose(self, text: str) -> str:
        return unicodedata.normalize("NFKC", _LONG_RUN_OF_MARKS.sub(r"\1", text)) if self.nfkc else text

    def fold_characters(self, characters: str) -> list[str | None]:
        """Fold each character on its own; None where its folding depends on neighbors, or the result is too long.

        Folding depends on neighbors for combining marks, for characters that compose with the preceding character, and
        for characters in spelling sequences. `BOUNDARY` must not be among the characters.
        """
        folded = self._fold_once(BOUNDARY.join(characters)).split(BOUNDARY)
        changed = [place for place, (one, other) in enumerate(zip(characters, folded, strict=True)) if one != other]
        again = self.fold_text(BOUNDARY.join(folded[place] for place in changed)).split(BOUNDARY)
        for place, result in zip(changed, again, strict=False):  # of no characters, one empty text is left
            folded[place] = result
        spaces = filter(str.isspace, characters)
        changes = _joining(characters).union(spaces, spellings().together, simplified_characters())
        return [
            character if result == character and character not in changes else self._folded_alone(character, result)
            for character, result in zip(characters, folded, strict=True)
        ]

    def _folded_alone(self, character: str, folded: str) -> str | None:
        if self.spelling and character in spellings().together:
            return None
        if not folded:  # removed before composition, so that it never composes with a neighbor
            return folded
        if len(folded) > kernel.MAX_SEVERAL or _joining(character + folded):
            return None
        return "".join(map(self._fold_alone, folded))

    def _fold_alone(self, character: str) -> str:
        if self.plain_space and character.isspace():
            return " "
        return simplified_characters().get(character, character) if self.simplify else character


def _joining(characters: str) -> set[str]:
    """Return the characters that normalization may reorder, or compose with the preceding character."""
    return {*filter(unicodedata.combining, characters), *_drawn_to_the_one_before().intersection(characters)}


@cache
def folded_characters(folding: Folding) -> tuple[UInt32s, Bools, dict[int, str]]:
    """Return the character or text to which every code point folds; cached, so that equal settings share the tables.

    Returns
    -------
    points
        uint32[0x110000]: folded code point; unchanged if special or if folding does not give exactly one character.
    special
        bool[0x110000]: whether folding depends on the text around the character.
    several
        Folded text of the code points that fold to no character or to several.
    """
    folder = Path(__file__).parent
    files = [*sorted(folder.glob("*.py")), *sorted(folder.glob("*.txt"))]
    version = f"{folding} {unicodedata.unidata_version} {regex.__version__}"
    table = load_or_make("folding", lambda: pack(*_fold_all_characters(folding)), files, version)
    return unpack(table)


def pack(points: UInt32s, special: Bools, several: dict[int, str]) -> UInt32s:
    """Return the results of `folded_characters` as one array, uint32[n]."""
    texts = [(point, len(text), *map(ord, text)) for point, text in several.items()]
    rest = np.fromiter(chain.from_iterable(texts), np.uint32)
    return np.concatenate([points | _SPECIAL * special, rest])


def unpack(table: UInt32s) -> tuple[UInt32s, Bools, dict[int, str]]:
    """Return the three results of `folded_characters`, from one array."""
    points, rest, several = table[:0x110000], table[0x110000:].tolist(), {}
    at = 0
    while at < len(rest):
        end = at + 2 + rest[at + 1]
        several[rest[at]] = "".join(map(chr, rest[at + 2 : end]))
        at = end
    return points & ~_SPECIAL, points >= _SPECIAL, several


def _fold_all_characters(folding: Folding) -> tuple[UInt32s, Bools, dict[int, str]]:
    points = np.arange(0x110000, dtype=np.uint32)
    special = np.ones(0x110000, np.bool_)
    several = {}
    for start, end in _UNCHANGED:
        special[start:end] = False
    checked = "".join(characters_between(*bounds) for bounds in _CHECKED)
    for character, folded in zip(checked, folding.fold_characters(checked), strict=True):
        point = ord(character)
        special[point] = folded is None
        if folded is not None and len(folded) == 1:
            points[point] = ord(folded)
        elif folded is not None:
            several[point] = folded
    if folding.simplify:
        for traditional, simplified in simplified_characters().items():
            points[ord(traditional)] = ord(simplified)
    return points, special, several


_SPECIAL = np.uint32(1 << 31)
"""Flag of a special code point in the array that `pack` returns."""
_NO_CHARACTERS = (0xFDD0, 0xFDF0)
"""Range of code points for internal use, end exclusive; `BOUNDARY` is one of them."""

_UNCHANGED = (
    (0x3400, 0xA000),
    (0xAC00, 0xD7A4),
    (0xD800, 0xF900),
    _NO_CHARACTERS,
    (0x20000, 0x2F800),
    (0x30000, 0x32000),
)
"""Code points that folding leaves unchanged: Han, Hangul syllables, surrogates, private and internal use. They have
neither compatibility forms nor case."""

_CHECKED = (
    (0, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, _NO_CHARACTERS[0]),
    (_NO_CHARACTERS[1], 0x10000),
    (0x1F000, 0x20000),
)
"""Code points whose folding is computed: the basic plane without `_UNCHANGED`, and emoji. Characters neither here nor
in `_UNCHANGED` are rare, and treated as if their folding depended on their neighbors."""


class Folded(NamedTuple):
    """Folded texts, and which of the `Folder`'s literals and signs they contain."""

    texts: list[str]
    has_literal: Bools
    """bool[n_texts]: whether each text contains any of the `Folder`'s literals."""
    has_sign: Bools
    """bool[n_texts]: whether each text contains any of the `Folder`'s signs."""
    literals: set[str]
    """The `Folder`'s literals and signs that at least one text contains."""


class Folder:
    """Folds texts, each independently of the others.

    Parameters
    ----------
    folding
        The differences between characters to remove.
    once
        Characters whose runs collapse to one after folding. If a space is among them, spaces at the beginning and end
        of a text are also removed. If a dot is among them, two dots become one dot, and three or more become an
        ellipsis.
    literals, signs
        Strings that `fold` searches for: up to 128 in all, none empty.
    drops_questions
        Remove question marks between spaces or between a space and the end; needs a space in ``once``.
    """

    def __init__(
        self,
        folding: Folding,
        *,
        once: Collection[str] = (),
        literals: Collection[str] = (),
        signs: Collection[str] = (),
        drops_questions: bool = False,
    ) -> None:
        self._folding = folding
        joins_dots = "." in once
        flags = np.zeros(0x110000, np.uint32)
        flags[[ord(character) for character in once]] |= kernel.COLLAPSES
        by_end = sorted({*literals, *signs}, key=lambda literal: literal[::-1])
        states = [kernel.TEXT_HAS_LITERAL * (one in literals) | kernel.TEXT_HAS_SIGN * (one in signs) for one in by_end]
        literal_arrays = *encode_texts(by_end), np.array(states, np.uint8)
        for number, literal in reversed(list(enumerate(by_end))):  # the first of several with one end overwrites
            last = ord(literal[-1])
            flags[last] = flags[last] & kernel.COLLAPSES | kernel.ENDS_LITERAL | number << kernel.NUMBER_SHIFT
        checked = [kernel.SPACE] * drops_questions + [kernel.DOT, kernel.ELLIPSIS, kernel.IDEOGRAPHIC_STOP] * joins_dots
        for point in checked:
            if not flags[point] & kernel.ENDS_LITERAL:
                flags[point] |= kernel.ENDS_LITERAL | len(by_end) << kernel.NUMBER_SHIFT  # no literal has this number
        self._literals = by_end
        entries, several = _table_entries(folding, flags, joins_dots)
        self._table = kernel.FoldingTable(entries, several, *literal_arrays, drops_questions, joins_dots)

    def fold(self, texts: Sequence[str]) -> Folded:
        """Fold texts, and find the strings that rules (``literals``) and the markup cleaner (``signs``) look for."""
        found = np.zeros(len(self._literals), np.bool_)
        folded, states = self._fold(texts, False, found)
        special = np.flatnonzero(states & kernel.TEXT_IS_SPECIAL).tolist()
        if special:
            again, states[special] = self._fold(self._fold_special([texts[place] for place in special]), True, found)
            for place, text in zip(special, again, strict=True):
                folded[place] = text
        literals = {literal for literal, is_found in zip(self._literals, found.tolist(), strict=True) if is_found}
        return Folded(folded, states & kernel.TEXT_HAS_LITERAL != 0, states & kernel.TEXT_HAS_SIGN != 0, literals)

    def _fold_special(self, texts: Sequence[str]) -> list[str]:
        """Apply the part of folding in which a character depends on its neighbors, to all texts in one pass."""
        folded = self._folding.fold_text(BOUNDARY.join(texts)).split(BOUNDARY)
        if len(folded) == len(texts):
            return folded
        return [self._folding.fold_text(text) for text in texts]  # a text contains the boundary itself

    def _fold(self, texts: Sequence[str], fold_special: bool, found: Bools) -> tuple[list[str], UInt8s]:
        points, offsets = encode_texts(texts)
        room = np.empty(kernel.MAX_SEVERAL * len(points), np.uint32)
        bounds, states = kernel.fold_texts(points, offsets, self._table, fold_special, found, room)
        return decode_texts(room[: bounds[-1]], bounds), states


shared_folder = lru_cache(maxsize=8)(Folder)
"""Cached constructor of `Folder`, because the tables of a folder take 4 MB and 10 ms."""


def _table_entries(folding: Folding, flags: UInt32s, joins_dots: bool) -> tuple[UInt32s, UInt32s]:
    """Return the arrays ``entries`` and ``several`` of a `FoldingTable`.

    ``flags``: uint32[0x110000]; for each folded character, whether its runs collapse, and which literal it may end.
    """
    points, special, texts = folded_characters(folding)
    entries = points | flags[points] | np.where(special, kernel.SPECIAL, np.uint32(0))
    several: list[int] = []
    for point, folded in texts.items():
        if joins_dots and folded == "...":  # NFKC expands an ellipsis to three dots
            entries[point] = kernel.ELLIPSIS | flags[kernel.ELLIPSIS]
            continue
        entries[point] = kernel.SEVERAL | np.uint32(len(folded)) << kernel.NUMBER_SHIFT | np.uint32(len(several))
        several.extend(ord(part) | int(flags[ord(part)]) for part in folded)
    return entries, np.array(several, np.uint32)
