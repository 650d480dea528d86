"""The cache of compiled kernels, which numba fills, and which is emptied here when the kernels change.

numba compiles a kernel again if its own file changed. But the machine code of a kernel includes the kernels that it
calls, also those of other files, and would keep their old versions. So the cache is emptied when any file changed.

Compiling all kernels of a run takes 40 to 55 s of processor time. Without a writable directory for the cache, numba
refuses to compile cached functions, so kernels are compiled in memory, again in every process.
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
from types import FunctionType
from typing import IO, Any, ParamSpec, TypeVar

import numba
import xxhash
from numba import config

P = ParamSpec("P")
R = TypeVar("R")
FILE = "hybriddup-kernels.lock"


class CacheLock:
    """A reentrant lock between all threads of all processes.

    numba numbers the cached versions of a kernel, one per signature, by counting them. Two processes that compile a
    kernel for different signatures at the same moment can take the same number, and then calls with one signature run
    the code of the other; this happened in one of twenty starts of six processes. The operating system releases the
    lock when its process ends.

    If no file can be locked in ``folder``, or ``folder`` is None, it is a lock between the threads of this process.
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
        """Return a function that calls ``function`` while holding the lock."""

        def locked(*arguments: P.args, **options: P.kwargs) -> R:
            with self:
                return function(*arguments, **options)

        return locked


def _locked(path: Path) -> IO[bytes] | None:
    """Wait for the lock of a file and return the locked file; None if it cannot be locked."""
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
NO_CACHE = (
    "compiled kernels cannot be cached, because no directory for them is writable: every process compiles them again, "
    "which takes up to a minute; set NUMBA_CACHE_DIR to a directory that only you can write to, because code is loaded "
    "from it"
)


def nothing() -> int:
    """Return 0; its compiled version shows the cache directory of its file's folder."""
    return 0


def compiled_if_cached(function: Callable[[], int]) -> Callable[[], int]:
    """Return the compiled and cached version of a function; the function itself if it cannot be cached."""
    try:
        compiled: Callable[[], int] = numba.njit(cache=True)(function)
    except RuntimeError:  # numba has found no directory that it can write to
        return function
    return compiled


def anchored(folder: Path) -> Callable[[], int]:
    """Return `nothing` as a function of a file in a folder, compiled if it can be cached."""
    code = nothing.__code__.replace(co_filename=str(folder / "__init__.py"))
    return compiled_if_cached(FunctionType(code, globals()))


anchors = {file.parent.name: anchored(file.parent) for file in sorted(KERNELS.rglob("__init__.py"))}
anchor = anchors[KERNELS.name]


def cache_folders() -> dict[str, Path]:
    """Return the cache directory of each folder of kernels; empty if kernels are not compiled or cannot be cached."""
    stats = {name: getattr(anchor, "stats", None) for name, anchor in anchors.items()}  # None of a plain function
    paths = {name: getattr(stat, "cache_path", None) for name, stat in stats.items()}
    return {name: Path(path) for name, path in paths.items() if path} if all(paths.values()) else {}


def cache_folder() -> Path | None:
    """Return the cache directory of the package itself, which contains `STAMP`; None if kernels are not cached."""
    return cache_folders().get(KERNELS.name)


KEEPS = cache_folder() is not None
LOCK = CacheLock(cache_folder())


def njit(*, cache: bool, inner: bool = False, **options: Any) -> Callable[[Kernel], Kernel]:
    """Return numba's decorator of the same name, with caching only if there is a writable directory.

    An ``inner`` kernel is one that others call very often, and that creates neither arrays nor views. It is inlined,
    and counts no references: passing the arrays of a few NamedTuples would copy sixty words per call, and each change
    of a reference count is an atomic operation. Adding to posting lists then takes a third of the time, and a look-up
    half.
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


def is_compiling() -> bool:
    """Return whether kernels are compiled; NUMBA_DISABLE_JIT turns this off."""
    return not config.DISABLE_JIT  # type: ignore[attr-defined]  # set when numba is imported


def warn_without_cache() -> None:
    """Log a warning if compiled kernels cannot be cached; once, and not in child processes such as tokenizers."""
    if is_compiling() and not KEEPS and multiprocessing.parent_process() is None:
        logging.getLogger("hybriddup").warning(NO_CACHE)


def forget_other_versions() -> None:
    """Empty the cache if it is from another version of the kernels; do nothing if there is no cache."""
    folder = cache_folder()
    if folder is None:
        return
    version = version_of_sources()
    stamp = folder / STAMP
    with LOCK, suppress(OSError):
        if stamp.exists() and stamp.read_text() == version:
            return
        for file in (file for kept in cache_folders().values() for file in kept.glob("*.nb[ic]")):
            file.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{STAMP}.{os.getpid()}"
        unfinished.write_text(version)
        unfinished.replace(stamp)


def take_over(other: Path) -> None:
    """Move the kernels from the cache ``other``, which another process filled, into this one.

    A kernel that is in both caches is not moved, because its files are numbered by signature. numba names the directory
    of a cache after the folder of the sources, and appends a hash.
    """
    with LOCK:
        for name, folder in cache_folders().items():
            for index in other.glob(f"{name}_*/*.nbi"):
                if not (folder / index.name).exists():
                    files = [file for file in index.parent.iterdir() if file.name.startswith(f"{index.stem}.")]
                    folder.mkdir(parents=True, exist_ok=True)
                    for file in sorted(files, key=lambda file: file == index):  # the index last: it names the others
                        shutil.move(file, folder / file.name)


def version_of_sources() -> str:
    """Return a hash of all kernels, as 16 hexadecimal digits."""
    digest = xxhash.xxh3_64()
    for file in sorted(KERNELS.rglob("*.py")):
        digest.update(file.relative_to(KERNELS).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
