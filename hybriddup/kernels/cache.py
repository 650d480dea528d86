"""The cache of compiled kernels: kept by numba, emptied here when the kernels have changed.

numba compiles a kernel anew when its own file has changed. One that calls kernels of other files has them compiled into
it, and would go on calling those of an older version; so the cache is emptied when any of the files has changed.

Where no directory for a cache can be written to, numba refuses to compile anything that is to be kept. Kernels are then
compiled in memory, in every process anew.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import IO, Any, ParamSpec, TypeVar

import numba
import xxhash
from numba import config

P = ParamSpec("P")
R = TypeVar("R")
FILE = "hybriddup-kernels.lock"


class CacheLock:
    """Held by one thread of one process at a time; the thread that holds it may take it again.

    numba numbers the files of a kernel's types by how many there are. Two processes that compile one kernel for
    different types at the same moment can take the same number, and from then on calls of one type run the code of the
    other; of six processes that began together, one in twenty did. The system releases the lock of a process that ends.

    Where no file can be locked in ``folder``, or that is None, only the threads of this process wait for each other.
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


KERNELS = Path(__file__).parent
Kernel = TypeVar("Kernel", bound=Callable[..., Any])

STAMP = "hybriddup-kernels.version"
NOT_KEPT = (
    "compiled kernels are not kept, because no directory for them can be written to: every process compiles them anew, "
    "which takes some twenty seconds; set NUMBA_CACHE_DIR to a directory that only you can write to: code is loaded "
    "from it"
)


def nothing() -> int:
    """Return 0; compiled, it tells where numba keeps the compiled functions of this folder's files."""
    return 0


def compiled_if_kept(function: Callable[[], int]) -> Callable[[], int]:
    """Return a function for numba to compile and keep; the function itself where it cannot be kept."""
    try:
        kept: Callable[[], int] = numba.njit(cache=True)(function)
    except RuntimeError:  # numba has found no directory that it can write to
        return function
    return kept


anchor = compiled_if_kept(nothing)


def cache_folder() -> Path | None:
    """Return where the compiled kernels are kept; None where nothing is compiled, or nothing can be kept."""
    path = getattr(getattr(anchor, "stats", None), "cache_path", None)  # absent where it is the plain function
    return Path(path) if path else None


KEEPS = cache_folder() is not None
LOCK = CacheLock(cache_folder())


def njit(*, cache: bool, inner: bool = False, **options: Any) -> Callable[[Kernel], Kernel]:
    """Return numba's decorator of that name, which keeps what it compiles where there is a directory for it.

    An ``inner`` kernel is one that others call again and again, and that makes no arrays nor views of them. It becomes
    part of its callers then, and counts no references: handing over the arrays of a few NamedTuples takes sixty words a
    call, and a reference more and less to each an access that all cores have to agree on. Adding to posting lists takes
    a third of the time, and a look-up half.
    """
    if inner:
        options |= {"_nrt": False, "forceinline": True}
    decorator: Callable[[Kernel], Kernel] = numba.njit(cache=cache and KEEPS, **options)

    def compiled(kernel: Kernel) -> Kernel:
        dispatcher: Any = decorator(kernel)
        if cache and KEEPS:
            dispatcher.compile = LOCK.around(dispatcher.compile)
        return dispatcher  # type: ignore[no-any-return]

    return compiled


BLAS_OF_NUMBA = "scipy.linalg.cython_blas"
"""What numba looks for when it sets itself up; no kernel uses it, and importing it takes a fifth of a second."""


def set_up_without_blas() -> None:
    """Let numba set itself up as if there were no BLAS, in a process where nothing else imports scipy meanwhile."""
    if BLAS_OF_NUMBA in sys.modules:
        anchor()
        return
    sys.modules[BLAS_OF_NUMBA] = None  # importing it fails then
    try:
        anchor()
    finally:
        del sys.modules[BLAS_OF_NUMBA]


def is_compiling() -> bool:
    """Return whether kernels are compiled at all, which NUMBA_DISABLE_JIT turns off."""
    return not config.DISABLE_JIT  # type: ignore[attr-defined]  # set when numba is imported


def warn_where_nothing_is_kept() -> None:
    """Log one line that says so and what to set; not once more in each of the processes that tokenize."""
    if is_compiling() and not KEEPS and multiprocessing.parent_process() is None:
        logging.getLogger("hybriddup").warning(NOT_KEPT)


def forget_other_versions() -> None:
    """Empty the cache where it was filled by kernels of another version; do nothing where it cannot be written to."""
    folder = cache_folder()
    if folder is None:
        return
    version = version_of_sources()
    stamp = folder / STAMP
    with LOCK, suppress(OSError):
        if stamp.exists() and stamp.read_text() == version:
            return
        for file in [*folder.glob("*.nbi"), *folder.glob("*.nbc")]:
            file.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{STAMP}.{os.getpid()}"
        unfinished.write_text(version)
        unfinished.replace(stamp)


def take_over(other: Path) -> None:
    """Move what another process has compiled into a cache of its own to this one, kernel by kernel.

    Of a kernel that both have compiled this cache keeps what it has: the files of one are numbered by types.
    """
    folder = cache_folder()
    if folder is None:
        return
    with LOCK:
        for index in other.rglob("*.nbi"):
            if not (folder / index.name).exists():
                files = [file for file in index.parent.iterdir() if file.name.startswith(f"{index.stem}.")]
                for file in sorted(files, key=lambda file: file == index):  # last of all what names the others
                    shutil.move(file, folder / file.name)


def version_of_sources() -> str:
    """Return 16 hexadecimal digits that differ where any of the kernels differs."""
    digest = xxhash.xxh3_64()
    for file in sorted(KERNELS.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
