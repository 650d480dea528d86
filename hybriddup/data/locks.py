"""Locks of open files; the system releases the lock of a process that ends."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os

    LOCKED_BYTE = 2**30
    """Offset of the byte to lock, past the end of the file, because Windows lets nobody else read a locked byte."""

    def lock(descriptor: int, *, wait: bool) -> None:
        """Lock an open file, waiting up to ten seconds, or not at all without ``wait``; OSError if that fails."""
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def lock(descriptor: int, *, wait: bool) -> None:
        """Lock an open file; OSError if its file system has no locks or, without ``wait``, if it is locked already."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
