"""CSV and TSV with a header. The csv module finds the ends of records, so that both passes agree on what a row is."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, islice
from operator import itemgetter
from typing import Any, BinaryIO, NamedTuple

from hybriddup.data.fields import joined, text_fields
from hybriddup.errors import InputError
from hybriddup.files.copying import Choice, MarkingTextWriter, check_marks
from hybriddup.files.encodings import encoding_advice
from hybriddup.files.formats import BATCH_ROWS, BadRow, Fields, Record, RecordBatch, check_columns, record_batches
from hybriddup.files.sources import Source
from hybriddup.files.tables import delimited
from hybriddup.files.text import BrokenText, broken_text, text_lines, why_too_long

MAX_FIELD_CHARACTERS = 2**31 - 1
"""The csv module refuses fields past 131,072 characters unless told; a long post is no broken post."""

OPEN_AT_END = "unexpected end of data"
"""What the csv module says of a quote that is still open where the file ends."""


class RawRecord(NamedTuple):
    """One record of a table; quoted fields may hold line ends, so a record may span lines."""

    line: int
    """One-based line on which it begins."""
    raw: bytes
    values: list[str]
    problem: str
    """Why it cannot be parsed; empty where it can."""
    last_line: int
    """One-based line on which it ends."""


class _DelimitedReader:
    """Reads the text from a column; quotes follow RFC 4180, and a row must have as many fields as the header."""

    delimiter: str

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order; InputError where the header does not name the text column."""
        with source.open() as stream:
            records = table_records(stream, source, self.delimiter)
            header = next(records, None)
            if header is not None:
                yield from record_batches(_records(records, _columns(header, source, fields)))


class CsvReader(_DelimitedReader):
    """Reads comma-separated values."""

    delimiter = ","
    extensions = (".csv",)


class TsvReader(_DelimitedReader):
    """Reads tab-separated values, quoted as in CSV."""

    delimiter = "\t"
    extensions = (".tsv", ".tab")


def table_records(stream: BinaryIO, source: Source, delimiter: str) -> Iterator[RawRecord]:
    """Yield the header and then each row; empty lines are no rows.

    InputError where a quote is still open at the end, or when the record is too long: all that follows it is in one
    record, however many posts it was meant to be.
    """
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    taken: list[bytes] = []
    broken: list[str] = []
    decoded = _decoded(text_lines(stream, source), taken, broken, source)
    parser = csv.reader(decoded, delimiter=source.delimiter or delimiter, strict=True)
    next_line = 1
    while True:
        problem, values = "", []
        try:
            values = next(parser)
        except StopIteration:
            return
        except _RecordTooLongError:
            fault = f"one record has more than {source.max_line_bytes:,} bytes, as if a quote were never closed"
            raise _open_quote(source.name, next_line, next_line + len(taken) - 1, fault) from None
        except csv.Error as error:
            if str(error) == OPEN_AT_END:
                raise _open_quote(source.name, next_line, next_line + len(taken) - 1) from None
            problem = f"not valid CSV ({error})"
        raw = b"".join(taken)
        if raw.strip(b"\r\n"):
            last_line = next_line + len(taken) - 1
            yield RawRecord(next_line, raw, values, broken[0] if broken else problem, last_line)
        next_line += len(taken)
        taken.clear()
        broken.clear()


def _open_quote(name: str, line: int, last_line: int, fault: str = "an opened quote is never closed") -> InputError:
    return InputError(
        f"{name}:{line}: {_lines(line, last_line)}: {fault}, so it cannot be told which posts "
        f'follow it. Close it; where a quote is part of a post, write the post in quotes and this one twice: "a "" b".'
    )


def _lines(line: int, last_line: int) -> str:
    return f"line {line}" if line == last_line else f"lines {line} to {last_line}"


class _RecordTooLongError(Exception):
    """The lines of one record, together, are longer than a line may be."""


def _decoded(lines: Iterator[bytes], taken: list[bytes], broken: list[str], source: Source) -> Iterator[str]:
    n_bytes, max_line_bytes = 0, source.max_line_bytes
    for line in lines:
        n_bytes = n_bytes + len(line) if taken else len(line)
        taken.append(line)
        if n_bytes > max_line_bytes and len(taken) > 1:
            raise _RecordTooLongError
        if reason := why_too_long(line, max_line_bytes):
            broken.append(reason)
            yield "\n"
            continue
        try:
            yield line.decode(source.encoding)
        except UnicodeDecodeError as error:
            broken.append(broken_text(error))
            yield line.decode(source.encoding, "replace")


class _Columns(NamedTuple):
    n_columns: int
    text: Callable[[list[str]], Any]
    """Returns the text of a record."""
    id: int | None
    order: tuple[int | None, ...]


def _columns(header: RawRecord, source: Source, fields: Fields) -> _Columns:
    columns, place = header.values, f"{source.name}:{header.line}"
    if header.problem:
        advice = f" {encoding_advice(source)}" if isinstance(header.problem, BrokenText) else ""
        raise InputError(f"{place}: the header cannot be read: {header.problem}.{advice}")
    check_columns(place, columns, fields)
    order = tuple(_place(columns, field) for field in fields.order)
    get = itemgetter(*map(columns.index, names := text_fields(fields.text, columns)))
    text = get if len(names) == 1 else lambda values: joined(get(values))
    return _Columns(len(columns), text, _place(columns, fields.id), order)


def _place(columns: Sequence[str], field: str) -> int | None:
    return columns.index(field) if field in columns else None


def _records(rows: Iterator[RawRecord], columns: _Columns) -> Iterator[Record | BadRow]:
    n_columns, text, identifier, order = columns
    for line, _, values, problem, last_line in rows:
        if not problem and len(values) != n_columns:
            problem = f"has {_fields(len(values))}, the header names {n_columns}"
        if problem:
            shown = problem if line == last_line else f"{_lines(line, last_line)}: {problem}"
            yield BadRow(line, shown, "encoding" if isinstance(problem, BrokenText) else "")
        else:
            yield Record(
                text(values),
                values[identifier] if identifier is not None else None,
                tuple(None if place is None else values[place] for place in order),
            )


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


class _DelimitedWriter(MarkingTextWriter):
    """Copies records of a table under the header of the first source."""

    delimiter: str

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError where two sources have different headers."""
        headers = [(source.name, self._header(source)) for source in sources]
        named = [(name, header) for name, header in headers if header is not None]
        for name, header in named[1:]:
            if header.values != named[0][1].values:
                raise InputError(
                    f"{name} has other columns than {named[0][0]}: {header.values} instead of {named[0][1].values}; "
                    f"run each by itself, or give them the same columns in the same order."
                )

    def _head(self, sources: Sequence[Source]) -> bytes:
        headers = (self._header(source) for source in sources)
        header = next((header for header in headers if header is not None), None)
        if header is None:
            return b""
        return header.raw if len(sources) == 1 or header.raw.endswith(b"\n") else header.raw + b"\n"

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError where there are columns of these names already."""
        for source in sources:
            header = self._header(source)
            check_marks(source.name, names, header.values if header else ())

    def _marked_head(self, sources: Sequence[Source], names: Sequence[str]) -> bytes:
        head = self._head(sources)
        return self._with_fields(head, names, sources[0]) if head else b""

    def _with_fields(self, record: bytes, values: Iterable[Any], source: Source) -> bytes:
        fields, delimiter = record.rstrip(b"\r\n"), source.delimiter or self.delimiter
        added = delimiter.encode() + delimited([values], delimiter, source.encoding).rstrip(b"\n")
        return fields + added + (record[len(fields) :] or b"\n")

    def _header(self, source: Source) -> RawRecord | None:
        with source.open() as stream:
            return next(table_records(stream, source, self.delimiter), None)

    def _chosen(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[bytes]:
        records = table_records(stream, source, self.delimiter)
        next(records, None)
        while batch := [record.raw for record in islice(records, BATCH_ROWS)]:
            yield from compress(batch, choice.take(len(batch)).tolist())

    _each = _chosen

    def _marked(self, record: bytes, marks: dict[str, Any], source: Source) -> bytes:
        return self._with_fields(record, marks.values(), source)


class CsvWriter(_DelimitedWriter):
    """Copies records of comma-separated values."""

    delimiter = ","


class TsvWriter(_DelimitedWriter):
    """Copies records of tab-separated values."""

    delimiter = "\t"
