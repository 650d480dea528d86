"""Parses and formats times of posts, and parses lengths of time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np

from hybriddup.data.records import Float64s

FIRST_MOMENT, LAST_MOMENT = -62_135_596_800, 253_402_300_799
"""First second of the year 1 and last second of the year 9999, in seconds since 1970."""
_NUMBER = re.compile(r"[0-9]{9,15}(\.[0-9]{1,9})?")
"""Pattern of a timestamp; it has at least nine digits, because eight digits are a date, such as 20260107."""
SECONDS_OF_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
MOST_SECONDS = 1e18
"""Upper limit for a length of time, in seconds; longer than the time between any two posts."""
_MAX_LENGTH = 64
"""Longest accepted time string, in characters."""
TIMES = (
    "seconds or milliseconds since 1970, or text such as '2026-01-07T13:00:00+08:00' or "
    "'Wed Jan 07 13:00:00 +0800 2026', of the years 1 to 9999"
)
"""The accepted times, for messages."""


def parse_time(value: object) -> float | None:
    """Parse a time into seconds since 1970; None if the value is not a time in the years 1 to 9999.

    Parameters
    ----------
    value
        A number, or its digits as text: seconds up to 253,402,300,799, the end of the year 9999; larger numbers are
        milliseconds. Or text in ISO 8601 or in the date format of e-mail, RSS and the APIs of Weibo and Twitter, in
        UTC if it has no zone. Or a `datetime`.

    Examples
    --------
    >>> parse_time("Wed Jan 07 13:00:00 +0800 2026") == parse_time("2026-01-07T05:00:00Z") == parse_time(1767762000000)
    True
    """
    if isinstance(value, str):
        value = read_time(value)
    if isinstance(value, datetime):
        return _seconds(value)
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    seconds = value / 1000 if LAST_MOMENT < value <= LAST_MOMENT * 1000 else value
    return float(seconds) if FIRST_MOMENT <= seconds <= LAST_MOMENT else None


def _seconds(moment: datetime) -> float | None:
    try:
        seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if FIRST_MOMENT <= seconds <= LAST_MOMENT else None


def read_time(text: str) -> datetime | float | None:
    """Parse a text as a datetime, in the time zone that it names, or as a number; None if it is neither."""
    text = text.strip()
    if len(text) > _MAX_LENGTH:
        return None
    if _NUMBER.fullmatch(text):
        return float(text)
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return parse(text)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
    return None


def seconds_in(length: object) -> float | None:
    """Convert a length of time to seconds: a timedelta, a number, or text such as ``2d``; None for anything else."""
    if isinstance(length, timedelta):
        return length.total_seconds()
    if isinstance(length, str):
        found = DURATION.fullmatch(length.strip().lower())
        return float(found[1]) * SECONDS_OF_UNIT[found[2]] if found else None
    if isinstance(length, (int, float)) and not isinstance(length, bool) and abs(length) < MOST_SECONDS:
        return float(length)
    return None


def seconds_of(times: Sequence[Any]) -> Float64s:
    """Return float64[n]: each time in seconds since 1970; NaN for a value that is not a time."""
    seconds = (parse_time(value) for value in times)
    return np.fromiter((np.nan if one is None else one for one in seconds), np.float64, len(times))


def iso_time(seconds: float) -> str:
    """Format a time, in seconds since 1970, as ISO 8601 in UTC.

    Examples
    --------
    >>> iso_time(1767762000)
    '2026-01-07T05:00:00Z'
    """
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return moment.isoformat().replace("+00:00", "Z")
