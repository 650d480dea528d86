"""Scopes: with ``per``, posts with the same value of a field form a scope, and a post can only repeat posts in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.fields import has_no_value, hashable
from hybriddup.data.records import Int64s


class Scopes(NamedTuple):
    """The scope of each post: a scope is the posts with the same value of a field."""

    field: str
    numbers: Int64s
    """int64[n]: number of each post's scope; scopes are numbered from 0. Posts without a value form one scope."""
    n_values: int
    n_without: int
    """Number of posts without a value of the field; all of these are one scope."""

    def note(self) -> str:
        """Return a note about the scopes for the summary of the run."""
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
