"""Files that only their owner can read, as posts are not for other users of a machine, and one that is a lock."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from hybriddup.errors import StoreError

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
LOCKED_BYTE = 1 << 30
"""Windows keeps others from reading what is locked, so the byte locked there is one after the process id."""


def open_private(path: str | Path, flags: int) -> int:
    """Return a descriptor of a file, which is made where there is none; an ``opener`` of `open`."""
    return os.open(path, flags | os.O_CREAT, PRIVATE_FILE)


class WriterLock:
    """Holds the lock of a file, which says who holds it, until `release`; the system lets go when its holder ends."""

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
        with suppress(OSError):  # a full disk: the lock holds without saying whose it is
            file.truncate(0)
            file.write(b"%d\n" % os.getpid())

    def release(self) -> None:
        """Let others have it; a second call does nothing. The file stays, as another may be waiting to lock it."""
        if self._file is not None:
            with suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None


def _holder(file: IO[bytes]) -> str:
    file.seek(0)
    words = file.read(32).split()
    if not words or not words[0].isdigit():
        return "another process"
    number = int(words[0])
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
