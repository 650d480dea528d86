"""Reads the inputs into one corpus, and rejects a wrong encoding and misspelled field names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.corpus import BadRecord, Corpus, pack_ids, unite_ids
from hybriddup.data.fields import DEFAULT_ID_FIELD, combined, hashable, scope_fields, text_fields
from hybriddup.data.records import Int64s
from hybriddup.errors import InputError
from hybriddup.files.encodings import encoding_advice
from hybriddup.files.formats import TEXT_FIELD_ADVICE, BadRow, Fields, RecordBatch, TextColumnError
from hybriddup.files.inputs import Inputs, listed
from hybriddup.files.sources import UTF_8, Source

MIN_BROKEN = 10
"""Minimum number of undecodable rows for an error about a wrong encoding; with fewer, the user only gets advice."""

MAX_BAD_RECORDS = 100
"""Maximum number of bad records that a corpus describes; its count of bad records includes all."""


def read_corpus(
    inputs: Inputs,
    fields: Fields,
    *,
    per: str | None = None,
    optional: tuple[str, ...] = (),
    strict: bool = False,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[Corpus, list[str]]:
    """Read the posts of all sources into one corpus; return the corpus, and remarks for the user.

    Parameters
    ----------
    per
        Value of ``--per``: a field, or several such as ``user.id + city``, to add to `Corpus.order_values`.
    optional
        Additional fields for `Corpus.order_values`, which posts need not have.
    strict
        Raise InputError at the first bad row instead of counting it.
    advance
        Called with the number of rows read since the last call.

    Raises
    ------
    InputError
        There are rows but none is a post, a source seems to have another encoding, or no post has a required field.
    """
    needed = tuple(dict.fromkeys((*fields.order, *scope_fields(per))))
    fields = fields._replace(order=tuple(dict.fromkeys((*needed, *optional))))
    columns = _Columns(fields, needed, strict)
    empty: list[str] = []
    for source in inputs.sources:
        first_row, first_text = columns.n_rows, len(columns.texts)
        for batch in inputs.reader.read(source, fields):
            columns.add(batch, first_row, source)
            advance(len(batch.texts) + len(batch.bad))
        columns.check_encoding(source, first_text)
        if columns.n_rows == first_row:
            empty.append(source.name)
    columns.check()
    columns.check_fields(inputs, per)
    corpus = columns.corpus(per)
    read_as = {source.encoding for source in inputs.sources} - {UTF_8}
    remarks = [f"the input was read as {encoding}." for encoding in read_as]
    remarks += [f"{source.name} {source.remark}." for source in inputs.sources if source.remark]
    remarks += columns.advice
    if empty:
        remarks.append(f"no posts in {listed(empty)}.")
    return corpus, remarks + columns.notes(corpus.ids, per)


def absent_field(inputs: Inputs, name: str, *, as_text: bool = False) -> str:
    """Describe the first record that lacks the field ``name``; return an empty text if any record has it.

    With ``as_text``, a field that is not text counts as missing.
    """
    absent = ""
    for source in inputs.sources:
        try:
            for batch in inputs.reader.read(source, Fields(text=name)):
                if batch.texts or (not as_text and any(line.fault == "type" for line in batch.bad)):
                    return ""
                lacking = (line for line in batch.bad if line.fault in {"absent", "type"})
                absent = absent or next((f"{source.name}:{line.line}: {line.reason}" for line in lacking), "")
        except TextColumnError as error:
            if not (error.absent or as_text):
                return ""
            absent = absent or error.fault
    return absent


class _Columns:
    """Collects the columns of a corpus while it is being read."""

    def __init__(self, fields: Fields, needed: tuple[str, ...], strict: bool) -> None:
        self._fields = fields
        self._needed = needed
        """Fields that at least one record must have."""
        self._strict = strict
        self.n_rows = 0
        self.texts: list[str] = []
        self._ids: list[NDArray[Any] | list[Any]] = []
        self._id_hashes: list[Int64s] = [np.empty(0, np.int64)]
        self._order_values: list[tuple[Any, ...]] = []
        self._rows: list[Int64s] = [np.empty(0, np.int64)]
        self._bad: list[BadRecord] = []
        self._n_bad = 0
        self._n_without_id = 0
        self.advice: list[str] = []
        self._n_broken = 0
        """Number of rows of the current source that cannot be decoded."""
        self._example: tuple[Source, BadRow] | None = None
        """The first bad row with a known kind of fault; if there is none, the first bad row."""

    def add(self, batch: RecordBatch, first_row: int, source: Source) -> None:
        rows = batch.rows + first_row
        self.n_rows = first_row + batch.end
        self.texts += batch.texts
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

    def _add_bad(self, lines: Sequence[BadRow], first_row: int, source: Source) -> None:
        self._n_bad += len(lines)
        self._n_broken += sum(line.fault == "encoding" for line in lines)
        bad = [BadRecord(source.name, line.line, first_row + line.row, line.reason) for line in lines]
        if self._strict:
            raise InputError(f"{source.name}:{bad[0].line}: {bad[0].reason}. Nothing was written, because of --strict.")
        self._bad += bad[: MAX_BAD_RECORDS - len(self._bad)]
        example = next((line for line in lines if line.fault), lines[0])
        if self._example is None or (example.fault and not self._example[1].fault):
            self._example = source, example

    def check_encoding(self, source: Source, first_text: int) -> None:
        """Raise InputError if most of the non-ASCII rows of a source cannot be decoded.

        If most cannot be decoded, but they are fewer than `MIN_BROKEN`, store advice for the user instead.
        ``first_text`` is the index of the source's first text.
        """
        n_broken, self._n_broken = self._n_broken, 0
        n_readable = sum(not text.isascii() for text in self.texts[first_text:]) if n_broken else 0
        if n_broken > n_readable and n_broken < MIN_BROKEN:
            self.advice.append(encoding_advice(source))
        elif n_broken > n_readable:
            raise InputError(
                f"{source.name}: {n_broken:,} rows are not valid {source.encoding.upper()}, and only {n_readable:,} "
                f"others are not plain ASCII. {encoding_advice(source)}"
            )

    def check(self) -> None:
        """Raise InputError if there are rows, but no posts."""
        if self._example is None or self.texts:
            return
        source, line = self._example
        advice = {
            "absent": TEXT_FIELD_ADVICE,
            "type": TEXT_FIELD_ADVICE,
            "encoding": encoding_advice(source) if line.fault == "encoding" else "",
            "": "Check the file, or name its format with --format.",
        }
        raise InputError(f"{source.name}:{line.line}: {line.reason}; not one record is a post. {advice[line.fault]}")

    def check_fields(self, inputs: Inputs, per: str | None) -> None:
        """Raise InputError if no record has a field that the user named; its name is probably misspelled."""
        for field in self._needed:
            values = self.order_values[field]
            if values and values.count(None) == len(values):
                is_scope = field in scope_fields(per)
                option = f"--per {per}" if is_scope else f"keep: {{highest: {field}}}"
                instead = "leave --per out" if is_scope else "choose keep: first, last or longest"
                raise InputError(
                    f"{option} needs posts with the field {field!r}, but not one of {len(values):,} has it. Name the "
                    f"right field, or {instead}."
                )
        has_none = self._n_without_id == len(self.texts) > 0
        if has_none and self._fields.id != DEFAULT_ID_FIELD and (absent := absent_field(inputs, self._fields.id)):
            raise InputError(f"{absent}; not one record has it. Name the field with the ids with --id-field.")
        parts = text_fields(self._fields.text, ())
        if len(parts) > 1 and self.texts and "|" not in self._fields.text:
            absent_parts = [absent_field(inputs, part) for part in parts]
            if any(absent_parts) and not all(absent_parts):  # if all: one field with a + in its name
                raise InputError(f"{max(absent_parts)}; not one record has it. {TEXT_FIELD_ADVICE}")

    @cached_property
    def order_values(self) -> dict[str, list[Any]]:
        """Map from each field of `Fields.order` to its values."""
        columns = zip(*self._order_values, strict=True) if self._order_values else ([] for _ in self._fields.order)
        return {field: list(values) for field, values in zip(self._fields.order, columns, strict=True)}

    def corpus(self, per: str | None) -> Corpus:
        rows = np.concatenate(self._rows)
        ids = unite_ids(self._ids)
        values: dict[str, Sequence[Any]] = {**self.order_values}
        if per is not None:
            values[per] = combined([self.order_values[field] for field in scope_fields(per)])
        return Corpus(self.texts, ids, rows, values, self.n_rows, self._bad, self._n_bad)

    def notes(self, ids: Sequence[Any], per: str | None) -> list[str]:
        """Return remarks about missing or repeated ids, and about missing values of the fields in `order_values`."""
        notes, n_posts = [], len(self.texts)
        if 0 < self._n_without_id < n_posts:
            have = _posts(self._n_without_id, "has", "have")
            notes.append(f"{have} no {self._fields.id!r}; the row serves as id.")
        if (n_repeated := _n_repeated(np.concatenate(self._id_hashes), ids)) > 0:
            have = _posts(n_repeated, "has", "have")
            notes.append(f"{have} the id of an earlier post; identify posts by row.")
        for field in self._needed:
            values = self.order_values[field]
            if field not in scope_fields(per) and (n_missing := values.count(None)):
                have = _posts(n_missing, "has", "have")
                notes.append(f"{have} no {field!r}; any post that has one is kept first.")
        return notes


def _posts(n: int, one_does: str, many_do: str) -> str:
    """Return a number of posts as text, followed by the singular verb ``one_does`` or the plural verb ``many_do``."""
    return f"1 post {one_does}" if n == 1 else f"{n:,} posts {many_do}"


def _hashes(ids: Sequence[Any]) -> Int64s:
    try:
        return np.fromiter(map(hash, ids), np.int64, len(ids))
    except TypeError:
        return np.fromiter(map(hash, map(hashable, ids)), np.int64, len(ids))


def _n_repeated(hashes: Int64s, ids: Sequence[Any]) -> int:
    """Count the ids that repeat an earlier one; to save memory, only ids with equal hashes are compared."""
    ordered = np.sort(hashes)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(repeated) == 0:
        return 0
    suspects = [hashable(ids[place]) for place in np.flatnonzero(np.isin(hashes, repeated)).tolist()]
    return len(suspects) - len(set(suspects))
