"""The positions and times of the kept posts in memory; posts that are too old are forgotten."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s, UInt64s
from hybriddup.steps.candidates import Batch
from hybriddup.window.event_time import PostTimes
from hybriddup.window.index.posting_lists import longer
from hybriddup.window.preparing import PreparedTexts

SMALLEST = 1024
RECENT = 64
"""Number of latest posts whose median time is checked: if later than the watermark, the watermark is catching up."""
ROUNDING = 1e-3
"""Bound on the rounding error of a difference of times, in seconds."""


class KeptPosts:
    """Columns of the kept posts, in order of position; the oldest posts are forgotten first."""

    def __init__(self) -> None:
        self._positions: Int64s = np.zeros(SMALLEST, np.int64)
        self._times: Float64s = np.zeros(SMALLEST)
        self._latest: Float64s = np.zeros(SMALLEST)
        """For each post, the largest time or watermark up to this post; never decreasing."""
        self._first = self._end = 0
        self._moved_out = 0
        """Number of forgotten posts that are no longer in the columns."""
        self._deleted: Int64s = np.zeros(0, np.int64)
        """Positions of deleted posts that are still in the columns."""
        self._longest_lag = 0.0
        """Upper bound, in seconds, on how far a post's time is behind the largest time or watermark so far."""

    def __len__(self) -> int:
        return self._end - self._first

    @property
    def n_bytes(self) -> int:
        """Memory that the columns take, in bytes."""
        return self._positions.nbytes + self._times.nbytes + self._latest.nbytes

    def add(self, positions: Int64s, times: Float64s, watermarks: Float64s) -> None:
        """Add kept posts; positions must increase from call to call."""
        n = len(positions)
        if self._end + n > len(self._positions):
            self._move(n)
        where = slice(self._end, self._end + n)
        before = self._latest[self._end - 1] if self._end else -np.inf
        latest = np.maximum(np.maximum.accumulate(np.maximum(times, watermarks)), before)
        self._positions[where], self._times[where], self._latest[where] = positions, times, latest
        self._end += n
        self._longest_lag = max(self._longest_lag, longest_lag(times, latest))

    def _move(self, n_more: int) -> None:
        """Make room for ``n_more`` posts: move the posts to the front of new columns with twice the needed capacity."""
        n, held, size = len(self), slice(self._first, self._end), max(2 * (len(self) + n_more), SMALLEST)
        self._positions = longer(self._positions[held], n, size)
        self._times = longer(self._times[held], n, size)
        self._latest = longer(self._latest[held], n, size)
        self._moved_out += self._first
        self._first, self._end = 0, n
        self._longest_lag = longest_lag(self._times[: self._end], self._latest[: self._end])

    def columns(self) -> tuple[Int64s, Float64s, Float64s]:
        """Return the position, the time and the latest moment of each post that is not forgotten.

        The latest moment is the maximum of all times and watermarks up to this post.
        """
        held = slice(self._first, self._end)
        return self._positions[held], self._times[held], self._latest[held]

    def delete(self, positions: Int64s) -> None:
        """Mark posts as deleted."""
        deleted = np.union1d(self._deleted, positions)
        self._deleted = deleted[deleted >= self.first_position]

    def are_deleted(self, positions: Int64s) -> Bools:
        """Return bool[n]: whether the post at each position was deleted."""
        return np.isin(positions, self._deleted) if len(self._deleted) else np.zeros(len(positions), np.bool_)

    def times_of(self, positions: Int64s) -> Float64s:
        """Return float64[n]: the times of kept posts, minus infinity if a post is deleted, forgotten or not kept."""
        return np.where(self.are_deleted(positions), -np.inf, self._times_at(positions))

    def _times_at(self, positions: Int64s) -> Float64s:
        held = self._positions[self._first : self._end]
        places = np.searchsorted(held, positions)
        known: Bools = places < len(held)
        known[known] = held[places[known]] == positions[known]
        times = np.full(len(positions), -np.inf)
        times[known] = self._times[self._first + places[known]]
        return times

    @property
    def first_number(self) -> int:
        """The number of the oldest post that is not forgotten: how many posts were added before it."""
        return self._moved_out + self._first

    def positions_of(self, numbers: Int64s) -> Int64s:
        """Return int64[n]: positions of posts, given as the number of posts added before each; -1 = forgotten."""
        places = numbers - self._moved_out
        return np.where(places >= self._first, self._positions[np.maximum(places, 0)], -1)

    @property
    def first_position(self) -> int:
        """Position of the oldest post not forgotten; if all are forgotten, the position after the last post."""
        return self._position_at(self._first)

    def _position_at(self, place: int) -> int:
        """Return the position at an index of the columns; at the end of the columns, the last position plus 1."""
        if place < self._end:
            return int(self._positions[place])
        return int(self._positions[self._end - 1]) + 1 if self._end else 0

    def forget_until(self, time: float) -> int:
        """Forget all posts before the first post with a time or watermark after ``time``; return how many.

        So no post is forgotten too early, but a post that came late may stay a little longer than it can match.
        """
        n = int(np.searchsorted(self._latest[self._first : self._end], time, side="right"))
        self._first += n
        return n

    def forget_before(self, position: int) -> int:
        """Forget the posts before a position; return how many."""
        n = int(np.searchsorted(self._positions[self._first : self._end], position))
        self._first += n
        return n

    def n_after(self, time: float) -> int:
        """Return how many posts that are neither deleted nor forgotten have a time after ``time``."""
        _, times, _ = self.columns()
        n = self._n_unsure(time)
        n_deleted = int((self._times_at(self._deleted) > time).sum())
        return len(times) - n + int((times[:n] > time).sum()) - n_deleted

    def first_after(self, time: float) -> int:
        """Return a position such that all posts at this and later positions have a time after ``time``.

        With arrival times, it is the smallest such position.
        """
        return self._position_at(self._first + self._n_unsure(time))

    def _n_unsure(self, time: float) -> int:
        """Return how many of the oldest posts may have a time up to ``time``; all newer posts have later times."""
        _, _, latest = self.columns()
        return int(np.searchsorted(latest, time + self._longest_lag + ROUNDING, side="right"))

    def forget_wrong_times(self, watermark: float, horizon: float) -> int:
        """Forget the oldest posts whose times are more than a horizon ahead of the watermark; return how many.

        Nothing is forgotten if most of the latest posts are ahead of the watermark: then the watermark is still
        catching up after a pause.
        """
        _, times, _ = self.columns()
        if not len(times) or times[0] <= watermark + horizon or np.median(times[-RECENT:]) > watermark:
            return 0
        n = int(np.argmin(np.append(times > watermark + horizon, np.False_)))
        self._first += n
        _, times, latest = self.columns()
        latest[:] = np.maximum.accumulate(times)
        self._longest_lag = longest_lag(times, latest)
        return n


def longest_lag(times: Float64s, latest: Float64s) -> float:
    """Return how far, at most, a time is behind the largest time so far, in seconds; 0.0 if there are no times."""
    return float((latest - times).max(initial=0.0))


class KeptColumns(NamedTuple):
    """Columns of some kept posts, in the order of their positions."""

    positions: Int64s
    """int64[n]: the position of each post, ascending."""
    times: Float64s
    """float64[n]: the time of each post, in seconds since 1970."""
    watermarks: Float64s
    """float64[n]: the watermark when each post was decided, in seconds since 1970."""
    hashes: UInt64s
    """uint64[n]: the hash of each post's key for exact repeats."""
    texts: Batch
    """The texts that could have near repeats, with their positions."""

    def take(self, chosen: Bools) -> KeptColumns:
        """Return the posts for which ``chosen``, bool[n], is True."""
        texts = self.texts.take(np.flatnonzero(chosen[np.searchsorted(self.positions, self.texts.positions)]))
        return KeptColumns(
            self.positions[chosen], self.times[chosen], self.watermarks[chosen], self.hashes[chosen], texts
        )


def columns_of(prepared: PreparedTexts, times: PostTimes, kept: Bools) -> KeptColumns:
    """Return the columns of the prepared posts for which ``kept``, bool[n], is True."""
    return KeptColumns(
        prepared.positions[kept],
        times.times[kept],
        times.watermarks[kept],
        prepared.hashes[kept],
        prepared.batch.take(np.flatnonzero(kept & prepared.searchable)),
    )
