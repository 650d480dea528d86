"""Keep policies: the order in which posts are decided. If posts repeat each other, the first one decided is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from numbers import Number
from typing import Any

import numpy as np

from hybriddup.config.settings import KeepHighest, KeepRule
from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import has_no_value
from hybriddup.data.records import Int64s, text_lengths
from hybriddup.data.times import parse_time
from hybriddup.errors import InputError


def deciding_order(corpus: Corpus, rules: Sequence[KeepRule], body_lengths: Callable[[], Int64s]) -> Int64s | None:
    """Return int64[n]: the indices of the posts in the order of deciding; None = input order.

    A rule breaks the ties of the rules before it, and the input order breaks all remaining ties. ``body_lengths``
    returns int64[n], the lengths of the bodies, and is only called if a rule needs them. Raises InputError if the
    values of a field cannot be ordered.
    """
    n = len(corpus.texts)
    if rules[0] == "first":
        return None

    def ranks(rule: KeepRule) -> Int64s:
        """Return int64[n]: the rank of each post by ``rule``; posts with smaller ranks are decided earlier."""
        if isinstance(rule, KeepHighest):
            return ranks_by_value(corpus.order_values[rule.highest], rule.highest, corpus.rows)
        return ranks_by_name[rule]()

    ranks_by_name: dict[str, Callable[[], Int64s]] = {
        "first": lambda: np.arange(n),
        "last": lambda: -np.arange(n),
        "longest": lambda: -text_lengths(corpus.texts).astype(np.int64),
        "most_complete": lambda: -body_lengths(),
    }
    return np.lexsort([ranks(rule) for rule in reversed(rules)])


def ranks_by_value(values: Sequence[Any], field: str, rows: Int64s) -> Int64s:
    """Return int64[n]: the rank of each value, 0 = the highest; equal values share a rank, and missing values are last.

    If any value is a number, or text such as ``12.5``, values are compared as numbers, and other text (``N/A``)
    counts as missing. Otherwise, if most texts are times, values are compared as times, and other text counts as
    missing. Otherwise, text is compared alphabetically. None, empty text, NaN and the missing values of data frames are
    missing values.
    """
    keys = order_keys(values)
    present = [place for place, key in enumerate(keys) if key is not None]
    try:
        ranked = sorted(present, key=keys.__getitem__, reverse=True)
    except (TypeError, ValueError) as error:  # ValueError from arrays
        kinds = sorted({type(keys[place]).__name__ for place in present})
        message = (
            f"keep: {{highest: {field}}} needs values that can be ordered; the field holds {' and '.join(kinds)} "
            f"(first at row {rows[present[0]]}). Give every post a number, or all of them text."
        )
        raise InputError(message) from error
    ranks = np.full(len(keys), len(keys), np.int64)
    for rank, (_, places) in enumerate(groupby(ranked, key=keys.__getitem__)):
        ranks[list(places)] = rank
    return ranks


def order_keys(values: Sequence[Any]) -> list[Any]:
    """Return the sort key of each value; None for missing values.

    Examples
    --------
    >>> order_keys(["9", "10", "N/A"]), order_keys(["b", "a", ""])
    ([9, 10, None], ['b', 'a', None])
    >>> order_keys(["1970-01-01T00:01:00Z", "1970-01-02T00:00:00Z", "N/A"])
    [60.0, 86400.0, None]
    """
    present = [None if has_no_value(value) else value for value in values]
    numbers = [as_number(value) for value in present]
    if all(number is None for number in numbers):
        times = [parse_time(value) if isinstance(value, str) else None for value in present]
        n_times, n_present = (sum(value is not None for value in some) for some in (times, present))
        return times if 2 * n_times > n_present else present
    return [value if number is None and not isinstance(value, str) else number
            for value, number in zip(present, numbers, strict=True)]  # fmt: skip


def as_number(value: Any) -> Any:
    """Return a number unchanged, and text such as ``12.5`` as a number (an int if possible); None for other values."""
    if isinstance(value, Number):
        return value
    if not isinstance(value, str):
        return None
    for spelled in (int, float):
        try:
            return spelled(value)
        except ValueError:
            continue
    return None
