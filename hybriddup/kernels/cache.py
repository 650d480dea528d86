"""The cache of compiled kernels: kept by numba, emptied here when the kernels have changed.

numba compiles a kernel anew when its own file has changed. One that calls kernels of other files has them compiled into
it, and would go on calling those of an older version; so the cache is emptied when any of the files has changed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import xxhash
from numba import njit

KERNELS = Path(__file__).parent
STAMP = "hybriddup-kernels.version"


@njit(cache=True)
def anchor() -> int:
    """Return 0; never called: it tells where numba keeps the compiled functions of this folder's files."""
    return 0


def cache_folder() -> Path | None:
    """Return where the compiled kernels are kept; None where nothing is compiled."""
    path = getattr(getattr(anchor, "stats", None), "cache_path", None)  # absent where the JIT is off
    return Path(path) if path else None


def forget_other_versions() -> None:
    """Empty the cache where it was filled by kernels of another version; do nothing where it cannot be written to."""
    folder = cache_folder()
    if folder is None:
        return
    version = version_of_sources()
    stamp = folder / STAMP
    with suppress(OSError):
        if stamp.exists() and stamp.read_text() == version:
            return
        for file in [*folder.glob("*.nbi"), *folder.glob("*.nbc")]:
            file.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{STAMP}.{os.getpid()}"
        unfinished.write_text(version)
        unfinished.replace(stamp)


def version_of_sources() -> str:
    """Return 16 hexadecimal digits that differ where any of the kernels differs."""
    digest = xxhash.xxh3_64()
    for file in sorted(KERNELS.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
