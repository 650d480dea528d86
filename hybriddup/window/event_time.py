"""The time of posts: when they were made or when they came, the watermark, and the horizon.

A post's *time* is when it came (arrival time) or its ``created_at`` (event time). The *watermark* follows the
largest time so far. A post matches kept posts whose time is after its *edge*: its own time or the watermark, whichever
is later, minus the horizon. So the answer depends only on the posts and their order.

A single wrong time, from a post or from a clock that was ahead once, does little harm. Each post advances the
watermark by at most ``max_step``. With arrival times, the limit applies to a whole batch, because all its posts come at
one moment. An event time later than the clock is replaced by the clock's time. After a pause, posts are decided by
their own times while the watermark catches up. A kept post whose time is ahead of the watermark by more
than a horizon is removed when all posts that were kept before it are gone.

If the clock goes backwards, the time of the window does not advance until the clock has caught up; `Window.rewind` is
for a clock that was ahead for long. A post older than the horizon is *late*: it is decided like any other post, but no
later post matches it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, NamedTuple, get_args

import numpy as np

from hybriddup.data.records import Float64s
from hybriddup.data.times import FIRST_MOMENT, LAST_MOMENT, seconds_in
from hybriddup.errors import ConfigError, InputError, WindowError
from hybriddup.steps.options import quote
from hybriddup.window.records import Post

TimeOf = Literal["arrival", "event"]
Length = str | float | timedelta
"""A length of time: seconds, a timedelta, or text such as ``2d``."""
LONGEST_STEP = 3600.0
"""Largest default of ``max_step``, the most that one post advances the watermark, in seconds."""
NEVER = float("-inf")
STEPS = 1024
"""Maximum number of pairs that `Edges` records per horizon."""


class PostTimes(NamedTuple):
    """The times of a batch of posts."""

    times: Float64s
    """float64[n]: the time of each post, in seconds since 1970."""
    watermarks: Float64s
    """float64[n]: the watermark when each post is decided, with its own time included."""

    def edges(self, horizon: float) -> Float64s:
        """Return float64[n]: the edge of each post; only kept posts whose times are after the edge can match it."""
        return np.maximum(self.times, self.watermarks) - horizon


@dataclass(frozen=True)
class WindowTime:
    """How posts get their time, and for how long they match."""

    time_of: TimeOf
    horizon: float
    """Seconds for which a kept post can match later posts."""
    clock: Callable[[], float]
    """Function that returns the current time, in seconds since 1970."""
    max_step: float
    """The most that one post advances the watermark, in seconds."""

    def of_posts(self, posts: Sequence[Post], now: float, watermark: float) -> PostTimes:
        """Return the times of posts that arrive at ``now``; InputError if event time is missing from a post."""
        now = max(now, watermark)
        if self.time_of == "event":
            times = np.minimum([event_time(place, post) for place, post in enumerate(posts)], now)
            return PostTimes(times, self.watermarks(times, watermark))
        reached = self.watermarks(np.array([now]), watermark)[0]
        return PostTimes(np.full(len(posts), now), np.full(len(posts), reached))

    def watermarks(self, times: Float64s, watermark: float) -> Float64s:
        """Return float64[n]: the watermark after each of ``times``; each time advances it by at most `max_step`."""
        reached = float(times[0]) if watermark == NEVER else watermark
        watermarks = np.maximum(np.maximum.accumulate(times), reached)
        if np.diff(watermarks, prepend=reached).max() <= self.max_step:  # as good as always
            return watermarks
        for place, time in enumerate(times.tolist()):
            watermarks[place] = reached = max(reached, min(time, reached + self.max_step))
        return watermarks

    def now(self) -> float:
        """Return the time of the clock; WindowError if it is not within the years 1 to 9999."""
        now = self.clock()
        if not is_moment(now):
            raise WindowError(
                f"the clock must return seconds since 1970; it returned {quote(now)}. Nothing was decided."
            )
        return now

    def rewound_to(self, to: float | None) -> float:
        """Return ``to``, the time to set a window back to, or the clock's time if it is None; InputError if invalid."""
        if to is None:
            return self.now()
        if not is_moment(to):
            raise InputError(f"`to` must be seconds since 1970, of the years 1 to 9999; got {quote(to)}.")
        return float(to)


def is_moment(seconds: object) -> bool:
    """Return whether a value is a number of seconds since 1970, within the years 1 to 9999."""
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return is_number and FIRST_MOMENT <= seconds <= LAST_MOMENT  # type: ignore[operator]  # NaN is none, either


def event_time(place: int, post: Post) -> float:
    """Return the ``created_at`` of a post; InputError, with its index ``place`` in the batch, if it has none."""
    if post.created_at is None:
        raise InputError(
            f"post {place} (id {post.id!r}) has no created_at, and the window uses event time. "
            "Give every post one, or open the window by arrival time."
        )
    return post.created_at


def parse_timing(time_of: TimeOf, horizon: Length, max_step: Length | None, clock: Callable[[], float]) -> WindowTime:
    """Check the time parameters of `hybriddup.Window.open`, and return them as a `WindowTime`."""
    if not isinstance(time_of, str) or time_of not in get_args(TimeOf):
        raise ConfigError(f"time must be one of {', '.join(get_args(TimeOf))}; got {quote(time_of)}.")
    if not callable(clock):
        raise ConfigError(f"clock must be a function that returns seconds since 1970; got {quote(clock)}.")
    seconds = parse_length("horizon", horizon)
    step = min(LONGEST_STEP, seconds / 2) if max_step is None else parse_length("max_step", max_step)
    return WindowTime(time_of, seconds, clock, step)


def parse_length(name: str, length: object) -> float:
    """Convert a length of time to seconds; ConfigError, with the parameter's name, unless it is finite and above 0."""
    seconds = seconds_in(length)
    if seconds is None or not 0 < seconds < float("inf"):
        raise ConfigError(
            f"{name} must be a length of time above 0: seconds, or a number with s, m, h or d such as '2d' or '90m'; "
            f"got {quote(length)}."
        )
    return seconds


class Edges:
    """Pairs of a watermark and the position that the next post had when the window reached this watermark.

    So every post before the position was decided at this watermark or an earlier one. A new pair is added about a
    thousand times per horizon.
    """

    def __init__(self, horizon: float, packed: bytes | None = None) -> None:
        self._step = horizon / STEPS
        stored = np.frombuffer(packed or b"", "<f8").reshape(-1, 2)
        self._edges = deque((float(watermark), int(position)) for watermark, position in stored)

    def note(self, next_position: int, watermark: float) -> bool:
        """Add a (watermark, position) pair if the watermark advanced by at least horizon / `STEPS` since the last pair.

        The first pair is always added. Return whether a pair was added.
        """
        is_news = not self._edges or watermark >= self._edges[-1][0] + self._step
        if is_news:
            self._edges.append((watermark, next_position))
        return is_news

    def first_after(self, time: float) -> int:
        """Drop (watermark, position) pairs with a watermark up to ``time``; return the last position dropped, or 0."""
        position = 0
        while self._edges and self._edges[0][0] <= time:
            position = self._edges.popleft()[1]
        return position

    def forget_after(self, time: float) -> None:
        """Drop (watermark, position) pairs with a watermark after ``time``, because the window was set back to it."""
        while self._edges and self._edges[-1][0] > time:
            self._edges.pop()

    def pack(self) -> bytes:
        """Return the pairs as bytes, for the argument ``packed`` of a new instance; positions must be below 2**53."""
        return np.array(self._edges, "<f8").tobytes()
