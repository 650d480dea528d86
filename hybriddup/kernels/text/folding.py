"""Folds texts character by character through a table, collapses repeated characters, and finds literals.

A literal is a string to search for in the folded texts. The *state* of a text consists of flags that record which kinds
of literals it contains.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit

POINT = np.uint32(0x1FFFFF)
"""Mask of the code point in a table entry."""
COLLAPSES = np.uint32(1 << 21)
"""Flag: repeats of the character collapse into one. If the space has it, spaces at both ends of a text are removed."""
COLLAPSES_SHIFT = np.uint32(21)
SPECIAL = np.uint32(1 << 22)
"""Flag: folding the character depends on the text around it, so its table entry contains the character itself."""
SEVERAL = np.uint32(1 << 23)
"""Flag: the character becomes no or several characters; instead of a code point, the entry has an index into
`FoldingTable.several`."""
ENDS_LITERAL = np.uint32(1 << 24)
"""Flag: the character is the last one of a literal; never set together with `SEVERAL`."""
NUMBER_SHIFT = np.uint32(25)
"""Shift of the number in a table entry: with `SEVERAL`, how many characters replace this one; with `ENDS_LITERAL`, the
index of the first literal that ends with it."""
MAX_SEVERAL = 4
"""Largest number of characters that replace one character; determines the size of the output."""

TEXT_IS_SPECIAL = np.uint8(1)
TEXT_HAS_LITERAL = np.uint8(2)
TEXT_HAS_SIGN = np.uint8(4)

SPACE, QUESTION = np.uint32(0x20), np.uint32(0x3F)
DOT, ELLIPSIS, IDEOGRAPHIC_STOP = np.uint32(0x2E), np.uint32(0x2026), np.uint32(0x3002)
TWO_DOTS = np.uint32(0x2025)


class FoldingTable(NamedTuple):
    """The replacement of each character, as arrays for `fold_texts`."""

    entries: UInt32s
    """uint32[0x110000]: replacement and flags of each code point."""
    several: UInt32s
    """uint32[n]: entries of the characters that replace one character, concatenated; none has `SEVERAL`."""
    literals: UInt32s
    """uint32[n]: code points of all literals, concatenated; literals with the same last character are consecutive."""
    literal_bounds: Int64s
    """int64[n_literals + 1]: literal ``i`` is ``literals[literal_bounds[i]:literal_bounds[i + 1]]``; none is empty."""
    literal_states: UInt8s
    """uint8[n_literals]: flags that `fold_texts` sets in the state of a text that contains the literal."""
    drops_questions: bool
    """Whether question marks between two spaces, or between a space and the end, are removed. If so,
    the flags of the space must include `COLLAPSES` and `ENDS_LITERAL`."""
    joins_dots: bool
    """Whether three or more dots become an ellipsis, and two dots become one dot. Dots then have `COLLAPSES` and
    `ENDS_LITERAL`."""


@njit(cache=True, nogil=True, inner=True)
def is_dot(point: np.uint32) -> bool:
    """Return whether a character is a dot, an ideographic full stop, an ellipsis, or `TWO_DOTS`."""
    return point in (DOT, ELLIPSIS, IDEOGRAPHIC_STOP, TWO_DOTS)


@njit(cache=True, nogil=True, inner=True)
def join_dots(folded: UInt32s, end: int, before: np.uint32, point: np.uint32) -> np.uint32:
    """Join the dot ``point`` to ``before``, the dots at the end of ``folded[:end]``; return the new ``before``.

    Two dots are written as the first one, and the result is `TWO_DOTS`. Three become an ellipsis, which marks a cut.
    """
    if point != ELLIPSIS and before in (DOT, IDEOGRAPHIC_STOP):
        return TWO_DOTS
    folded[end - 1] = ELLIPSIS
    return ELLIPSIS


@njit(cache=True, nogil=True)
def put(entry: np.uint32, folded: UInt32s, end: int, before: np.uint32) -> int:
    """Append the character of a table entry to ``folded[:end]``, and return the new end.

    A character that collapses is left out if it equals ``before``, the previous character. Repeats are hard to
    predict, so this is arithmetic and not a branch.
    """
    point = entry & POINT
    folded[end] = point
    return end + 1 - np.int64((entry >> COLLAPSES_SHIFT) & np.uint32(point == before))


@njit(cache=True, nogil=True)
def ends_with(folded: UInt32s, start: int, end: int, literals: UInt32s, first: int, last: int) -> bool:
    """Return whether ``folded[start:end]`` ends with ``literals[first:last]``."""
    length = min(last - first, end - start)
    equal = 0
    while equal < length and folded[end - 1 - equal] == literals[last - 1 - equal]:
        equal += 1
    return equal == last - first


@njit(cache=True, nogil=True, inner=True)
def end_before_questions(folded: UInt32s, start: int, end: int) -> int:
    """Return the end of ``folded[start:end]`` after removing question marks at its end that follow a space."""
    before = end
    while before > start and folded[before - 1] == QUESTION:
        before -= 1
    return np.int64(before if before > start and folded[before - 1] == SPACE else end)


@njit(cache=True, nogil=True)
def state_at_end(
    entry: np.uint32, folded: UInt32s, start: int, end: int, table: FoldingTable, found: Bools
) -> np.uint8:
    """Find the literals at the end of ``folded[start:end]``; return their state flags, combined.

    ``entry`` is the table entry of the last character. ``found``, bool[n_literals], is set for each literal found.
    """
    literals, bounds, state = table.literals, table.literal_bounds, np.uint8(0)
    literal = np.int64(entry >> NUMBER_SHIFT)
    while literal < len(bounds) - 1 and literals[bounds[literal + 1] - 1] == entry & POINT:
        if ends_with(folded, start, end, literals, bounds[literal], bounds[literal + 1]):
            state |= table.literal_states[literal]
            found[literal] = True
        literal += 1
    return state


@njit(cache=True, nogil=True, inner=True)
def put_checked(
    entry: np.uint32, folded: UInt32s, start: int, end: int, before: np.uint32, table: FoldingTable, found: Bools
) -> tuple[int, np.uint32, np.uint8]:
    """Append the character of a table entry to the text ``folded[start:end]``, with all checks of the table.

    Return the new end, the new ``before`` (see `put`), and the state flags of the literals that now end the text.
    """
    point, state = entry & POINT, np.uint8(0)
    if table.drops_questions and point == SPACE:
        end = end_before_questions(folded, start, end)
        before = folded[end - 1] if end > start else SPACE
    if table.joins_dots and is_dot(point) and is_dot(before):
        return end, join_dots(folded, end, before, point), state
    end = put(entry, folded, end, before)
    if entry & ENDS_LITERAL:
        state = state_at_end(entry, folded, start, end, table, found)
    return end, point, state


@njit(cache=True, nogil=True)
def fold_texts(
    points: UInt32s, offsets: Int64s, table: FoldingTable, fold_special: bool, found: Bools, folded: UInt32s
) -> tuple[Int64s, UInt8s]:
    """Fold texts by a table and write them to ``folded``; return the bounds and the state flags of the texts.

    Parameters
    ----------
    points, offsets
        The texts, as `hybriddup.data.records.EncodedTexts`.
    fold_special
        Whether characters with the flag `SPECIAL` are copied unchanged. If not, a text with such a character has the
        state `TEXT_IS_SPECIAL`, and nothing is written for it.
    found
        bool[n_literals]: set for each literal in a folded text; changed in place.
    folded
        uint32[at least MAX_SEVERAL * n_points]: changed in place.

    Returns
    -------
    bounds
        int64[n_texts + 1]: text ``i`` is ``folded[bounds[i]:bounds[i + 1]]``.
    states
        uint8[n_texts]: `TEXT_IS_SPECIAL`, or the state flags of all literals in the folded text.
    """
    entries, several = table.entries, table.several
    bounds = np.zeros(len(offsets), np.int64)
    states = np.zeros(len(offsets) - 1, np.uint8)
    strip = entries[SPACE] & COLLAPSES != 0
    end = np.int64(0)
    for text in range(len(offsets) - 1):
        start = end
        before = SPACE  # so that collapsing spaces also strips the beginning
        for place in range(offsets[text], offsets[text + 1]):
            entry = entries[points[place]]
            if entry < SPECIAL:
                end = put(entry, folded, end, before)
                before = entry & POINT
            elif entry & SEVERAL:
                for part in range(entry & POINT, (entry & POINT) + (entry >> NUMBER_SHIFT)):
                    end, before, state = put_checked(several[part], folded, start, end, before, table, found)
                    states[text] |= state
            elif entry & SPECIAL and not fold_special:
                states[text] = TEXT_IS_SPECIAL
                end = start
                break
            else:
                end, before, state = put_checked(entry, folded, start, end, before, table, found)
                states[text] |= state
        if table.drops_questions:
            end = end_before_questions(folded, start, end)
        if strip and end > start and folded[end - 1] == SPACE:
            end -= 1
        bounds[text + 1] = end
    return bounds, states
