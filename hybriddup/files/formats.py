"""Interfaces that the reader and the writer of a file format implement, built-in (`lines`, `csv`) or by a plugin."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from hybriddup.data.fields import complete_alternatives, first_text, text_fields
from hybriddup.data.marks import Marks
from hybriddup.data.records import Bools, Int64s
from hybriddup.errors import InputError
from hybriddup.files.sources import Source

BATCH_ROWS = 8192

SEPARATORS = {";": "';'", "|": "'|'", "\t": "tab"}
"""Maps common delimiters of tables, except the comma, to their form on the command line."""

TEXT_FIELD_ADVICE = "Name the field with the posts with --text-field (text_field in Python)."


Fault = Literal["", "absent", "type", "encoding"]
"""Why a row is bad: ``absent`` = it has no text field, ``type`` = the text field is not text, ``encoding`` = the row
cannot be decoded; empty = any other fault."""


class Fields(NamedTuple):
    """Names of the fields that a run needs, see `hybriddup.data.fields`; formats without fields ignore them."""

    text: str = "text"
    id: str = "id"
    order: tuple[str, ...] = ()
    """Other fields whose values a run needs, such as the fields of ``keep: {highest: FIELD}``."""


class Record(NamedTuple):
    """One post from a reader."""

    text: str
    id: Any = None
    """Id of the post; None if the record has no id."""
    order_values: tuple[Any, ...] = ()
    """Value of each field of `Fields.order`, None if the record lacks it; empty if the format has no fields."""


class BadRow(NamedTuple):
    """A row from which no post can be read."""

    line: int
    """One-based number of the line, or of the record in formats without lines."""
    reason: str
    fault: Fault = ""
    row: int = -1
    """Zero-based number of the row in its source; -1 = not known yet."""


class TextColumnError(InputError):
    """A table has no usable text column. The message is ``fault``, with advice on how to name the column.

    ``absent``: True if the table has no column with the given name.
    """

    def __init__(self, place: str, fault: str, *, absent: bool) -> None:
        super().__init__(f"{place}: {fault}. {TEXT_FIELD_ADVICE}")
        self.fault = f"{place}: {fault}"
        self.absent = absent


@dataclass
class RecordBatch:
    """A few thousand consecutive rows of one source. Rows are numbered from 0 in each source, including bad rows."""

    texts: list[str] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    """Id of each text; None if the record has no id."""
    order_values: list[tuple[Any, ...]] = field(default_factory=list)
    """For each text, the `Record.order_values` of its record."""
    rows: Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    """int64[n_texts]: row of each text, ascending."""
    bad: list[BadRow] = field(default_factory=list)
    end: int = 0
    """Number of the row that follows the batch."""


@runtime_checkable
class Reader(Protocol):
    """Reads one file format. Sources are already decompressed. Reader and writer must count rows alike."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """File name endings, such as ``(".jsonl", ".ndjson")``; a compression suffix is not part of an ending."""
        ...

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order; every row is in a batch, as a text or as a bad row.

        Raises
        ------
        InputError
            The source as a whole is unusable, such as a table without the text column.
        """
        ...


@runtime_checkable
class Writer(Protocol):
    """Copies the kept rows of the input, in the input's format; registered under the same name as the reader."""

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError if the sources cannot be combined in one output, such as tables with different headers.

        Called at the start, so that a long run does not fail at its end.
        """
        ...

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, with all their fields, in input order.

        Parameters
        ----------
        keep
            bool[n_rows]: whether to keep each row, for the rows of all sources, one after another. Rows are counted as
            by the reader of this format.
        target
            Stream to write to, from start to end; it is not always seekable. The caller closes it.

        Raises
        ------
        InputError
            The sources do not have ``len(keep)`` rows, because they changed since they were read.
        """
        ...


class MarkingWriter(Writer, Protocol):
    """A writer that can also append `Marks`, such as ``duplicate_of``, to each record as additional fields."""

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError if a quick check shows that records already have fields of these names."""
        ...

    def write_marked(self, sources: Sequence[Source], target: BinaryIO, keep: Bools, marks: Marks) -> None:
        """Copy the records whose row is kept, in input order, with their marks as additional fields at the end.

        Raises
        ------
        InputError
            The sources changed, or a record already has a field of one of these names.
        """
        ...


def check_columns(place: str, names: Sequence[str], fields: Fields) -> None:
    """Raise InputError if a table lacks the text column, or if several columns have the name of a needed field.

    ``place`` names the table in messages; ``names`` are its columns.
    """
    shown = ", ".join(repr(name[:40]) for name in names[:20]) + (
        f" and {len(names) - 20} more" if len(names) > 20 else ""
    )
    texts = text_fields(fields.text, names)
    if absent := [] if complete_alternatives(fields.text, names) else [name for name in texts if name not in names]:
        marks = [name for mark, name in SEPARATORS.items() if len(names) == 1 and mark in names[0]]
        hint = f". Perhaps --delimiter {marks[0]} is missing" if marks else ""
        fault = f"no column is called {absent[0]!r}; the columns are {shown}{hint}"
        raise TextColumnError(place, fault, absent=True)
    for name in (*texts, fields.id, *fields.order):
        if names.count(name) > 1:
            raise InputError(
                f"{place}: {names.count(name)} columns are called {name!r}, so it is unclear which one is "
                f"meant; the columns are {shown}. Rename all but one."
            )


def needed_columns(names: Container[str], fields: Fields) -> list[str]:
    """Return the distinct names of the columns that a run needs, among the columns ``names`` of a table."""
    texts = chain.from_iterable(complete_alternatives(fields.text, names))
    return [name for name in dict.fromkeys((*texts, fields.id, *fields.order)) if name in names]


def reader_of_rows(names: Sequence[str], fields: Fields) -> Callable[[Sequence[Any]], tuple[Any, Any, tuple[Any, ...]]]:
    """Return a function that extracts text, id and order values from a row with one value per column in ``names``.

    The id and order values are None if the table lacks the column. Further values of a row are ignored.
    """
    wanted = complete_alternatives(fields.text, names)
    text_of: Callable[[Sequence[Any]], Any] = itemgetter(names.index(wanted[0][0]))
    if len(wanted) > 1 or len(wanted[0]) > 1:
        text_of = lambda row: first_text(dict(zip(names, row, strict=False)), wanted)  # noqa: E731
    places = [names.index(name) if name in names else None for name in (fields.id, *fields.order)]

    def read(row: Sequence[Any]) -> tuple[Any, Any, tuple[Any, ...]]:
        record_id, *order = [None if place is None else row[place] for place in places]
        return text_of(row), record_id, tuple(order)

    return read


def record_batches(records: Iterable[Record | BadRow], batch_rows: int = BATCH_ROWS) -> Iterator[RecordBatch]:
    """Group the records and bad rows of a source into batches."""
    remaining = iter(records)
    start = 0
    while chunk := list(islice(remaining, batch_rows)):
        yield batch_of(chunk, start)
        start += len(chunk)


def batch_of(records: Iterable[Record | BadRow], start: int) -> RecordBatch:
    """Combine consecutive records and bad rows into one batch, which begins at row ``start`` of the source."""
    numbered = list(enumerate(records, start))
    good = [(row, record) for row, record in numbered if isinstance(record, Record)]
    return RecordBatch(
        texts=[record.text for _, record in good],
        ids=[record.id for _, record in good],
        order_values=[record.order_values for _, record in good],
        rows=np.array([row for row, _ in good], np.int64),
        bad=[record._replace(row=row) for row, record in numbered if isinstance(record, BadRow)],
        end=start + len(numbered),
    )
