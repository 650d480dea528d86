"""Counts the copies of each kept post, and collects when it was first and last seen and who posted it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from hybriddup.data.fields import has_no_value, hashable
from hybriddup.data.records import Float64s
from hybriddup.data.removed import RemovedPosts
from hybriddup.data.times import parse_time

TALLIES = {"n_copies": "int64", "first_seen": "string", "last_seen": "string", "authors": "list"}
"""Names and types of the fields that ``--counts`` and ``--authors`` add to kept posts."""


class Tallies:
    """Computes the fields of `TALLIES` for each kept post of a run, from the post itself and its copies.

    ``n_copies`` does not count the post itself.

    Parameters
    ----------
    times, authors
        Time and author of each post of the corpus; None = the fields that need them are left out.
    """

    def __init__(self, removed: RemovedPosts, times: Sequence[Any] | None, authors: Sequence[Any] | None) -> None:
        columns, n = removed.columns, len(removed.corpus.texts)
        self._n_copies = np.bincount(columns.keepers, minlength=n).astype(np.int64)
        self._keepers = np.arange(n)
        self._keepers[columns.posts] = columns.keepers
        self._by_keeper = np.argsort(self._keepers, kind="stable")
        self._bounds = np.searchsorted(self._keepers[self._by_keeper], np.arange(n + 1))
        seconds = None if times is None else seconds_of(times)
        self._seconds = None if seconds is None or np.isnan(seconds).all() else seconds
        self._authors = authors
        left_out = set() if self._seconds is not None else {"first_seen", "last_seen"}
        left_out |= set() if authors is not None else {"authors"}
        self.types = {name: kind for name, kind in TALLIES.items() if name not in left_out}

    def at(self, place: int) -> tuple[Any, ...]:
        """Return the values of the fields for the post at index ``place``; all None if the post was removed."""
        if self._keepers[place] != place:
            return (None,) * len(self.types)
        members = self._by_keeper[self._bounds[place] : self._bounds[place + 1]]
        values: list[Any] = [int(self._n_copies[place])]
        if self._seconds is not None:
            known = self._seconds[members][~np.isnan(self._seconds[members])]
            values += [iso_time(float(end)) for end in (known.min(), known.max())] if len(known) else [None, None]
        if self._authors is not None:
            authors = [self._authors[member] for member in members.tolist()]
            values.append(list({hashable(one): one for one in authors if not has_no_value(one)}.values()))
        return tuple(values)


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
