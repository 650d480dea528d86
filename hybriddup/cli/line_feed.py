"""Lines of a stream as they arrive: all that are there, without waiting for more."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Semaphore, Thread
from types import FrameType

READ_BYTES = 1 << 16
"""As much as a pipe usually holds."""
STOPPING = (signal.SIGTERM, signal.SIGINT)
READ_AHEAD = 2
"""Parts read before the ones before them were taken."""


class LineFeed:
    """Yields the complete lines of a file descriptor in parts, as they come, until its end or until told to stop.

    A thread reads, so that a signal is noticed at once though nothing comes in. What was read before is still yielded
    then, but for a line without an end.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.parts: SimpleQueue[bytes | None] = SimpleQueue()
        """None = stop; a signal handler may put it in at any moment, which this kind of queue allows."""
        self.free = Semaphore(READ_AHEAD)
        self.is_stopped = False
        self.error: OSError | None = None

    def stop(self) -> None:
        """Yield what was read, and end. May be called by a signal handler."""
        self.is_stopped = True
        self.parts.put(None)

    def __iter__(self) -> Iterator[list[bytes]]:
        """Yield lists of lines, without their ends."""
        Thread(target=self._read, name="reading", daemon=True).start()
        unfinished: list[bytes] = []
        while part := self.parts.get():
            first, *others = part.split(b"\n")
            unfinished.append(first)
            if others:
                yield [b"".join(unfinished), *others[:-1]]
                unfinished = [others[-1]]
            self.free.release()
        if self.error is not None:
            raise self.error
        if (rest := b"".join(unfinished)) and not self.is_stopped:
            yield [rest]

    def _read(self) -> None:
        # a signal that this thread got would not wake the main one, which alone runs handlers
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
        try:
            while not self.is_stopped and self.free.acquire() and (part := os.read(self.descriptor, READ_BYTES)):
                self.parts.put(part)
        except OSError as error:
            self.error = error
        self.parts.put(None)


@contextmanager
def stopped_by_signals(feed: LineFeed) -> Iterator[list[int]]:
    """Stop a feed on SIGTERM and SIGINT; yield a list that then holds the number of the signal."""
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the shape of a signal handler
        received.append(number)
        feed.stop()

    before = {number: signal.signal(number, stop) for number in STOPPING}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
