"""The time of posts: when they were made or when they came, the watermark, and the horizon.

A post's *time* is when it came (arrival time) or what it says of itself (event time). The *watermark* is the largest
time so far. A post matches kept posts whose time is after ``watermark - horizon``, the watermark being that of the
moment at which it is decided, itself included. So the answer depends on the posts and their order only.

A clock that goes backwards stands still until it has caught up. An event time ahead of the clock counts as the clock's,
so that a post from the future does not make the window forget. A post older than the horizon is *late*: it is decided
like any other, and matches no later one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple

import numpy as np

from hybriddup.data.records import Float64s
from hybriddup.errors import ConfigError, InputError, WindowError
from hybriddup.steps.options import quote
from hybriddup.window.posts import FIRST_MOMENT, LAST_MOMENT
from hybriddup.window.records import Post

TimeOf = Literal["arrival", "event"]
SECONDS_OF_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86400}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
NEVER = float("-inf")
MOST_SECONDS = 1e18
"""Of a horizon: longer than any two posts can be apart."""


class PostTimes(NamedTuple):
    """The times of a batch of posts."""

    times: Float64s
    """float64[n]: seconds since 1970."""
    watermarks: Float64s
    """float64[n]: the watermark when each post is decided, itself included."""
    arrival: float
    """When the batch came."""


@dataclass(frozen=True)
class WindowTime:
    """How posts get their time, and for how long they match."""

    time_of: TimeOf
    horizon: float
    """Seconds for which a kept post goes on matching."""
    clock: Callable[[], float]
    """Seconds since 1970."""

    def of_posts(self, posts: Sequence[Post], watermark: float, last_arrival: float) -> PostTimes:
        """Return the times of posts that come now.

        Raises
        ------
        InputError
            A post has no ``created_at`` where the window goes by event time.
        WindowError
            The clock does not say the time.
        """
        now = max(self.now(), last_arrival)
        times = np.full(len(posts), now)
        if self.time_of == "event":
            times = np.minimum([event_time(place, post) for place, post in enumerate(posts)], times)
        return PostTimes(times, np.maximum(np.maximum.accumulate(times), watermark), now)

    def now(self) -> float:
        """Return what the clock says; WindowError where that is no moment of the years 1 to 9999."""
        now = self.clock()
        if not FIRST_MOMENT <= now <= LAST_MOMENT:  # NaN is none, either
            raise WindowError(f"the clock must say the seconds since 1970; it says {quote(now)}. Nothing was decided.")
        return now


def event_time(place: int, post: Post) -> float:
    """Return when the post was made; InputError where it does not say so."""
    if post.created_at is None:
        raise InputError(
            f"post {place} (id {post.id!r}) has no created_at, and the window goes by event time. "
            "Give every post one, or open the window with time='arrival'."
        )
    return post.created_at


def parse_horizon(horizon: str | float | timedelta) -> float:
    """Return a length of time in seconds.

    Parameters
    ----------
    horizon
        Seconds, a timedelta, or a number with a unit: ``90s``, ``30m``, ``12h``, ``2d``.

    Examples
    --------
    >>> parse_horizon("2d"), parse_horizon("1.5h")
    (172800.0, 5400.0)
    """
    seconds = seconds_of(horizon)
    if seconds is None or not 0 < seconds < float("inf"):
        raise ConfigError(
            f"horizon must be a length of time above 0: seconds, or a number with s, m, h or d such as '2d' or '90m'; "
            f"got {quote(horizon)}."
        )
    return seconds


def seconds_of(length: object) -> float | None:
    """Return the seconds that a length of time spells; None where it spells none."""
    if isinstance(length, timedelta):
        return length.total_seconds()
    if isinstance(length, str):
        found = DURATION.fullmatch(length.strip().lower())
        return float(found[1]) * SECONDS_OF_UNIT[found[2]] if found else None
    if isinstance(length, (int, float)) and not isinstance(length, bool) and abs(length) < MOST_SECONDS:
        return float(length)
    return None
