"""Lines of a file in large blocks: where each begins and ends, found for a whole block at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int64s
from hybriddup.files.text import BLOCK_BYTES, UTF8_MARK, pieces_of, whole_lines, why_too_long

LINE_END = ord("\n")

_IS_SPACE = np.array([bytes([byte]).isspace() for byte in range(256)])
"""bool[256]: the bytes that a blank line may hold."""


class LineBlock(NamedTuple):
    """Some whole lines, and where they are."""

    data: bytes
    starts: Int64s
    """int64[n_lines]"""
    ends: Int64s
    """int64[n_lines]: past the line end; the last line of a file may have none."""

    def take(self, chosen: Bools) -> LineBlock:
        """Return the chosen lines."""
        return LineBlock(self.data, self.starts[chosen], self.ends[chosen])

    def without_blank(self, max_line_bytes: int) -> LineBlock:
        """Return the lines that are more than white space, or too long to tell."""
        starts, ends = self.starts, self.ends
        filled = ~_IS_SPACE[np.frombuffer(self.data, np.uint8)[starts]]
        for i in np.flatnonzero(~filled).tolist():  # few: a blank first byte, and what follows decides
            line = self.data[starts[i] : ends[i]]
            filled[i] = not line.isspace() or why_too_long(line, max_line_bytes) != ""
        return self.take(filled)

    def runs(self) -> Iterator[memoryview]:
        """Yield the bytes of the lines, those that follow each other in one piece."""
        if len(self.starts) == 0:
            return
        view, breaks = memoryview(self.data), np.flatnonzero(self.starts[1:] != self.ends[:-1])
        firsts = [int(self.starts[0]), *self.starts[breaks + 1].tolist()]
        lasts = [*self.ends[breaks].tolist(), int(self.ends[-1])]
        for first, last in zip(firsts, lasts, strict=True):
            yield view[first:last]


def line_blocks(stream: BinaryIO, max_line_bytes: int, block_bytes: int = BLOCK_BYTES) -> Iterator[LineBlock]:
    r"""Yield all lines of a stream, which end with ``\n``, without a byte order mark before the first."""
    is_first = True
    for data in whole_lines(pieces_of(stream, block_bytes), max_line_bytes):
        begin = len(UTF8_MARK) if is_first and data.startswith(UTF8_MARK) else 0
        is_first = False
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_END) + 1
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        block = LineBlock(data, np.concatenate([[begin], ends[:-1]]), ends)
        yield block.take(block.starts < block.ends)
