"""Keep policies: they change the order in which posts are decided, never the rule."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from numbers import Number
from typing import Any, Literal

import numpy as np

from hybriddup.config.settings import KeepHighest
from hybriddup.corpus import Corpus
from hybriddup.errors import InputError
from hybriddup.records import Int64s


def deciding_order(corpus: Corpus, keep: Literal["first", "last", "longest"] | KeepHighest) -> Int64s:
    """Return int64[n]: the places of the posts in the order in which they are decided; ties in input order.

    Raises
    ------
    InputError
        The field of ``keep: {highest: FIELD}`` has values that cannot be ordered.
    """
    n = len(corpus.texts)
    if keep == "first":
        return np.arange(n)
    if keep == "last":
        return np.arange(n)[::-1]
    if keep == "longest":
        return np.argsort([-len(text) for text in corpus.texts], kind="stable").astype(np.int64)
    return order_by_value(corpus.order_values or [None] * n, keep.highest, corpus.rows)


def order_by_value(values: Sequence[Any], field: str, rows: Int64s) -> Int64s:
    """Return the places of the values, highest first, equal ones in input order; those without a value come last.

    Numbers are compared as numbers, also where a file has them as text; other text alphabetically. None, empty text,
    and what is not a number (NaN, and what data frames put in its place) are no values.
    """
    present = [place for place, value in enumerate(values) if not is_missing(value)]
    keys = as_numbers([values[place] for place in present])
    try:
        ranked = sorted(range(len(present)), key=keys.__getitem__, reverse=True)
    except TypeError as error:
        kinds = sorted({type(key).__name__ for key in keys})
        message = (
            f"keep: {{highest: {field}}} needs values that can be ordered; the field holds {' and '.join(kinds)} "
            f"(first at row {rows[present[0]]}). Give every post a number, or all of them text."
        )
        raise InputError(message) from error
    absent = [place for place, value in enumerate(values) if is_missing(value)]
    return np.array([present[rank] for rank in ranked] + absent, np.int64)


def is_missing(value: Any) -> bool:
    """Return whether a post has no value to be ordered by.

    Examples
    --------
    >>> [is_missing(value) for value in (None, "", float("nan"), 0, "0")]
    [True, True, True, False, False]
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to say
        return True


def as_numbers(values: Sequence[Any]) -> Sequence[Any]:
    """Return the values as numbers where every one of them is a number or spells one, else as they are."""
    try:
        return [as_number(value) for value in values]
    except ValueError:
        return values


def as_number(value: Any) -> Any:
    """Return a number as it is, and the number that a text spells; whole numbers stay whole, so that ids stay exact.

    Raises
    ------
    ValueError
        The value is neither.
    """
    if isinstance(value, Number):
        return value
    text = value if isinstance(value, str) else "not a number"
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if isnan(number):  # its place in an order would depend on where it stood before
        raise ValueError("not a number")
    return number
