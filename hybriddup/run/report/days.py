"""Posts by the days on which they were made, or by months or years where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.data.times import parse_time, read_time

MOST_BARS = 62
CODES = {"day": "datetime64[D]", "month": "datetime64[M]", "year": "datetime64[Y]"}


class Days(NamedTuple):
    """Counts by day, month or year, in order."""

    unit: str
    """``day``, ``month`` or ``year``."""
    names: list[str]
    counts: dict[str, list[int]]
    """By outcome."""
    n_without: int
    """Posts whose time is missing, or is none."""


def days_of(times: Sequence[Any], outcomes: Int64s, names: Sequence[str]) -> Days | None:
    """Return how many posts of each outcome there are by day; None where no post has a time.

    Parameters
    ----------
    outcomes
        int64[n]: what became of each post, as an index into ``names``.
    """
    days = np.array([day_of(time) for time in times], "datetime64[D]")
    is_known = ~np.isnat(days)
    if not is_known.any():
        return None
    first, last = days[is_known].min(), days[is_known].max()
    unit = next(
        (unit for unit in ("day", "month") if last.astype(CODES[unit]) - first.astype(CODES[unit]) < MOST_BARS), "year"
    )
    of_unit = days[is_known].astype(CODES[unit])
    bars = np.unique(of_unit)
    if bars[-1] - bars[0] < MOST_BARS:
        bars = np.arange(bars[0], bars[-1] + 1)
    places, known_outcomes = np.searchsorted(bars, of_unit), outcomes[is_known]
    counts = {
        name: np.bincount(places[known_outcomes == number], minlength=len(bars)).tolist()
        for number, name in enumerate(names)
    }
    return Days(unit, bars.astype(str).tolist(), counts, int((~is_known).sum()))


def day_of(time: Any) -> date | None:
    """Return the day of a time; None where it is none.

    That is a date, or what `hybriddup.data.times.parse_time` takes: text has its day in its own zone, numbers in UTC.

    Examples
    --------
    >>> [str(day_of(time)) for time in ("2026-11-24T23:00:00+08:00", 1e9, "Wed Jan 07 13:00:00 +0800 2026", "soon")]
    ['2026-11-24', '2001-09-09', '2026-01-07', 'None']
    """
    if isinstance(time, np.datetime64):
        time = time.item()
    if isinstance(time, str):
        time = read_time(time)
    if isinstance(time, date):
        return None if time != time else date(time.year, time.month, time.day)
    seconds = parse_time(time)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).date()
