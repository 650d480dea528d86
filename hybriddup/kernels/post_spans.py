"""Where the words, numbers, hashtags and emoji of posts end, and what stands for them: hashes and values.

Posts come normalized: case is folded, and quotes are marked by ``<repost>``.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Float32s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit

HAN, LETTER, DIGIT, PICTURE = np.uint8(1), np.uint8(2), np.uint8(3), np.uint8(4)
KIND = np.uint8(7)
IN_WORD, IN_NUMBER, IS_PARTICLE = np.uint8(8), np.uint8(16), np.uint8(32)
"""Classes of characters, by the bits of `KIND`; 0 = none of these. Besides, whether ``\\w`` matches a character, and
whether a number may begin with it that Han characters tell."""
HASH, LEFT, RIGHT, OPEN, CLOSE, APOSTROPHE, COMMA, POINT, SPACE = 35, 60, 62, 91, 93, 39, 44, 46, 32
REPOST = np.array([ord(letter) for letter in "<repost>"], np.uint32)
LINK_ICON, OF_BLOOD, FEWEST_OF_TITLE = ord("o"), ord("型"), 6
HEADLINE, HEADLINE_END = ord("【"), ord("】")
OF_DATES = tuple(ord(unit) for unit in "年月日号时点")
SLASH, RIGHT_BRACKET = ord("/"), ord(")")
TITLE_MARKS = tuple(ord(mark) for mark in '"【《「“')
LONGEST_HASHTAG, LONGEST_EMOTICON = 60, 10
FEWEST_OF_STEM, OF_PREFIX = 4, 4
"""Letters: a stem has so many at least, and so many of it are its beginning."""
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Of the hash FNV-1a of 64 bits (Fowler, Noll, Vo 1991), here over code points."""


class FrequentWords(NamedTuple):
    """How rare words are, by the hashes of their stems: a table with free places between them."""

    keys: UInt64s
    """uint64[n]: n is a power of two; a stem stands at its hash modulo n or in the next free place; 0 = free."""
    rarities: Float32s
    """float32[n]: natural logarithms; that of other words where a place is free."""


class Dictionary(NamedTuple):
    """What is known of words beforehand."""

    classes: UInt8s
    """uint8[0x110000]: the class of each code point."""
    common: UInt64s
    """uint64[n], rising: the hashes of words without weight."""
    spelled: UInt64s
    numbers: UInt64s
    """uint64[n], uint64[n]: the hashes of spelled numbers, rising, and the keys of the numbers that they are."""
    suffixes: UInt32s
    """uint32[n, longest]: endings that are no part of a stem, 0 after the last letter; the first that fits goes."""
    frequent: FrequentWords


@njit(cache=True, nogil=True, inner=True)
def hashed(value: np.uint64, code_point: int) -> np.uint64:
    """Return a hash after one more code point."""
    return (value ^ np.uint64(code_point)) * PRIME


@njit(cache=True, nogil=True, inner=True)
def kind_of(dictionary: Dictionary, code_point: int) -> int:
    """Return the class of a code point."""
    return np.uint8(dictionary.classes[code_point] & KIND)


@njit(cache=True, nogil=True, inner=True)
def end_of_mask(points: UInt32s, place: int, end: int) -> int:
    """Return where a mask such as ``<url>`` ends that begins here; ``place`` where none does."""
    at = place + 1
    while at < end and 97 <= points[at] <= 122:
        at += 1
    return at + 1 if at > place + 1 and at < end and points[at] == RIGHT else place


@njit(cache=True, nogil=True, inner=True)
def is_repost(points: UInt32s, place: int, end: int) -> bool:
    """Return whether a mark of a quote begins here."""
    if end - place < len(REPOST):
        return False
    for i in range(len(REPOST)):  # noqa: SIM110  (numba has no all)
        if points[place + i] != REPOST[i]:
            return False
    return True


@njit(cache=True, nogil=True, inner=True)
def end_of_emoji(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> int:
    """Return where a run of pictures, or an emoticon such as ``[doge]``, ends that begins here; else ``place``."""
    at = place
    if points[place] == OPEN:
        at += 1
        while at < end and at - place <= LONGEST_EMOTICON and dictionary.classes[points[at]] & IN_WORD:
            at += 1
        if at == place + 1 or at == end or points[at] != CLOSE:
            return place
        first = points[place + 1]
        return place if first == 95 or kind_of(dictionary, first) == DIGIT else at + 1
    while at < end and kind_of(dictionary, points[at]) == PICTURE:
        at += 1
    return at


@njit(cache=True, nogil=True, inner=True)
def is_space(code_point: int) -> bool:
    """Return whether this is white space, of which there is only one kind in normalized posts."""
    return code_point == SPACE or 9 <= code_point <= 13


@njit(cache=True, nogil=True, inner=True)
def end_of_hashtag(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> tuple[int, int]:
    """Return where the words of a hashtag end that begins here, and where it ends itself; ``place`` where none does."""
    at = place + 1
    while at < end and at - place <= LONGEST_HASHTAG and points[at] != HASH and points[at] != LEFT:
        at += 1
    is_closed = at < end and points[at] == HASH and at > place + 1
    if is_closed and not is_space(points[place + 1]) and not is_space(points[at - 1]):
        return at, at + 1
    at, only_digits = place + 1, True
    while at < end and dictionary.classes[points[at]] & IN_WORD:
        only_digits &= kind_of(dictionary, points[at]) == DIGIT
        at += 1
    return (place, place) if only_digits else (at, at)


@njit(cache=True, nogil=True, inner=True)
def end_of_link_title(points: UInt32s, first: int, place: int, end: int, dictionary: Dictionary) -> int:
    """Return where the title of a link ends that begins here, after the O of Weibo's icon; ``place`` where none does.

    It goes on to the next hashtag or mask, or to the end of the post. *O型* is a blood group, the O in ``O3月1日`` the
    icon of a date within a sentence, and that of ``o(∩_∩)o`` a hand.
    """
    if points[place] != LINK_ICON or not may_be_icon(points, first, place, dictionary):
        return place
    at = place + 1
    while at < end and (kind_of(dictionary, points[at]) == DIGIT or points[at] in TITLE_MARKS):
        at += 1
    if at == end or kind_of(dictionary, points[at]) != HAN or points[at] == OF_BLOOD:
        return place
    if points[at] in OF_DATES and kind_of(dictionary, points[at - 1]) == DIGIT:
        return place
    while at < end and points[at] != HASH and points[at] != LEFT:
        at += 1
    return at if at - place > FEWEST_OF_TITLE else place


@njit(cache=True, nogil=True, inner=True)
def may_be_icon(points: UInt32s, first: int, place: int, dictionary: Dictionary) -> bool:
    """Return whether a letter is neither part of a word nor of an emoticon, by what stands before it."""
    if place == first:
        return True
    if points[place - 1] == SLASH or kind_of(dictionary, points[place - 1]) in (LETTER, DIGIT):
        return False
    ends_bracket = points[place - 1] == RIGHT_BRACKET and place > first + 1
    return not ends_bracket or kind_of(dictionary, points[place - 2]) in (HAN, LETTER, DIGIT)


@njit(cache=True, nogil=True, inner=True)
def end_of_number(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> int:
    """Return where a number ends that begins here: digits, with points and commas between them."""
    at = place
    while at < end:
        if kind_of(dictionary, points[at]) == DIGIT or (
            (points[at] == COMMA or points[at] == POINT)
            and at + 1 < end
            and kind_of(dictionary, points[at + 1]) == DIGIT
        ):
            at += 1
        else:
            break
    return at


@njit(cache=True, nogil=True, inner=True)
def is_of_thousands(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> bool:
    """Return whether a comma within a number stands before three digits and no fourth."""
    if place + 3 >= end:
        return False
    for i in range(1, 4):
        if kind_of(dictionary, points[place + i]) != DIGIT:
            return False
    return place + 4 >= end or kind_of(dictionary, points[place + 4]) != DIGIT


@njit(cache=True, nogil=True, inner=True)
def key_of_number(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> np.uint64:
    """Return the key of a number: 75,000 is 75000, and 007 is 7."""
    key, is_leading = hashed(OFFSET_BASIS, 48), True
    for at in range(place, end):
        if points[at] == COMMA and is_of_thousands(points, at, end, dictionary):
            continue
        is_leading &= points[at] == 48
        if not is_leading:
            key = hashed(key, points[at])
    return hashed(key, 48) if is_leading else key


@njit(cache=True, nogil=True, inner=True)
def key_of_value(value: int) -> np.uint64:
    """Return the key of a number that is told by no digits."""
    key, unit = hashed(OFFSET_BASIS, 48), np.int64(1)
    while value // unit >= 10:
        unit *= 10
    while unit > 0:
        key = hashed(key, 48 + value // unit % 10)
        unit //= 10
    return key


@njit(cache=True, nogil=True, inner=True)
def end_of_letters(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> int:
    """Return where a run of letters and digits ends that begins here, with apostrophes between them.

    Single letters with points between them, as in ``f.b.i``, are one run.
    """
    at = end_of_abbreviation(points, place, end, dictionary)
    if at > place:
        return at
    at = place
    while at < end:
        kind = kind_of(dictionary, points[at])
        if kind in (LETTER, DIGIT):
            at += 1
            continue
        if points[at] != APOSTROPHE or at + 1 == end:
            break
        after = kind_of(dictionary, points[at + 1])
        if after != LETTER and after != DIGIT:
            break
        at += 1
    return at


@njit(cache=True, nogil=True, inner=True)
def end_of_abbreviation(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> int:
    """Return where single letters end, with a point between each two, that begin here; ``place`` where none do."""
    at = place + 1
    while at + 1 < end and points[at] == POINT and kind_of(dictionary, points[at + 1]) == LETTER:
        at += 2
    is_single = at == end or kind_of(dictionary, points[at]) not in (LETTER, DIGIT)
    return at if at > place + 1 and is_single and kind_of(dictionary, points[place]) == LETTER else place


@njit(cache=True, nogil=True, inner=True)
def n_points(points: UInt32s, place: int, end: int) -> int:
    """Return how many points stand in a word."""
    n = np.int64(0)
    for at in range(place, end):
        n += points[at] == POINT
    return n


@njit(cache=True, nogil=True, inner=True)
def is_inner_mark(code_point: int) -> bool:
    """Return whether this is a mark that words may hold: the apostrophe of *don't*, a point of *f.b.i.*."""
    return code_point in (APOSTROPHE, POINT)


@njit(cache=True, nogil=True, inner=True)
def hash_letters(points: UInt32s, place: int, end: int) -> np.uint64:
    """Return the hash of some letters, apostrophes left out."""
    value = OFFSET_BASIS
    for at in range(place, end):
        if not is_inner_mark(points[at]):
            value = hashed(value, points[at])
    return value


@njit(cache=True, nogil=True, inner=True)
def hash_word(points: UInt32s, place: int, end: int, n_of_stem: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the hashes of a word, of its stem with so many letters, and of the first letters of the stem."""
    value, stem, prefix, n = OFFSET_BASIS, OFFSET_BASIS, OFFSET_BASIS, 0
    for at in range(place, end):
        if is_inner_mark(points[at]):
            continue
        value = hashed(value, points[at])
        n += 1
        stem = value if n <= n_of_stem else stem
        prefix = stem if n <= OF_PREFIX else prefix
    return value, stem, prefix


@njit(cache=True, nogil=True, inner=True)
def place_in(table: UInt64s, value: np.uint64) -> int:
    """Return the place of a value in a rising table; -1 where it is not there."""
    place = np.searchsorted(table, value)
    return np.int64(place) if place < len(table) and table[place] == value else np.int64(-1)


@njit(cache=True, nogil=True, inner=True)
def rarity_of(frequent: FrequentWords, key: np.uint64) -> np.float32:
    """Return how rare a word is."""
    mask = np.uint64(len(frequent.keys) - 1)
    place = key & mask
    while frequent.keys[place] not in (np.uint64(0), key):
        place = (place + np.uint64(1)) & mask
    return np.float32(frequent.rarities[place])


@njit(cache=True, nogil=True, inner=True)
def n_of_stem(points: UInt32s, place: int, end: int, suffixes: UInt32s) -> int:
    """Return how many letters the stem of a word has, apostrophes not counted."""
    n = 0
    for at in range(place, end):
        n += not is_inner_mark(points[at])
    for i in range(len(suffixes)):
        n_suffix = 0
        while n_suffix < suffixes.shape[1] and suffixes[i, n_suffix] != 0:
            n_suffix += 1
        if n - n_suffix >= FEWEST_OF_STEM and ends_with(points, place, end, suffixes[i], n_suffix):
            return n - n_suffix
    return n


@njit(cache=True, nogil=True)
def ends_with(points: UInt32s, place: int, end: int, suffix: UInt32s, n: int) -> bool:
    """Return whether the letters of a word, apostrophes left out, end in the first ``n`` of these."""
    at = end - 1
    for i in range(n - 1, -1, -1):
        while at >= place and is_inner_mark(points[at]):
            at -= 1
        if at < place or points[at] != suffix[i]:
            return False
        at -= 1
    return True
