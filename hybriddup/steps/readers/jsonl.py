"""JSON Lines: one object a line; blank lines are no rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from hybriddup.steps.readers import BadRow, Fields, Record, RecordBatch, record_batches
from hybriddup.steps.readers.sources import Source
from hybriddup.steps.readers.text import broken_utf8, text_lines


class JsonlReader:
    """Reads the text from a field of each object."""

    extensions = (".jsonl", ".ndjson", ".jsonlines")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order."""
        with source.open() as stream:
            yield from record_batches(_records(text_lines(stream, source.name), fields))


def raw_records(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of each row with its line end."""
    return (line for line in text_lines(stream, name) if not line.isspace())


def _records(lines: Iterator[bytes], fields: Fields) -> Iterator[Record | BadRow]:
    text_field, id_field, order_field = fields
    for line_number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        record = parse_line(line)
        text = record.get(text_field) if type(record) is dict else None
        if type(text) is not str:
            yield _bad_row(line_number, record, text_field)
            continue
        record_id = record.get(id_field)
        if type(record_id) is float:
            record_id = _exact_number(line, id_field)
        yield Record(text, record_id, record.get(order_field) if order_field else None)


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
    except ValueError as error:
        return Broken(f"not usable JSON ({error})")


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
