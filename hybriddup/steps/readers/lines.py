"""Plain text, one post a line; an empty line is an empty post."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from hybriddup.steps.readers import BadRow, Fields, Record, RecordBatch, record_batches
from hybriddup.steps.readers.sources import Source
from hybriddup.steps.readers.text import broken_utf8, text_lines


class LinesReader:
    """Reads each line as one post, without its line end."""

    extensions = (".txt", ".text")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:  # noqa: ARG002  lines have no fields
        """Yield the posts of one source in order."""
        with source.open() as stream:
            yield from record_batches(_records(raw_records(stream, source.name)))


def raw_records(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of each row with its line end."""
    return text_lines(stream, name)


def _records(lines: Iterator[bytes]) -> Iterator[Record | BadRow]:
    for line_number, line in enumerate(lines, 1):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            yield BadRow(line_number, broken_utf8(error))
            continue
        yield Record(text.removesuffix("\n").removesuffix("\r"))
