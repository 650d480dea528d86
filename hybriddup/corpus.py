"""The posts of a run as columns, whether they come from files, a list or a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hybriddup.records import Int64s


@dataclass(frozen=True)
class BadRecord:
    """A record that could not be used, and why."""

    source: str
    """File name, ``-`` for standard input, or ``posts`` for a list."""
    line: int
    """One-based line in the file (for formats without lines, one-based record)."""
    row: int
    """Zero-based input row over all files."""
    reason: str


@dataclass
class Corpus:
    """Posts in input order. Bad records take a row but are not in the columns."""

    texts: list[str]
    ids: Sequence[Any]
    """The users' ids; the row itself where the input has none."""
    rows: Int64s
    """int64[n]: zero-based input row of each post, rising; gaps are bad records."""
    order_values: Sequence[Any] | None = None
    """Value of the field that ``keep: {highest: FIELD}`` names, where it does."""
    n_rows: int = 0
    """Rows of the input, bad records included."""
    bad_records: list[BadRecord] = field(default_factory=list)
    """The first few bad records, with where they are."""
    n_bad_records: int = 0
