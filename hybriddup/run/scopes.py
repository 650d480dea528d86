"""Limits on which posts of a run repeat each other: ``per``, a field with equal values, and ``within``, a time.

With ``per``, posts with the same value of a field form a scope, and a post can only repeat posts in it. With
``within``, posts are decided in order of time, and repeat each other only if they are close in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import has_no_value, hashable
from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int32s, Int64s
from hybriddup.data.times import TIMES, seconds_in, seconds_of
from hybriddup.errors import InputError
from hybriddup.run.decisions import RunDecisions
from hybriddup.steps.exact import EqualTexts, part_by_scope


class Scopes(NamedTuple):
    """The scope of each post: a scope is the posts with the same value of a field."""

    field: str
    numbers: Int64s
    """int64[n]: number of each post's scope; scopes are numbered from 0. Posts without a value form one scope."""
    n_values: int
    n_without: int
    """Number of posts without a value of the field; all of these are one scope."""

    def note(self) -> str:
        """Return a sentence for the summary: the number of values of the field, and the number of posts without one."""
        without = f"; the {self.n_without:,} posts without one are looked at together" if self.n_without else ""
        return f"repeats are looked for within each of the {self.n_values:,} values of {self.field!r}{without}."


def scopes_of(field: str, values: Sequence[Any]) -> Scopes:
    """Return the scopes of posts, given each post's value of ``field``; None, empty text and NaN count as no value.

    Examples
    --------
    >>> scopes_of("user", ["ann", "bo", None, "ann", ""]).numbers.tolist()
    [0, 1, 2, 0, 2]
    """
    keys = [None if has_no_value(value) else _key(value) for value in values]
    numbers: dict[Any, int] = {}
    found = np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int64, len(keys))
    return Scopes(field, found, len(numbers) - (None in numbers), keys.count(None))


def _key(value: Any) -> Any:
    """Return a hashable key for comparing values: 1 and True have different keys, and lists are compared as text."""
    return (bool, value) if isinstance(value, bool) else hashable(value)


class Times(NamedTuple):
    """The times of posts or distinct texts, and how far apart in time two repeats may be."""

    seconds: Float64s
    """float64[n]: time of each post, or of the first post of each distinct text, in seconds since 1970."""
    within: float
    """Time limit between two posts that repeat each other, exclusive, in seconds."""

    def take(self, places: Int64s) -> Times:
        """Return the times at indices ``places``, int64[n]."""
        return Times(self.seconds[places], self.within)

    def are_close(self, pairs: CandidatePairs) -> Bools:
        """Return bool[n_pairs]: whether the two posts of each pair are close enough in time."""
        return np.abs(self.seconds[pairs.earlier] - self.seconds[pairs.later]) < self.within


def times_of(corpus: Corpus, field: str, within: str) -> Times:
    """Return the times of all posts; raise InputError if a post has none."""
    values = corpus.order_values.get(field, [None] * len(corpus.texts))
    seconds = seconds_of(values)
    missing = np.flatnonzero(np.isnan(seconds))
    if len(missing):
        place = int(missing[0])
        source = corpus.sources(missing[:1])[0]
        raise InputError(
            f"within: {within} needs a time in the field {field!r} of every post; {len(missing):,} have none, first "
            f"row {corpus.rows[place]}{f' of {source}' if source else ''} with {values[place]!r}. A time is {TIMES}. "
            "Name the field with --time-field (time_field in Python), or leave within out."
        )
    return Times(seconds, seconds_in(within) or 0.0)


def order_by_time(corpus: Corpus, times: Times) -> Int64s:
    """Return int64[n]: the indices of the posts by time, posts of ``against`` first; ties in input order."""
    return np.lexsort((times.seconds, np.arange(len(times.seconds)) >= corpus.n_against))


def part_by_time(equal: EqualTexts, times: Times, scopes: Int64s | None) -> EqualTexts:
    """Split groups of equal posts by scope and time, so that all posts of a group are close in time to its first post.

    Posts are in the order of deciding.
    """
    equal = equal if scopes is None else part_by_scope(equal, scopes)
    first_of, begun = equal.first_of.copy(), dict[int, int]()
    counts = np.bincount(equal.text_numbers)
    for place in np.flatnonzero(counts[equal.text_numbers] > 1).tolist():
        number = int(equal.text_numbers[place])
        first = begun.get(number)
        if first is None or abs(times.seconds[place] - times.seconds[first]) >= times.within:
            begun[number] = first = place
        first_of[place] = first
    return EqualTexts.of(first_of)


def equal_as_exact(decisions: RunDecisions, numbers: Int32s) -> RunDecisions:
    """Return decisions in which near repeats with the same text as their keeper count as exact repeats.

    ``numbers``: int32[n], the text number of each post; equal texts have equal numbers.
    """
    pairs, exact = decisions.deciding, decisions.exact.copy()
    is_equal = numbers[pairs.earlier] == numbers[pairs.later]
    exact[pairs.later[is_equal]] = pairs.earlier[is_equal]
    return replace(decisions, exact=exact, deciding=pairs.take(~is_equal))
