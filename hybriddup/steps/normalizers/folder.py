"""Folding whole batches of texts in one pass, in which repeats are left out and literals looked for as well."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

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
from hybriddup.steps.normalizers.folding import Folding, folded_characters

_UTF_32 = f"utf-32-{sys.byteorder[0]}e"


class FoldedTexts(NamedTuple):
    """Texts after folding."""

    texts: list[str]
    has_literal: Bools
    """bool[n_texts]: whether a literal of the folder stands in the folded text."""


class Folder:
    """Folds texts, each as if it stood alone.

    Parameters
    ----------
    folding
        What becomes of characters.
    once
        Characters, as they are after folding, that are left out after themselves. With a space among them, a text has
        none at its ends either.
    literals
        What `FoldedTexts.has_literal` tells of; none is empty, and there are at most 128.
    drops_questions
        Whether question marks that stand alone are left out: those between two spaces, or a space and the end. The
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

    def fold(self, texts: Sequence[str]) -> FoldedTexts:
        """Return the folded texts, in the same order, one for each."""
        folded, states = self._fold(texts, fold_special=False)
        special = np.flatnonzero(states & TEXT_IS_SPECIAL).tolist()
        if special:
            again, states[special] = self._fold([self._folding.fold_text(texts[place]) for place in special], True)
            for place, text in zip(special, again, strict=True):
                folded[place] = text
        return FoldedTexts(folded, states & TEXT_HAS_LITERAL != 0)

    def _fold(self, texts: Sequence[str], fold_special: bool) -> tuple[list[str], UInt8s]:
        points, offsets = encode_texts(texts)
        room = np.empty(MAX_SEVERAL * len(points), np.uint32)
        bounds, states = fold_texts(points, offsets, self._table, fold_special, room)
        joined = str(room[: bounds[-1]].data, _UTF_32, "surrogatepass")
        return [joined[start:end] for start, end in pairwise(bounds.tolist())], states


@lru_cache(maxsize=8)
def shared_folder(folding: Folding, once: str, literals: tuple[str, ...], drops_questions: bool) -> Folder:
    """Return a folder, the same for all that ask for these: its table has four megabytes and takes ten milliseconds."""
    return Folder(folding, once=once, literals=literals, drops_questions=drops_questions)


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
