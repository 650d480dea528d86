"""Copies the kept records of text files byte for byte, in a second pass over the input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from hybriddup.data.marks import Marks
from hybriddup.data.records import Bools
from hybriddup.errors import InputError
from hybriddup.files.sources import Source, changed
from hybriddup.files.text import UTF8_MARK

Piece = bytes | memoryview
"""Consecutive bytes of a file."""
PiecesOf = Callable[[BinaryIO, Source, "Choice"], Iterator[Piece]]
"""A function that yields what to copy of an open source, with the choice of its rows."""


class TextWriter(ABC):
    """Copies the kept records byte for byte; the output begins with a byte order mark if the first source does."""

    def check(self, sources: Sequence[Source]) -> None:  # noqa: B027  overridden by tables
        """Accept any sources, since any lines can follow each other."""

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, in input order."""
        self._copy(sources, target, keep, self._head(sources, ()), self._chosen)

    def _copy(self, sources: Sequence[Source], target: BinaryIO, keep: Bools, head: bytes, pieces_of: PiecesOf) -> None:
        """Write the header ``head``, and what ``pieces_of`` yields for each source."""
        if sources and sources[0].beginning().startswith(UTF8_MARK):
            target.write(UTF8_MARK)
        target.write(head)
        choice = Choice(keep, sources)
        for i, source in enumerate(sources, 1):
            with source.open() as stream:
                pieces = pieces_of(stream, source, choice)
                target.writelines(pieces if i == len(sources) else _ended(pieces))
        choice.check_all_taken()

    def _head(self, sources: Sequence[Source], names: Sequence[str]) -> bytes:  # noqa: ARG002  overridden by tables
        """Return the header, with fields of these names added."""
        return b""

    @abstractmethod
    def _chosen(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[Piece]:
        """Yield the bytes of the records of one source that ``choice`` selects, one or more records at a time."""


class MarkingTextWriter(TextWriter):
    """A writer that can also append `Marks`, such as ``duplicate_of``, to each record as additional fields."""

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError if the header of a source already has fields of these names.

        Formats without headers are checked record by record while writing.
        """

    def write_marked(self, sources: Sequence[Source], target: BinaryIO, keep: Bools, marks: Marks) -> None:
        """Copy the records whose row is kept, in input order, and append each record's marks as fields."""
        values = marks.of(np.flatnonzero(keep))

        def marked(stream: BinaryIO, source: Source, choice: Choice) -> Iterator[Piece]:
            for record, of_record in zip(self._each(stream, source, choice), values, strict=False):
                yield self._marked(record, dict(zip(marks.types, of_record, strict=True)), source)

        self._copy(sources, target, keep, self._head(sources, list(marks.types)), marked)

    @abstractmethod
    def _each(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[bytes]:
        """Yield the bytes of each record of one source that ``choice`` selects."""

    @abstractmethod
    def _marked(self, record: bytes, marks: dict[str, Any], source: Source) -> bytes:
        """Return a record, including its line end, with the marks appended as fields."""


def check_marks(source: str, names: Iterable[str], fields: Iterable[str]) -> None:
    """Raise InputError if a record's ``fields`` already contain one of ``names``, the fields to add to it."""
    for name in names:
        if name in fields:
            raise InputError(
                f"{source}: posts have a field {name!r} already, which --mark or --counts would write; rename it, or "
                f"use --removed FILE instead, which names each removed post by its row."
            )


def check_same_columns(tables: Sequence[tuple[str, Any, str]], remedy: str) -> None:
    """Raise InputError if tables differ in their columns; each table is (name, columns, columns for the message)."""
    for name, columns, shown in tables[1:]:
        if columns != tables[0][1]:
            raise InputError(
                f"{name} has other columns than {tables[0][0]}: {shown} instead of {tables[0][2]}; run each by itself, "
                f"or {remedy}."
            )


class Choice:
    """Selects the rows to copy, batch by batch, while the sources are read again."""

    def __init__(self, keep: Bools, sources: Sequence[Source]) -> None:
        self._keep = keep
        self._changed = changed_sources(sources)
        self._n_taken = 0

    def take(self, n_rows: int) -> Bools:
        """Return bool[n_rows]: whether to copy each of the next rows; raise InputError if there are too many rows."""
        first, self._n_taken = self._n_taken, self._n_taken + n_rows
        if self._n_taken > len(self._keep):
            raise self._changed
        return self._keep[first : self._n_taken]

    def check_all_taken(self) -> None:
        """Raise InputError if the sources had too few rows, because they changed since they were read."""
        if self._n_taken < len(self._keep):
            raise self._changed


def _ended(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces, then a line end if the last piece has none, so that the next file starts on a new line."""
    last: Piece = b"\n"
    for last in pieces:
        yield last
    if bytes(memoryview(last)[-1:]) != b"\n":
        yield b"\n"


def changed_sources(sources: Sequence[Source]) -> InputError:
    """Return the error for sources that changed since they were read."""
    return InputError(changed(", ".join(source.name for source in sources)))
