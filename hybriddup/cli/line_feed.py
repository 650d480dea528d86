"""Reads lines from a stream as they arrive, without waiting for a buffer to fill."""

from __future__ import annotations

import os
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Semaphore, Thread

from hybriddup.cli.stopping import HANGUP, hang_up
from hybriddup.files.sources import MAX_LINE_BYTES
from hybriddup.files.text import whole_lines

READ_BYTES = 1 << 16
"""Maximum number of bytes per read: the usual capacity of a pipe."""
READ_AHEAD = 2
"""Maximum number of reads whose data waits for the consumer."""


class LineFeed:
    """Yields lists of lines from a file descriptor as the lines arrive, until the end of the input or `stop`.

    Another thread reads, so that a signal takes effect at once even if no input arrives. Complete lines that were read
    before the signal are still yielded.
    """

    def __init__(self, descriptor: int, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.descriptor = descriptor
        self.is_terminal = os.isatty(descriptor)
        self.max_line_bytes = max_line_bytes
        """Maximum size of a line in bytes; longer lines may be truncated."""
        self.parts: SimpleQueue[bytes | None] = SimpleQueue()
        """Queue of the data read so far, from the reading thread to the iterator; None ends the iteration."""
        self.free = Semaphore(READ_AHEAD)
        self.stopped_by: int | None = None
        """Number of the signal that stopped the feed."""
        self.error: OSError | None = None

    def stop(self, number: int) -> bool:
        """Stop because of signal ``number``, once the lines already read have been yielded.

        Returns True, because the command then ends by itself; see `hybriddup.cli.stopping.on_stop`.
        """
        self.stopped_by = number
        self.parts.put(None)
        return True

    def __iter__(self) -> Iterator[list[bytes]]:
        """Yield lists of lines; their line ends are removed."""
        Thread(target=self._read, name="reading", daemon=True).start()
        for piece in whole_lines(self._taken(), self.max_line_bytes):
            *lines, rest = piece.split(b"\n")
            if rest and self.stopped_by is None:
                lines.append(rest)
            yield lines

    def _taken(self) -> Iterator[bytes]:
        while part := self.parts.get():
            yield part
            self.free.release()
        if self.error is not None:
            raise self.error

    def _read(self) -> None:
        try:
            while self.stopped_by is None and self.free.acquire() and (part := os.read(self.descriptor, READ_BYTES)):
                self.parts.put(part)
        except OSError as error:
            self.error = error
        if self.is_terminal and (self.error or not os.isatty(self.descriptor)):  # closed; SIGHUP may come later
            self.error, self.stopped_by = None, self.stopped_by or HANGUP
            hang_up()
        self.parts.put(None)
