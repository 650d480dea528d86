"""The folder of compiled kernels, in the cache folder of the user, shared by all environments with the same versions.

Its name depends on everything that compiled code depends on: the sources, the versions of numba and Python, and the
processor. So code of another version is never loaded, and checkouts of several versions do not disturb each other.

numba stores the compiled code of a source file next to that file, so the folder also contains copies of the sources.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from time import time

import numba
import xxhash
from llvmlite import binding
from numba import config

KERNELS = Path(__file__).parent
CONSTANTS = tuple(KERNELS.parent / "data" / name for name in ("limits.py", "locks.py", "records.py"))
"""Files of other packages that this one imports. Their constants and types are compiled into kernels, too."""
UNUSED_SECONDS = 30 * 24 * 3600
"""Time without use, in seconds, after which the folder of another version is deleted."""


def open_folder() -> Path:
    """Return the folder for compiled kernels, created if missing.

    Raises
    ------
    OSError
        The folder cannot be written to, or other users could put code into it.
    """
    if folder := config.CACHE_DIR:  # type: ignore[attr-defined]  # NUMBA_CACHE_DIR, for which its user is responsible
        root = Path(folder, "hybriddup-kernels")
    else:
        root = user_cache() / "hybriddup" / "kernels"
        for path in (root.parent, root):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_is_private(path)
    folder = root / version_of_kernels()
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    TemporaryFile(dir=folder).close()
    os.utime(folder)
    if is_new:
        delete_unused(root)
    return folder


def user_cache() -> Path:
    """Return the user's cache folder; raise OSError if the home directory cannot be determined."""
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches"
        chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
        return chosen if chosen.is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:  # no home
        raise OSError(str(error)) from None


def check_is_private(folder: Path) -> None:
    """Raise PermissionError if another user owns a folder or can write to it."""
    if sys.platform == "win32":  # the profile of a user is private
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"other users can write to {folder} (allow only yourself: chmod 700 {folder})")


def delete_unused(root: Path) -> None:
    """Delete the folders of versions that have not been used for `UNUSED_SECONDS`."""
    with suppress(OSError):
        for folder in list(root.iterdir()):
            if folder.stat().st_mtime < time() - UNUSED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def version_of_kernels() -> str:
    """Return a hash, 16 hexadecimal digits, of everything that compiled code depends on."""
    versions = (numba.__version__, sys.implementation.cache_tag, binding.get_host_cpu_name())
    digest = xxhash.xxh3_64(repr(versions).encode())
    for file in (*sorted(KERNELS.rglob("*.py")), *CONSTANTS):
        digest.update(os.path.relpath(file, KERNELS).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


@cache
def copy_of(file: str, folder: Path) -> Path | None:
    """Return the path of a source file's copy in ``folder``, copying the file if necessary; None if that fails."""
    source = Path(file)
    try:
        if source.is_relative_to(KERNELS):
            copy = folder / source.relative_to(KERNELS)
        else:  # of a plugin
            version = xxhash.xxh3_64_hexdigest(source.read_bytes())
            copy = folder / "plugins" / f"{source.parent.name}-{version}" / source.name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")
            shutil.copyfile(source, unfinished)
            unfinished.replace(copy)
    except OSError:
        return None
    return copy
