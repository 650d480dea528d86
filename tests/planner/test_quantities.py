"""Numbers as people write and read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.errors import ConfigError
from hybriddup.planner.quantities import (
    parse_bytes,
    parse_count,
    show_bytes,
    show_count,
    show_duration,
    show_times,
)


@pytest.mark.parametrize(
    ("text", "count"),
    [("50M", 50_000_000), ("50m", 50_000_000), ("1.5k", 1500), (" 7 ", 7), ("1,000", 1000), ("50_000_000", 50_000_000)],
)
def test_counts_are_read_as_written(text: str, count: int) -> None:
    """With a unit, with separators, or plain."""
    assert parse_count(text, "--posts") == count


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("1.5GB", 1_500_000_000), ("512MiB", 2**29), ("2 kB", 2000), ("800000", 800_000), ("1T", 10**12), ("64 b", 64)],
)
def test_bytes_are_read_as_written(text: str, n_bytes: int) -> None:
    """Decimal units, and binary ones with an ``i``."""
    assert parse_bytes(text, "--memory") == n_bytes


@given(st.integers(1, 2**63))
def test_whole_numbers_are_read_exactly(count: int) -> None:
    """No digit is lost on the way."""
    assert parse_count(str(count), "--posts") == parse_bytes(f"{count:_}", "--memory") == count


@pytest.mark.parametrize("text", ["", "x", "-5", "1.5", "0", "5X", "1e6", "5 M M", "½", "٣", "0.5", "1,5M", "1__000"])
def test_other_counts_are_refused(text: str) -> None:
    """The message names the option, shows what is allowed and what was given."""
    with pytest.raises(ConfigError) as raised:
        parse_count(text, "--posts")
    expected = "--posts must be a whole number of at least 1, such as 50000000, 50M, 200k or 1.5G; got"
    assert str(raised.value) == f"{expected} {text!r}."


@pytest.mark.parametrize("text", ["", "much", "1XB", "0", "-1GB", "0.2"])
def test_other_sizes_are_refused(text: str) -> None:
    """As are counts."""
    with pytest.raises(ConfigError, match="--memory must be a number of bytes of at least 1, such as") as raised:
        parse_bytes(text, "--memory")
    assert f"got {text!r}." in str(raised.value)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (4, "4"), (1.2e-7, "1.2e-07"), (0.745, "0.74"), (10.43, "10.4"), (3051.8, "3,052"), (5e12, "5.0e+12")],
)
def test_counts_are_shown_with_three_digits_or_in_full(value: float, shown: str) -> None:
    """Powers of ten where there would be too many."""
    assert show_count(value) == shown


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (show_bytes(1_201_000_000), "1.2 GB"),
        (show_bytes(999), "999 B"),
        (show_bytes(868e6), "868 MB"),
        (show_bytes(1e40), "1e+25 PB"),
        (show_duration(1113), "1.1 us"),
        (show_duration(150), "150 ns"),
        (show_duration(0), "0 ns"),
        (show_duration(154e9), "154 s"),
        (show_times(1.449), "1.4"),
        (show_times(17_976.2), "17,976"),
        (show_times(2.5e9), "2e+09"),
    ],
)
def test_quantities_are_shown_in_fitting_units(shown: str, expected: str) -> None:
    """The largest unit that leaves at least one."""
    assert shown == expected


@given(st.floats(0, 1e60))
def test_anything_can_be_shown(value: float) -> None:
    """In few characters, so that columns stay narrow."""
    assert all(0 < len(show(value)) <= 13 for show in (show_count, show_bytes, show_duration, show_times))
