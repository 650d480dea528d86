"""Formats of files, which are components: `lines`, `jsonl`, `csv`, `tsv`, `parquet`. Each has a reader and a writer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from hybriddup.data.fields import text_fields
from hybriddup.data.marks import Marks
from hybriddup.data.records import Bools, Int64s
from hybriddup.errors import InputError
from hybriddup.files.sources import Source

BATCH_ROWS = 8192

SEPARATORS = {";": "';'", "|": "'|'", "\t": "tab"}
"""What stands between the fields of other tables than CSV, and how one writes it."""

TEXT_FIELD_ADVICE = "Say which holds the posts with --text-field (text_field in Python)."


Fault = Literal["", "absent", "type", "encoding"]
"""What is wrong with a row: it lacks the text field, which holds something else than text, or the file has another
encoding; empty for everything else."""


class Fields(NamedTuple):
    """Names of the fields that a run needs, see `hybriddup.data.fields`; formats without fields ignore them."""

    text: str = "text"
    id: str = "id"
    order: tuple[str, ...] = ()
    """Other fields whose values a run needs, such as those of ``keep: {highest: FIELD}``."""


class Record(NamedTuple):
    """One post as a reader found it."""

    text: str
    id: Any = None
    """None where the record has none."""
    order_values: tuple[Any, ...] = ()
    """Of each field of `Fields.order`, None where the record does not have it; empty where the format has no fields."""


class BadRow(NamedTuple):
    """A row that holds no usable post, and why."""

    line: int
    """One-based line in the file; for formats without lines, the one-based record."""
    reason: str
    fault: Fault = ""


class BadLine(NamedTuple):
    """A `BadRow` with its place."""

    row: int
    line: int
    reason: str
    fault: Fault = ""


class TextColumnError(InputError):
    """A table that does not have the text column that was asked for; ``absent``: no column has its name.

    The message has advice after the fault, for those who named the column.
    """

    def __init__(self, place: str, fault: str, *, absent: bool) -> None:
        super().__init__(f"{place}: {fault}. {TEXT_FIELD_ADVICE}")
        self.fault = f"{place}: {fault}"
        self.absent = absent


@dataclass
class RecordBatch:
    """Some thousand consecutive rows of one source. Rows count from 0 in each source; bad rows take a number too."""

    texts: list[str] = field(default_factory=list)
    ids: list[Any] = field(default_factory=list)
    """None where the record has no id."""
    order_values: list[tuple[Any, ...]] = field(default_factory=list)
    """Of each record, as in `Record`."""
    rows: Int64s = field(default_factory=lambda: np.empty(0, np.int64))
    """int64[n_texts]: rising."""
    bad: list[BadLine] = field(default_factory=list)
    end: int = 0
    """Rows of the source up to and including this batch."""


@runtime_checkable
class Reader(Protocol):
    """Reads one file format. Sources are already decompressed; the rows are those that the format's writer counts."""

    @property
    def extensions(self) -> tuple[str, ...]:
        """File name endings without a compression suffix, such as ``(".jsonl", ".ndjson")``."""
        ...

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order; every row is in a batch, as a text or as bad.

        Raises
        ------
        InputError
            The source as a whole cannot be used, such as a table without the text column.
        """
        ...


@runtime_checkable
class Writer(Protocol):
    """Writes some rows of the input in the input's own format; bears the name of the reader of that format."""

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError where the sources cannot be one output, such as tables whose headers differ.

        Called before anything is decided, so that a long run does not fail at its end.
        """
        ...

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, with all their fields, in input order.

        Parameters
        ----------
        keep
            bool[n_rows] over all sources, rows counted as the reader of this format counts them.
        target
            Written to once from its beginning; not closed here, and not always seekable.

        Raises
        ------
        InputError
            The sources do not hold ``len(keep)`` rows: they changed since they were read.
        """
        ...


class MarkingWriter(Writer, Protocol):
    """A writer that can also write fields beside those of each record."""

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError where records have fields of these names already, as far as that is quickly told."""
        ...

    def write_marked(self, sources: Sequence[Source], target: BinaryIO, keep: Bools, marks: Marks) -> None:
        """Copy the records whose row is kept, in input order, each with its marks after its own fields.

        Raises
        ------
        InputError
            The sources changed, or a record has a field of one of these names already.
        """
        ...


def check_columns(place: str, names: Sequence[str], fields: Fields) -> None:
    """Raise InputError where a table lacks the text column, or has a column that is asked for more than once."""
    shown = ", ".join(repr(name[:40]) for name in names[:20]) + (
        f" and {len(names) - 20} more" if len(names) > 20 else ""
    )
    texts = text_fields(fields.text, names)
    if absent := [name for name in texts if name not in names]:
        marks = [name for mark, name in SEPARATORS.items() if len(names) == 1 and mark in names[0]]
        hint = f". Perhaps --delimiter {marks[0]} is missing" if marks else ""
        fault = f"no column is called {absent[0]!r}; the columns are {shown}{hint}"
        raise TextColumnError(place, fault, absent=True)
    for name in (*texts, fields.id, *fields.order):
        if names.count(name) > 1:
            raise InputError(
                f"{place}: {names.count(name)} columns are called {name!r}, so that it cannot be told which one is "
                f"meant; the columns are {shown}. Rename all but one."
            )


def record_batches(records: Iterable[Record | BadRow], batch_rows: int = BATCH_ROWS) -> Iterator[RecordBatch]:
    """Return the batches of a source, from one record or bad row at a time."""
    remaining = iter(records)
    start = 0
    while chunk := list(islice(remaining, batch_rows)):
        yield batch_of(chunk, start)
        start += len(chunk)


def batch_of(records: Iterable[Record | BadRow], start: int) -> RecordBatch:
    """Return some records and bad rows as one batch, the first of them at row ``start``."""
    chunk = list(records)
    good = [record for record in chunk if type(record) is Record]
    batch = RecordBatch(
        texts=[record.text for record in good],
        ids=[record.id for record in good],
        order_values=[record.order_values for record in good],
        end=start + len(chunk),
    )
    is_good = np.fromiter((type(record) is Record for record in chunk), np.bool_, len(chunk))
    batch.rows = np.flatnonzero(is_good).astype(np.int64) + start
    batch.bad = [BadLine(start + i, *row) for i, row in enumerate(chunk) if isinstance(row, BadRow)]
    return batch
