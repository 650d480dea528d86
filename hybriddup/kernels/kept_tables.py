"""Keeps tables of characters and words next to the compiled kernels, because loading a table is faster than making it.

Otherwise a run over a few posts would spend a seventh of its time on the same tables as the run before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import numpy as np
import xxhash
from numpy.lib.format import read_array

from hybriddup.data.records import UInt8s, UInt32s, UInt64s
from hybriddup.kernels import cache

Table = TypeVar("Table", UInt8s, UInt32s, UInt64s)


def load_or_make(name: str, make: Callable[[], Table], files: Iterable[str | Path], version: str = "") -> Table:
    """Return the table ``make()``, loaded from a file if an earlier process has stored it.

    Parameters
    ----------
    name
        Beginning of the name of the file.
    files, version
        All that the table depends on, except kernels: if the content of a file or the version changes, the table is
        made again.
    """
    path = None
    with suppress(OSError):  # the package may be in an archive
        path = _path_of(name, files, version)
    if path is None:
        return make()
    with suppress(OSError, ValueError), path.open("rb") as file:  # missing or broken
        stored: Table = read_array(file)
        return stored
    table = make()
    with suppress(OSError):
        unfinished = path.with_name(f"{os.getpid()}-{path.name}")
        np.save(unfinished, table)
        unfinished.replace(path)
    return table


def _path_of(name: str, files: Iterable[str | Path], version: str) -> Path | None:
    """Return the path of the file for these inputs; None if compiled kernels are not kept either."""
    if cache.FOLDER is None:
        return None
    digest = xxhash.xxh3_64(version.encode())
    for file in files:
        digest.update(Path(file).read_bytes())
    return cache.FOLDER / f"{name}-{digest.hexdigest()}.npy"
