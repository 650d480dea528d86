"""Finds Chinese and Japanese numerals that count something: 两人, 三十二度, 第三, 四比零; not 一起, 万一, 十分."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from hybriddup.steps.guards.tables import read_table

DIGITS = {character: value for value, character in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
TIMES = {"十": 10, "百": 100, "千": 1000}
LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
NUMERAL = "".join([*DIGITS, *TIMES, *LARGE])
HAN_NUMERAL = re.compile(rf"[{NUMERAL}]")


class Tables(NamedTuple):
    """Patterns and phrases of Han numerals in `numbers.yaml`."""

    counted: re.Pattern[str]
    """Pattern of a numeral after 第, before a unit, or next to 比."""
    phrases: frozenset[str]
    """Phrases that begin with a numeral, but may be an article or an idiom instead of a count: 一个, 十分."""


@cache
def tables() -> Tables:
    """Load the patterns and phrases of Han numerals from `numbers.yaml`."""
    read = read_table("numbers")
    units = "".join(read["han_units"].split())
    one, any_number = f"([{NUMERAL}]+)", rf"[{NUMERAL}\d]"
    counted = rf"第{one}|{one}(?:个|個)?([{units}]|比(?={any_number}))|(?<=比){one}"
    return Tables(re.compile(counted), frozenset(read["han_phrases"].split()))


def han_value(numeral: str) -> int:
    """Return the value of a Han numeral.

    Examples
    --------
    >>> [han_value(numeral) for numeral in ("两", "十", "三十二", "一百零五", "二〇二四", "三万五千", "一亿")]
    [2, 10, 32, 105, 2024, 35000, 100000000]
    """
    if all(character in DIGITS for character in numeral):
        return int("".join(str(DIGITS[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        if character in DIGITS:
            digit = DIGITS[character]
        elif character in TIMES:
            section += (digit or 1) * TIMES[character]
            digit = 0
        else:
            total += ((section + digit) or 1) * LARGE[character]
            section = digit = 0
    return total + section + digit


def han_values(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield (index, value, numeral, is_phrase) for each numeral that counts something.

    ``index`` is the index of the numeral in ``text``; ``is_phrase``: numeral and unit are in `Tables.phrases`.
    """
    known = tables()
    for match in known.counted.finditer(text):
        ordinal, counting, unit, score = match.groups()
        numeral = ordinal or counting or score
        if ordinal is None and numeral[0] in "百千万亿百萬億":
            continue
        is_loose = ordinal is None and f"{numeral}{unit}" in known.phrases
        yield text.index(numeral, match.start()), han_value(numeral), numeral, is_loose
