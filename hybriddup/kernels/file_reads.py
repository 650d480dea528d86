"""Reads from many places of files in one call: each by itself would give up the interpreter and wait for it anew.

The only kernels that are not pure: they call the system by POSIX names, and plain Python's `os` when the JIT is off.
"""

import os
from contextlib import suppress
from typing import Any

import numpy as np
from numba import config, types

from hybriddup.data.records import Int32s, Int64s, UInt8s
from hybriddup.kernels.cache import njit

WILL_NEED = np.int32(getattr(os, "POSIX_FADV_WILLNEED", 3))

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when numba is imported

    def fetch_from_disk(descriptor: np.int32, offset: np.int64, size: np.int64) -> None:
        """Have the system read some bytes of a file soon."""
        with suppress(OSError):
            os.posix_fadvise(int(descriptor), int(offset), int(size), int(WILL_NEED))

    def read_into(buffer: UInt8s, descriptor: np.int32, offset: np.int64) -> np.int64:
        """Read bytes of a file into a buffer, uint8[size]; return how many there were, -1 where they cannot be read."""
        try:
            return np.int64(os.preadv(int(descriptor), [memoryview(buffer)], int(offset)))
        except OSError:
            return np.int64(-1)

else:
    posix_fadvise: Any = types.ExternalFunction(
        "posix_fadvise", types.int32(types.int32, types.int64, types.int64, types.int32)
    )
    pread: Any = types.ExternalFunction("pread", types.int64(types.int32, types.voidptr, types.uint64, types.int64))

    @njit(cache=True, nogil=True)
    def fetch_from_disk(descriptor: np.int32, offset: np.int64, size: np.int64) -> None:
        """Have the system read some bytes of a file soon."""
        posix_fadvise(descriptor, offset, size, WILL_NEED)

    @njit(cache=True, nogil=True)
    def read_into(buffer: UInt8s, descriptor: np.int32, offset: np.int64) -> np.int64:
        """Read bytes of a file into a buffer, uint8[size]; return how many there were, -1 where they cannot be read."""
        n_read: np.int64 = pread(descriptor, buffer.ctypes, np.uint64(len(buffer)), offset)
        return n_read


@njit(cache=True, nogil=True)
def read_together(descriptors: Int32s, offsets: Int64s, size: int) -> tuple[UInt8s, Int64s]:
    """Return what many places of files hold; all are asked of the disk before the first is waited for.

    Parameters
    ----------
    descriptors
        int32[n]: of open files.
    offsets
        int64[n]: where to read, in bytes.
    size
        Bytes to read at each place.

    Returns
    -------
    read
        uint8[n, size]: 0 where nothing was read.
    n_read
        int64[n]: fewer than ``size`` where a file ends before, -1 where it cannot be read.
    """
    read, n_read = np.zeros((len(offsets), size), np.uint8), np.empty(len(offsets), np.int64)
    for i in range(len(offsets)):
        fetch_from_disk(descriptors[i], offsets[i], np.int64(size))
    for i in range(len(offsets)):
        n_read[i] = read_into(read[i], descriptors[i], offsets[i])
    return read, n_read
