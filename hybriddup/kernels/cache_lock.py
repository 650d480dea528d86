"""A lock around compiling: one process at a time writes to the cache of compiled kernels.

numba numbers the files of a kernel's types by how many there are. Two processes that compile one kernel for different
types at the same moment can take the same number, and from then on calls of one type run the code of the other; of six
processes that began together, one in twenty did. The system releases the lock of a process that ends.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import IO, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
FILE = "hybriddup-kernels.lock"


class CacheLock:
    """Held by one thread of one process at a time; the thread that holds it may take it again.

    Parameters
    ----------
    folder
        Where the compiled kernels are kept; None = nowhere. Where no file can be locked there, only the threads of this
        process wait for each other.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._threads = RLock()
        self._depth = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> None:
        self._threads.acquire()
        self._depth += 1
        if self._depth == 1 and self._folder is not None:
            self._file = _locked(self._folder / FILE)

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._file is not None:
            self._file.close()
            self._file = None
        self._threads.release()

    def around(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, to be called by one at a time."""

        def locked(*arguments: P.args, **options: P.kwargs) -> R:
            with self:
                return function(*arguments, **options)

        return locked


def _locked(path: Path) -> IO[bytes] | None:
    """Return a file when nobody else has locked it; None where that cannot be done."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
        try:
            _wait_for(file)
        except OSError:
            file.close()
        else:
            return file
    return None


if sys.platform == "win32":
    import msvcrt

    def _wait_for(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _wait_for(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
