"""Inputs of a run: finding the format, opening the sources, and reading them into one corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.corpus import BadRecord, Corpus, pack_ids, unite_ids
from hybriddup.data.records import Int64s
from hybriddup.errors import InputError
from hybriddup.files.compression import split_compression
from hybriddup.files.formats import TEXT_FIELD_ADVICE, BadLine, Fields, Reader, RecordBatch, Writer
from hybriddup.files.sources import MAX_LINE_BYTES, STANDARD_INPUT, Source, open_source
from hybriddup.plugin.registry import Registry

DEFAULT_FORMAT = "jsonl"
"""Format of standard input, which has no name to tell it by."""

MAX_BAD_RECORDS = 100
"""Bad records that a corpus remembers; all are counted."""


@dataclass(frozen=True)
class Inputs:
    """The sources of a run, in the order given, with the components for their common format."""

    sources: tuple[Source, ...]
    format: str
    reader: Reader
    writer: Writer

    def check_unchanged(self) -> None:
        """Raise InputError where a source is no longer what was read."""
        for source in self.sources:
            source.check_unchanged()


@contextmanager
def open_inputs(
    names: Sequence[str],
    registry: Registry,
    format_name: str | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Iterator[Inputs]:
    """Open the inputs as one corpus, checked to be readable and to fit into one output.

    Parameters
    ----------
    names
        Files, or ``-`` for standard input.
    format_name
        Name of a reader; None to tell it by the names of the files.
    max_line_bytes
        Bytes that a line of a text format may have; longer ones are bad.

    Raises
    ------
    InputError
        An input cannot be opened, its format is not known, or the inputs differ in format or columns.
    """
    if list(names).count(STANDARD_INPUT) > 1:
        raise InputError("standard input can be read once only, but '-' is given more than once.")
    sources: list[Source] = []
    try:
        sources.extend(open_source(name, max_line_bytes) for name in names)
        chosen = format_name or _common_format(names, registry)
        reader = registry.create_by_name("reader", chosen)
        writer = registry.create_by_name("writer", chosen)
        writer.check(sources)
        yield Inputs(tuple(sources), chosen, reader, writer)
    finally:
        for source in sources:
            source.close()


def find_format(name: str, registry: Registry) -> str:
    """Return the name of the reader for a file, by its name without compression suffix.

    Raises
    ------
    InputError
        No reader has the extension.
    """
    if name == STANDARD_INPUT:
        return DEFAULT_FORMAT
    extensions = {reader: _extensions(reader, registry) for reader in registry.names("reader")}
    plain = split_compression(name)[0].lower()
    for reader, endings in extensions.items():
        if plain.endswith(endings):
            return reader
    known = ", ".join(ending for endings in extensions.values() for ending in endings)
    raise InputError(
        f"{name}: the format cannot be told by the name (known: {known}, each also with .gz or .zst); "
        f"name it with --format, one of {', '.join(extensions)}."
    )


def _extensions(reader: str, registry: Registry) -> tuple[str, ...]:
    component: Reader = registry.create_by_name("reader", reader)
    return component.extensions


def _common_format(names: Sequence[str], registry: Registry) -> str:
    formats = {name: find_format(name, registry) for name in names}
    if len(set(formats.values())) > 1:
        listed = ", ".join(f"{name} ({found})" for name, found in formats.items())
        raise InputError(
            f"several inputs must have the same format, because the kept records go to one output; got {listed}. "
            f"Run each format by itself, or name one with --format."
        )
    return next(iter(formats.values()))


def read_corpus(
    inputs: Inputs,
    fields: Fields,
    *,
    optional: tuple[str, ...] = (),
    strict: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[Corpus, list[str]]:
    """Return the posts of all sources, and remarks for the user.

    Parameters
    ----------
    optional
        Fields whose values are read as those of ``fields.order`` are, though posts need not have them.
    strict
        Stop at the first bad row instead of counting it.
    advance
        Called with the number of rows read since the last call.

    Raises
    ------
    InputError
        A source cannot be used, a row is bad and ``strict`` is set, or the fields were named wrongly: not one post
        has the text field, or the order field.
    """
    fields = fields._replace(order=(*fields.order, *optional))
    columns = _Columns(fields, optional, strict)
    for source in inputs.sources:
        first_row = columns.n_rows
        for batch in inputs.reader.read(source, fields):
            columns.add(batch, first_row, source.name)
            advance(len(batch.texts) + len(batch.bad))
    columns.check()
    corpus = columns.corpus()
    return corpus, columns.notes(corpus.ids)


class _Columns:
    """Columns of a corpus while it is being read."""

    def __init__(self, fields: Fields, optional: tuple[str, ...], strict: bool) -> None:
        self._fields = fields
        self._optional = optional
        self._strict = strict
        self.n_rows = 0
        self._texts: list[str] = []
        self._ids: list[NDArray[Any] | list[Any]] = []
        self._id_hashes: list[Int64s] = [np.empty(0, np.int64)]
        self._order_values: list[tuple[Any, ...]] = []
        self._rows: list[Int64s] = [np.empty(0, np.int64)]
        self._bad: list[BadRecord] = []
        self._n_bad = 0
        self._n_without_id = 0
        self._lacks_text_field = ""
        """Place and fields of the first record that lacks the text field."""

    def add(self, batch: RecordBatch, first_row: int, source: str) -> None:
        rows = batch.rows + first_row
        self.n_rows = first_row + batch.end
        self._texts += batch.texts
        self._rows.append(rows)
        self._add_ids(batch.ids, rows)
        if self._fields.order:
            nothing = (None,) * len(self._fields.order)
            self._order_values += [values or nothing for values in batch.order_values]
        if batch.bad:
            self._add_bad(batch.bad, first_row, source)

    def _add_ids(self, ids: list[Any], rows: Int64s) -> None:
        n_without = ids.count(None)
        if n_without:
            ids = [row if one is None else one for one, row in zip(ids, rows.tolist(), strict=True)]
        self._n_without_id += n_without
        self._ids.append(pack_ids(ids))
        self._id_hashes.append(_hashes(ids))

    def _add_bad(self, lines: Sequence[BadLine], first_row: int, source: str) -> None:
        self._n_bad += len(lines)
        bad = [BadRecord(source, line.line, first_row + line.row, line.reason) for line in lines]
        if self._strict:
            raise InputError(f"{source}:{bad[0].line}: {bad[0].reason}. Nothing was written, because of --strict.")
        self._bad += bad[: MAX_BAD_RECORDS - len(self._bad)]
        lacking = next((line for line in lines if line.lacks_text_field), None)
        if lacking and not self._lacks_text_field:
            self._lacks_text_field = f"{source}:{lacking.line}: {lacking.reason}"

    def check(self) -> None:
        """Raise InputError where nothing was found under the name of a field, which then must be misspelled."""
        if self._lacks_text_field and not self._texts:
            raise InputError(f"{self._lacks_text_field}; not one record is a post. {TEXT_FIELD_ADVICE}")
        for field, values in self._needed_values():
            if values and values.count(None) == len(values):
                raise InputError(
                    f"keep: {{highest: {field}}} needs posts with the field {field!r}, but not one of "
                    f"{len(values):,} has it. Name the right field, or choose keep: first, last or longest."
                )

    @cached_property
    def order_values(self) -> dict[str, list[Any]]:
        """The values of each field that decides which post is kept."""
        columns = zip(*self._order_values, strict=True) if self._order_values else ([] for _ in self._fields.order)
        return {field: list(values) for field, values in zip(self._fields.order, columns, strict=True)}

    def _needed_values(self) -> list[tuple[str, list[Any]]]:
        return [(field, values) for field, values in self.order_values.items() if field not in self._optional]

    def corpus(self) -> Corpus:
        rows = np.concatenate(self._rows)
        ids = unite_ids(self._ids)
        return Corpus(self._texts, ids, rows, self.order_values, self.n_rows, self._bad, self._n_bad)

    def notes(self, ids: Sequence[Any]) -> list[str]:
        """Return remarks on the ids and on the values to order by."""
        notes, n_posts = [], len(self._texts)
        if 0 < self._n_without_id < n_posts:
            have = _posts(self._n_without_id, "has", "have")
            notes.append(f"{have} no {self._fields.id!r}; the row serves as id.")
        if (n_repeated := _n_repeated(np.concatenate(self._id_hashes), ids)) > 0:
            bear = _posts(n_repeated, "bears", "bear")
            notes.append(f"{bear} an id that an earlier post has; tell posts apart by row.")
        for field, values in self._needed_values():
            if n_missing := values.count(None):
                have = _posts(n_missing, "has", "have")
                notes.append(f"{have} no {field!r}; any post that has one is kept first.")
        return notes


def _posts(n: int, one_does: str, many_do: str) -> str:
    """Return the subject and verb of a sentence on some posts."""
    return f"1 post {one_does}" if n == 1 else f"{n:,} posts {many_do}"


def _hashes(ids: Sequence[Any]) -> Int64s:
    """Return int64[n]: equal for equal ids."""
    try:
        return np.fromiter(map(hash, ids), np.int64, len(ids))
    except TypeError:
        return np.fromiter(map(hash, map(_hashable, ids)), np.int64, len(ids))


def _hashable(one: Any) -> Any:
    """Return what stands for an id in a set: itself, or how a list or an object is written."""
    try:
        hash(one)
    except TypeError:
        return type(one), repr(one)
    return one


def _n_repeated(hashes: Int64s, ids: Sequence[Any]) -> int:
    """Return how many ids an earlier post has; only ids whose hashes repeat are compared, which takes less memory."""
    ordered = np.sort(hashes)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(repeated) == 0:
        return 0
    suspects = [_hashable(ids[place]) for place in np.flatnonzero(np.isin(hashes, repeated)).tolist()]
    return len(suspects) - len(set(suspects))
