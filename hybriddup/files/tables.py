"""Tables that a run writes beside the posts: JSON Lines, or CSV, TSV or Parquet where the name of the file says so."""

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

T = TypeVar("T")

DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = {".parquet", ".pq"}


def suffix_of(name: str) -> str:
    """Return the suffix of a file that says what is in it."""
    return PurePath(split_compression(name)[0]).suffix.lower()


def need_writer(name: str) -> None:
    """Raise InputError if the package is missing that writes a table to a file of this name."""
    if suffix_of(name) in PARQUET:
        need_pyarrow(name)


def write_table(target: BinaryIO, name: str, table: Table) -> None:
    """Write a table in the format that the name of the file says: JSON Lines where it says none of the others."""
    suffix, names = suffix_of(name), list(table.types)
    if suffix in PARQUET:
        write_batches(target, table.types, batched(table.rows))
    elif suffix in DELIMITERS:
        for rows in batched(chain([names], table.rows)):
            target.write(delimited(rows, DELIMITERS[suffix]))
    else:
        target.writelines(json_line(dict(zip(names, row, strict=True))) for row in table.rows)


def batched(items: Iterable[T], most: int = BATCH_ROWS) -> Iterator[list[T]]:
    """Yield so many items at a time, some thousand where nothing is said."""
    remaining = iter(items)
    while batch := list(islice(remaining, most)):
        yield batch


def json_line(record: Any, encoding: str = UTF_8) -> bytes:
    """Return one line of JSON."""
    if encoding != UTF_8:
        return _in_ascii(record)
    try:
        return orjson.dumps(record, default=str, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # lone surrogates and whole numbers past 64 bits, which are legal JSON all the same
        return _in_ascii(record)


def _in_ascii(record: Any) -> bytes:
    return json.dumps(record, default=str, separators=(",", ":")).encode() + b"\n"


def delimited(rows: Iterable[Iterable[Any]], delimiter: str, encoding: str = UTF_8) -> bytes:
    """Return rows of a table as text; None is an empty field, and what the encoding lacks is written as escapes."""
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(map(_cell, row) for row in rows)
    return text.getvalue().encode(encoding, "backslashreplace")


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (bool, list, dict)) else value
