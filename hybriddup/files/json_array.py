"""Reader and writer for a file with a single JSON array of objects; the writer copies kept objects byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, compress, islice
from typing import BinaryIO

from hybriddup.data.records import Bools
from hybriddup.errors import InputError
from hybriddup.files.copying import Choice
from hybriddup.files.formats import BATCH_ROWS, Fields, RecordBatch
from hybriddup.files.jsonl import BATCH_LINES, Objects
from hybriddup.files.sources import Source
from hybriddup.files.text import BLOCK_BYTES, UTF8_MARK, pieces_of

STRING = rb'"(?:[^"\\]++|\\.)*+"'
TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|' + STRING + rb")*+([{}\[\]])", re.DOTALL)
"""Pattern of the text up to the next bracket outside strings, inclusive."""
TO_MARK = re.compile(rb'(?:[^"{}\[\],]++|' + STRING + rb")*+([{}\[\],])", re.DOTALL)
"""Pattern of the text up to the next bracket or comma outside strings, inclusive."""
BEGIN = re.compile(rb"\s*\[\s*(?=[{\]]|\Z)")


class JsonArrayReader:
    """Reads posts from the fields of the objects in an array."""

    extensions = (".json", ".js")

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        """Yield the posts of one source in order."""
        objects, n_rows = Objects.of(fields, source), 0
        with source.open() as stream:
            found = elements(stream, source)
            while chunk := list(islice(found, BATCH_LINES)):
                batch = objects.read([raw for _, raw in chunk], [line for line, _ in chunk], n_rows)
                n_rows = batch.end
                yield batch


class JsonArrayWriter:
    """Copies the kept objects, byte for byte, into one array."""

    def check(self, sources: Sequence[Source]) -> None:
        """Accept any sources, because objects in an array need no common columns."""

    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        """Copy the objects whose row is kept, in input order, each starting on a new line."""
        choice, before = Choice(keep, sources), b"[\n"
        for source in sources:
            with source.open() as stream:
                found = elements(stream, source)
                while chunk := [raw for _, raw in islice(found, BATCH_ROWS)]:
                    for raw in compress(chunk, choice.take(len(chunk)).tolist()):
                        target.write(before + raw)
                        before = b",\n"
        choice.check_all_taken()
        target.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def is_array(source: Source) -> bool:
    """Return whether a source begins like an array of objects or an empty array."""
    return BEGIN.match(source.beginning().removeprefix(UTF8_MARK)) is not None


def elements(stream: BinaryIO, source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the elements of an array as it is read, each as the one-based number of its first line and its bytes.

    Raises InputError if the source is not one complete array.
    """
    data = stream.read(BLOCK_BYTES).removeprefix(UTF8_MARK)
    opened = BEGIN.match(data)
    if not opened:
        raise InputError(f"{source.name} is not a JSON array: it does not begin with [ and an object.")
    begin = at = opened.end()
    line, depth, n_found = 1 + data.count(b"\n", 0, begin), 0, 0
    while True:
        found = (TO_BRACKET if depth else TO_MARK).match(data, at)
        if found is None:
            data, at, begin = _longer(data[begin:], stream, source, line), at - begin, 0
            continue
        at, mark = found.end(), found[1]
        if mark in b"{[":
            depth += 1
        elif depth:
            depth -= 1
        else:
            raw = data[begin : at - 1]
            if n_found or mark == b"," or raw.strip():
                n_found += 1
                yield line + _line_ends_before(raw), raw.strip()
            line, begin = line + raw.count(b"\n"), at
            if mark != b",":
                break
    if mark != b"]" or any(piece.strip() for piece in chain([data[at:]], pieces_of(stream))):
        raise InputError(f"{source.name}:{line}: the array ends here, but more follows; the file must be one array.")


def _line_ends_before(raw: bytes) -> int:
    return raw.count(b"\n", 0, len(raw) - len(raw.lstrip()))


def _longer(begun: bytes, stream: BinaryIO, source: Source, line: int) -> bytes:
    """Return an incomplete element with the next block of the stream appended.

    Raises InputError if the element is too long, or if the stream ends.
    """
    line += _line_ends_before(begun)
    if len(begun) > source.max_line_bytes:
        raise InputError(
            f"{source.name}:{line}: a record has more than {source.max_line_bytes:,} bytes, as if a quote or a bracket "
            f"were never closed; --max-line sets the limit."
        )
    piece = stream.read(BLOCK_BYTES)
    if not piece:
        raise InputError(
            f"{source.name}:{line}: the array ends in the middle of a record: it is cut short, or a quote or a bracket "
            f"is never closed."
        )
    return begun + piece
