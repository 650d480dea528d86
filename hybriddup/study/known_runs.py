"""Looks up two posts of a run: their texts, and the decision of the run about them."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from hybriddup.data.frames import describe
from hybriddup.data.times import seconds_in
from hybriddup.errors import HybriddupError, InputError
from hybriddup.run.result import NO_ORIGIN, Origin, Result
from hybriddup.run.scopes import scopes_of, times_of
from hybriddup.study.explanation import KnownRun


def posts_of_run(result: Result, a: object, b: object) -> tuple[str, str, KnownRun, Origin]:
    """Return the texts of two rows of a run, the decision about the two, and the run's settings and corpus.

    If only one of the rows was kept, its text comes first.

    Raises
    ------
    InputError
        One of the rows has no post.
    HybriddupError
        The result was not made by a run.
    """
    if (origin := result.origin) is None:
        raise HybriddupError(NO_ORIGIN)
    (a, place_a), (b, place_b) = sorted(
        [(check_row(result, origin, name, row)) for name, row in (("a", a), ("b", b))],
        key=lambda found: not is_kept(result, found[0]),
    )
    texts, known = origin.corpus.texts, known_run(result, a, b)
    if (per := origin.per) is not None:
        values = origin.corpus.order_values[per]
        known = replace(known, apart=other_scopes(per, values[place_a], values[place_b]) or known.apart)
    if (within := origin.settings.within) is not None:
        times = times_of(origin.corpus, origin.time_field, within).seconds
        if abs(times[place_a] - times[place_b]) >= (seconds_in(within) or 0):
            known = replace(known, apart=f"their times are {within} or more apart, the limit that within sets")
    return texts[place_a], texts[place_b], known, origin


def check_row(result: Result, origin: Origin, name: str, row: object) -> tuple[int, int]:
    """Return a row as an int, and the index of its post in the corpus; raise InputError if it has no post.

    ``name`` is the name of the argument, for the message.
    """
    corpus, n = origin.corpus, origin.corpus.n_against
    if isinstance(row, Integral) and not isinstance(row, bool) and row not in result.dropped:
        place = n + int(np.searchsorted(corpus.rows[n:], int(row)))
        if place < len(corpus.rows) and corpus.rows[place] == row:
            return int(row), place
    raise InputError(f"{name} must be a row of the run with a post, 0 to {result.n_rows - 1:,}; got {describe(row)}.")


def is_kept(result: Result, row: int) -> bool:
    """Return whether the run kept a row."""
    return bool(result.labels[row] == row)


def known_run(result: Result, a: int, b: int) -> KnownRun:
    """Return a run's decision about two rows; if only one of the rows was kept, it must be ``a``."""
    if is_kept(result, b):
        return KnownRun("kept")
    if result.labels[b] == a:
        return KnownRun("removed")
    if is_kept(result, a):
        return KnownRun("other", note=f" The run removed B as a repeat of {keeper_of(result, b)}.")
    apart = f"the run removed A as a repeat of {keeper_of(result, a)}, and posts are compared with kept posts only"
    return KnownRun("other", apart=apart)


def keeper_of(result: Result, row: int) -> str:
    """Describe the post that a removed row repeats."""
    keeper = int(result.labels[row])
    return "a post of another corpus" if keeper < 0 else f"row {keeper}"


def other_scopes(field: str, a: Any, b: Any) -> str:
    """Return a clause on why posts with the values ``a`` and ``b`` of ``field`` are not compared; else empty."""
    if scopes_of(field, [a, b]).numbers[1] == 0:
        return ""
    return f"{field} is {a!r} and {b!r}, and the run compared only posts with the same {field}"
