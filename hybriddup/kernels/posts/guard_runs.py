"""Finds pairs of texts that cannot differ in a name or a negation, so that the guards need not check these pairs.

The run of words in which two texts differ decides.

Words and runs are defined as in `hybriddup.steps.guards.reading`. The *middle* of a text is the part between the common
prefix and the common suffix of the two texts.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts.guard_changes import N_CLASSES
from hybriddup.kernels.posts.guard_kinds import (
    ALONE,
    APOSTROPHE,
    DIGIT,
    IN_WORDS,
    LETTER,
    NAME,
    NEGATION,
    OPPOSITE,
    PARTICLES,
    TYPOGRAPHIC,
    Signs,
)
from hybriddup.kernels.posts.guard_texts import flags_of_word
from hybriddup.kernels.posts.tokens import OFFSET_BASIS, hashed, is_in

MOST_WORDS = 512
AROUND = 2
"""Number of Han characters before and after a run (consecutive differing words) that may belong to the same name."""
LONGEST_RUN, LONGEST_AMOUNT = 6, 4.0
"""Maximum number of words in a run (consecutive differing words) that may be a name. `LONGEST_AMOUNT` is the same
limit if a Han character counts as half a word; both limits apply."""
LONGEST_EXCHANGE = 16
"""Maximum length, in words, of the part in which two texts differ if two names are swapped, including both names."""
FEW_OTHERS = 4
"""Maximum number of Han characters that may differ along with a negation; with more, the negation does not matter."""
FIRST_MARK = 0x300
"""First code point of combining marks, which may belong to the character before them."""


class Words(NamedTuple):
    """The words in the differing parts of two texts, plus a scratch buffer for a name."""

    keys: UInt64s
    starts: Int64s
    """``keys``, uint64[2, `MOST_WORDS`], and ``starts``, int64[2, `MOST_WORDS`]: the hash and start of each word."""
    ends: Int64s
    """int64[2, `MOST_WORDS`]: the end of each word in its text."""
    name: UInt32s
    """uint32[`LONGEST_RUN` + 2 * `AROUND`]: code points of a possible name."""


@njit(cache=True, nogil=True)
def make_words() -> Words:
    """Allocate the buffers for one pair of texts."""
    starts, ends = np.empty((2, MOST_WORDS), np.int64), np.empty((2, MOST_WORDS), np.int64)
    return Words(np.empty((2, MOST_WORDS), np.uint64), starts, ends, np.empty(LONGEST_RUN + 2 * AROUND, np.uint32))


@njit(cache=True, nogil=True, inner=True)
def is_han(point: np.uint32) -> bool:
    """Return whether a code point is a Han character; kana are not."""
    return bool(0x3400 <= point <= 0x9FFF)


@njit(cache=True, nogil=True, inner=True)
def end_of_word(text: UInt32s, at: int, end: int, kinds: UInt8s) -> int:
    """Return the end of the word of letters or digits that begins at ``at``; an apostrophe may be inside it."""
    run, place = kinds[text[at]] & (LETTER | DIGIT), at + 1
    while place < end:
        is_link = run == LETTER and text[place] in (APOSTROPHE, TYPOGRAPHIC)
        is_link = is_link and place + 1 < end and kinds[text[place + 1]] & LETTER != 0
        if not is_link and not kinds[text[place]] & run:
            return place
        place += 1
    return place


@njit(cache=True, nogil=True, inner=True)
def read_words(text: UInt32s, first: int, end: int, kinds: UInt8s, side: int, words: Words) -> int:
    """Write the words of ``text[first:end]`` to row ``side`` of ``words``; return their number.

    Return -1 if there are more than `MOST_WORDS`, or if it is unclear whether a character continues the word before it.
    """
    n, at = np.int64(0), first
    while at < end:
        kind, place = kinds[text[at]] & IN_WORDS, at + 1
        if kind == 0:
            at = place
            continue
        if kind & (LETTER | DIGIT):
            place = end_of_word(text, at, end, kinds)
        is_unclear = text[at] >= FIRST_MARK and (not is_han(text[at]) or kind & LETTER != 0)
        if n == MOST_WORDS or is_unclear:
            return np.int64(-1)
        key = OFFSET_BASIS
        for i in range(at, place):
            key = hashed(key, text[i])
        words.keys[side, n], words.starts[side, n], words.ends[side, n] = key, at, place
        n, at = n + 1, place
    return n


@njit(cache=True, nogil=True, inner=True)
def without_ruled_out(
    found: np.uint8, a: UInt32s, b: UInt32s, first: int, n_left: int, signs: Signs, words: Words
) -> np.uint8:
    """Return ``found``, the flags of a pair of texts, without the flags that the differing words rule out.

    The texts differ only between index ``first`` and the last ``n_left`` characters; no word crosses these limits.
    """
    n_a = read_words(a, first, len(a) - n_left, signs.kinds, 0, words)
    n_b = read_words(b, first, len(b) - n_left, signs.kinds, 1, words)
    if n_a < 0 or n_b < 0:
        return found
    start = np.int64(0)
    while start < min(n_a, n_b) and words.keys[0, start] == words.keys[1, start]:
        start += 1
    while min(n_a, n_b) > start and words.keys[0, n_a - 1] == words.keys[1, n_b - 1]:
        n_a, n_b = n_a - 1, n_b - 1
    if n_a == start and n_b == start:
        return found & ~(NAME | NEGATION | OPPOSITE)
    if n_a == start or n_b == start:
        is_kept = may_be_negations(a, 0, start, n_a, signs, words) and may_be_negations(b, 1, start, n_b, signs, words)
        return found & ~(NAME if is_kept else NAME | NEGATION)
    if max(n_a, n_b) - start > LONGEST_EXCHANGE and has_different_ends(a, b, start, n_a - 1, n_b - 1, words):
        return found & ~NAME
    if not is_one_run(a, b, start, n_a, n_b, words):
        return found
    han_a, han_b = count_han(a, 0, start, n_a, words), count_han(b, 1, start, n_b, words)
    if not may_be_names(a, b, start, (n_a, n_b), (han_a, han_b), signs, words):
        found &= ~NAME
    if min(n_a, n_b) > start + 1 and han_a > 0 and han_b > 0:  # more than one word next to a denial
        found &= ~NEGATION
    return found


@njit(cache=True, nogil=True, inner=True)
def may_be_negations(text: UInt32s, side: int, start: int, end: int, signs: Signs, words: Words) -> bool:
    """Return whether words ``start`` to ``end - 1`` of text ``side`` may all be negations, or words added with one."""
    for i in range(start, end):
        first = words.starts[side, i]
        if is_in(signs.with_negation, words.keys[side, i]) or signs.kinds[text[first]] & NEGATION:
            continue
        has_mark = False
        for at in range(first, words.ends[side, i]):
            has_mark |= text[at] == APOSTROPHE or text[at] == TYPOGRAPHIC
        if not has_mark and not flags_of_word(text, first, words.ends[side, i], words.keys[side, i], signs) & NEGATION:
            return False
    return True


@njit(cache=True, nogil=True, inner=True)
def has_different_ends(a: UInt32s, b: UInt32s, start: int, last_a: int, last_b: int, words: Words) -> bool:
    """Return whether two differing parts have different first and different last characters.

    The result is False if a part begins or ends with a particle. If it is True, the parts cannot be two swapped
    names. The parts are words ``start`` to ``last_a`` of text ``a``, and words ``start`` to ``last_b`` of text ``b``.
    """
    head_a, head_b = a[words.starts[0, start]], b[words.starts[1, start]]
    tail_a, tail_b = a[words.starts[0, last_a]], b[words.starts[1, last_b]]
    if head_a in PARTICLES or head_b in PARTICLES or tail_a in PARTICLES or tail_b in PARTICLES:
        return False
    return bool(head_a != head_b and a[words.ends[0, last_a] - 1] != b[words.ends[1, last_b] - 1])


@njit(cache=True, nogil=True, inner=True)
def is_one_run(a: UInt32s, b: UInt32s, start: int, end_a: int, end_b: int, words: Words) -> bool:
    """Return whether two differing parts form a single run: they have no word in common and contain no particles."""
    for i in range(start, end_a):
        if a[words.starts[0, i]] in PARTICLES:
            return False
        for k in range(start, end_b):
            if words.keys[0, i] == words.keys[1, k]:
                return False
    for k in range(start, end_b):  # noqa: SIM110  (numba has no any)
        if b[words.starts[1, k]] in PARTICLES:
            return False
    return True


@njit(cache=True, nogil=True, inner=True)
def count_han(text: UInt32s, side: int, start: int, end: int, words: Words) -> int:
    """Count the Han characters among words ``start`` to ``end - 1`` of text ``side``, 0 or 1."""
    n = np.int64(0)
    for i in range(start, end):
        n += is_han(text[words.starts[side, i]])
    return n


@njit(cache=True, nogil=True, inner=True)
def may_be_names(
    a: UInt32s, b: UInt32s, start: int, ends: tuple[int, int], han: tuple[int, int], signs: Signs, words: Words
) -> bool:
    """Return whether the differing words of both texts may be names; if any is in Han, both must be known names.

    The differing words are words ``start`` to ``ends[0] - 1`` of text ``a``, and ``start`` to ``ends[1] - 1`` of
    ``b``. ``han``: the number of Han characters among them, in ``a`` and in ``b``.
    """
    for side in range(2):
        if ends[side] - start - 0.5 * han[side] > LONGEST_AMOUNT:
            return False
    if han[0] + han[1] == 0:
        return True
    for side in range(2):
        if ends[side] - start > LONGEST_RUN or han[side] == 0:
            return False
        first, last = words.starts[side, start], words.ends[side, ends[side] - 1]
        if not may_be_name(a if side == 0 else b, first, last, signs, words.name):
            return False
    return True


@njit(cache=True, nogil=True, inner=True)
def may_be_name(text: UInt32s, first: int, end: int, signs: Signs, name: UInt32s) -> bool:
    """Return whether the Han characters of ``text[first:end]`` are part of a known name or begin with a surname."""
    n_before, n_inner, n, at = np.int64(0), np.int64(0), np.int64(0), first - 1
    while at >= 0 and n_before < AROUND and (is_han(text[at]) or not signs.kinds[text[at]] & IN_WORDS):
        if is_han(text[at]):
            n_before += 1
            name[AROUND - n_before] = text[at]
        at -= 1
    at = first
    while at < len(text) and (at < end or n < n_inner + AROUND):
        if is_han(text[at]):
            name[AROUND + n] = text[at]
            n, n_inner = n + 1, n_inner + (at < end)
        elif signs.kinds[text[at]] & IN_WORDS:
            break
        at += 1
    for before in range(n_before + 1 if at >= end else 0):
        for after in range(1 + np.int64(min(n - n_inner, AROUND - before))):
            if before + n_inner + after > 1 and is_known(name, AROUND - before, AROUND + n_inner + after, signs.names):
                return True
    return n > 0 and is_known(name, AROUND, AROUND + 1, signs.names)


@njit(cache=True, nogil=True, inner=True)
def is_known(name: UInt32s, first: int, end: int, names: UInt64s) -> bool:
    """Return whether ``name[first:end]`` is a known name."""
    key = OFFSET_BASIS
    for at in range(first, end):
        key = hashed(key, name[at])
    return is_in(names, key)


@njit(cache=True, nogil=True, inner=True)
def has_much_else(
    a: UInt32s, b: UInt32s, n_before: int, n_after: int, n_denials: tuple[int, int], kinds: UInt8s, counts: Int32s
) -> bool:
    """Return whether two texts differ by more than a negation, so that their negations do not matter.

    They do if one differing part has no negation, the other has ``n`` of them, and the first part has more than
    `FEW_OTHERS` + ``n`` Han characters that the other lacks. The result is False if either part has kana or letters of
    another script without spaces. ``n_denials``: number of negations in or next to each part.
    ``counts``: int32[`N_CLASSES`], a scratch buffer, all 0 before and after the call.
    """
    only_a, only_b, is_han_alone = np.int64(0), np.int64(0), True
    for at in range(n_before, len(a) - n_after):
        is_han_alone &= is_han(a[at]) or not kinds[a[at]] & ALONE
        counts[a[at] % N_CLASSES] += np.int32(is_han(a[at]))
    for at in range(n_before, len(b) - n_after):
        is_han_alone &= is_han(b[at]) or not kinds[b[at]] & ALONE
        counts[b[at] % N_CLASSES] -= np.int32(is_han(b[at]))
    for text in (a, b):
        for at in range(n_before, len(text) - n_after):
            n = np.int64(counts[text[at] % N_CLASSES])
            only_a, only_b = only_a + n * (n > 0), only_b - n * (n < 0)
            counts[text[at] % N_CLASSES] = np.int32(0)
    of_a, of_b = n_denials
    has_much_a = of_a == 0 and only_a > FEW_OTHERS + of_b
    return is_han_alone and (has_much_a or (of_b == 0 and only_b > FEW_OTHERS + of_a))


@njit(cache=True, nogil=True)
def hash_texts(points: UInt32s, offsets: Int64s) -> UInt64s:
    """Return uint64[n_texts]: the FNV-1a hash of each text, for tables that `is_known` searches."""
    keys = np.full(len(offsets) - 1, OFFSET_BASIS, np.uint64)
    for text in range(len(keys)):
        for at in range(offsets[text], offsets[text + 1]):
            keys[text] = hashed(keys[text], points[at])
    return keys
