"""Decompress inputs and compress outputs: ``.gz``, ``.zst``, ``.bz2``, ``.xz`` or plain."""

from __future__ import annotations

import bz2
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, BinaryIO, Literal, cast

from hybriddup.errors import InputError
from hybriddup.files.table_names import is_table

Compression = Literal["", "gz", "zst", "bz2", "xz"]

SUFFIXES: dict[str, Compression] = {".gz": "gz", ".zst": "zst", ".bz2": "bz2", ".xz": "xz"}
MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2", b"\xfd7zX": "xz"}
BUFFER_BYTES = 1 << 20
ZSTD_BYTES = 1 << 11
"""Number of compressed bytes per decompression step: few, because the output can be 32,768 times as large."""
BLOCK_BYTES = 1 << 20
"""Number of uncompressed bytes per gzip compression step."""


def split_compression(name: str) -> tuple[str, Compression]:
    """Split a file name into the name without its compression suffix, and the compression; "" = not compressed."""
    suffix = "" if is_table(name) else PurePath(name).suffix.lower()
    compression = SUFFIXES.get(suffix, "")
    return (name[: -len(suffix)], compression) if compression else (name, "")


def recognize(first_bytes: bytes) -> Compression:
    """Detect the compression of a file by its magic number; return "" for an uncompressed file."""
    return next((kind for magic, kind in MAGIC.items() if first_bytes.startswith(magic)), "")


def decompressed(stream: BinaryIO, compression: Compression, name: str) -> BinaryIO:
    """Return a buffered stream of the decompressed bytes; closing it closes ``stream``.

    Reading from it raises InputError, which names the file, if the compressed data is damaged or truncated.
    """
    return io.BufferedReader(_Unpacked(stream, compression, name), BUFFER_BYTES) if compression else stream


@contextmanager
def compressing(stream: BinaryIO, compression: Compression, block_bytes: int = BLOCK_BYTES) -> Iterator[BinaryIO]:
    """Yield a stream that writes compressed data to ``stream``; on exit, the data is complete; ``stream`` stays open.

    The output is deterministic, because it contains neither a time nor a file name.
    """
    if compression == "":
        yield stream
    elif compression == "gz":
        from isal import igzip

        packer: Any = igzip.IGzipFile("", "wb", 3, stream, mtime=0)  # type: ignore[no-untyped-call]
        with packer as packed, io.BufferedWriter(_Blocks(packed, block_bytes), BUFFER_BYTES) as plain:
            yield plain
    elif compression == "zst":
        import zstandard

        packer = zstandard.open(stream, "wb", zstandard.ZstdCompressor(level=3), closefd=False)
        with packer as packed, io.BufferedWriter(packed, BUFFER_BYTES) as plain:  # zstandard's writer lacks writelines
            yield plain
    else:
        with (lzma.LZMAFile if compression == "xz" else bz2.BZ2File)(stream, "wb") as plain:
            yield cast("BinaryIO", plain)


class _Blocks(io.RawIOBase):
    """Stream that passes data on in blocks of fixed size, so that gzip output does not depend on the size of writes."""

    def __init__(self, target: BinaryIO, block_bytes: int) -> None:
        self._target = target
        self._block_bytes = block_bytes
        self._block = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._block += data
        while len(self._block) >= self._block_bytes:
            self._target.write(self._block[: self._block_bytes])
            del self._block[: self._block_bytes]
        return memoryview(data).nbytes

    def close(self) -> None:
        if not self.closed:
            self._target.write(self._block)
        super().close()


class _Unpacked(io.RawIOBase):
    """Decompresses a stream as it is read; raises InputError, which names the file, if the data is damaged."""

    def __init__(self, stream: BinaryIO, compression: Compression, name: str) -> None:
        self._stream = stream
        self._compression = compression
        self._name = name
        self._reader, self._error = _reader_of(stream, compression)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            n_bytes: int = self._reader.readinto1(buffer)
        except EOFError:
            fault = f"{self._name} ends in the middle of its {self._compression} data"
            raise InputError(f"{fault}: the file is cut short; copy or create it again.") from None
        except self._error as error:
            remedy = f"Check the file, or its name if it holds no {self._compression} data."
            raise InputError(f"{self._name} cannot be decompressed: {error}. {remedy}") from None
        return n_bytes

    def close(self) -> None:
        self._stream.close()
        super().close()


def _reader_of(stream: BinaryIO, compression: Compression) -> tuple[Any, type[Exception] | tuple[type[Exception], ...]]:
    """Return a decompressing stream, and the exceptions it raises if the data is damaged."""
    if compression == "gz":
        from isal import igzip, isal_zlib

        errors = cast("tuple[type[Exception], ...]", (igzip.BadGzipFile, isal_zlib.error))
        return igzip.IGzipFile(fileobj=stream, mode="rb"), errors  # type: ignore[no-untyped-call]
    if compression == "zst":
        import zstandard

        return io.BufferedReader(_Frames(stream), ZSTD_BYTES), zstandard.ZstdError
    return (lzma.LZMAFile(stream), lzma.LZMAError) if compression == "xz" else (bz2.BZ2File(stream), OSError)


class _Frames(io.RawIOBase):
    """Stream that decompresses Zstandard frame by frame; zstandard's own reader accepts a truncated last frame."""

    def __init__(self, stream: BinaryIO) -> None:
        import zstandard

        self._stream = stream
        self._context = zstandard.ZstdDecompressor(max_window_size=2**31)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._unread = self._plain = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._plain and (chunk := self._unread or self._stream.read(ZSTD_BYTES)):
            self._frame = self._frame or self._context.decompressobj()
            self._plain = self._frame.decompress(chunk)
            self._unread = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        if not self._plain and self._frame is not None:
            raise EOFError
        part, self._plain = self._plain[: len(buffer)], self._plain[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)
