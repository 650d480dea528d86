"""Which pairs of posts a guard must read: where the two differ, one has a sign, such as a digit, that the other lacks.

Most pairs have none, and are done with here: reading one takes some fifty times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit

NUMBER, NEGATION, OPPOSITE, NAME = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
"""What a sign, and so a pair, may concern. Of a character, `NUMBER` says that a day or a time may begin with it."""
DIGIT, NUMERAL, LETTER, ALONE = np.uint8(16), np.uint8(32), np.uint8(64), np.uint8(128)
"""Of a character: a digit, a Han numeral, a letter of a script with spaces, a letter of one without."""
ALL = np.uint8(15)
MOST_SIGNS = 64
LONGEST_WORD = 24
LONGEST_NAME = 8
LONGEST_AFFIX = 6
LONGEST_CHANGE = 64
N_CLASSES = np.uint32(256)
MOST_LETTERS, MOST_ALONE = 64, 24
"""Characters that may differ in a small difference; fewer if there are characters of scripts without spaces."""
LONGEST_PART = 40
"""Words and Han characters from the first difference of a sentence to the last that a negation or an opposite makes."""
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
ROMAN_I, ROMAN_V, ROMAN_X, ROMAN_L = (np.uint32(ord(character)) for character in "ivxl")
BEFORE_NAMES = tuple(ord(mark) for mark in "/@<")
"""What is before the words of links, mentions and masked parts, which names are not looked for in."""
PARTICLE, TOUCHED = np.uint64(0), np.uint64(1)
"""In the place of a hash: a particle or a part of a link; a word that a differing part only touches."""
PARTICLES = tuple(ord(character) for character in "了啦吧呀啊哦噢喔哟诶欸唉哎嗯呃额阿哇咯喽罗哒嘞么呢嘛的")
MARKS = tuple(ord(mark) for mark in " 。!?…~;、")
"""Marks between words."""
TAG, APOSTROPHE, TYPOGRAPHIC, N, T = (np.uint32(ord(character)) for character in "#'\u2019nt")


class Signs(NamedTuple):
    """What guards know of characters and words."""

    kinds: UInt8s
    """uint8[n_code_points]: of each character."""
    words: UInt64s
    """uint64[n_words], rising: the hashes of words of scripts with spaces."""
    of_words: UInt8s
    """uint8[n_words]: what they concern."""


@njit(cache=True, nogil=True)
def find_signs(points: UInt32s, offsets: Int64s, earlier: Int64s, later: Int64s, signs: Signs) -> UInt8s:
    """Return uint8[n_pairs]: what the guards must read of each pair of texts, any of `NUMBER` to `NAME`."""
    found = np.zeros(len(earlier), np.uint8)
    hashes, kinds = np.empty((2, MOST_SIGNS), np.uint64), np.empty((2, MOST_SIGNS), np.uint8)
    counts = np.zeros(N_CLASSES, np.int32)
    sides, inner = np.empty((2, 2, MOST_SIGNS), np.uint64), np.empty((2, LONGEST_NAME), np.uint64)
    for pair in range(len(earlier)):
        a = points[offsets[earlier[pair]] : offsets[earlier[pair] + 1]]
        b = points[offsets[later[pair]] : offsets[later[pair] + 1]]
        found[pair] = _signs_of_pair(a, b, signs, hashes, kinds, sides, inner, counts)
    return found


@njit(cache=True, nogil=True, inner=True)
def _signs_of_pair(
    a: UInt32s,
    b: UInt32s,
    signs: Signs,
    hashes: UInt64s,
    kinds: UInt8s,
    sides: UInt64s,
    inner: UInt64s,
    counts: Int32s,
) -> np.uint8:
    shorter = min(len(a), len(b))
    n_before = 0
    while n_before < shorter and a[n_before] == b[n_before]:
        n_before += 1
    if n_before == len(a) and n_before == len(b):
        return np.uint8(0)
    n_after = 0
    while n_after < shorter - n_before and a[len(a) - 1 - n_after] == b[len(b) - 1 - n_after]:
        n_after += 1
    if _has_only_marks(a, n_before, n_after, signs.kinds) and _has_only_marks(b, n_before, n_after, signs.kinds):
        return np.uint8(0)
    first = _extended(a, n_before, -1, signs.kinds)
    n_left = len(a) - _extended(a, len(a) - n_after, 1, signs.kinds)
    n_a, said_a, roman_a = _read(
        a, first, len(a) - n_left, n_before, len(a) - n_after, signs, hashes[0], kinds[0], sides[0], inner[0]
    )
    n_b, said_b, roman_b = _read(
        b, first, len(b) - n_left, n_before, len(b) - n_after, signs, hashes[1], kinds[1], sides[1], inner[1]
    )
    middle_a, middle_b = len(a) - n_after - n_before, len(b) - n_after - n_before
    if n_a == MOST_SIGNS or n_b == MOST_SIGNS:
        return ALL
    result, is_large = np.uint8(0), max(middle_a, middle_b) > LONGEST_CHANGE
    for kind in (NUMBER, OPPOSITE):
        if (kind == NUMBER or max(said_a, said_b) <= LONGEST_PART) and _both_have_more(
            n_a, n_b, hashes, kinds, sides, kind, is_large
        ):
            result |= kind
    if max(said_a, said_b) <= LONGEST_PART and (
        _has_more(n_a, n_b, hashes[0], hashes[1], kinds[0], kinds[1], NEGATION)
        or _has_more(n_b, n_a, hashes[1], hashes[0], kinds[1], kinds[0], NEGATION)
        or (max(middle_a, middle_b) <= LONGEST_AFFIX and said_a == 1 and said_b == 1)
    ):
        result |= NEGATION
    if said_a == roman_a == 1 and said_b == roman_b == 1:
        result |= NUMBER
    if 0 < said_a <= LONGEST_NAME and 0 < said_b <= LONGEST_NAME and not _share(inner, said_a, said_b):
        result |= NAME
    may_be_exchanged = said_a > 0 and middle_a == middle_b and not result & NAME
    if result & (NEGATION | NAME) or may_be_exchanged:
        n_other, is_alone = _count_others(a, b, n_before, n_after, signs.kinds, counts)
        if may_be_exchanged and n_other == 0:
            result |= NAME
        if n_other > (MOST_ALONE if is_alone else MOST_LETTERS):
            result &= ~(NEGATION | NAME)
    return result


@njit(cache=True, nogil=True, inner=True)
def _has_only_marks(text: UInt32s, n_before: int, n_after: int, kinds: UInt8s) -> bool:
    """Return whether marks that are no part of a number or word, or nothing, are all between two equal ends."""
    for at in range(n_before, len(text) - n_after):
        if text[at] not in MARKS:
            return False
    before = kinds[text[n_before - 1]] if n_before else np.uint8(0)
    after = kinds[text[len(text) - n_after]] if n_after else np.uint8(0)
    return not before & after & (DIGIT | NUMERAL | LETTER)


@njit(cache=True, nogil=True, inner=True)
def _count_others(
    a: UInt32s, b: UInt32s, n_before: int, n_after: int, kinds: UInt8s, counts: Int32s
) -> tuple[int, bool]:
    """Return how many characters differ in what is between equal ends, in any order, and whether some are alone.

    ``counts`` int32[`N_CLASSES`] are zeros, also after it.
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


@njit(cache=True, nogil=True, inner=True)
def _share(inner: UInt64s, n_a: int, n_b: int) -> bool:
    """Return whether two differing parts have a word in common, so that more than one run differs; no particles.

    ``inner`` uint64[2, `LONGEST_NAME`] has the hashes of their words, or `PARTICLE`, or `TOUCHED`.
    """
    first, has_particle, is_shared = np.int64(0), False, False
    while first < min(n_a, n_b) and inner[0, first] == inner[1, first]:
        first += 1
    while n_a > first and n_b > first and inner[0, n_a - 1] == inner[1, n_b - 1]:
        n_a, n_b = n_a - 1, n_b - 1
    for i in range(first, n_a):
        has_particle |= inner[0, i] == PARTICLE
        for k in range(first, n_b):
            is_shared |= inner[0, i] == inner[1, k] and inner[0, i] != TOUCHED
    for k in range(first, n_b):
        has_particle |= inner[1, k] == PARTICLE
    return is_shared and not has_particle


@njit(cache=True, nogil=True, inner=True)
def _extended(text: UInt32s, place: int, step: int, kinds: UInt8s) -> int:
    """Return a place moved by two characters, and to the end of a word or number that is there."""
    at = place
    for moved in range(LONGEST_WORD):
        following = at - 1 if step < 0 else at
        if following < 0 or following >= len(text):
            return at
        is_part = kinds[text[following]] & (DIGIT | NUMERAL | LETTER) or text[following] in (
            APOSTROPHE,
            TYPOGRAPHIC,
            TAG,
        )
        if moved >= 2 and not is_part:
            return at
        at += step
    return at


@njit(cache=True, nogil=True, inner=True)
def _read(
    text: UInt32s,
    first: int,
    end: int,
    inner_first: int,
    inner_end: int,
    signs: Signs,
    hashes: UInt64s,
    kinds: UInt8s,
    sides: UInt64s,
    inner: UInt64s,
) -> tuple[int, int, int]:
    """Write the signs of a part of a text; return how many, how many words its inner part has, and Roman numerals.

    A single letter is taken for a Roman numeral. ``inner`` gets the words, as `_share` wants them.
    """
    n, n_said, n_roman, at = 0, 0, 0, first
    while at < end and n < MOST_SIGNS:
        kind = signs.kinds[text[at]]
        run = kind & (DIGIT | NUMERAL | LETTER)
        start, hashed, of_sign = at, (OFFSET_BASIS ^ np.uint64(text[at])) * PRIME, kind & ALL
        at += 1
        while run and at < end and signs.kinds[text[at]] & run:
            hashed = (hashed ^ np.uint64(text[at])) * PRIME
            of_sign |= signs.kinds[text[at]] & ALL
            at += 1
        is_within = start < inner_end and at > inner_first
        if run & (DIGIT | LETTER):  # a word that only touches the difference goes on in the other text
            is_inner = start <= inner_end and at >= inner_first
            n_roman += is_inner and (at - start == 1 or _is_roman(text[start:at]))
        else:
            is_inner = kind & (ALONE | NUMERAL) != 0 and is_within
        if is_inner:
            if n_said < len(inner):
                is_particle = text[start] in PARTICLES or (start > 0 and text[start - 1] in BEFORE_NAMES)
                inner[n_said] = PARTICLE if is_particle else hashed if is_within else TOUCHED
            n_said += 1
        if run & (DIGIT | NUMERAL):
            of_sign |= NUMBER
        elif run & LETTER:
            of_sign |= _of_word(text, start, at, hashed, signs)
        if of_sign:
            hashes[n], kinds[n] = hashed, of_sign
            is_word = run & LETTER != 0
            sides[0, n] = np.uint64(0) if is_word else _pair_at(text, start - 2)
            sides[1, n] = np.uint64(0) if is_word else _pair_at(text, at)
            n += 1
    return n, n_said, n_roman


@njit(cache=True, nogil=True, inner=True)
def _is_roman(word: UInt32s) -> bool:
    n = 0
    for character in word:
        n += character in (ROMAN_I, ROMAN_V, ROMAN_X, ROMAN_L)
    return n == len(word)


@njit(cache=True, nogil=True, inner=True)
def _of_word(text: UInt32s, start: int, end: int, hashed: np.uint64, signs: Signs) -> np.uint8:
    """Return what a word concerns: a known one, the end of ``can't``, or a long hashtag, which may hold a day."""
    place = np.searchsorted(signs.words, hashed)
    if place < len(signs.words) and signs.words[place] == hashed:
        return np.uint8(signs.of_words[place])
    is_letter = end - start == 1 and start > 1
    if is_letter and text[start] == T and text[start - 2] == N and text[start - 1] in (APOSTROPHE, TYPOGRAPHIC):
        return NEGATION
    return NUMBER if end - start > 6 and start > 0 and text[start - 1] == TAG else np.uint8(0)


@njit(cache=True, nogil=True, inner=True)
def _pair_at(text: UInt32s, place: int) -> np.uint64:
    """Return two characters as one number, 0 in the place of those before or after the text."""
    value = np.uint64(0)
    for at in (place, place + 1):
        value = (value << np.uint64(32)) | np.uint64(text[at] if 0 <= at < len(text) else 0)
    return value


@njit(cache=True, nogil=True, inner=True)
def _count(hashed: np.uint64, n: int, hashes: UInt64s, kinds: UInt8s, kind: np.uint8) -> int:
    count = 0
    for at in range(n):
        count += hashes[at] == hashed and kinds[at] & kind != 0
    return count


@njit(cache=True, nogil=True, inner=True)
def _has_more(
    n: int, n_others: int, hashes: UInt64s, others: UInt64s, kinds: UInt8s, kinds_others: UInt8s, kind: np.uint8
) -> bool:
    """Return whether some sign of a kind is more often among some than among others."""
    for at in range(n):
        if kinds[at] & kind and _count(hashes[at], n, hashes, kinds, kind) > _count(
            hashes[at], n_others, others, kinds_others, kind
        ):
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def _both_have_more(
    n_a: int, n_b: int, hashes: UInt64s, kinds: UInt8s, sides: UInt64s, kind: np.uint8, is_large: bool
) -> bool:
    """Return whether each text has a sign more often than the other.

    Two signs that are no words count only next to the same characters, and on both sides where much differs.
    """
    for at_a in range(n_a):
        hash_a = hashes[0, at_a]
        if not kinds[0, at_a] & kind or _count(hash_a, n_a, hashes[0], kinds[0], kind) <= _count(
            hash_a, n_b, hashes[1], kinds[1], kind
        ):
            continue
        for at_b in range(n_b):
            hash_b = hashes[1, at_b]
            if not kinds[1, at_b] & kind or _count(hash_b, n_b, hashes[1], kinds[1], kind) <= _count(
                hash_b, n_a, hashes[0], kinds[0], kind
            ):
                continue
            before, after = sides[0, 0, at_a] ^ sides[1, 0, at_b], sides[0, 1, at_a] ^ sides[1, 1, at_b]
            if is_large and before == 0 and after >> np.uint64(32) == 0:
                return True
            if not is_large and (before == 0 or after == 0):
                return True
            if sides[0, 0, at_a] == 0 or sides[1, 0, at_b] == 0:
                return True
    return False
