"""JSON Lines: one object a line; blank lines are no rows. Removed posts are written in it too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields as fields_of
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import orjson

from hybriddup.data.records import Removed
from hybriddup.data.removed import RemovedPosts
from hybriddup.files.copying import Choice, TextWriter
from hybriddup.files.formats import BATCH_ROWS, BadRow, Fields, Record, RecordBatch, batch_of
from hybriddup.files.line_blocks import line_blocks
from hybriddup.files.sources import Source
from hybriddup.files.text import broken_utf8, may_be_too_long, text_lines, why_too_long

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

BATCH_LINES = 512
"""So few that what the parser makes of them is gone from the processor's cache before the next ones come."""


class JsonlReader:
    """Reads the text from a field of each object."""

    extensions = (".jsonl", ".ndjson", ".jsonlines")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order."""
        with source.open() as stream:
            lines, most = text_lines(stream, source), source.max_line_bytes
            n_lines = n_rows = 0
            while chunk := list(islice(lines, BATCH_LINES)):
                batch = None if may_be_too_long(chunk, most) else _columns(chunk, fields, n_rows)
                batch = batch or batch_of(_records(chunk, fields, n_lines + 1, most), n_rows)
                n_lines, n_rows = n_lines + len(chunk), batch.end
                yield batch


def _columns(lines: list[bytes], fields: Fields, start: int) -> RecordBatch | None:
    """Return the batch column by column where every line is a post and nothing is unusual; otherwise None.

    This is what nearly all lines are, and several times faster than to look at each by itself.
    """
    text_field, id_field, order_fields = fields
    try:
        records = list(map(orjson.loads, lines))
        texts = [record[text_field] for record in records]
    except (ValueError, LookupError, TypeError):  # blank or broken lines, a field that is missing, no object
        return None
    ids = [record.get(id_field) for record in records]
    if set(map(type, texts)) != {str} or float in set(map(type, ids)):
        return None
    order_values = [tuple(map(record.get, order_fields)) for record in records] if order_fields else [()] * len(texts)
    end = start + len(texts)
    return RecordBatch(texts, ids, order_values, np.arange(start, end, dtype=np.int64), end=end)


def _records(lines: Iterable[bytes], fields: Fields, first_line: int, max_line_bytes: int) -> Iterator[Record | BadRow]:
    text_field, id_field, order_fields = fields
    for line_number, line in enumerate(lines, first_line):
        if reason := why_too_long(line, max_line_bytes):
            yield BadRow(line_number, reason)
            continue
        if line.isspace():
            continue
        record = parse_line(line)
        text = record.get(text_field) if type(record) is dict else None
        if text is None and type(record) is dict and text_field in record:
            text = ""  # a post without text
        if type(text) is not str:
            yield _bad_row(line_number, record, text_field)
            continue
        record_id = record.get(id_field)
        if type(record_id) is float:
            record_id = _exact_number(line, id_field)
        yield Record(text, record_id, tuple(map(record.get, order_fields)))


class Broken(str):
    """The reason why a line is not JSON."""

    __slots__ = ()


def parse_line(line: bytes) -> Any:
    """Return the JSON value of a line, or why there is none as `Broken`."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _parse_leniently(line)


def _parse_leniently(line: bytes) -> Any:
    """Return what Python's own parser makes of a line: it also takes lone surrogates in escapes, and NaN."""
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError as error:
        return Broken(broken_utf8(error))
    except json.JSONDecodeError as error:
        return Broken(f"not valid JSON ({error.msg} at character {error.pos + 1})")
    except RecursionError:
        return Broken("not usable JSON (nested too deeply)")
    except ValueError:  # Python reads no number of more than 4,300 digits
        return Broken("not usable JSON (a number has too many digits)")


def _exact_number(line: bytes, id_field: str) -> Any:
    """Return the id as written where orjson made a float of a whole number past 64 bits."""
    record = _parse_leniently(line)
    return record[id_field]


def _bad_row(line_number: int, record: Any, text_field: str) -> BadRow:
    if isinstance(record, Broken):
        return BadRow(line_number, record)
    lacks_text_field = type(record) is dict and text_field not in record
    return BadRow(line_number, _explain(record, text_field), lacks_text_field)


def _explain(record: Any, text_field: str) -> str:
    if type(record) is not dict:
        return f"not a JSON object but {_kind(record)}"
    if text_field not in record:
        return f"field {text_field!r} is missing (fields: {', '.join(map(repr, list(record)[:10])) or 'none'})"
    return f"field {text_field!r} is not a string but {_kind(record[text_field])}"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    return names.get(type(value), "an object")


class JsonlWriter(TextWriter):
    """Copies lines of JSON, without blank lines."""

    def _chosen(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[Buffer]:
        for lines in line_blocks(stream, source.max_line_bytes):
            block = lines.without_blank(source.max_line_bytes)
            yield from block.take(choice.take(len(block.starts))).runs()


def write_removed(target: BinaryIO, removed: Sequence[Removed]) -> None:
    """Write removed posts as JSON Lines, one object a post with the fields of `Removed`."""
    names = [field.name for field in fields_of(Removed)]
    for first in range(0, len(removed), BATCH_ROWS):
        some = slice(first, first + BATCH_ROWS)
        values = removed.values(some) if isinstance(removed, RemovedPosts) else map(attrgetter(*names), removed[some])
        target.writelines(json_line(dict(zip(names, one, strict=True))) for one in values)


def json_line(record: Any) -> bytes:
    """Return a record, or other plain data, as a line of JSON in UTF-8; lone surrogates come out as escapes."""
    try:
        return orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # lone surrogates and whole numbers past 64 bits, which are legal JSON all the same
        return json.dumps(record, default=str, separators=(",", ":")).encode() + b"\n"
