"""A variant of `numba.njit` that caches compiled kernels on disk for later processes, and the locks of this cache.

If there is no writable folder for the cache, every process compiles the kernels again, in memory.
"""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import IO, Any, TypeVar

import numba
from numba import config

from hybriddup.data.locks import lock
from hybriddup.kernels.blas import delayed_blas
from hybriddup.kernels.cache_folder import copy_of, open_folder

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class CacheLock(ContextDecorator):
    """A reentrant lock for the compiled code of a source file, held by one thread of one process at a time.

    It is for ``with`` statements, and decorates functions that hold it while they run.

    numba stores one numbered cache file for each signature of a kernel. If two processes compile a kernel for different
    signatures at the same time, they may take the same number, and calls with one signature then run the code of the
    other. With six processes started together, this happened to one process in twenty. The system releases the locks
    of a process that ends.

    A kernel is compiled while its caller's file is locked. Files have no circular imports, so processes cannot
    deadlock. If ``file`` is None or cannot be locked, the lock works only between threads.
    """

    threads = RLock()
    """The lock between threads, one for all instances: with one per file, threads could deadlock on the global lock
    that numba holds while it compiles callees."""

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


def _locked(path: Path) -> IO[bytes] | None:
    """Open and lock a file; return it, or None if it cannot be locked."""
    with suppress(OSError):
        file = path.open("r+b")
        try:
            lock(file.fileno(), wait=True)
        except OSError:
            file.close()
        else:
            return file
    return None


def is_compiling() -> bool:
    """Return whether kernels are compiled at all; NUMBA_DISABLE_JIT turns this off."""
    return not config.DISABLE_JIT  # type: ignore[attr-defined]  # set when numba is imported


FOLDER: Path | None = None
"""The folder of compiled kernels; None if they are not cached."""
WHY_NOT_KEPT = ""
if is_compiling():
    try:
        FOLDER = open_folder()
    except OSError as error:
        WHY_NOT_KEPT = str(error)
LOCKS: dict[Path, CacheLock] = {}


def njit(*, cache: bool, inner: bool = False, **options: Any) -> Callable[[Kernel], Kernel]:
    """Return a decorator like `numba.njit`; with ``cache``, compiled code is stored in `FOLDER`, unless that is None.

    ``inner`` is for kernels that other kernels call very often, and that create no arrays or views: they are inlined,
    without reference counting. Otherwise, each call that passes a few NamedTuples of arrays would copy sixty 64-bit
    integers, and change reference counts by atomic operations. Inlining cuts the time of adding to posting lists to a
    third, and the time of a look-up to half. They have no entry point for Python: a process that calls one from Python
    crashes. Entry points take a quarter of the compiling time.
    """
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner}
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
        dispatcher.compile = LOCKS.setdefault(copy, CacheLock(copy))(delayed_blas()(dispatcher.compile))
        return dispatcher  # type: ignore[no-any-return]

    return compiled


@contextmanager
def _next_to_sources() -> Iterator[None]:
    """In a ``with`` block, make numba store compiled code next to the copies of the sources, ignoring NUMBA_CACHE_DIR.

    If NUMBA_CACHE_DIR is set, the copies are already in it, but numba would create another folder there, named after
    the path of the copies.
    """
    settings: Any = config
    chosen, settings.CACHE_DIR = settings.CACHE_DIR, ""
    try:
        yield
    finally:
        settings.CACHE_DIR = chosen


@njit(cache=True)
def anchor() -> int:
    """Return 0; called only because the first call of any kernel initializes numba."""
    return 0


def warn_if_nothing_is_kept() -> None:
    """Log a warning if compiled kernels are not cached, but only in the main process."""
    if WHY_NOT_KEPT and multiprocessing.parent_process() is None:
        logging.getLogger("hybriddup").warning(
            "compiled kernels are not kept, because %s: every process compiles them again, which takes up to a minute; "
            "to keep them elsewhere, set NUMBA_CACHE_DIR to a directory that only you can write to: code is loaded "
            "from it",
            WHY_NOT_KEPT,
        )
