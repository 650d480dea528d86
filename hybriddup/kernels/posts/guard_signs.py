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
LONGEST_AFFIX, SHORTEST_WITH_AFFIX = 6, 4
LONGEST_CHANGE = 64
N_CLASSES = np.uint32(256)
MOST_LETTERS, MOST_ALONE = 64, 24
"""Characters that may differ in a small difference; fewer if there are Han characters or kana."""
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
AT, LEFT, H, P = (np.uint32(ord(character)) for character in "@<hp")


class Signs(NamedTuple):
    """What guards know of characters and words."""

    kinds: UInt8s
    """uint8[n_code_points]: of each character."""
    words: UInt64s
    """uint64[n_words], rising: the hashes of words of scripts with spaces."""
    of_words: UInt8s
    """uint8[n_words]: what they concern."""


class Side(NamedTuple):
    """Counts of what was read of one text."""

    n_signs: int
    n_said: int
    """Words that differ, or that the difference touches."""
    n_roman: int
    """Roman numerals among these; a single letter is taken for one."""
    n_letters: int
    """Letters of the longest of these."""


class Room(NamedTuple):
    """What is read of the two texts of a pair, and room for comparing them."""

    hashes: UInt64s
    kinds: UInt8s
    """uint64[2, `MOST_SIGNS`] and uint8[2, `MOST_SIGNS`]: the signs of each text."""
    sides: UInt64s
    """uint64[2, 2, `MOST_SIGNS`]: the characters before and after each sign, 0 for words."""
    inner: UInt64s
    """uint64[2, `LONGEST_NAME`]: the words that differ, as `_share` reads them."""
    counts: Int32s
    """int32[`N_CLASSES`]: zeros."""
    reached: Int64s
    """int64[2 * `MOST_LETTERS` + 3]."""


@njit(cache=True, nogil=True)
def find_signs(points: UInt32s, offsets: Int64s, earlier: Int64s, later: Int64s, signs: Signs) -> UInt8s:
    """Return uint8[n_pairs]: what the guards must read of each pair of texts, any of `NUMBER` to `NAME`."""
    found = np.zeros(len(earlier), np.uint8)
    room = Room(
        np.empty((2, MOST_SIGNS), np.uint64),
        np.empty((2, MOST_SIGNS), np.uint8),
        np.empty((2, 2, MOST_SIGNS), np.uint64),
        np.empty((2, LONGEST_NAME), np.uint64),
        np.zeros(N_CLASSES, np.int32),
        np.zeros(2 * MOST_LETTERS + 3, np.int64),
    )
    for pair in range(len(earlier)):
        a = points[offsets[earlier[pair]] : offsets[earlier[pair] + 1]]
        b = points[offsets[later[pair]] : offsets[later[pair] + 1]]
        found[pair] = _signs_of_pair(a, b, signs, room)
    return found


@njit(cache=True, nogil=True, inner=True)
def _may_be_blanked(text: UInt32s) -> bool:
    """Return whether a text may have links, mentions or masked parts, which are blank when guards read it."""
    for at in range(len(text)):
        if text[at] == AT or text[at] == LEFT:
            return True
        if text[at] == H and at + 3 < len(text) and text[at + 1] == T and text[at + 2] == T and text[at + 3] == P:
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def _is_small(a: UInt32s, b: UInt32s, n_before: int, n_after: int, reached: Int64s) -> bool:
    """Return whether few characters differ, as `hybriddup.steps.guards.reading.Difference.is_small` does.

    The shortest edit script is that of E. W. Myers (An O(ND) difference algorithm and its variations, 1986).
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
    """Return whether Han characters or kana are in a part of a text."""
    for at in range(first, end):  # noqa: SIM110  (numba has no any)
        if 0x3040 <= text[at] <= 0x30FF or 0x3400 <= text[at] <= 0x9FFF:
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def _signs_of_pair(a: UInt32s, b: UInt32s, signs: Signs, room: Room) -> np.uint8:
    """Return what must be read of two texts."""
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
    of_a = _read(a, first, len(a) - n_left, n_before, len(a) - n_after, signs, room, 0)
    of_b = _read(b, first, len(b) - n_left, n_before, len(b) - n_after, signs, room, 1)
    result = _concerned(a, b, n_before, n_after, of_a, of_b, signs, room)
    if not result or _may_be_blanked(a) or _may_be_blanked(b):
        return result
    if not _is_small(a, b, n_before, n_after, room.reached):
        result &= NUMBER if _may_have_other_digits(of_a.n_signs, of_b.n_signs, room) else np.uint8(0)
    return result


@njit(cache=True, nogil=True, inner=True)
def _may_have_other_digits(n_a: int, n_b: int, room: Room) -> bool:
    """Return whether each text may have a number in digits that the other lacks, all that counts where much differs.

    万 is a part of 3万, so that equal digits may be other numbers.
    """
    if max(n_a, n_b) == MOST_SIGNS:
        return True
    for side, n in ((0, n_a), (1, n_b)):
        for at in range(n):
            if room.kinds[side, at] & NUMERAL:
                return True
    return _has_more(n_a, n_b, room, 0, DIGIT) and _has_more(n_b, n_a, room, 1, DIGIT)


@njit(cache=True, nogil=True, inner=True)
def _concerned(
    a: UInt32s, b: UInt32s, n_before: int, n_after: int, of_a: Side, of_b: Side, signs: Signs, room: Room
) -> np.uint8:
    """Return what the signs that were read concern."""
    if of_a.n_signs == MOST_SIGNS or of_b.n_signs == MOST_SIGNS:
        return ALL
    middle_a, middle_b = len(a) - n_after - n_before, len(b) - n_after - n_before
    n_said, has_affix = max(of_a.n_said, of_b.n_said), max(middle_a, middle_b) <= LONGEST_AFFIX
    has_affix &= of_a.n_said == of_b.n_said == 1 and max(of_a.n_letters, of_b.n_letters) >= SHORTEST_WITH_AFFIX
    result, is_large = np.uint8(0), max(middle_a, middle_b) > LONGEST_CHANGE
    for kind in (NUMBER, OPPOSITE):
        if (kind == NUMBER or n_said <= LONGEST_PART) and _both_have_more(
            of_a.n_signs, of_b.n_signs, room, kind, is_large
        ):
            result |= kind
    if n_said <= LONGEST_PART and (
        has_affix
        or _has_more(of_a.n_signs, of_b.n_signs, room, 0, NEGATION)
        or _has_more(of_b.n_signs, of_a.n_signs, room, 1, NEGATION)
    ):
        result |= NEGATION
    if of_a.n_said == of_a.n_roman == 1 and of_b.n_said == of_b.n_roman == 1:
        result |= NUMBER
    has_names = 0 < of_a.n_said <= LONGEST_NAME and 0 < of_b.n_said <= LONGEST_NAME
    if has_names and not _share(room.inner, of_a.n_said, of_b.n_said):
        result |= NAME
    may_be_exchanged = of_a.n_said > 0 and middle_a == middle_b and not result & NAME
    if result & (NEGATION | NAME) or may_be_exchanged:
        n_other, is_alone = _count_others(a, b, n_before, n_after, signs.kinds, room.counts)
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
    text: UInt32s, first: int, end: int, inner_first: int, inner_end: int, signs: Signs, room: Room, side: int
) -> Side:
    """Write the signs and the differing words of a part of a text as those of one side; return how many there are."""
    hashes, kinds, inner = room.hashes, room.kinds, room.inner
    n, n_said, n_roman, n_letters, at = np.int64(0), np.int64(0), np.int64(0), np.int64(0), first
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
            n_letters = max(n_letters, at - start if is_inner and run & LETTER else 0)
        else:
            is_inner = kind & (ALONE | NUMERAL) != 0 and is_within
        if is_inner:
            if n_said < LONGEST_NAME:
                is_particle = text[start] in PARTICLES or (start > 0 and text[start - 1] in BEFORE_NAMES)
                inner[side, n_said] = PARTICLE if is_particle else hashed if is_within else TOUCHED
            n_said += 1
        if run & (DIGIT | NUMERAL):
            is_after_digit = start > 0 and signs.kinds[text[start - 1]] & DIGIT != 0
            of_sign |= NUMBER | (run & DIGIT) | (run & NUMERAL if is_after_digit else np.uint8(0))
        elif run & LETTER:
            of_sign |= _of_word(text, start, at, hashed, signs)
        if of_sign:
            hashes[side, n], kinds[side, n] = hashed, of_sign
            is_word = run & LETTER != 0
            room.sides[side, 0, n] = np.uint64(0) if is_word else _pair_at(text, start - 2)
            room.sides[side, 1, n] = np.uint64(0) if is_word else _pair_at(text, at)
            n += 1
    return Side(n, n_said, n_roman, n_letters)


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
def _count(hashed: np.uint64, n: int, room: Room, side: int, kind: np.uint8) -> int:
    """Return how often a sign of a kind is among those of a side."""
    count = 0
    for at in range(n):
        count += room.hashes[side, at] == hashed and room.kinds[side, at] & kind != 0
    return count


@njit(cache=True, nogil=True, inner=True)
def _is_more(at: int, n: int, n_others: int, room: Room, side: int, kind: np.uint8) -> bool:
    """Return whether a sign of one side is of a kind, and is there more often than on the other side."""
    if not room.kinds[side, at] & kind:
        return False
    hashed = room.hashes[side, at]
    return _count(hashed, n, room, side, kind) > _count(hashed, n_others, room, 1 - side, kind)


@njit(cache=True, nogil=True, inner=True)
def _has_more(n: int, n_others: int, room: Room, side: int, kind: np.uint8) -> bool:
    """Return whether some sign of a kind is more often on one side than on the other."""
    for at in range(n):  # noqa: SIM110  (numba has no any)
        if _is_more(at, n, n_others, room, side, kind):
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def _both_have_more(n_a: int, n_b: int, room: Room, kind: np.uint8, is_large: bool) -> bool:
    """Return whether each text has a sign more often than the other.

    Two signs that are no words count only next to the same characters, and on both sides where much differs.
    """
    sides = room.sides
    for at_a in range(n_a):
        if not _is_more(at_a, n_a, n_b, room, 0, kind):
            continue
        for at_b in range(n_b):
            if not _is_more(at_b, n_b, n_a, room, 1, kind):
                continue
            before, after = sides[0, 0, at_a] ^ sides[1, 0, at_b], sides[0, 1, at_a] ^ sides[1, 1, at_b]
            if is_large and before == 0 and after >> np.uint64(32) == 0:
                return True
            if not is_large and (before == 0 or after == 0):
                return True
            if sides[0, 0, at_a] == 0 or sides[1, 0, at_b] == 0:
                return True
    return False
