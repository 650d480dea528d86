"""Numbers that Han characters tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.han_numbers import NUMERALS, OF_NUMERALS, WEEKDAYS, han_number, value_of_numerals


def points_of(text: str) -> np.ndarray:
    return np.array(list(map(ord, text)), np.uint32)


def numbers_in(text: str) -> list[int]:
    points = points_of(text)
    found = [int(han_number(points, 0, place, len(points))) for place in range(len(points))]
    return [number for number in found if number >= 0]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("第三集太好哭了", [3]),
        ("大结局是第一百零三集", [103]),
        ("二零二六年十二月三日", [12, 3]),
        ("周三见，星期天也行，礼拜五不行", [WEEKDAYS + 3, WEEKDAYS + 7, WEEKDAYS + 5]),
        ("到期三天", []),
        ("第一时间说一说三个人", []),
        ("第一季", [1]),
        ("第三…", []),
        ("第三", [3]),
        ("第", []),
        ("周", []),
        ("第" + "一" * 13 + "集", []),
    ],
)
def test_dates_parts_and_days_of_the_week_are_numbers(text: str, numbers: list[int]) -> None:
    """Each once, whatever stands before; numerals in other words, and numbers that may be cut off, are none."""
    assert numbers_in(text) == numbers
    assert numbers_in(f"好{text}") == numbers


@given(st.integers(1, 9999))
def test_a_number_has_the_value_that_is_written(value: int) -> None:
    """Thousands, hundreds and tens, and as digits."""
    digits, units = "零一二三四五六七八九", ["千", "百", "十", ""]
    written = "".join(digits[int(d)] + unit if d != "0" else "" for d, unit in zip(f"{value:04}", units, strict=True))
    assert value_of_numerals(points_of(written), 0, len(written)) == value
    by_digits = "".join(digits[int(d)] for d in str(value))
    assert value_of_numerals(points_of(by_digits), 0, len(by_digits)) == value


def test_numerals_have_a_value_each() -> None:
    """No more and no fewer."""
    assert len(NUMERALS) == len(OF_NUMERALS)
