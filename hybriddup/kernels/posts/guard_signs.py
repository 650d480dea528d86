"""Selects the pairs of posts that a guard must read: one post has a sign, such as a digit, that the other lacks.

Most pairs have no such sign. Reading a pair takes about fifty times as long as this check.
"""

import numpy as np

from hybriddup.data.records import Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts.guard_changes import count_others, has_only_marks, is_small, may_be_blanked
from hybriddup.kernels.posts.guard_kinds import (
    ALL,
    DAY,
    DIGIT,
    MOST_ALONE,
    MOST_LETTERS,
    NAME,
    NEGATION,
    NUMBER,
    NUMERAL,
    OPPOSITE,
    Signs,
)
from hybriddup.kernels.posts.guard_runs import Words, has_much_else, make_words, without_ruled_out
from hybriddup.kernels.posts.guard_texts import (
    LONGEST_NAME,
    MOST_SIGNS,
    Room,
    Side,
    extended,
    make_room,
    read_part,
    share_words,
)

LONGEST_AFFIX, SHORTEST_WITH_AFFIX = 6, 4
LONGEST_CHANGE = 64
MANY_SIGNS = 64
LONGEST_PART = 40
"""Maximum number of words in the differing part of a text; if either text has more, negations and opposites are
ignored. A Han character counts as a word."""


@njit(cache=True, nogil=True)
def find_signs(points: UInt32s, offsets: Int64s, earlier: Int64s, later: Int64s, signs: Signs) -> UInt8s:
    """Return uint8[n_pairs]: for each pair, the flags (`NUMBER` to `NAME`) of the guards that must check the pair."""
    found, room, words = np.zeros(len(earlier), np.uint8), make_room(), make_words()
    for pair in range(len(earlier)):
        a = points[offsets[earlier[pair]] : offsets[earlier[pair] + 1]]
        b = points[offsets[later[pair]] : offsets[later[pair] + 1]]
        found[pair] = _signs_of_pair(a, b, signs, room, words)
    return found


@njit(cache=True, nogil=True, inner=True)
def _signs_of_pair(a: UInt32s, b: UInt32s, signs: Signs, room: Room, words: Words) -> np.uint8:
    """Return the flags of the guards that must check a pair of texts."""
    shorter = min(len(a), len(b))
    n_before = 0
    while n_before < shorter and a[n_before] == b[n_before]:
        n_before += 1
    if n_before == len(a) and n_before == len(b):
        return np.uint8(0)
    n_after = 0
    while n_after < shorter - n_before and a[len(a) - 1 - n_after] == b[len(b) - 1 - n_after]:
        n_after += 1
    if has_only_marks(a, n_before, n_after, signs.kinds) and has_only_marks(b, n_before, n_after, signs.kinds):
        return np.uint8(0)
    first = extended(a, n_before, -1, signs.kinds)
    n_left = len(a) - extended(a, len(a) - n_after, 1, signs.kinds)
    of_a = read_part(a, first, len(a) - n_left, n_before, len(a) - n_after, signs, room, 0)
    of_b = read_part(b, first, len(b) - n_left, n_before, len(b) - n_after, signs, room, 1)
    result = _concerned(a, b, n_before, n_after, of_a, of_b, signs, room)
    has_other_days = _either_has_more(room, DAY)
    if has_other_days:
        result |= NUMBER
    if not result or may_be_blanked(a) or may_be_blanked(b):
        return result
    if not is_small(a, b, n_before, n_after, room.reached):
        is_large = max(len(a), len(b)) - n_before - n_after > LONGEST_CHANGE
        is_read = has_other_days or _may_have_other_values(room, is_large)
        return result & NUMBER if is_read else np.uint8(0)
    if result & (NAME | NEGATION):
        result = without_ruled_out(result, a, b, first, n_left, signs, words)
    if result & NEGATION:
        n_denials = _count_kind(room, 0, NEGATION), _count_kind(room, 1, NEGATION)
        if has_much_else(a, b, n_before, n_after, n_denials, signs.kinds, room.counts):
            result &= ~NEGATION
    return result


@njit(cache=True, nogil=True, inner=True)
def _concerned(
    a: UInt32s, b: UInt32s, n_before: int, n_after: int, of_a: Side, of_b: Side, signs: Signs, room: Room
) -> np.uint8:
    """Return the flags of the guards that must check a pair, judging by signs and words in its differing parts.

    Signs are characters and words that guards look for, such as digits and negations.
    """
    n_signs = max(room.n_signs[0], room.n_signs[1])
    if n_signs == MOST_SIGNS:
        return ALL
    middle_a, middle_b = len(a) - n_after - n_before, len(b) - n_after - n_before
    if n_signs > MANY_SIGNS:
        return _concerned_of_many(room)
    n_words, has_affix = max(of_a.n_words, of_b.n_words), max(middle_a, middle_b) <= LONGEST_AFFIX
    has_affix &= of_a.n_words == of_b.n_words == 1 and max(of_a.n_letters, of_b.n_letters) >= SHORTEST_WITH_AFFIX
    result, is_large = np.uint8(0), max(middle_a, middle_b) > LONGEST_CHANGE
    for kind in (NUMBER, OPPOSITE):
        if (kind == NUMBER or n_words <= LONGEST_PART) and _both_have_more(room, kind, is_large):
            result |= kind
    if n_words <= LONGEST_PART and (has_affix or _either_has_more(room, NEGATION)):
        result |= NEGATION
    if of_a.n_words == of_a.n_roman == 1 and of_b.n_words == of_b.n_roman == 1:
        result |= NUMBER
    has_names = 0 < of_a.n_words <= LONGEST_NAME and 0 < of_b.n_words <= LONGEST_NAME
    if has_names and not share_words(room.inner, of_a.n_words, of_b.n_words):
        result |= NAME
    may_be_exchanged = of_a.n_words > 0 and middle_a == middle_b and not result & NAME
    if result & (NEGATION | NAME) or may_be_exchanged:
        n_other, is_alone = count_others(a, b, n_before, n_after, signs.kinds, room.counts)
        if may_be_exchanged and n_other == 0:
            result |= NAME
        if n_other > (MOST_ALONE if is_alone else MOST_LETTERS):
            result &= ~(NEGATION | NAME)
    return result


@njit(cache=True, nogil=True, inner=True)
def _concerned_of_many(room: Room) -> np.uint8:
    """Return the flags of the guards that must check a pair if a text has over `MANY_SIGNS` signs, such as digits."""
    result = NAME
    for kind in (NUMBER, OPPOSITE):
        if _each_has_more(room, kind):
            result |= kind
    return result | NEGATION if _either_has_more(room, NEGATION) else result


@njit(cache=True, nogil=True, inner=True)
def _may_have_other_values(room: Room, is_large: bool) -> bool:
    """Return whether each text may have a number in digits that the other lacks, in the place of the other's number.

    If texts differ a lot, the guard `numbers` considers only these, and days. Even equal digits may be different
    numbers if a Han numeral follows, as in ``3万``.
    """
    has_many = max(room.n_signs[0], room.n_signs[1]) == MOST_SIGNS
    return has_many or _both_have_more(room, DIGIT | NUMERAL, is_large)


@njit(cache=True, nogil=True, inner=True)
def _count_kind(room: Room, side: int, kind: np.uint8) -> int:
    """Count the signs of one kind, such as digits or negations, in text ``side``, 0 or 1."""
    count = np.int64(0)
    for at in range(room.n_signs[side]):
        count += room.kinds[side, at] & kind != 0
    return count


@njit(cache=True, nogil=True, inner=True)
def _mark_more(room: Room, side: int, kind: np.uint8) -> bool:
    """Set `Room.is_more` for text ``side``, 0 or 1; return whether any sign of ``kind`` is more frequent in it."""
    has_more = False
    for at in range(room.n_signs[side]):
        n_more = np.int64(0)
        for text in range(2 if room.kinds[side, at] & kind else 0):
            for other in range(room.n_signs[text]):
                if room.hashes[text, other] == room.hashes[side, at] and room.kinds[text, other] & kind:
                    n_more += 1 if text == side else -1
        room.is_more[side, at] = n_more > 0
        has_more |= n_more > 0
    return has_more


@njit(cache=True, nogil=True, inner=True)
def _either_has_more(room: Room, kind: np.uint8) -> bool:
    """Return whether either text has any sign of ``kind``, such as a digit, more often than the other text."""
    return _mark_more(room, 0, kind) or _mark_more(room, 1, kind)


@njit(cache=True, nogil=True, inner=True)
def _each_has_more(room: Room, kind: np.uint8) -> bool:
    """Return whether each text has a sign of ``kind``, such as a digit, that is rarer in the other text.

    If the result is True, `Room.is_more` is set for both texts.
    """
    return _mark_more(room, 0, kind) and _mark_more(room, 1, kind)


@njit(cache=True, nogil=True, inner=True)
def _both_have_more(room: Room, kind: np.uint8, is_large: bool) -> bool:
    """Return whether each text has a sign of ``kind``, such as a digit, that is rarer in the other text.

    Signs that are not words count only if the two characters before them, or the two after them, are equal in both
    texts; in a large difference, only if the two before and the first one after are equal.
    """
    if not _each_has_more(room, kind):
        return False
    sides = room.sides
    for at_a in range(room.n_signs[0]):
        for at_b in range(room.n_signs[1] if room.is_more[0, at_a] else 0):
            if not room.is_more[1, at_b]:
                continue
            before, after = sides[0, 0, at_a] ^ sides[1, 0, at_b], sides[0, 1, at_a] ^ sides[1, 1, at_b]
            if is_large and before == 0 and after >> np.uint64(32) == 0:
                return True
            if not is_large and (before == 0 or after == 0):
                return True
            if sides[0, 0, at_a] == 0 or sides[1, 0, at_b] == 0:
                return True
    return False
