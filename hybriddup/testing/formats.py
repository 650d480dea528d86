"""Contract checks for file formats: a reader finds the texts of a sample file, and a writer copies chosen records."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hybriddup.data.records import Bools
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields, RecordBatch
from hybriddup.files.sources import Source, open_source
from hybriddup.testing.contract import Subject


def check_reader(component: Any, *, content: bytes, texts: Sequence[str], **options: Any) -> None:
    """Check that a reader keeps its contract.

    Parameters
    ----------
    component
        A reader in any form that ``registry.add_reader`` accepts.
    content
        Bytes of a small file in the format, with at least three records; each has a text in the field ``text``.
    texts
        The texts of the file, in order.

    Raises
    ------
    ContractError
        If a clause does not hold; the message names it.
    """
    subject = Subject("reader", component, options)
    reader = subject.make()
    extension = _extension(subject, reader)
    found, right = _read(subject, reader, content, extension), list(texts)
    subject.require(found == right, "the texts of the file are read in order", f"{found} instead of {right}")
    again = _read(subject, reader, content, extension)
    subject.require(again == found, "the same file is read the same again", again)
    for broken in _broken(content):
        _check_broken(subject, reader, broken, extension)


def _extension(subject: Subject, reader: Any) -> str:
    extensions = getattr(reader, "extensions", None)
    right = isinstance(extensions, tuple) and all(str(ending).startswith(".") for ending in extensions)
    clause = "extensions is a tuple of file name endings such as '.txt'"
    subject.require(right and extensions, clause, f"it is {extensions!r}")
    return str(extensions[0]) if extensions else ""


def _read(subject: Subject, reader: Any, content: bytes, extension: str) -> list[str]:
    with subject.clause("a file of the format can be read"), _sources([content], extension) as (source,):
        batches = list(reader.read(source, Fields()))
    _check_rows(subject, batches)
    return [text for batch in batches for text in batch.texts]


def _check_rows(subject: Subject, batches: Sequence[RecordBatch]) -> None:
    """Check that rows are numbered from 0 without gaps, and that each row is either a text or a bad row."""
    rows: list[int] = []
    for batch in batches:
        subject.require(isinstance(batch, RecordBatch), "read yields RecordBatch", type(batch).__name__)
        n = len(batch.texts)
        sizes = {n, len(batch.ids), len(batch.order_values), len(batch.rows)}
        subject.require(sizes == {n}, "texts, ids, order_values and rows of a batch have one length", sizes)
        rising = batch.rows.dtype == np.int64 and (np.diff(batch.rows) > 0).all()
        subject.require(rising, "rows of a batch are int64 and rise", batch.rows)
        subject.require(all(isinstance(text, str) for text in batch.texts), "every text is a str", batch.texts)
        rows += sorted([*batch.rows.tolist(), *(line.row for line in batch.bad)])
        subject.require(batch.end == len(rows), "end counts the rows so far", f"{batch.end} after {len(rows)} rows")
    subject.require(rows == list(range(len(rows))), "every row is one text or one bad row, from 0 up", rows)


def _broken(content: bytes) -> Iterator[bytes]:
    """Yield damaged copies of a file: empty, truncated, with invalid bytes inserted, and with only invalid bytes."""
    for part in range(4):
        yield content[: len(content) * part // 4]
    middle = len(content) // 2
    yield content[:middle] + b"\xff\xfe\x00\x80" + content[middle:]
    yield b"\xff\xfe\x00\x80" * 100


def _check_broken(subject: Subject, reader: Any, content: bytes, extension: str) -> None:
    clause = "a damaged file gives bad rows or an InputError"
    with subject.clause(clause), _sources([content], extension) as (source,):
        try:
            batches = list(reader.read(source, Fields()))
        except InputError:
            return
    _check_rows(subject, batches)


def check_writer(component: Any, *, reader: Any, content: bytes, **options: Any) -> None:
    """Check that a writer keeps its contract.

    Parameters
    ----------
    component
        A writer in any form that ``registry.add_writer`` accepts.
    reader
        The reader of the format, in any form that ``registry.add_reader`` accepts; it must keep its contract.
    content
        Bytes of a small file in the format, with at least three records; each has a text in the field ``text``.

    Raises
    ------
    ContractError
        If a clause does not hold; the message names it.
    """
    subject = Subject("writer", component, options)
    writer, reading = subject.make(), Subject("reader", reader, {})
    extension = _extension(reading, reading.make())
    texts = _read(reading, reading.make(), content, extension)
    n = len(texts)
    for keep in (np.ones(n, bool), np.arange(n) % 2 == 0, np.arange(n) == n - 1, np.zeros(n, bool)):
        written = _written(subject, writer, [content], keep, extension)
        left = _read(reading, reading.make(), written, extension)
        kept = [text for text, stays in zip(texts, keep.tolist(), strict=True) if stays]
        subject.require(left == kept, "the kept records are written in order", f"{left} instead of {kept}")
    written = _written(subject, writer, [content] * 2, np.ones(2 * n, bool), extension)
    twice = _read(reading, reading.make(), written, extension)
    subject.require(twice == texts * 2, "two sources become one output", f"{twice} instead of {texts * 2}")
    for wrong in (n - 1, n + 1):
        _check_changed(subject, writer, content, np.ones(wrong, bool), extension)


def _written(subject: Subject, writer: Any, contents: Sequence[bytes], keep: Bools, extension: str) -> bytes:
    target = io.BytesIO()
    with subject.clause("chosen records can be copied"), _sources(contents, extension) as sources:
        writer.check(sources)
        writer.write(sources, target, keep)
    subject.require(not target.closed, "the target is left open", "it closes it")
    return target.getvalue()


def _check_changed(subject: Subject, writer: Any, content: bytes, keep: Bools, extension: str) -> None:
    clause = "a source with another number of rows than were read is an InputError"
    with _sources([content], extension) as sources:
        try:
            writer.write(sources, io.BytesIO(), keep)
        except InputError:
            return
        except Exception as error:
            subject.fail(clause, f"{type(error).__name__}: {error}")
    subject.fail(clause, f"it writes {len(keep)} rows")


@contextmanager
def _sources(contents: Sequence[bytes], extension: str) -> Iterator[list[Source]]:
    with tempfile.TemporaryDirectory() as directory:
        paths = [Path(directory) / f"sample_{number}{extension}" for number in range(len(contents))]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        sources = [open_source(str(path)) for path in paths]
        try:
            yield sources
        finally:
            for source in sources:
                source.close()
