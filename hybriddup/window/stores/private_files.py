"""Files that only their owner can read, because posts are private, and the lock file of the writer."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO
from zlib import crc32

from hybriddup.data.locks import lock
from hybriddup.errors import StoreError

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
NOBODY = 0
"""Process number in the lock file if no process holds it."""
LONGEST = 64
"""Longest content of a lock file, in bytes."""


def open_private(path: str | Path, flags: int) -> int:
    """Open a file and return its descriptor, as an ``opener`` of `open`; a new file is accessible to its owner only."""
    return os.open(path, flags | os.O_CREAT, PRIVATE_FILE)


class WriterLock:
    """Holds the lock of a file until `release`; the system releases it when the process ends.

    The file contains the number of the process, and the store's next position when posts were last acknowledged. SQLite
    silently cuts a damaged log short, so only a record outside the log can show that posts are missing.
    """

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] | None = None
        try:
            file = os.fdopen(open_private(path, os.O_RDWR), "r+b", buffering=0)
        except OSError as error:
            raise StoreError(f"{path.parent} cannot be written to: {error.strerror}; check its permissions") from error
        try:
            lock(file.fileno(), wait=False)
        except OSError:
            holder = _holder(file)
            file.close()
            raise StoreError(
                f"{path.parent} is in use by {holder}; one window at a time writes to a store: close that one, open "
                "this one in another directory, or open it with read_only=True"
            ) from None
        self._file = file
        _, self.end = _read(file)
        """The next position of the store when posts were last acknowledged; 0 if that is not known."""
        self.note(self.end)

    def note(self, end: int) -> None:
        """Record the store's next position; if the process is killed, the file has this or the previous position."""
        self.end = end
        self._write(os.getpid())

    def release(self) -> None:
        """Release the lock; a second call does nothing. The file stays, because another process may wait for it."""
        if self._file is not None:
            self._write(NOBODY)
            self._file.close()
            self._file = None

    def _write(self, holder: int) -> None:
        words = b"%-10d %-20d" % (holder, self.end)  # always of this length, so that it overwrites the content before
        if self._file is not None:
            with suppress(OSError):  # a full disk: the lock works without its holder's number
                self._file.seek(0)
                self._file.write(b"%s %08x\n" % (words, crc32(words)))


def _read(file: IO[bytes]) -> tuple[int, int]:
    """Return the process that holds a lock and the recorded position; `NOBODY` and 0 if the content is not valid."""
    file.seek(0)
    words, _, checksum = file.read(LONGEST).partition(b"\n")[0].rpartition(b" ")
    if checksum != b"%08x" % crc32(words):
        return NOBODY, 0
    holder, end = words.split()
    return int(holder), int(end)


def _holder(file: IO[bytes]) -> str:
    number, _ = _read(file)
    if number == NOBODY:
        return "another process"
    return f"process {number}" + (", this one" if number == os.getpid() else "")
