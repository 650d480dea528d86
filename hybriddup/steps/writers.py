"""Write: kept rows -> files. A second pass over the input copies the kept records, so that they come out unchanged."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import compress, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, runtime_checkable

import orjson

from hybriddup.errors import InputError
from hybriddup.records import Bools, Removed
from hybriddup.removed import RemovedPosts
from hybriddup.steps.readers import BATCH_ROWS, delimited, parquet
from hybriddup.steps.readers.line_blocks import LineBlock, line_blocks
from hybriddup.steps.readers.sources import Source, changed
from hybriddup.steps.readers.text import UTF8_MARK, starts_with_mark

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer
    from pyarrow import Schema
    from pyarrow.parquet import ParquetFile


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


class _Choice:
    """Which rows to copy, handed out piece by piece while the sources are read again."""

    def __init__(self, keep: Bools, sources: Sequence[Source]) -> None:
        self._keep = keep
        self._changed = _changed(sources)
        self._n_taken = 0

    def take(self, n_rows: int) -> Bools:
        """Return bool[n_rows]: which of the next rows to copy."""
        first, self._n_taken = self._n_taken, self._n_taken + n_rows
        if self._n_taken > len(self._keep):
            raise self._changed
        return self._keep[first : self._n_taken]

    def check_all_taken(self) -> None:
        """Raise InputError where the sources held fewer rows than were decided about."""
        if self._n_taken < len(self._keep):
            raise self._changed


class _TextWriter(ABC):
    """Copies the bytes of the kept records. A byte order mark stays where the first source has one."""

    def check(self, sources: Sequence[Source]) -> None:  # noqa: B027  tables have something to check
        """Accept any sources: lines can follow any lines."""

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, in input order."""
        if sources and starts_with_mark(sources[0]):
            target.write(UTF8_MARK)
        target.write(self._head(sources))
        choice = _Choice(keep, sources)
        for i, source in enumerate(sources, 1):
            with source.open() as stream:
                pieces = self._chosen(stream, source.name, choice)
                target.writelines(pieces if i == len(sources) else _ended(pieces))
        choice.check_all_taken()

    def _head(self, sources: Sequence[Source]) -> bytes:  # noqa: ARG002  tables have one
        return b""

    @abstractmethod
    def _chosen(self, stream: BinaryIO, name: str, choice: _Choice) -> Iterator[Buffer]:
        """Yield the bytes of the chosen records of one source, one or more in a piece."""


def _ended(pieces: Iterable[Buffer]) -> Iterator[Buffer]:
    """Yield the pieces and a line end, where the last has none, so that the next file begins a line."""
    last: Buffer = b"\n"
    for last in pieces:
        yield last
    if bytes(memoryview(last)[-1:]) != b"\n":
        yield b"\n"


def _changed(sources: Sequence[Source]) -> InputError:
    return InputError(changed(", ".join(source.name for source in sources)))


class LinesWriter(_TextWriter):
    """Copies lines."""

    def _chosen(self, stream: BinaryIO, name: str, choice: _Choice) -> Iterator[Buffer]:  # noqa: ARG002  no errors
        for block in line_blocks(stream):
            yield from block.take(choice.take(len(block.starts))).runs()


class JsonlWriter(_TextWriter):
    """Copies lines of JSON, without blank lines."""

    def _chosen(self, stream: BinaryIO, name: str, choice: _Choice) -> Iterator[Buffer]:  # noqa: ARG002  no errors
        for block in map(LineBlock.without_blank, line_blocks(stream)):
            yield from block.take(choice.take(len(block.starts))).runs()


class _DelimitedWriter(_TextWriter):
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

    def _header(self, source: Source) -> delimited.RawRecord | None:
        with source.open() as stream:
            return next(delimited.table_records(stream, source.name, self.delimiter), None)

    def _chosen(self, stream: BinaryIO, name: str, choice: _Choice) -> Iterator[Buffer]:
        records = delimited.table_records(stream, name, self.delimiter)
        next(records, None)
        while batch := [record.raw for record in islice(records, BATCH_ROWS)]:
            yield from compress(batch, choice.take(len(batch)).tolist())


class CsvWriter(_DelimitedWriter):
    """Copies records of comma-separated values."""

    delimiter = ","


class TsvWriter(_DelimitedWriter):
    """Copies records of tab-separated values."""

    delimiter = "\t"


class ParquetWriter:
    """Filters row group after row group; schema, metadata and compression are those of the first source."""

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError where two sources have different schemas."""
        schemas = [(source.name, _schema(source)) for source in sources]
        for name, schema in schemas[1:]:
            if not schema.equals(schemas[0][1]):
                raise InputError(
                    f"{name} has other columns than {schemas[0][0]}: {_columns(schema)} instead of "
                    f"{_columns(schemas[0][1])}; run each by itself, or give them the same schema."
                )

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, in input order."""
        import pyarrow
        from pyarrow.parquet import ParquetWriter as Output

        flags = pyarrow.array(keep)
        first_row, output = 0, None
        for source in sources:
            with source.open_seekable() as stream, parquet.damage_named(source.name):
                table = parquet.open_table(stream, source.name)
                output = output or Output(_Sequential(target), table.schema_arrow, compression=_codecs(table))
                for group in range(table.num_row_groups):
                    rows = table.read_row_group(group)
                    if first_row + rows.num_rows > len(keep):
                        raise _changed(sources)
                    output.write_table(rows.filter(flags.slice(first_row, rows.num_rows)))
                    first_row += rows.num_rows
        if output is not None:
            output.close()
        if first_row != len(keep):
            raise _changed(sources)


class _Sequential(io.RawIOBase):
    """A target that knows how much was written to it, for pyarrow, which asks even where the target cannot tell."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._n_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        self._target.write(data)
        size = memoryview(data).nbytes
        self._n_bytes += size
        return size

    def tell(self) -> int:
        return self._n_bytes


def _schema(source: Source) -> Schema:
    with source.open_seekable() as stream:
        return parquet.open_table(stream, source.name).schema_arrow


def _columns(schema: Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


def _codecs(table: ParquetFile) -> dict[str, str]:
    """Return the compression of each column, as the first row group has it."""
    if table.num_row_groups == 0:
        return {}
    group = table.metadata.row_group(0)
    columns = (group.column(i) for i in range(group.num_columns))
    return {c.path_in_schema: "none" if c.compression == "UNCOMPRESSED" else c.compression.lower() for c in columns}


def write_removed(target: BinaryIO, removed: Sequence[Removed]) -> None:
    """Write removed posts as JSON Lines, one object a post with the fields of `Removed`."""
    names = [field.name for field in fields(Removed)]
    for first in range(0, len(removed), BATCH_ROWS):
        some = slice(first, first + BATCH_ROWS)
        values = removed.values(some) if isinstance(removed, RemovedPosts) else map(attrgetter(*names), removed[some])
        target.writelines(_json_line(dict(zip(names, one, strict=True))) for one in values)


def _json_line(record: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # lone surrogates and whole numbers past 64 bits, which are legal JSON all the same
        return json.dumps(record, default=str, separators=(",", ":")).encode() + b"\n"
