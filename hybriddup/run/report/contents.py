"""The contents of a report: counts, data of charts, and reproducible samples."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.marks import Tallies
from hybriddup.data.records import Float64s, Int64s, Removed, text_lengths
from hybriddup.data.removed import RemovedPosts
from hybriddup.data.spread import spread_rows
from hybriddup.data.times import iso_time, parse_time, read_time, seconds_of
from hybriddup.run.near_misses import NearMiss, NearMisses
from hybriddup.run.report.differences import MarkedText, marked_texts
from hybriddup.run.summary import Summary

NEAR_SHOWN, EXACT_SHOWN, MISSES_SHOWN = 200, 20, 30
SCORE_BINS = 20
"""Number of score ranges; the sample of pairs in a report has about equally many pairs of each range."""
CLUSTERS_SHOWN, MEMBERS_SHOWN = 10, 6
MOST_MEMBERS = 2000
"""Maximum number of posts of a cluster that are read to find its most frequent texts."""
MOST_BARS = 62
LENGTH_BINS = 10
CODES = {"day": "datetime64[D]", "month": "datetime64[M]", "year": "datetime64[Y]"}


class ShownPair(NamedTuple):
    """Two posts next to each other, with their differences marked."""

    post: Removed | NearMiss
    earlier: MarkedText
    text: MarkedText
    command: str
    """Shell command that explains the decision about the pair."""


class ShownMember(NamedTuple):
    """A text of a cluster, and the number of posts in the cluster with this text."""

    text: MarkedText
    post: Removed
    n: int


class ShownCluster(NamedTuple):
    """A kept post, and the texts of the posts that were removed for it."""

    keeper_row: int
    keeper_id: Any
    keeper_text: str
    n_removed: int
    members: list[ShownMember]
    n_more: int
    """Number of removed posts whose text is not among ``members``, including posts with the text of the kept post."""
    known: dict[str, Any]
    """First and last time and authors of the cluster's posts, as far as known."""


@dataclass(frozen=True)
class Contents:
    """The figures and examples that the report about a run shows; `page` renders them as HTML."""

    summary: Summary
    settings: Settings
    corpus: Corpus
    removed: RemovedPosts
    dropped: Sequence[int]
    """Rows that the run dropped because they have no text."""
    misses: NearMisses
    times: Sequence[Any] | None
    """Time of each post of the corpus; None = unknown."""
    name: str = ""
    """Name of the posts, such as their files; empty = posts in memory."""
    authors: Sequence[Any] | None = None
    """Author of each post of the corpus; None = unknown."""

    @cached_property
    def tallies(self) -> Tallies:
        """When and by whom kept posts and their copies were posted."""
        corpus = self.removed.corpus  # lacks the posts that were dropped
        of_others = [None] * corpus.n_against
        places = np.searchsorted(self.corpus.rows, corpus.rows[corpus.n_against :]).tolist()
        times, authors = (
            None if own is None else [*of_others, *map(own.__getitem__, places)] for own in (self.times, self.authors)
        )
        return Tallies(self.removed, times, authors)

    @cached_property
    def near(self) -> Int64s:
        """int64[n_near]: indices of the near repeats in `removed`."""
        return np.flatnonzero(~self.removed.columns.is_exact)

    @cached_property
    def near_scores(self) -> Float64s:
        """float64[n_near]: scores of the near repeats."""
        return self.removed.columns.scores[self.near]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Pairs (label, number): the number of all posts, then the number of posts with each outcome."""
        of = self.summary
        n_left_out = of.n_read - of.n_kept - of.n_exact - of.n_near - of.n_originals
        more = {"left out, without text": n_left_out, "removed with their copies": of.n_originals}
        more |= {"bad lines": of.n_bad_lines}
        counts = {"posts": of.n_read, "kept": of.n_kept, "near repeats": of.n_near, "exact repeats": of.n_exact}
        return [*counts.items(), *((name, n) for name, n in more.items() if n)]

    @property
    def dates(self) -> list[str]:
        """The first and the last day of the posts, or the only day; empty if no post has a time."""
        seconds = seconds_of(self.times or [])
        known = seconds[~np.isnan(seconds)]
        return sorted({iso_time(float(end))[:10] for end in (known.min(), known.max())}) if len(known) else []

    def by_length(self) -> tuple[list[str], dict[str, list[int]]]:
        """Count the removed posts in up to ten ranges of length; return the ranges, and the counts by kind of repeat.

        The ranges contain similar numbers of removed posts.
        """
        columns, texts = self.removed.columns, self.removed.corpus.texts
        lengths = text_lengths([texts[post] for post in columns.posts.tolist()])
        starts = np.quantile(lengths, np.arange(LENGTH_BINS) / LENGTH_BINS, method="nearest")
        edges = np.unique(np.append(starts, lengths.max() + 1))
        names = [f"{low}-{high - 1}" if low < high - 1 else f"{low}" for low, high in pairwise(edges.tolist())]
        counts = {
            reason: np.histogram(lengths[columns.is_exact == is_exact], edges)[0].tolist()
            for reason, is_exact in (("exact repeats", True), ("near repeats", False))
        }
        return names, counts

    def by_day(self) -> Days | None:
        """Return the number of posts by day and outcome; None if no post has a time."""
        if self.times is None:
            return None
        rows, names = self.corpus.rows, ("kept", "exact repeats", "near repeats", "left out")
        outcomes = np.zeros(len(rows), np.int64)
        outcomes[np.searchsorted(rows, self.removed.rows)] = np.where(self.removed.columns.is_exact, 1, 2)
        outcomes[np.searchsorted(rows, self.dropped)] = 3
        return days_of(self.times, outcomes, names if self.dropped else names[:3])

    @property
    def thresholds(self) -> list[float]:
        """The distinct thresholds of the near repeats and near misses, ascending."""
        reached = self.removed.columns.thresholds[self.near]
        thresholds: list[float] = np.unique(np.concatenate([reached, self.misses.thresholds])).tolist()
        return thresholds

    @property
    def distance_limits(self) -> list[int]:
        """The distinct Hamming limits of the length bands, except bands that remove only exact repeats, ascending."""
        return sorted({band.max_hamming_distance for band in self.settings.lengths if band.max_hamming_distance})

    def pairs(self) -> list[ShownPair]:
        """Return a sample of removed posts with their keepers: near repeats by ascending score, then exact repeats."""
        exact = np.flatnonzero(self.removed.columns.is_exact)
        near = self.near[evenly_by_score(self.near_scores, NEAR_SHOWN)]
        chosen = np.concatenate([near, exact[spread_rows(len(exact), EXACT_SHOWN)]])
        posts = [self.removed[place] for place in chosen.tolist()]
        return [shown_pair(post, post.keeper_text, self.summary.config) for post in posts]

    def nearest_misses(self) -> list[ShownPair]:
        """Return the near misses that are nearest to their thresholds."""
        return [shown_pair(miss, miss.earlier_text, self.summary.config) for miss in self.misses.first(MISSES_SHOWN)]

    def clusters(self) -> list[ShownCluster]:
        """Return the kept posts for which the most posts were removed, with samples of the removed posts."""
        keepers = self.removed.columns.keepers
        sizes = np.bincount(keepers)
        largest = np.argsort(-sizes, kind="stable")[:CLUSTERS_SHOWN]
        return [self._cluster(np.flatnonzero(keepers == keeper)) for keeper in largest.tolist() if sizes[keeper]]

    def _cluster(self, places: Int64s) -> ShownCluster:
        posts = [self.removed[place] for place in places[spread_rows(len(places), MOST_MEMBERS)].tolist()]
        one = posts[0]
        counts = Counter(post.text for post in posts if post.text != one.keeper_text)
        first_with = {post.text: post for post in reversed(posts)}
        members = [
            ShownMember(marked_texts(one.keeper_text, text)[1], first_with[text], n)
            for text, n in counts.most_common(MEMBERS_SHOWN)
        ]
        n_more = len(places) - sum(member.n for member in members)
        tallies = self.tallies.at(int(self.removed.columns.keepers[places[0]]))
        known = dict(zip(self.tallies.types, tallies, strict=True))
        return ShownCluster(one.keeper_row, one.duplicate_of, one.keeper_text, len(places), members, n_more, known)


def shown_pair(post: Removed | NearMiss, earlier: str, config: str) -> ShownPair:
    """Return a post paired with the post that it repeats or nearly repeats, for display."""
    words = ["hybriddup", "explain", "--config", config, "--", earlier, post.text]
    return ShownPair(post, *marked_texts(earlier, post.text), shlex.join(words))


def evenly_by_score(scores: Float64s, n: int) -> Int64s:
    """Choose up to ``n`` scores, spread over the whole range; return int64: their indices by ascending score."""
    order = np.argsort(scores, kind="stable")
    if len(scores) <= n:
        return order
    edges = np.linspace(scores.min(), scores.max(), SCORE_BINS + 1)[1:-1]
    parts = sorted(np.split(np.arange(len(order)), np.searchsorted(scores[order], edges)), key=len)
    chosen: list[int] = []
    for n_parts, part in zip(range(len(parts), 0, -1), parts, strict=True):  # what small ones leave goes to larger ones
        chosen += part[spread_rows(len(part), (n - len(chosen)) // n_parts)].tolist()
    return np.asarray(order[np.sort(np.array(chosen))])


class Days(NamedTuple):
    """Numbers of posts by day, month or year, in order of time."""

    unit: str
    """``day``, ``month`` or ``year``."""
    names: list[str]
    counts: dict[str, list[int]]
    """For each outcome, a list of the number of posts per day, month or year, in the order of ``names``."""
    n_without: int
    """Number of posts with a missing or invalid time."""


def days_of(times: Sequence[Any], outcomes: Int64s, names: Sequence[str]) -> Days | None:
    """Return the number of posts by outcome and by day, month or year; None if no post has a time.

    ``outcomes``: int64[n], the outcome of each post, as an index into ``names``.
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
    """Return the day of a time; None if the time is invalid.

    A time is a date, or a value that `hybriddup.data.times.parse_time` reads. The day is in the time zone named in the
    text, or in UTC.

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
