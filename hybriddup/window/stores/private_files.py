"""Files that only their owner can read, as posts are not for other users of a machine, and one that is a lock."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO
from zlib import crc32

from hybriddup.errors import StoreError

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
NOBODY = 0
"""In place of the number of a process."""
LONGEST = 64
"""Bytes of what the file of a lock says, at most."""
LOCKED_BYTE = 1 << 30
"""Windows keeps others from reading what is locked, so the byte locked there is one after the process id."""


def open_private(path: str | Path, flags: int) -> int:
    """Return a descriptor of a file, which is made where there is none; an ``opener`` of `open`."""
    return os.open(path, flags | os.O_CREAT, PRIVATE_FILE)


class WriterLock:
    """Holds the lock of a file until `release`; the system lets go when the process ends.

    The file says which process holds it, and where the store ended at the last acknowledgement. SQLite ends a damaged
    log early without a word, so only something outside of it can say that posts are missing.
    """

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] | None = None
        try:
            file = os.fdopen(open_private(path, os.O_RDWR), "r+b", buffering=0)
        except OSError as error:
            raise StoreError(f"{path.parent} cannot be written to: {error.strerror}; see to its permissions") from error
        try:
            _lock(file)
        except OSError:
            holder = _holder(file)
            file.close()
            raise StoreError(
                f"{path.parent} is in use by {holder}; one window at a time writes to a store: close that one, or open "
                "this one in another directory, or to look only, with read_only=True"
            ) from None
        self._file = file
        _, self.end = _read(file)
        """The next position of the store when posts were last acknowledged; 0 if that is not known."""
        self.note(self.end)

    def note(self, end: int) -> None:
        """Note the next position of the store; a process that ends at any moment leaves this one or the one before."""
        self.end = end
        self._write(os.getpid())

    def release(self) -> None:
        """Let others have it; a second call does nothing. The file stays, as another may be waiting to lock it."""
        if self._file is not None:
            self._write(NOBODY)
            self._file.close()
            self._file = None

    def _write(self, holder: int) -> None:
        words = b"%-10d %-20d" % (holder, self.end)  # always as long, so that none is left of those before
        if self._file is not None:
            with suppress(OSError):  # a full disk: the lock holds without saying whose it is
                self._file.seek(0)
                self._file.write(b"%s %08x\n" % (words, crc32(words)))


def _read(file: IO[bytes]) -> tuple[int, int]:
    """Return the process that holds a lock and the noted position, `NOBODY` and 0 if the file does not say."""
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


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(0)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
