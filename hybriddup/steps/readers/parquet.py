"""Parquet, row group by row group; needs pyarrow, the extra `hybriddup[parquet]`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from hybriddup.errors import InputError
from hybriddup.steps.readers import (
    BATCH_ROWS,
    BadRow,
    Fields,
    Record,
    RecordBatch,
    TextColumnError,
    record_batches,
)
from hybriddup.steps.readers.sources import Source

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


class ParquetReader:
    """Reads the text from a column of strings; a null is a bad row."""

    extensions = (".parquet", ".pq")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order.

        Raises
        ------
        InputError
            pyarrow is not installed, the file is no Parquet, or it has no text column of strings.
        """
        with source.open_seekable() as stream:
            table = open_table(stream, source.name)
            _check_text_column(table, source.name, fields.text)
            with damage_named(source.name):
                yield from record_batches(_records(table, fields))


def open_table(stream: BinaryIO, name: str) -> ParquetFile:
    """Return the Parquet file in a stream.

    Raises
    ------
    InputError
        pyarrow is not installed, or the stream holds no Parquet.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f"{name}: Parquet needs pyarrow; run: pip install 'hybriddup[parquet]'") from None
    with damage_named(name):
        return pyarrow.parquet.ParquetFile(stream)


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Turn what pyarrow raises on a damaged file into an InputError that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet: {error}") from None


def _check_text_column(table: ParquetFile, name: str, text_field: str) -> None:
    from pyarrow import types

    schema = table.schema_arrow
    if text_field not in schema.names:
        shown = ", ".join(repr(column) for column in schema.names[:20])
        raise TextColumnError(name, f"no column is called {text_field!r}; the columns are {shown}", absent=True)
    kind = schema.field(text_field).type
    value_kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(value_kind) or types.is_large_string(value_kind) or types.is_string_view(value_kind)):
        raise TextColumnError(name, f"column {text_field!r} holds {kind}, not strings", absent=False)


def _records(table: ParquetFile, fields: Fields) -> Iterator[Record | BadRow]:
    wanted = [field for field in dict.fromkeys(fields) if field in table.schema_arrow.names]
    row = 0
    for batch in table.iter_batches(batch_size=BATCH_ROWS, columns=wanted):
        columns = {name: _values(batch.column(name)) for name in wanted}
        nothing = [None] * batch.num_rows
        ids = columns.get(fields.id, nothing)
        order_values = columns.get(fields.order, nothing) if fields.order else nothing
        for text, record_id, order_value in zip(columns[fields.text], ids, order_values, strict=True):
            row += 1
            if type(text) is str:
                yield Record(text, record_id, order_value)
            else:
                yield BadRow(row, _explain(text, fields.text))


def _values(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return b""


def _explain(text: Any, text_field: str) -> str:
    return f"column {text_field!r} is null" if text is None else f"column {text_field!r} is not valid UTF-8"
