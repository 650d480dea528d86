"""Numbers that Han characters tell: 第十二集 is 12, 三月 is 3, and 周三 a day of the week."""

import numpy as np

from hybriddup.data.records import UInt32s
from hybriddup.kernels.cache import njit

NUMERALS = "零〇一二两三四五六七八九十百千"
OF_NUMERALS = np.array([0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 1000], np.int64)
POINTS_OF_NUMERALS = np.array([ord(numeral) for numeral in NUMERALS], np.uint32)
COUNTED = "月日号集季期届级"
"""What stands after a number that is told without 第: dates, parts and levels. Other counts are told by the way in long
posts, and differ where the posts do not; elsewhere numerals are parts of other words."""
POINTS_COUNTED = np.array([ord(unit) for unit in COUNTED], np.uint32)
MARKS = "第周期拜"
"""What stands before a number, so that it is one whatever follows: 第三, and 周三, 星期三, 礼拜三."""
ORDINAL, WEEK, STAR_DAY, PRAYER_DAY = (ord(mark) for mark in MARKS)
STAR, PRAYER, SUN, SKY = (ord(character) for character in "星礼日天")
ELLIPSIS, POINT = ord("…"), ord(".")
ONE = ord("一")
WEEKDAYS = 2**40
"""Added to days of the week, which no other number is equal to."""
MOST_NUMERALS = 12
"""Longer runs of numerals are none: they are names, or art."""


@njit(cache=True, nogil=True, inner=True)
def value_of_numeral(point: np.uint32) -> int:
    """Return the value of a numeral; -1 = it is none."""
    for i in range(len(POINTS_OF_NUMERALS)):
        if POINTS_OF_NUMERALS[i] == point:
            return np.int64(OF_NUMERALS[i])
    return np.int64(-1)


@njit(cache=True, nogil=True, inner=True)
def end_of_numerals(points: UInt32s, place: int, end: int) -> int:
    """Return where a run of numerals ends that begins here."""
    while place < end and value_of_numeral(points[place]) >= 0:
        place += 1
    return np.int64(place)


@njit(cache=True, nogil=True, inner=True)
def value_of_numerals(points: UInt32s, place: int, end: int) -> int:
    """Return the number that a run of numerals tells: 十二 is 12, 一百零三 is 103, 二零二六 is 2026."""
    total, digits, is_after_digit = np.int64(0), np.int64(0), False
    for at in range(place, end):
        value = value_of_numeral(points[at])
        if value < 10:
            digits = digits * 10 + value if is_after_digit else value
            is_after_digit = True
        else:
            total += max(digits, np.int64(1)) * value
            digits, is_after_digit = np.int64(0), False
    return total + digits


@njit(cache=True, nogil=True, inner=True)
def is_weekday_mark(points: UInt32s, first: int, place: int) -> bool:
    """Return whether a day of the week may follow: 周, or the end of 星期 and 礼拜."""
    before = points[place - 1] if place > first else np.uint32(0)
    mark = points[place]
    return bool(mark == WEEK or (mark == STAR_DAY and before == STAR) or (mark == PRAYER_DAY and before == PRAYER))


@njit(cache=True, nogil=True, inner=True)
def han_number(points: UInt32s, first: int, place: int, end: int) -> int:
    """Return the number that Han characters tell from ``place`` on; -1 = none.

    ``points`` are the simplified characters of a post from ``first`` on, before ``end``.
    """
    if is_weekday_mark(points, first, place):
        return weekday(points, place + 1, end)
    begins = np.int64(place + 1 if points[place] == ORDINAL else place)
    after = end_of_numerals(points, begins, end)
    if after == begins or after > begins + MOST_NUMERALS:
        return np.int64(-1)
    if begins == place and place > first and is_inside(points, first, place):
        return np.int64(-1)
    is_first = after == begins + 1 and points[begins] == ONE  # 第一时间 is at once
    is_told = is_counted(points, after, end) or (begins > place and not is_first and not is_cut(points, after, end))
    return value_of_numerals(points, begins, after) if is_told else np.int64(-1)


@njit(cache=True, nogil=True, inner=True)
def weekday(points: UInt32s, place: int, end: int) -> int:
    """Return the day of the week that is told here; -1 = none."""
    after = end_of_numerals(points, place, end)
    if place < end and (points[place] == SUN or points[place] == SKY):
        return np.int64(WEEKDAYS + 7)
    return np.int64(WEEKDAYS + value_of_numeral(points[place]) if after == place + 1 else -1)


@njit(cache=True, nogil=True, inner=True)
def is_counted(points: UInt32s, place: int, end: int) -> bool:
    """Return whether there is a character here of what is counted."""
    found = False
    for i in range(len(POINTS_COUNTED)):
        found |= place < end and points[place] == POINTS_COUNTED[i]
    return found


@njit(cache=True, nogil=True, inner=True)
def is_cut(points: UInt32s, place: int, end: int) -> bool:
    """Return whether a number may be cut off here."""
    return bool(place < end and (points[place] == ELLIPSIS or points[place] == POINT))


@njit(cache=True, nogil=True, inner=True)
def is_inside(points: UInt32s, first: int, place: int) -> bool:
    """Return whether a numeral goes on with a number that began before it."""
    before = points[place - 1]
    return bool(before == ORDINAL or value_of_numeral(before) >= 0 or is_weekday_mark(points, first, place - 1))
