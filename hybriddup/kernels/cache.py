"""The decorator of kernels, which keeps their compiled code for later processes, and the locks of that cache.

If no folder for them can be written to, kernels are compiled in memory, in every process again.
"""

from __future__ import annotations

import logging
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import IO, Any, ParamSpec, TypeVar

import numba
from numba import config

from hybriddup.kernels.cache_folder import copy_of, open_folder

P = ParamSpec("P")
R = TypeVar("R")
Kernel = TypeVar("Kernel", bound=Callable[..., Any])
LOCKED_BYTE = 2**30
"""Offset of the byte that is locked, in bytes: past the end, because Windows lets nobody read a locked byte."""


class CacheLock:
    """A lock for the compiled code of a source file, held by one thread of one process at a time; it is reentrant.

    numba numbers the files of a kernel's types by their count. If two processes compile one kernel for different types
    at the same moment, they can take the same number, and calls of one type then run the code of the other; of six
    processes that began together, one in twenty did. The system releases the lock of a process that ends.

    A kernel is compiled while the lock of its caller's file is held. Files import each other in one direction, so no
    two processes wait for each other. If ``file`` is None or cannot be locked, only threads exclude each other.
    """

    threads = RLock()
    """Shared by all locks, because numba has a lock of its own, which is held while callees are compiled."""

    def __init__(self, file: Path | None) -> None:
        self._path = file
        self._depth = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> None:
        self.threads.acquire()
        self._depth += 1
        if self._depth == 1 and self._path is not None:
            self._file = _locked(self._path)

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0 and self._file is not None:
            self._file.close()
            self._file = None
        self.threads.release()

    def around(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return the function, to be called by one at a time."""

        def locked(*arguments: P.args, **options: P.kwargs) -> R:
            with self:
                return function(*arguments, **options)

        return locked


def _locked(path: Path) -> IO[bytes] | None:
    """Return a file after locking it; None if it cannot be locked."""
    with suppress(OSError):
        file = path.open("r+b")
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
        file.seek(LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _wait_for(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)


def is_compiling() -> bool:
    """Return whether kernels are compiled at all, which NUMBA_DISABLE_JIT turns off."""
    return not config.DISABLE_JIT  # type: ignore[attr-defined]  # set when numba is imported


FOLDER: Path | None = None
"""Where compiled kernels are kept; None if they are not."""
WHY_NOT_KEPT = ""
if is_compiling():
    try:
        FOLDER = open_folder()
    except OSError as error:
        WHY_NOT_KEPT = str(error)
LOCKS: dict[Path, CacheLock] = {}


def njit(*, cache: bool, inner: bool = False, **options: Any) -> Callable[[Kernel], Kernel]:
    """Return numba's decorator of that name, which keeps what it compiles if there is a folder for it.

    An ``inner`` kernel is one that others call again and again, and that makes no arrays nor views of them. It becomes
    part of its callers then, and counts no references: handing over the arrays of a few NamedTuples takes sixty words a
    call, and a reference more and less to each an access that all cores have to agree on. Adding to posting lists takes
    a third of the time, and a look-up half.
    """
    if inner:
        options |= {"_nrt": False, "forceinline": True}

    def compiled(kernel: Kernel) -> Kernel:
        code: Any = kernel.__code__
        copy = copy_of(code.co_filename, FOLDER) if cache and FOLDER is not None else None
        if copy is None:
            return numba.njit(**options)(kernel)  # type: ignore[no-any-return]
        kernel.__code__ = code.replace(co_filename=str(copy))
        with _next_to_sources():
            dispatcher: Any = numba.njit(cache=True, **options)(kernel)
        dispatcher.compile = LOCKS.setdefault(copy, CacheLock(copy)).around(dispatcher.compile)
        return dispatcher  # type: ignore[no-any-return]

    return compiled


@contextmanager
def _next_to_sources() -> Iterator[None]:
    """Have numba keep compiled code next to the copies of sources, which are in NUMBA_CACHE_DIR if that is set.

    By itself numba would use a folder there whose name depends on the path of the copies.
    """
    settings: Any = config
    chosen, settings.CACHE_DIR = settings.CACHE_DIR, ""
    try:
        yield
    finally:
        settings.CACHE_DIR = chosen


@njit(cache=True)
def anchor() -> int:
    """Return 0; the first call of any kernel sets up numba."""
    return 0


def warn_if_nothing_is_kept() -> None:
    """Log a warning that says so and what to do; not once more in each of the processes that tokenize."""
    if WHY_NOT_KEPT and multiprocessing.parent_process() is None:
        logging.getLogger("hybriddup").warning(
            "compiled kernels are not kept, because %s: every process compiles them again, which takes up to a minute; "
            "to keep them elsewhere, set NUMBA_CACHE_DIR to a directory that only you can write to: code is loaded "
            "from it",
            WHY_NOT_KEPT,
        )
