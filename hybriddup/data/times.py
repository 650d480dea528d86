"""Times as posts say them: one reading for windows, the service, and the order of deciding."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_MOMENT, LAST_MOMENT = -62_135_596_800, 253_402_300_799
"""Seconds since 1970 of the first moment of the year 1, and of the last second of the year 9999."""
DIGITS = re.compile(r"[0-9]{9,15}(\.[0-9]{1,9})?")
"""A number as text; eight digits are a date: 20260107."""
LONGEST = 64
"""Characters of a time."""
TIMES = (
    "seconds or milliseconds since 1970, or text such as '2026-01-07T13:00:00+08:00' or "
    "'Wed Jan 07 13:00:00 +0800 2026', of the years 1 to 9999"
)
"""What `parse_time` takes, for messages."""


def parse_time(value: object) -> float | None:
    """Return the seconds since 1970 that a value says; None where it says no moment of the years 1 to 9999.

    Parameters
    ----------
    value
        A number, or its digits as text: seconds, or milliseconds where it is above 253,402,300,799, which would be
        seconds past the year 9999. So milliseconds are read from 11 January 1978 on. Or text, UTC where it names no
        zone: ISO 8601, or a date as in e-mail, RSS, and the APIs of Weibo and Twitter. Or a `datetime`.

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
    """Return the moment that a text says, in its zone, or the number that it is; None where it is neither."""
    text = text.strip()
    if len(text) > LONGEST:
        return None
    if DIGITS.fullmatch(text):
        return float(text)
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return parse(text)
        except (ValueError, OverflowError, TypeError, IndexError):
            continue
    return None
