"""Posts by day: what is a time, and which bars there are."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hybriddup.run.report.contents import days_of

NAMES = ("kept", "removed")


@pytest.mark.parametrize(
    "time",
    [
        date(2026, 11, 24),
        datetime(2026, 11, 24, 23, 59, tzinfo=timezone(timedelta(hours=8))),
        pd.Timestamp("2026-11-24 12:00"),
        np.datetime64("2026-11-24T12:00"),
        datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp(),
        int(datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp() * 1000),
        str(int(datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp())),
        "2026-11-24",
        " 2026-11-24 08:00",
        "2026-11-24T23:59:00+08:00",
        "Tue Nov 24 23:59:00 +0800 2026",
    ],
    ids=repr,
)
def test_times_of_any_form_have_their_day(time: Any) -> None:
    """As text has it, in whatever zone; numbers by UTC."""
    found = days_of([time], np.array([1]), NAMES)
    assert found is not None
    assert (found.unit, found.names, found.counts) == ("day", ["2026-11-24"], {"kept": [0], "removed": [1]})


@pytest.mark.parametrize(
    "time", [None, "", "soon", "2026-02-30", float("nan"), pd.NaT, True, [], 10**30, "1e400", pd.NA]
)
def test_what_is_no_time_is_counted_apart(time: Any) -> None:
    """And alone it makes no chart."""
    assert days_of([time], np.array([0]), NAMES) is None
    found = days_of([time, "2026-11-24"], np.array([0, 0]), NAMES)
    assert found is not None
    assert (found.names, found.n_without) == (["2026-11-24"], 1)


def test_days_without_posts_have_a_bar_too() -> None:
    """So that distances in time are seen."""
    found = days_of(["2026-11-24", "2026-11-22"], np.array([1, 0]), NAMES)
    assert found is not None
    assert found.names == ["2026-11-22", "2026-11-23", "2026-11-24"]
    assert found.counts == {"kept": [1, 0, 0], "removed": [0, 0, 1]}


@pytest.mark.parametrize(
    ("times", "unit", "n"),
    [
        (["2026-01-01", "2026-03-03"], "day", 62),
        (["2026-01-01", "2026-03-04"], "month", 3),
        (["2020-01-01", "2025-02-28"], "month", 62),
        (["2020-01-01", "2025-03-01"], "year", 6),
        (["0001-01-01", "2026-11-24"], "year", 2),
    ],
)
def test_many_days_are_counted_by_month_or_year(times: list[str], unit: str, n: int) -> None:
    """There are never more than 62 bars, but for years that have posts."""
    found = days_of(times, np.zeros(2, np.int64), NAMES)
    assert found is not None
    assert (found.unit, len(found.names), sum(found.counts["kept"])) == (unit, n, 2)
