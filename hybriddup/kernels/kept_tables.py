"""Keeps tables of characters and words next to the compiled kernels, because loading a table is faster than making it.

Otherwise a run over a few posts would spend a seventh of its time on the same tables as the run before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import TypeVar

import numpy as np
import xxhash
from numpy.lib.format import read_array

from hybriddup.data.records import UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import FOLDER

Table = TypeVar("Table", UInt8s, UInt32s, UInt64s)


def load_or_make(
    name: str,
    make: Callable[[], Table],
    files: Iterable[str | Path],
    version: str = "",
    *,
    folder: Path | None = FOLDER,
) -> Table:
    """Return the table ``make()``, loaded from a file if an earlier process has stored it.

    Parameters
    ----------
    name
        Beginning of the name of the file.
    files, version
        All that the table depends on, except kernels: if the content of a file or the version changes, the table is
        made again.
    folder
        Where tables are stored: with the compiled kernels, or nowhere (None) if these are not kept either.
    """
    if folder is None:
        return make()
    try:
        path = folder / f"{name}-{_digest_of(files, version)}.npy"
    except OSError:  # a file is in an archive
        return make()
    with suppress(OSError, ValueError), path.open("rb") as file:  # missing or broken
        stored: Table = read_array(file)
        return stored
    table = make()
    _store(table, path)
    return table


def _store(table: Table, path: Path) -> None:
    """Store a table if possible; other threads and processes may store the same one."""
    unfinished = path.with_name(f"{os.getpid()}-{get_ident()}-{path.name}")
    with suppress(OSError):
        try:
            np.save(unfinished, table)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def _digest_of(files: Iterable[str | Path], version: str) -> str:
    """Return a hash, 16 hexadecimal digits, of the content of files and a version."""
    digest = xxhash.xxh3_64(version.encode())
    for file in files:
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()
