"""Decompression of inputs and compression of outputs: ``.gz``, ``.zst``, ``.bz2``, ``.xz`` and plain."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from hybriddup.errors import InputError
from hybriddup.steps.parallel import available_workers

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Compression = Literal["", "gz", "zst", "bz2", "xz"]

SUFFIXES: dict[str, Compression] = {".gz": "gz", ".zst": "zst", ".bz2": "bz2", ".xz": "xz"}
MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gz", b"\x28\xb5\x2f\xfd": "zst", b"BZh": "bz2", b"\xfd7zX": "xz"}
BUFFER_BYTES = 1 << 20
ZSTD_BYTES = 1 << 11
"""Compressed bytes that are unpacked at once: some may hold 32,768 times as many."""
BLOCK_BYTES = 1 << 20
"""Plain bytes in a gzip member that is written."""
GZIP = 31
"""What zlib calls the format: the largest window, and header and checksum of gzip."""


def split_compression(name: str) -> tuple[str, Compression]:
    """Return a file name without its compression suffix, and the compression that the suffix stands for."""
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
    raw: io.RawIOBase = _Zstandard(stream, name) if compression == "zst" else _Members(stream, name, compression)
    return io.BufferedReader(raw, BUFFER_BYTES)


@contextmanager
def compressing(stream: BinaryIO, compression: Compression, block_bytes: int = BLOCK_BYTES) -> Iterator[BinaryIO]:
    """Give a stream for plain bytes; at the end the compressed data is complete and ``stream`` still open.

    The same bytes always compress to the same bytes: neither time nor file name is stored.
    """
    if compression == "":
        yield stream
        return
    with io.BufferedWriter(_packer(stream, compression, block_bytes), BUFFER_BYTES) as plain:
        yield plain


def _packer(stream: BinaryIO, compression: Compression, block_bytes: int) -> io.RawIOBase:
    if compression == "gz":
        return _GzipWriter(stream, block_bytes)
    if compression == "zst":
        import zstandard

        return cast("io.RawIOBase", zstandard.ZstdCompressor(level=3).stream_writer(stream, closefd=False))
    return cast("io.RawIOBase", (lzma.LZMAFile if compression == "xz" else bz2.BZ2File)(stream, "wb"))


class _GzipWriter(io.RawIOBase):
    """Compresses blocks of a fixed size in threads, each as a member of its own; together they are one gzip file."""

    def __init__(self, stream: BinaryIO, block_bytes: int) -> None:
        self._stream = stream
        self._block_bytes = block_bytes
        self._block = bytearray()
        self._n_blocks = 0
        self._workers = available_workers()
        self._pool = ThreadPoolExecutor(self._workers)
        self._packed: deque[Future[bytes]] = deque()

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data)
        for start in range(0, view.nbytes, self._block_bytes):
            self._add(view[start : start + self._block_bytes])
        return view.nbytes

    def _add(self, data: memoryview) -> None:
        fitting = self._block_bytes - len(self._block)
        self._block += data[:fitting]
        if len(self._block) == self._block_bytes:
            self._pack()
            self._block += data[fitting:]

    def _pack(self) -> None:
        self._packed.append(self._pool.submit(_gzip_member, bytes(self._block)))
        self._block.clear()
        self._n_blocks += 1
        while len(self._packed) > 2 * self._workers:
            self._stream.write(self._packed.popleft().result())

    def close(self) -> None:
        if self.closed:
            return
        try:
            if self._block or not self._n_blocks:
                self._pack()
            while self._packed:
                self._stream.write(self._packed.popleft().result())
        finally:
            self._pool.shutdown(cancel_futures=True)
            super().close()


def _gzip_member(plain: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, GZIP)
    return packer.compress(plain) + packer.flush()


class _Decompressor(io.RawIOBase):
    """Base of the decompressing streams."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._pending = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._pending:
            self._pending = memoryview(self._next())
        part = self._pending[: len(buffer)]
        buffer[: len(part)] = part
        self._pending = self._pending[len(part) :]
        return len(part)

    def close(self) -> None:
        self._stream.close()
        super().close()

    @abstractmethod
    def _next(self) -> bytes:
        """Return the next plain bytes, none at the end."""


class _Members(_Decompressor):
    """Unpacks gzip by ISA-L, in half the time of zlib, and what Python itself can."""

    def __init__(self, stream: BinaryIO, name: str, compression: Compression) -> None:
        super().__init__(stream, name)
        self._compression = compression
        self._errors: tuple[type[Exception], ...]
        self._members: Any
        if compression == "gz":
            from isal import igzip, isal_zlib

            self._errors = (igzip.BadGzipFile, cast("type[Exception]", isal_zlib.error))
            self._members = igzip.IGzipFile(fileobj=stream, mode="rb")  # type: ignore[no-untyped-call]
        elif compression == "xz":
            self._errors = (lzma.LZMAError,)
            self._members = lzma.LZMAFile(stream)  # noqa: SIM115  closed with the stream
        else:
            self._errors = (OSError,)
            self._members = bz2.BZ2File(stream)

    def _next(self) -> bytes:
        try:
            plain: bytes = self._members.read1(BUFFER_BYTES)
        except EOFError:
            raise InputError(_cut_short(self._name, self._compression)) from None
        except self._errors as error:
            raise InputError(_damaged(self._name, self._compression, error)) from None
        return plain


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
        while chunk := self._unread or self._stream.read(ZSTD_BYTES):
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
