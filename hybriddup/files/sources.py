"""Inputs: files or standard input. Each is opened once to read the posts, and again to copy the kept posts."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from hybriddup.errors import InputError
from hybriddup.files.compression import BUFFER_BYTES, Compression, decompressed, recognize, split_compression

STANDARD_INPUT = "-"
UTF_8 = "utf-8"
MAX_LINE_BYTES = 64_000_000
"""Default maximum length of a line in bytes; without a limit, a few compressed bytes could become a line that exhausts
the memory."""
FIRST_BYTES = 1 << 12
"""Number of bytes that are read to recognize what a file contains."""


@dataclass(frozen=True)
class Source:
    """One input. It can be opened any number of times and must give the same bytes each time."""

    name: str
    """Name as the user gave it; ``-`` for standard input."""
    compression: Compression
    identity: tuple[int, ...]
    """Device, inode, size and modification time when the input was first opened."""
    spool: BinaryIO | None = None
    """Unnamed copy on disk of an input that can be read only once, or that was converted."""
    max_line_bytes: int = MAX_LINE_BYTES
    """Maximum length of a line in a text format, in bytes, not counting its line end; longer lines are bad rows."""
    encoding: str = UTF_8
    """Python's name of the encoding of a text file; every encoding allowed stores ASCII characters as single bytes."""
    delimiter: str | None = None
    """Field separator of a table; None = the default of its format."""
    remark: str = ""
    """How the copy on disk differs from the input, as a clause for the user; empty if it does not differ."""
    path: Path = field(default=Path(), repr=False)
    """Absolute path of a file that is opened again; stored, because a plugin may change the current directory."""

    def open(self) -> BinaryIO:
        """Return a buffered stream of the decompressed bytes, from the beginning; the caller closes it."""
        return decompressed(self._open_raw(), self.compression, self.name)

    def beginning(self) -> bytes:
        """Return the first `FIRST_BYTES` decompressed bytes, or fewer if there are no more."""
        with self.open() as stream:
            return stream.read(FIRST_BYTES)

    def open_seekable(self) -> BinaryIO:
        """Return the decompressed bytes as a seekable file, for formats with an index at the end of the file."""
        if not self.compression:
            return self._open_raw()
        plain = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115  closed by the caller
        with self.open() as stream:
            shutil.copyfileobj(stream, plain, BUFFER_BYTES)
        plain.seek(0)
        return plain

    def check_unchanged(self) -> None:
        """Raise InputError if the file changed since it was opened."""
        if self.spool is not None:
            return
        try:
            unchanged = _identity(self.path.stat()) == self.identity
        except OSError:
            unchanged = False
        if not unchanged:
            raise InputError(changed(self.name))

    def close(self) -> None:
        """Delete the copy on disk, if there is one."""
        if self.spool is not None:
            self.spool.close()

    def _open_raw(self) -> BinaryIO:
        if self.spool is not None:
            copy = os.fdopen(os.dup(self.spool.fileno()), "rb", BUFFER_BYTES)
            copy.seek(0)
            return copy
        try:
            return self.path.open("rb", BUFFER_BYTES)
        except OSError as error:
            raise InputError(unreadable(self.name, error)) from None


def open_source(name: str, max_line_bytes: int = MAX_LINE_BYTES) -> Source:
    """Open an input, and copy it to disk if it can be read only once; raise InputError if it is unreadable."""
    if name == STANDARD_INPUT:
        with suppress(OSError):  # an in-memory stream, or a closed one, which fails when it is read
            _refuse_device(name, sys.stdin.fileno())
        return _spooled(name, sys.stdin.buffer, max_line_bytes)
    try:
        status = Path(name).stat()
        if stat.S_ISDIR(status.st_mode):
            raise InputError(f"{name} is a directory; name the files in it, such as {name.rstrip('/')}/*.jsonl.")
        with Path(name).open("rb") as stream:
            _refuse_device(name, stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                return _spooled(name, stream, max_line_bytes)
            compression, path = _compression(name, stream), Path(name).absolute()
            return Source(name, compression, _identity(status), None, max_line_bytes, path=path)
    except OSError as error:
        raise InputError(unreadable(name, error)) from None


def _refuse_device(name: str, descriptor: int) -> None:
    """Raise InputError for a device that may be endless, such as ``/dev/zero``, but not a terminal or null device."""
    status = os.fstat(descriptor)
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if is_device and not os.isatty(descriptor) and status.st_rdev != Path(os.devnull).stat().st_rdev:
        shown = "standard input" if name == STANDARD_INPUT else name
        raise InputError(f"{shown} is a device, not a file of posts; name a file or a pipe.")


def changed(name: str) -> str:
    """Return the message for an input that changed during the run."""
    return f"{name} changed while it was being deduplicated; run again when nothing writes to it."


def unreadable(name: str, error: OSError) -> str:
    """Return the message for an input that the operating system cannot read."""
    if name == STANDARD_INPUT and error.errno == errno.EBADF:
        return "standard input is closed; leave it open, or name a file."
    return f"{name} cannot be read: {error.strerror or error}."


def spooled(pieces: Iterable[bytes]) -> BinaryIO:
    """Write the pieces to an unnamed file on disk, and return the file; the caller closes it."""
    spool = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
    try:
        spool.writelines(pieces)
        spool.flush()
    except BaseException:
        spool.close()
        raise
    return spool


def _spooled(name: str, stream: BinaryIO, max_line_bytes: int) -> Source:
    try:
        spool = spooled(_pieces(name, stream))
    except OSError as error:
        raise InputError(
            f"{name} could not be copied to {tempfile.gettempdir()}: {error.strerror}. It must be read twice; "
            f"free some space there, set TMPDIR to another directory, or save it to a file first."
        ) from None
    spool.seek(0)
    return Source(name, _compression(name, spool), _identity(os.fstat(spool.fileno())), spool, max_line_bytes)


def _pieces(name: str, stream: BinaryIO) -> Iterator[bytes]:
    try:
        while piece := stream.read(BUFFER_BYTES):
            yield piece
    except OSError as error:
        raise InputError(unreadable(name, error)) from None


def _compression(name: str, stream: BinaryIO) -> Compression:
    _, by_name = split_compression(name)
    return by_name or recognize(stream.read(4))


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
