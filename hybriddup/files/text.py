"""What the line-based formats share: lines of bytes, the byte order mark, and UTF-8 that may be broken."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from hybriddup.errors import InputError
from hybriddup.files.sources import Source

UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def text_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    r"""Return the lines with their line ends (``\n``, also after ``\r``), without a byte order mark at the start.

    Raises
    ------
    InputError
        The file is UTF-16, as Windows programs write it.
    """
    first = stream.readline()
    if first.startswith(UTF16_MARKS) and b"\0" in first:
        raise InputError(f"{name} is UTF-16, but posts must be UTF-8; convert it: iconv -f UTF-16 -t UTF-8 {name}")
    return chain(filter(None, [first.removeprefix(UTF8_MARK)]), stream)


def starts_with_mark(source: Source) -> bool:
    """Return whether the source begins with a UTF-8 byte order mark."""
    with source.open() as stream:
        return stream.read(len(UTF8_MARK)) == UTF8_MARK


def broken_utf8(error: UnicodeDecodeError) -> str:
    """Return the reason why a line is bad, for people."""
    return f"not valid UTF-8 (byte 0x{error.object[error.start]:02x} at position {error.start})"
