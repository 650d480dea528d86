"""Reads and copies JSON Lines: one object per line; blank lines are skipped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import orjson

from hybriddup.data.fields import MISSING, find_or, finder, text_fields, text_finder
from hybriddup.files.copying import Choice, MarkingTextWriter, Piece, check_marks
from hybriddup.files.formats import BadRow, Fields, Record, RecordBatch, batch_of
from hybriddup.files.sources import UTF_8, Source
from hybriddup.files.tables import json_line
from hybriddup.files.text import Broken, BrokenText, broken_text, line_blocks, may_be_too_long, text_lines, why_too_long

BATCH_LINES = 512
"""Number of lines per batch: few enough for the parsed objects to stay in the CPU cache."""


class JsonlReader:
    """Reads posts from the fields of the object in each line."""

    extensions = (".jsonl", ".ndjson", ".jsonlines")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order."""
        objects, n_lines, n_rows = Objects.of(fields, source), 0, 0
        with source.open() as stream:
            lines = text_lines(stream, source)
            while chunk := list(islice(lines, BATCH_LINES)):
                batch = objects.read(chunk, range(n_lines + 1, n_lines + len(chunk) + 1), n_rows)
                n_lines, n_rows = n_lines + len(chunk), batch.end
                yield batch


class Objects(NamedTuple):
    """Extracts posts from JSON objects."""

    fields: Fields
    source: Source
    text_of: Callable[[Any], Any]
    id_of: Callable[[Any], Any]
    order_of: tuple[Callable[[Any], Any], ...]

    @classmethod
    def of(cls, fields: Fields, source: Source) -> Objects:
        """Return an extractor for these fields."""
        return cls(fields, source, text_finder(fields.text), finder(fields.id), tuple(map(finder, fields.order)))

    def read(self, objects: list[bytes], lines: Sequence[int], start: int) -> RecordBatch:
        """Return the posts in consecutive objects.

        ``lines`` has the one-based number of the line on which each object begins; ``start`` is the row number of the
        first object.
        """
        batch = None if may_be_too_long(objects, self.source.max_line_bytes) else self._columns(objects, start)
        return batch or batch_of(self._records(objects, lines), start)

    def _columns(self, objects: list[bytes], start: int) -> RecordBatch | None:
        """Read a batch column by column, which is much faster than object by object.

        Return None if an object is invalid or has no text, which is rare.
        """
        try:
            records = list(map(_loader(self.source.encoding), objects))
            texts = list(map(self.text_of, records))
        except (ValueError, LookupError, TypeError):  # blank or broken lines, missing fields, non-objects
            return None
        ids = list(map(self.id_of, records))
        if set(map(type, texts)) != {str} or float in set(map(type, ids)):
            return None
        columns = [map(of, records) for of in self.order_of]
        order_values = list(zip(*columns, strict=True)) if columns else [()] * len(texts)
        end = start + len(texts)
        return RecordBatch(texts, ids, order_values, np.arange(start, end, dtype=np.int64), end=end)

    def _records(self, objects: Iterable[bytes], lines: Iterable[int]) -> Iterator[Record | BadRow]:
        encoding = self.source.encoding
        for line_number, line in zip(lines, objects, strict=True):
            if reason := why_too_long(line, self.source.max_line_bytes):
                yield BadRow(line_number, reason)
                continue
            if line.isspace():
                continue
            record = parse_line(line, encoding)
            try:
                text = self.text_of(record) if type(record) is dict else MISSING
            except KeyError:
                text = MISSING
            if text is not None and type(text) is not str:
                yield _bad_row(line_number, record, text, self.fields.text)
                continue
            record_id = self.id_of(record)
            if type(record_id) is float:  # orjson also turns ints past 64 bits into floats
                record_id = find_or(_parse_leniently(line, encoding), self.fields.id)
            yield Record(text or "", record_id, tuple(of(record) for of in self.order_of))


def _loader(encoding: str) -> Callable[[bytes], Any]:
    return orjson.loads if encoding == UTF_8 else lambda line: orjson.loads(line.decode(encoding))


def parse_line(line: bytes, encoding: str = UTF_8) -> Any:
    """Parse a line of JSON; if that fails, return the reason as `Broken`."""
    try:
        return _loader(encoding)(line)
    except ValueError:
        return _parse_leniently(line, encoding)


def _parse_leniently(line: bytes, encoding: str) -> Any:
    """Parse a line with Python's json module, which also accepts NaN and escaped lone surrogates."""
    try:
        return json.loads(line.decode(encoding))
    except UnicodeDecodeError as error:
        return broken_text(error)
    except json.JSONDecodeError as error:
        return Broken(f"not valid JSON ({error.msg} at character {error.pos + 1})")
    except RecursionError:
        return Broken("not usable JSON (nested too deeply)")
    except ValueError:  # Python's limit is 4,300 digits
        return Broken("not usable JSON (a number has too many digits)")


def _bad_row(line_number: int, record: Any, text: Any, text_field: str) -> BadRow:
    if isinstance(record, Broken):
        return BadRow(line_number, record, "encoding" if isinstance(record, BrokenText) else "")
    if type(record) is not dict:
        return BadRow(line_number, f"not a JSON object but {_kind(record)}")
    if text is MISSING:
        names = ", ".join(map(repr, list(record)[:10])) or "none"
        return BadRow(line_number, f"field {text_field!r} is missing (fields: {names})", "absent")
    parts = text_fields(text_field, record)
    wrong = next(name for name in parts if not isinstance(find_or(record, name), str | None))
    return BadRow(line_number, f"field {wrong!r} is not a string but {_kind(text)}", "type")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")


class JsonlWriter(MarkingTextWriter):
    """Copies the kept lines; blank lines are dropped."""

    def _chosen(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[Piece]:
        for lines in line_blocks(stream, source.max_line_bytes):
            block = lines.without_blank(source.max_line_bytes)
            yield from block.take(choice.take(len(block.starts))).runs()

    def _each(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[bytes]:
        for lines in line_blocks(stream, source.max_line_bytes):
            block = lines.without_blank(source.max_line_bytes)
            chosen = block.take(choice.take(len(block.starts)))
            for start, end in zip(chosen.starts.tolist(), chosen.ends.tolist(), strict=True):
                yield block.data[start:end]

    def _marked(self, record: bytes, marks: dict[str, Any], source: Source) -> bytes:
        """Append the marks as fields to the object in a line; its other bytes stay unchanged."""
        if any(name.encode() in record for name in marks):
            check_marks(source.name, marks, parse_line(record, source.encoding))
        return record[: record.rindex(b"}")] + b"," + json_line(marks, source.encoding)[1:]
