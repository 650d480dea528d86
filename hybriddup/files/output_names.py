"""Checks the names of outputs before a run: rejects directories, and suffixes that do not match the contents."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath
from typing import NamedTuple

from hybriddup.errors import OutputError
from hybriddup.files.compression import SUFFIXES, split_compression
from hybriddup.files.table_names import is_table


class Kind(NamedTuple):
    """A kind of output, and the file suffixes allowed for it; a name without a suffix is always allowed."""

    what: str
    """Subject and verb for error messages, such as ``the report is``."""
    endings: tuple[str, ...]
    may_be_compressed: bool = True
    may_be_table: bool = False
    """Whether the output can be a table of a database."""


JSON_LINES = (".jsonl", ".ndjson", ".jsonlines", ".json")
PLAIN_TEXT = (".txt", ".text")
TABLE_ENDINGS = (*JSON_LINES, ".csv", ".tsv", ".tab", ".parquet", ".pq")

REMOVED = Kind("removed posts are", TABLE_ENDINGS, may_be_table=True)
ACCOUNTS = Kind("pairs of accounts are", TABLE_ENDINGS, may_be_table=True)
CLUSTERS = Kind("clusters are", TABLE_ENDINGS, may_be_table=True)
SUMMARY = Kind("the summary is", (".json",))
REPORT = Kind("the report is", (".html", ".htm"))
RECIPE = Kind("a recipe is", (".npz",), may_be_compressed=False)
CONFIGURATION = Kind("a configuration is", (".yaml", ".yml"), may_be_compressed=False)
WRONG_PAIRS = Kind("pairs are", JSON_LINES)
ANSWERS = Kind("answers are", JSON_LINES, may_be_compressed=False)

SPREADSHEETS = {".xlsx", ".xls", ".ods"}
READ_BY_PANDAS = {".csv": "read_csv({!r})", ".jsonl": "read_json({!r}, lines=True)", ".parquet": "read_parquet({!r})"}


def check_is_file_name(target: str, option: str) -> None:
    """Raise OutputError if the name of an output is empty or names a directory, such as ``results/``."""
    if not target:
        raise OutputError(f"{option} is empty text; name a file. Perhaps a variable of the shell is not set.")
    if os.path.isdir(target) or os.path.basename(target) in {"", os.curdir, os.pardir}:  # noqa: PTH112, PTH119  Path drops the last /
        example = str(PurePath(target) / "FILE")
        raise OutputError(f"{option} {target} names a directory; name a file in it, such as {example}.")


def check_ending(target: str, option: str, kind: Kind) -> None:
    """Raise OutputError if the suffix of an output does not match the format in which it will be written."""
    if is_table(target):
        if kind.may_be_table:
            return
        raise OutputError(f"{option} {target}: {kind.what} not written to a table; name a file.")
    plain, compression = split_compression(target)
    name = PurePath(plain).name.lower()
    if compression and not kind.may_be_compressed:
        raise OutputError(
            f"{option} {target}: {kind.what} not compressed; leave out .{compression}, as in {PurePath(plain)}."
        )
    suffix = PurePath(name).suffix
    if name.endswith(kind.endings) or not any(map(str.isalpha, suffix)):  # kept.2026-11-27 has no suffix
        return
    packed = f", each also with {_listed(SUFFIXES)}," if kind.may_be_compressed else ""
    raise OutputError(
        f"{option} {target}: {kind.what} not written as {suffix}; name a file that ends in {_listed(kind.endings)}"
        f"{packed} or has no suffix.{_way_to_spreadsheet(plain, suffix, kind)}"
    )


def from_spreadsheet(path: PurePath) -> str:
    """Return the command that converts a spreadsheet to CSV."""
    table = str(path.with_suffix(".csv"))
    return f'python -c "import pandas; pandas.read_excel({str(path)!r}).to_csv({table!r}, index=False)"'


def _listed(endings: Iterable[str]) -> str:
    return ", ".join(endings)


def _way_to_spreadsheet(plain: str, suffix: str, kind: Kind) -> str:
    """If ``suffix`` is for a spreadsheet, return a hint with a command that converts the output; else an empty text."""
    ending = next((one for one in READ_BY_PANDAS if one in kind.endings), None)
    if suffix not in SPREADSHEETS or ending is None:
        return ""
    path = PurePath(plain)
    read = READ_BY_PANDAS[ending].format(str(path.with_suffix(ending)))
    return f' Then convert it: python -c "import pandas; pandas.{read}.to_excel({str(path)!r}, index=False)"'
