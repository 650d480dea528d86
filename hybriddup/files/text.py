"""Helpers of the line-based formats: splitting into lines, byte order marks, and reasons why a line is unusable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from io import BytesIO
from itertools import chain
from typing import BinaryIO, NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int64s
from hybriddup.files.sources import Source

UTF8_MARK = b"\xef\xbb\xbf"
BLOCK_BYTES = 1 << 20
LINE_END = ord("\n")
_IS_SPACE = np.array([bytes([byte]).isspace() for byte in range(256)])
"""bool[256]: whether a byte is ASCII white space."""


def pieces_of(stream: BinaryIO, n_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield the bytes of a stream in pieces of up to ``n_bytes``."""
    return iter(partial(stream.read, n_bytes), b"")


def whole_lines(pieces: Iterable[bytes], max_line_bytes: int) -> Iterator[bytes]:
    """Regroup the bytes of a stream into pieces that end at a line end.

    A line that spans several of the given pieces is truncated to ``max_line_bytes`` + 1 bytes plus its line end: enough
    to be recognized as too long, while an endless line cannot exhaust the memory.
    """
    begun: list[bytes] = []
    free = max_line_bytes + 1
    for piece in pieces:
        rest = piece
        if end := piece.rfind(b"\n") + 1:
            first = piece.index(b"\n")
            yield b"".join([*begun, piece[: min(first, free)], piece[first:end]])
            begun, free, rest = [], max_line_bytes + 1, piece[end:]
        begun.append(rest[:free])
        free -= len(begun[-1])
    if last := b"".join(begun):
        yield last


def text_lines(stream: BinaryIO, source: Source) -> Iterator[bytes]:
    r"""Yield the lines with their line ends (``\n`` or ``\r\n``), without a byte order mark at the start.

    Lines that are too long, according to `why_too_long`, may be truncated.
    """
    lines = chain.from_iterable(map(BytesIO, whole_lines(pieces_of(stream), source.max_line_bytes)))
    first = next(lines, b"")
    return chain(filter(None, [first.removeprefix(UTF8_MARK)]), lines)


def may_be_too_long(lines: Iterable[bytes], max_line_bytes: int) -> bool:
    """Return whether any line, with its line end, is longer than the limit: a quick test before `why_too_long`."""
    return max(map(len, lines), default=0) > max_line_bytes


def why_too_long(line: bytes, max_line_bytes: int) -> str:
    """Return a message if a line is longer than the limit, not counting its line end; empty if it is not."""
    if len(line) <= max_line_bytes or len(line.rstrip(b"\r\n")) <= max_line_bytes:
        return ""
    return f"longer than {max_line_bytes:,} bytes, the limit that --max-line sets"


class Broken(str):
    """Reason why a line is unusable, for messages."""

    __slots__ = ()


class BrokenText(Broken):
    """Reason why a line cannot be decoded with the encoding of its file."""

    __slots__ = ()


def broken_text(error: UnicodeDecodeError) -> BrokenText:
    """Describe a decoding error for messages."""
    byte, place = error.object[error.start], error.start
    return BrokenText(f"not valid {error.encoding.upper()} (byte 0x{byte:02x} at position {place})")


class LineBlock(NamedTuple):
    """Consecutive bytes of a file, and the offsets of lines in them."""

    data: bytes
    starts: Int64s
    """int64[n_lines]: offset of the first byte of each line."""
    ends: Int64s
    """int64[n_lines]: offset after the line end of each line; the last line of a file may have no line end."""

    def take(self, chosen: Bools) -> LineBlock:
        """Return the chosen lines."""
        return LineBlock(self.data, self.starts[chosen], self.ends[chosen])

    def without_blank(self, max_line_bytes: int) -> LineBlock:
        """Return the lines that are not blank; lines that are too long are kept even if they are blank."""
        starts, ends = self.starts, self.ends
        filled = ~_IS_SPACE[np.frombuffer(self.data, np.uint8)[starts]]
        for i in np.flatnonzero(~filled).tolist():  # few lines: those that start with white space
            line = self.data[starts[i] : ends[i]]
            filled[i] = not line.isspace() or why_too_long(line, max_line_bytes) != ""
        return self.take(filled)

    def runs(self) -> Iterator[memoryview]:
        """Yield the bytes of the lines in as few pieces as possible: adjacent lines are in one piece."""
        if len(self.starts) == 0:
            return
        view, breaks = memoryview(self.data), np.flatnonzero(self.starts[1:] != self.ends[:-1])
        firsts = [int(self.starts[0]), *self.starts[breaks + 1].tolist()]
        lasts = [*self.ends[breaks].tolist(), int(self.ends[-1])]
        for first, last in zip(firsts, lasts, strict=True):
            yield view[first:last]


def line_blocks(stream: BinaryIO, max_line_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[LineBlock]:
    r"""Yield the lines of a stream, separated by ``\n``, in blocks; a byte order mark at the start is skipped."""
    is_first = True
    for data in whole_lines(pieces_of(stream, block_bytes), max_line_bytes):
        begin = len(UTF8_MARK) if is_first and data.startswith(UTF8_MARK) else 0
        is_first = False
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END) + 1
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        block = LineBlock(data, np.concatenate([[begin], ends[:-1]]), ends)
        yield block.take(block.starts < block.ends)
