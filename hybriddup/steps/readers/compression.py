"""Decompression of inputs and compression of outputs: ``.gz``, ``.zst`` and plain."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import BinaryIO, Literal, cast

from hybriddup.errors import InputError

Compression = Literal["", "gz", "zst"]

SUFFIXES: dict[str, Compression] = {".gz": "gz", ".zst": "zst"}
MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst"}
BUFFER_BYTES = 1 << 20


def split_compression(name: str) -> tuple[str, Compression]:
    """Return a file name without its compression suffix, and the compression that the suffix stands for.

    Examples
    --------
    >>> split_compression("posts.jsonl.gz")
    ('posts.jsonl', 'gz')
    """
    suffix = PurePath(name).suffix.lower()
    compression = SUFFIXES.get(suffix, "")
    return (name[: -len(suffix)], compression) if compression else (name, "")


def recognize(first_bytes: bytes) -> Compression:
    """Return the compression that a file's first bytes show, for files whose name does not say."""
    return next((kind for magic, kind in MAGIC.items() if first_bytes.startswith(magic)), "")


def decompressed(stream: BinaryIO, compression: Compression, name: str) -> BinaryIO:
    """Return a buffered stream of the plain bytes; closing it closes ``stream``.

    Reading from it raises InputError, which names the file, where the compressed data is damaged or cut short.
    """
    if compression == "":
        return stream
    raw: io.RawIOBase = _Gzip(stream, name) if compression == "gz" else _Zstandard(stream, name)
    return io.BufferedReader(raw, BUFFER_BYTES)


@contextmanager
def compressing(stream: BinaryIO, compression: Compression) -> Iterator[BinaryIO]:
    """Give a stream for plain bytes; at the end the compressed data is complete and ``stream`` still open.

    The same bytes always compress to the same bytes: neither time nor file name is stored.
    """
    if compression == "":
        yield stream
        return
    with io.BufferedWriter(_packer(stream, compression), BUFFER_BYTES) as plain:
        yield plain


def _packer(stream: BinaryIO, compression: Compression) -> io.RawIOBase:
    if compression == "gz":
        return cast("io.RawIOBase", gzip.GzipFile(filename="", fileobj=stream, mode="wb", compresslevel=6, mtime=0))
    import zstandard

    return cast("io.RawIOBase", zstandard.ZstdCompressor(level=3).stream_writer(stream, closefd=False))


class _Decompressor(io.RawIOBase):
    """Base of the decompressing streams: ``_next`` gives the next plain bytes, none at the end."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._pending:
            self._pending = self._next()
        part = self._pending[: len(buffer)]
        buffer[: len(part)] = part
        self._pending = self._pending[len(part) :]
        return len(part)

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _next(self) -> bytes:
        raise NotImplementedError


class _Gzip(_Decompressor):
    def __init__(self, stream: BinaryIO, name: str) -> None:
        super().__init__(stream, name)
        self._members = gzip.GzipFile(fileobj=stream, mode="rb")

    def _next(self) -> bytes:
        try:
            return self._members.read1(BUFFER_BYTES)
        except EOFError:
            raise InputError(_cut_short(self._name, "gz")) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(_damaged(self._name, "gz", error)) from None


class _Zstandard(_Decompressor):
    """Reads frame after frame, because zstandard's own stream reader does not tell when the last one is cut short."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        import zstandard

        super().__init__(stream, name)
        self._error = zstandard.ZstdError
        self._context = zstandard.ZstdDecompressor(max_window_size=2**31)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._unread = b""

    def _next(self) -> bytes:
        while chunk := self._unread or self._stream.read(BUFFER_BYTES):
            if self._frame is None:
                self._frame = self._context.decompressobj()
            try:
                plain = self._frame.decompress(chunk)
            except self._error as error:
                raise InputError(_damaged(self._name, "zst", error)) from None
            self._unread = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
            if plain:
                return plain
        if self._frame is not None:
            raise InputError(_cut_short(self._name, "zst"))
        return b""


def _cut_short(name: str, compression: Compression) -> str:
    return f"{name} ends in the middle of its {compression} data: the file is cut short; copy or create it again."


def _damaged(name: str, compression: Compression, error: Exception) -> str:
    return f"{name} cannot be decompressed: {error}. Check the file, or its name if it holds no {compression} data."
