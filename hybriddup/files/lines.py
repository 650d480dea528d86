"""Plain text with one post per line; an empty line is an empty post."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import methodcaller
from typing import BinaryIO

import numpy as np

from hybriddup.files.copying import Choice, Piece, TextWriter
from hybriddup.files.formats import BATCH_ROWS, BadRow, Fields, Record, RecordBatch, batch_of
from hybriddup.files.sources import Source
from hybriddup.files.text import broken_text, line_blocks, may_be_too_long, text_lines, why_too_long


class LinesReader:
    """Reads each line as one post; the line end is not part of the post."""

    extensions = (".txt", ".text")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:  # noqa: ARG002  lines have no fields
        """Yield the posts of one source in order."""
        with source.open() as stream:
            lines, max_line_bytes = text_lines(stream, source), source.max_line_bytes
            n_rows = 0
            while chunk := list(islice(lines, BATCH_ROWS)):
                batch = None if may_be_too_long(chunk, max_line_bytes) else _columns(chunk, n_rows, source.encoding)
                batch = batch or batch_of(_records(chunk, n_rows + 1, source), n_rows)
                n_rows = batch.end
                yield batch


def _columns(lines: list[bytes], start: int, encoding: str) -> RecordBatch | None:
    """Decode the lines as one batch; None if a line cannot be decoded, which is rare."""
    try:
        texts = [_without_end(line) for line in map(methodcaller("decode", encoding), lines)]
    except UnicodeDecodeError:
        return None
    end, nothing = start + len(texts), [None] * len(texts)
    return RecordBatch(texts, nothing, [()] * len(texts), np.arange(start, end, dtype=np.int64), end=end)


def _records(lines: Iterable[bytes], first_line: int, source: Source) -> Iterator[Record | BadRow]:
    for line_number, line in enumerate(lines, first_line):
        try:
            reason = why_too_long(line, source.max_line_bytes)
            yield BadRow(line_number, reason) if reason else Record(_without_end(line.decode(source.encoding)))
        except UnicodeDecodeError as error:
            yield BadRow(line_number, broken_text(error), "encoding")


def _without_end(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


class LinesWriter(TextWriter):
    """Copies the kept lines."""

    def _chosen(self, stream: BinaryIO, source: Source, choice: Choice) -> Iterator[Piece]:
        for block in line_blocks(stream, source.max_line_bytes):
            yield from block.take(choice.take(len(block.starts))).runs()
