"""Measures how much two texts differ between their common prefix and their common suffix."""

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts.guard_kinds import ALONE, DIGIT, LETTER, MOST_ALONE, MOST_LETTERS, NUMERAL

N_CLASSES = np.uint32(256)
MARKS = tuple(ord(mark) for mark in " 。!?…~;、")
"""Punctuation and spaces; guards need not check posts that differ only in these."""
AT, LEFT, H, T, P = (np.uint32(ord(character)) for character in "@<htp")


@njit(cache=True, nogil=True, inner=True)
def may_be_blanked(text: UInt32s) -> bool:
    """Return whether a text may have parts that guards replace by spaces: links, mentions, masks such as ``<url>``."""
    for at in range(len(text)):
        if text[at] == AT or text[at] == LEFT:
            return True
        if text[at] == H and at + 3 < len(text) and text[at + 1] == T and text[at + 2] == T and text[at + 3] == P:
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def is_small(a: UInt32s, b: UInt32s, n_before: int, n_after: int, reached: Int64s) -> bool:
    """Return whether two texts differ in few characters, as in `hybriddup.steps.guards.reading.Difference.is_small`.

    Finds the shortest edit script (E. W. Myers, An O(ND) difference algorithm and its variations, 1986). The texts
    share ``n_before`` characters at the beginning and ``n_after`` at the end; ``reached`` is `Room.reached`.
    """
    end_a, end_b = len(a) - n_after, len(b) - n_after
    most = MOST_ALONE if _has_han(a, n_before, end_a) or _has_han(b, n_before, end_b) else MOST_LETTERS
    n_a, n_b, middle = end_a - n_before, end_b - n_before, MOST_LETTERS + 1
    if abs(n_a - n_b) > most:
        return False
    reached[middle + 1] = 0
    for n_edits in range(most + 1):
        for diagonal in range(-n_edits, n_edits + 1, 2):
            before, after = reached[middle + diagonal - 1], reached[middle + diagonal + 1]
            at_a = after if diagonal == -n_edits or (diagonal != n_edits and before < after) else before + 1
            at_b = at_a - diagonal
            while at_a < n_a and at_b < n_b and a[n_before + at_a] == b[n_before + at_b]:
                at_a, at_b = at_a + 1, at_b + 1
            reached[middle + diagonal] = at_a
            if at_a >= n_a and at_b >= n_b:
                return True
    return False


@njit(cache=True, nogil=True, inner=True)
def _has_han(text: UInt32s, first: int, end: int) -> bool:
    """Return whether ``text[first:end]`` contains Han characters or kana."""
    for at in range(first, end):  # noqa: SIM110  (numba has no any)
        if 0x3040 <= text[at] <= 0x30FF or 0x3400 <= text[at] <= 0x9FFF:
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def has_only_marks(text: UInt32s, n_before: int, n_after: int, kinds: UInt8s) -> bool:
    """Return whether the differing part of a text is empty or only `MARKS`, and is not inside a number or word.

    The text shares its first ``n_before`` and its last ``n_after`` characters with another text.
    """
    for at in range(n_before, len(text) - n_after):
        if text[at] not in MARKS:
            return False
    before = kinds[text[n_before - 1]] if n_before else np.uint8(0)
    after = kinds[text[len(text) - n_after]] if n_after else np.uint8(0)
    return not before & after & (DIGIT | NUMERAL | LETTER)


@njit(cache=True, nogil=True, inner=True)
def count_others(
    a: UInt32s, b: UInt32s, n_before: int, n_after: int, kinds: UInt8s, counts: Int32s
) -> tuple[int, bool]:
    """Count the characters that one of two texts has and the other lacks, in any order; may count too few.

    The first ``n_before`` and the last ``n_after`` characters are equal and are skipped. Also return whether any of the
    remaining characters of either text has the flag `ALONE` or `NUMERAL`. ``counts``: int32[`N_CLASSES`], a scratch
    buffer, all 0 before and after the call.
    """
    is_alone = False
    for at in range(n_before, len(a) - n_after):
        counts[a[at] % N_CLASSES] += np.int32(1)
        is_alone |= kinds[a[at]] & (ALONE | NUMERAL) != 0
    for at in range(n_before, len(b) - n_after):
        counts[b[at] % N_CLASSES] -= np.int32(1)
        is_alone |= kinds[b[at]] & (ALONE | NUMERAL) != 0
    n = np.int64(0)
    for text in (a, b):
        for at in range(n_before, len(text) - n_after):
            n += abs(counts[text[at] % N_CLASSES])
            counts[text[at] % N_CLASSES] = np.int32(0)
    return n, is_alone
