"""Times as posts say them."""

import math
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.times import FIRST_MOMENT, LAST_MOMENT, parse_time

MOMENT = 1_767_762_000.0
MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 30)).map(lambda one: one.replace(microsecond=0))
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    "value",
    [
        *(1_767_762_000, 1_767_762_000.0, "1767762000", 1_767_762_000_000, "1767762000000"),
        *("Wed Jan 07 13:00:00 +0800 2026", "Wed, 07 Jan 2026 05:00:00 GMT", "2026-01-07T13:00:00+08:00"),
        *("2026-01-07T05:00:00Z", "2026-01-07 05:00:00", " 2026-01-07T05:00 "),
        datetime(2026, 1, 7, 5, tzinfo=UTC),
    ],
)
def test_one_moment_is_read_in_all_forms(value: Any) -> None:
    assert parse_time(value) == MOMENT


@given(moment=MOMENTS, zone=ZONES)
def test_dates_of_any_year_are_read_exactly(moment: datetime, zone: timezone) -> None:
    """As ISO 8601, as in e-mail, and as the APIs of Weibo and Twitter write them."""
    zoned = moment.replace(tzinfo=zone)
    seconds = zoned.timestamp()
    assert parse_time(zoned.isoformat()) == seconds
    if moment.year >= 1000:  # e-mail reads years of two digits as those of our time
        day, date, month, year, clock, offset = format_datetime(zoned).split()
        assert parse_time(f"{day} {date} {month} {year} {clock} {offset}") == seconds
        assert parse_time(f"{day.rstrip(',')} {month} {date} {clock} {offset} {year}") == seconds


@given(milliseconds=st.integers(LAST_MOMENT + 1, LAST_MOMENT * 1000))
def test_a_number_past_the_last_second_is_milliseconds(milliseconds: int) -> None:
    assert parse_time(milliseconds) == parse_time(str(milliseconds)) == milliseconds / 1000


@given(seconds=st.integers(FIRST_MOMENT, LAST_MOMENT))
def test_a_number_up_to_the_last_second_is_seconds(seconds: int) -> None:
    assert parse_time(seconds) == seconds


@pytest.mark.parametrize(
    "value",
    [
        None, True, "", "yesterday", "12:30", "2026", "Jan 7", b"2026-01-07", [], math.nan, math.inf, FIRST_MOMENT - 1,
        LAST_MOMENT * 1000 + 1, 10**400, "9" * 5000, "9999-12-31T23:59:59-14:00", "Wed Jan 07 13:00:00 +9999 99999",
    ],
)  # fmt: skip
def test_everything_else_is_no_time(value: Any) -> None:
    assert parse_time(value) is None


@given(st.one_of(st.text(), st.floats(), st.integers(), st.text("JanWed 0123456789:+-,TZ.")))
def test_any_value_is_a_moment_of_the_years_1_to_9999_or_none(value: Any) -> None:
    seconds = parse_time(value)
    assert seconds is None or FIRST_MOMENT <= seconds <= LAST_MOMENT
