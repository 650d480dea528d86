"""Readers and writers for CSV and TSV with a header.

A reader and its writer both find records with the csv module, so that they agree on the numbers of rows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from typing import Any, BinaryIO, NamedTuple

from hybriddup.errors import InputError
from hybriddup.files.copying import Choice, MarkingTextWriter, check_marks, check_same_columns
from hybriddup.files.encodings import encoding_advice
from hybriddup.files.formats import (
    BATCH_ROWS,
    SEPARATORS,
    BadRow,
    Fields,
    Record,
    RecordBatch,
    check_columns,
    reader_of_rows,
    record_batches,
)
from hybriddup.files.sources import Source
from hybriddup.files.tables import delimited
from hybriddup.files.text import BrokenText, broken_text, text_lines, why_too_long

MAX_FIELD_CHARACTERS = 2**31 - 1
"""Length limit of a field; the csv module's default of 131,072 characters would reject long posts."""

OPEN_AT_END = "unexpected end of data"
"""Error message of the csv module if a quote is still open at the end of the file."""


EXCEL_LINE = re.compile(rb"sep=([^\r\n])\r?\n")
"""Pattern of a first line that names the delimiter for Excel; it is copied with the header."""


class RawRecord(NamedTuple):
    """One record of a table, which spans several lines if a quoted field contains line ends."""

    line: int
    """One-based number of the record's first line."""
    raw: bytes
    """Bytes of the record, with its line end."""
    values: list[str]
    problem: str
    """Why the record cannot be parsed; empty if it can."""
    last_line: int
    """One-based number of the record's last line."""


class _DelimitedReader:
    """Reads posts from a table. Quoting follows RFC 4180; every row must have as many fields as the header."""

    delimiter: str

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order; raise InputError if the header does not name the text column."""
        with source.open() as stream:
            records = table_records(stream, source, self.delimiter)
            header = next(records, None)
            if header is not None:
                yield from record_batches(_records(records, _columns(header, source, fields), fields))


class CsvReader(_DelimitedReader):
    """Reads comma-separated values."""

    delimiter = ","
    extensions = (".csv",)


class TsvReader(_DelimitedReader):
    """Reads tab-separated values, quoted as in CSV."""

    delimiter = "\t"
    extensions = (".tsv", ".tab")


def table_records(stream: BinaryIO, source: Source, delimiter: str) -> Iterator[RawRecord]:
    """Yield the header, then each row; empty lines are skipped.

    Raises InputError if a quote is still open at the end of the file or after ``max_line_bytes``, because everything
    after the quote would be read as a single record.
    """
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    delimiter = source.delimiter or delimiter
    lines = text_lines(stream, source)
    first = next(lines, b"")
    before = first if EXCEL_LINE.fullmatch(first) else b""
    taken = _RecordLines(lines if before else chain(filter(None, [first]), lines), source)
    parser = csv.reader(taken.decoded(), delimiter=delimiter, strict=True)
    next_line = 2 if before else 1
    while True:
        problem, values = "", []
        try:
            values = next(parser)
        except StopIteration:
            return
        except _RecordTooLongError:
            limit = f"{source.max_line_bytes:,} bytes, the limit that --max-line sets"
            fault = f"one record is longer than {limit}, as if a quote were never closed"
            raise _open_quote(source, next_line, taken, delimiter, fault) from None
        except csv.Error as error:
            if str(error) == OPEN_AT_END:
                raise _open_quote(source, next_line, taken, delimiter) from None
            is_old = "new-line character seen" in str(error)
            problem = "its lines end with CR; save it with LF line ends" if is_old else f"not valid CSV ({error})"
        if taken.raw.strip(b"\r\n"):
            last_line = next_line + taken.n - 1
            yield RawRecord(next_line, before + taken.raw, values, taken.fault or problem, last_line)
            before = b""
        next_line += taken.n
        taken.n = 0


def found_delimiter(source: Source, usual: str, encoding: str) -> str:
    """Detect the delimiter of a table from its first line.

    This is the delimiter that an Excel ``sep=`` line names; else ``usual``, if the line contains it; else the known
    delimiter that occurs most often.
    """
    with source.open() as stream:
        first = next(text_lines(stream, source), b"")
    if named := EXCEL_LINE.fullmatch(first):
        return named[1].decode("latin-1")
    outside = re.sub('"[^"]*"', "", first.decode(encoding, "replace"))
    other = max([",", *SEPARATORS], key=outside.count)
    return other if usual not in outside and other in outside else usual


def _open_quote(
    source: Source, line: int, taken: _RecordLines, delimiter: str, fault: str = "an opened quote is never closed"
) -> InputError:
    """Return an error that names the line of an unclosed quote, in the record that begins on line ``line``."""
    closed = _closed_fields(delimiter.encode(source.encoding)).match(taken.raw)
    quote_line = line + taken.raw.count(b"\n", 0, closed.end() if closed else 0)
    return InputError(
        f"{source.name}:{quote_line}: {_lines(quote_line, line + taken.n - 1)}: {fault}, so the posts "
        "after it cannot be separated. Close it; if a quote is part of a post, put the post in quotes and double the "
        'quote: "a "" b".'
    )


def _closed_fields(delimiter: bytes) -> re.Pattern[bytes]:
    """Return a pattern that matches the complete fields at the start of a record, before a field with an open quote."""
    end = re.escape(delimiter)
    return re.compile(b'(?:(?:"(?:[^"]++|"")*+"|(?!")(?:(?!%b)[^\n])*+)%b)*+' % (end, end))


def _lines(line: int, last_line: int) -> str:
    return f"line {line}" if line == last_line else f"lines {line} to {last_line}"


class _RecordTooLongError(Exception):
    """The total length of a record's lines exceeds the limit for a line."""


class _RecordLines:
    """Feeds decoded lines to a csv parser and keeps the bytes of the current record.

    The parser requests another line of a record only inside quotes. Lines are then kept as bytes, and are decoded and
    passed on together once a line has a quote. So after a quote that is never closed, the memory does not fill with
    decoded text.
    """

    def __init__(self, lines: Iterator[bytes], source: Source) -> None:
        self._lines = lines
        self._encoding, self._max_bytes = source.encoding, source.max_line_bytes
        self.n = 0
        """Number of lines of the record so far; the caller resets it to 0 for the next record."""
        self.raw: bytes | bytearray = b""
        self.fault = ""
        """Why the first unreadable line of the record cannot be read; empty if all lines can."""

    def decoded(self) -> Iterator[str]:
        """Yield the decoded lines; lines within a quoted field are joined."""
        begin = 0
        for line in self._lines:
            self.n += 1
            if self.n == 1:
                self.raw = line
                self.fault = why_too_long(line, self._max_bytes)
                given = b"\n" if self.fault else line
            else:
                if self.n == 2:
                    self.raw = bytearray(self.raw)
                self.raw += line
                if len(self.raw) > self._max_bytes:
                    raise _RecordTooLongError
                if b'"' not in line:
                    continue
                given = bytes(self.raw[begin:])
            begin = len(self.raw)
            try:
                yield given.decode(self._encoding)
            except UnicodeDecodeError:
                self.fault = self.fault or self._why_broken(given)
                yield given.decode(self._encoding, "replace")

    def _why_broken(self, lines: bytes) -> str:
        for line in lines.split(b"\n"):
            try:
                line.decode(self._encoding)
            except UnicodeDecodeError as error:
                return broken_text(error)
        return ""


def _columns(header: RawRecord, source: Source, fields: Fields) -> list[str]:
    """Return the names of the columns; raise InputError if the header cannot be read or lacks a column."""
    columns, place = header.values, f"{source.name}:{header.line}"
    if header.problem:
        advice = f" {encoding_advice(source)}" if isinstance(header.problem, BrokenText) else ""
        raise InputError(f"{place}: the header cannot be read: {header.problem}.{advice}")
    check_columns(place, columns, fields)
    return columns


def _records(rows: Iterator[RawRecord], columns: list[str], fields: Fields) -> Iterator[Record | BadRow]:
    read = reader_of_rows(columns, fields)
    for line, _, values, problem, last_line in rows:
        if not problem and len(values) != len(columns):
            problem = f"has {_fields(len(values))}, the header has {len(columns)}"
        if problem:
            shown = problem if line == last_line else f"{_lines(line, last_line)}: {problem}"
            yield BadRow(line, shown, "encoding" if isinstance(problem, BrokenText) else "")
        else:
            yield Record(*read(values))


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


class _DelimitedWriter(MarkingTextWriter):
    """Copies the kept records of tables, after the header of the first source."""

    delimiter: str

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError if two sources have different headers."""
        headers = [(source.name, self._header(source)) for source in sources]
        named = [(name, header.values, str(header.values)) for name, header in headers if header is not None]
        check_same_columns(named, "give them the same columns in the same order")
        delimiters = {source.name: source.delimiter or self.delimiter for source in sources}
        if len(set(delimiters.values())) > 1:
            listed = ", ".join(f"{name} ({delimiter!r})" for name, delimiter in delimiters.items())
            raise InputError(
                f"several tables must have the same delimiter, because the kept records go to one output unchanged; "
                f"got {listed}. Run the tables of each delimiter by themselves."
            )

    def _head(self, sources: Sequence[Source], names: Sequence[str]) -> bytes:
        headers = (self._header(source) for source in sources)
        header = next((header for header in headers if header is not None), None)
        if header is None:
            return b""
        head = header.raw if len(sources) == 1 or header.raw.endswith(b"\n") else header.raw + b"\n"
        return self._with_fields(head, names, sources[0]) if names else head

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError if a source already has a column with one of these names."""
        for source in sources:
            header = self._header(source)
            check_marks(source.name, names, header.values if header else ())

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
    """Copies the kept records of CSV files."""

    delimiter = ","


class TsvWriter(_DelimitedWriter):
    """Copies the kept records of TSV files."""

    delimiter = "\t"
