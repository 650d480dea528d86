"""Write: kept rows -> files. A second pass over the input copies the kept records, so that they come out unchanged."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, BinaryIO, Protocol, runtime_checkable

import orjson

from hybriddup.errors import InputError
from hybriddup.records import Bools, Removed
from hybriddup.steps.readers import delimited, jsonl, lines, parquet
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


class _TextWriter:
    """Copies the bytes of the kept records. A byte order mark stays where the first source has one."""

    def check(self, sources: Sequence[Source]) -> None:
        """Accept any sources: lines can follow any lines."""

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, in input order."""
        if sources and starts_with_mark(sources[0]):
            target.write(UTF8_MARK)
        target.write(self._head(sources))
        target.writelines(_chosen(self._all_rows(sources), keep, sources))

    def _head(self, sources: Sequence[Source]) -> bytes:  # noqa: ARG002  tables have one
        return b""

    def _all_rows(self, sources: Sequence[Source]) -> Iterator[bytes]:
        for i, source in enumerate(sources, 1):
            with source.open() as stream:
                rows = self._rows(stream, source.name)
                yield from rows if i == len(sources) else map(_ended, rows)

    def _rows(self, stream: BinaryIO, name: str) -> Iterator[bytes]:
        raise NotImplementedError


def _ended(raw: bytes) -> bytes:
    """Return a record with a line end, so that the first record of the next file begins a line."""
    return raw if raw.endswith(b"\n") else raw + b"\n"


def _chosen(rows: Iterator[bytes], keep: Bools, sources: Sequence[Source]) -> Iterator[bytes]:
    try:
        for raw, kept in zip(rows, keep.tobytes(), strict=True):
            if kept:
                yield raw
    except ValueError:  # zip: one side ended before the other
        raise _changed(sources) from None


def _changed(sources: Sequence[Source]) -> InputError:
    return InputError(changed(", ".join(source.name for source in sources)))


class LinesWriter(_TextWriter):
    """Copies lines."""

    def _rows(self, stream: BinaryIO, name: str) -> Iterator[bytes]:
        return lines.raw_records(stream, name)


class JsonlWriter(_TextWriter):
    """Copies lines of JSON, without blank lines."""

    def _rows(self, stream: BinaryIO, name: str) -> Iterator[bytes]:
        return jsonl.raw_records(stream, name)


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
        return header.raw if len(sources) == 1 else _ended(header.raw)

    def _header(self, source: Source) -> delimited.RawRecord | None:
        with source.open() as stream:
            return next(delimited.table_records(stream, source.name, self.delimiter), None)

    def _rows(self, stream: BinaryIO, name: str) -> Iterator[bytes]:
        records = delimited.table_records(stream, name, self.delimiter)
        next(records, None)
        return (record.raw for record in records)


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


def write_removed(target: BinaryIO, removed: Iterable[Removed]) -> None:
    """Write removed posts as JSON Lines, one object a post with the fields of `Removed`."""
    target.writelines(map(_removed_line, removed))


def _removed_line(record: Removed) -> bytes:
    try:
        return orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # lone surrogates and whole numbers past 64 bits, which are legal JSON all the same
        return json.dumps(asdict(record), default=str, separators=(",", ":")).encode() + b"\n"
