"""Reader and writer for Parquet, which process one row group at a time; they need the extra `hybriddup[parquet]`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hybriddup.data.fields import complete_alternatives, find_or
from hybriddup.data.marks import Marks
from hybriddup.data.records import Bools
from hybriddup.errors import InputError
from hybriddup.files.copying import changed_sources, check_marks, check_same_columns
from hybriddup.files.formats import (
    BATCH_ROWS,
    BadRow,
    Fields,
    Record,
    RecordBatch,
    TextColumnError,
    check_columns,
    needed_columns,
    reader_of_rows,
    record_batches,
)
from hybriddup.files.sources import Source

if TYPE_CHECKING:
    from pyarrow import Schema, Table
    from pyarrow.parquet import ParquetFile


NESTED_VIEW = re.compile(r"\b(string|binary|list)_view\b")
"""Pattern of the name of a view type, which pyarrow cannot write inside nested types."""


class ParquetReader:
    """Reads posts from a table whose text column has strings; null counts as empty text."""

    extensions = (".parquet", ".pq")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order."""
        with source.open_seekable() as stream:
            table = open_table(stream, source.name)
            kinds = _kinds(table.schema_arrow)
            names = table.schema_arrow.names
            check_columns(source.name, [*names, *(path for path in kinds if path not in names)], fields)
            for text in chain.from_iterable(complete_alternatives(fields.text, kinds)):
                _check_text_column(kinds[text], source.name, text)
            with damage_named(source.name):
                yield from record_batches(_records(table, fields, kinds))


def open_table(stream: BinaryIO, name: str) -> ParquetFile:
    """Open a stream as Parquet; raise InputError if it is not Parquet, or pyarrow is not installed."""
    need_pyarrow(name)
    import pyarrow.parquet

    with damage_named(name):
        return pyarrow.parquet.ParquetFile(stream)


def need_pyarrow(name: str) -> None:
    """Raise an InputError that names the file if pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError(f"{name}: Parquet needs pyarrow; run: pip install 'hybriddup[parquet]'") from None


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Convert pyarrow's errors about a damaged file in the ``with`` block to an InputError that names the file."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"{name} cannot be read as Parquet: {error}") from None


def _kinds(schema: Schema) -> dict[str, Any]:
    """Map each column name, and each path of a struct field such as ``user.id``, to its type."""
    from pyarrow import types

    kinds: dict[str, Any] = {}
    found = [(field.name, field.type) for field in schema]
    for path, kind in found:  # breadth first: the loop appends the fields of structs
        kinds.setdefault(path, kind)
        if types.is_struct(kind):
            found += [(f"{path}.{field.name}", field.type) for field in kind]
    return kinds


def _check_text_column(kind: Any, name: str, text_field: str) -> None:
    from pyarrow import types

    value_kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(value_kind) or types.is_large_string(value_kind) or types.is_string_view(value_kind)):
        raise TextColumnError(name, f"column {text_field!r} holds {kind}, not strings", absent=False)


def _records(table: ParquetFile, fields: Fields, kinds: Container[str]) -> Iterator[Record | BadRow]:
    names = needed_columns(kinds, fields)
    batches = table.iter_batches(batch_size=BATCH_ROWS, columns=names)
    rows = chain.from_iterable(zip(*(_column(batch, name) for name in names), strict=True) for batch in batches)
    for number, row in enumerate(map(reader_of_rows(names, fields), rows), 1):
        text, record_id, order_values = row
        if text is None or type(text) is str:
            yield Record(text or "", record_id, order_values)
        else:
            yield BadRow(number, f"column {fields.text!r} is not valid UTF-8")


def _column(batch: Any, name: str) -> list[Any]:
    if name in batch.schema.names:
        return _values(batch.column(name))
    outer = name.partition(".")[0]
    return [find_or({outer: value}, name) for value in _values(batch.column(outer))]


def _values(column: Any) -> list[Any]:
    try:
        return list(_exact(column).to_pylist())
    except UnicodeDecodeError:
        return [_value(scalar) for scalar in column]


def _exact(column: Any) -> Any:
    """Cast a column of times in nanoseconds to strings or ints with the same sort order; other columns stay unchanged.

    Python's types for times are not precise enough for nanoseconds.
    """
    import pyarrow
    from pyarrow import types

    if getattr(column.type, "unit", "") != "ns":
        return column
    if types.is_duration(column.type):
        return column.cast(pyarrow.int64())
    if types.is_timestamp(column.type):
        column = column.cast(pyarrow.timestamp("ns"))  # in UTC if it has a time zone
    return column.cast(pyarrow.string())


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return b""


class ParquetWriter:
    """Copies the kept rows, one row group at a time, with the schema, metadata and compression of the first source."""

    def check(self, sources: Sequence[Source]) -> None:
        """Raise InputError if the sources have different schemas, or if pyarrow cannot write the schema."""
        schemas = [(source.name, schema, _columns(schema)) for source in sources for schema in [_schema(source)]]
        for name, schema, _ in schemas[:1]:
            _check_writable(schema, name)
        check_same_columns(schemas, "give them the same schema")

    def check_marks(self, sources: Sequence[Source], names: Sequence[str]) -> None:
        """Raise InputError if a file already has a column with one of ``names``, the columns to be added as marks."""
        for source in sources:
            check_marks(source.name, names, _schema(source).names)

    def write_marked(self, sources: Sequence[Source], target: BinaryIO, keep: Bools, marks: Marks) -> None:
        """Copy the records whose row is kept, in input order, with their marks as further columns."""
        values = marks.of(np.flatnonzero(keep))

        def marked(rows: Table) -> Table:
            more = to_table(marks.types, list(islice(values, rows.num_rows)))
            for name in marks.types:
                rows = rows.append_column(more.schema.field(name), more.column(name))
            return rows

        self._write(sources, target, keep, marked)

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the records whose row is kept, in input order."""
        self._write(sources, target, keep, lambda rows: rows)

    def _write(
        self, sources: Sequence[Source], target: BinaryIO, keep: Bools, finish: Callable[[Table], Table]
    ) -> None:
        from pyarrow.parquet import ParquetWriter as Output

        first_row, output = 0, None
        for source in sources:
            with source.open_seekable() as stream, damage_named(source.name):
                table = open_table(stream, source.name)
                schema = finish(table.schema_arrow.empty_table()).schema
                output = output or Output(_Sequential(target), schema, compression=_codecs(table))
                for group in range(table.num_row_groups):
                    rows = table.read_row_group(group)
                    if first_row + rows.num_rows > len(keep):
                        raise changed_sources(sources)
                    output.write_table(finish(_chosen(rows, keep[first_row : first_row + rows.num_rows])))
                    first_row += rows.num_rows
        if output is not None:
            output.close()
        if first_row != len(keep):
            raise changed_sources(sources)


def write_batches(target: BinaryIO, types: Mapping[str, str], batches: Iterable[list[Sequence[Any]]]) -> None:
    """Write batches of rows as a Parquet file, one row group per batch; ``types`` maps column names to types."""
    from pyarrow.parquet import ParquetWriter as Output

    with Output(_Sequential(target), to_table(types, []).schema) as output:
        for rows in batches:
            output.write_table(to_table(types, rows))


def to_table(types: Mapping[str, str], rows: list[Any]) -> Table:
    """Convert rows to a table; ``types`` maps column names to types. Values in string columns become strings."""
    import pyarrow

    columns = zip(*rows, strict=True) if rows else ((),) * len(types)
    arrays = [pyarrow.array(*_as_arrow(kind, values)) for kind, values in zip(types.values(), columns, strict=True)]
    return pyarrow.table(arrays, names=list(types))


def _as_arrow(kind: str, values: Iterable[Any]) -> tuple[Any, Any]:
    """Convert the values of a column for pyarrow, and return them with pyarrow's type.

    Values in string columns and items of lists are converted to strings.
    """
    import pyarrow

    if kind == "list":
        lists = (None if value is None else list(map(_as_text, value)) for value in values)
        return lists, pyarrow.list_(pyarrow.string())
    return map(_as_text, values) if kind == "string" else values, pyarrow.type_for_alias(kind)


def _as_text(value: Any) -> str | None:
    return None if value is None else str(value).encode(errors="backslashreplace").decode()


def _chosen(rows: Table, keep: Bools) -> Table:
    import pyarrow

    try:
        return rows.filter(pyarrow.array(keep))
    except pyarrow.ArrowNotImplementedError:  # view types cannot be filtered
        edges = np.flatnonzero(np.diff(keep, prepend=False, append=False)).tolist()
        runs = [rows.slice(first, last - first) for first, last in zip(edges[::2], edges[1::2], strict=True)]
        return pyarrow.concat_tables([rows.slice(0, 0), *runs])


def _check_writable(schema: Schema, name: str) -> None:
    from pyarrow import types

    for field in schema:
        if types.is_nested(field.type) and NESTED_VIEW.search(str(field.type)):
            raise InputError(
                f"{name}: column {field.name!r} holds {field.type}, and pyarrow cannot write a selection of its rows; "
                f"rewrite the file without view types inside other types."
            )


class _Sequential(io.RawIOBase):
    """A target that counts the bytes written, because pyarrow calls ``tell`` even on unseekable targets."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._n_bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._target.write(data)
        size = memoryview(data).nbytes
        self._n_bytes += size
        return size

    def tell(self) -> int:
        return self._n_bytes


def _schema(source: Source) -> Schema:
    with source.open_seekable() as stream:
        return open_table(stream, source.name).schema_arrow


def _columns(schema: Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


def _codecs(table: ParquetFile) -> dict[str, str]:
    """Map each column's path to its compression in the first row group; empty if there are no row groups."""
    if table.num_row_groups == 0:
        return {}
    group = table.metadata.row_group(0)
    columns = (group.column(i) for i in range(group.num_columns))
    return {c.path_in_schema: "none" if c.compression == "UNCOMPRESSED" else c.compression.lower() for c in columns}
