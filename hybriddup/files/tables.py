"""Writes tables, such as removed posts, as JSON Lines, CSV, TSV, Parquet or a database table, depending on the name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import PurePath
from typing import Any, BinaryIO, TypeVar

import orjson

from hybriddup.data.marks import Table
from hybriddup.files.compression import split_compression
from hybriddup.files.formats import BATCH_ROWS
from hybriddup.files.parquet import need_pyarrow, write_batches
from hybriddup.files.sources import UTF_8
from hybriddup.files.table_names import is_table
from hybriddup.files.table_outputs import write_rows

T = TypeVar("T")

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = {".parquet", ".pq"}


def suffix_of(name: str) -> str:
    """Return the suffix of a file name in lower case, ignoring a compression suffix: ``.csv`` for ``posts.csv.gz``."""
    return PurePath(split_compression(name)[0]).suffix.lower()


def need_writer(name: str) -> None:
    """Raise InputError if a file of this name needs a package that is not installed."""
    if suffix_of(name) in PARQUET:
        need_pyarrow(name)


def write_table(target: BinaryIO, name: str, table: Table) -> None:
    """Write a table to ``target``, in the format that ``name`` implies; JSON Lines if its suffix is not known."""
    suffix, names = suffix_of(name), list(table.types)
    if is_table(name):
        write_rows(target, (), table.types, batched(table.rows))
    elif suffix in PARQUET:
        write_batches(target, table.types, batched(table.rows))
    elif suffix in DELIMITERS:
        for rows in batched(chain([names], table.rows)):
            target.write(delimited(rows, DELIMITERS[suffix]))
    else:
        target.writelines(json_line(dict(zip(names, row, strict=True))) for row in table.rows)


def batched(items: Iterable[T], most: int = BATCH_ROWS) -> Iterator[list[T]]:
    """Yield lists of up to ``most`` consecutive items."""
    remaining = iter(items)
    while batch := list(islice(remaining, most)):
        yield batch


def json_line(record: Any, encoding: str = UTF_8) -> bytes:
    """Return a record as one line of JSON, including the line end; pure ASCII if ``encoding`` is not UTF-8."""
    if encoding != UTF_8:
        return _in_ascii(record)
    try:
        return orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # lone surrogates and ints past 64 bits, which JSON allows but orjson does not
        return _in_ascii(record)


def _in_ascii(record: Any) -> bytes:
    return json.dumps(record, default=str, separators=(",", ":")).encode() + b"\n"


def delimited(rows: Iterable[Iterable[Any]], delimiter: str, encoding: str = UTF_8) -> bytes:
    """Return rows as encoded CSV; None becomes an empty field, and characters outside the encoding become escapes."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(map(_cell, row) for row in rows)
    return text.getvalue().encode(encoding, "backslashreplace")


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (bool, list, dict)) else value


def to_json(data: Any) -> bytes:
    """Return data as indented JSON in UTF-8; lone surrogates are escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=2, default=str)
    return text.encode("utf-8", "backslashreplace") + b"\n"
