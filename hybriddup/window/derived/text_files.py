"""Texts in a file, each with a checksum, by where they begin.

Verifying reads a few texts of every batch, from all over the window. Out of a file they come in two thirds of the time
that SQLite's rows take (6 us a text instead of 9.4), and they are normalized already.
"""

from __future__ import annotations

import logging
import os
import struct
import sys
from collections.abc import Iterable, Sequence
from io import FileIO
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_intdigest

from hybriddup.data.records import Bools, Int64s
from hybriddup.window.derived.file_series import FilePair, FileSeries

NOWHERE = -1
"""Stands for the place of a text that is in no file."""
HEAD = struct.Struct("<QI")
"""Checksum of the rest; number of bytes of the text, twice, and 1 more where they are UTF-16."""
READ_FIRST = 512
"""Bytes that are read of a text before it is known how long it is: enough of nearly all."""
ALL_BITS = 2**64 - 1

logger = logging.getLogger("hybriddup")

if sys.platform == "win32":

    def read_at(file: int, n_bytes: int, begin: int) -> bytes:
        """Return so many bytes of a file from a place on, fewer where it ends."""
        os.lseek(file, begin, os.SEEK_SET)
        return os.read(file, n_bytes)
else:
    read_at = os.pread


def pack_text(text: str, seed: int) -> bytes:
    """Return a text as a file has it; the checksum depends on ``seed``, a number of 64 bits."""
    data, is_utf_16 = encoded(text)
    size = 2 * len(data) + is_utf_16
    return HEAD.pack(xxh3_64_intdigest(data, seed + size & ALL_BITS), size) + data


def encoded(text: str) -> tuple[bytes, bool]:
    """Return a text in UTF-8 or in UTF-16, whichever is shorter, and whether it is UTF-16."""
    try:
        narrow, wide = text.encode(), text.encode("utf-16-le")
    except UnicodeEncodeError:  # surrogates: two that stand together would become one character in UTF-16
        return text.encode("utf-8", "surrogatepass"), False
    return (wide, True) if len(wide) < len(narrow) else (narrow, False)


def read_texts(files: Iterable[FileIO], begins: Iterable[int], seeds: Iterable[int]) -> list[str | None]:
    """Return texts, None for those that are not as they were written, or not there, by where each was and its seed.

    One loop without calls of our own: a text takes six microseconds, most of them for memory that is not in the cache.
    """
    texts: list[str | None] = []
    for file, begin, seed in zip(files, begins, seeds, strict=True):
        head = read_at(file.fileno(), READ_FIRST, begin)
        if len(head) < HEAD.size:
            texts.append(None)
            continue
        checksum, size = HEAD.unpack_from(head)
        data = head[HEAD.size : HEAD.size + (size >> 1)]
        if size >> 1 > READ_FIRST - HEAD.size:
            data = read_at(file.fileno(), n_bytes_of(file, begin, size), begin + HEAD.size)
        texts.append(decoded(data, size) if xxh3_64_intdigest(data, seed + size & ALL_BITS) == checksum else None)
    return texts


def decoded(data: bytes, size: int) -> str | None:
    """Return the text of its bytes; None where they are none."""
    try:
        return data.decode("utf-16-le") if size & 1 else data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def n_bytes_of(file: FileIO, begin: int, size: int) -> int:
    """Return how many bytes a text has by its head, and no more than the file has: the head may be damaged."""
    return min(size // 2, max(os.fstat(file.fileno()).st_size - begin - HEAD.size, 0))


class TextPlaces(NamedTuple):
    """Where texts are in their files."""

    begins: Int64s
    """int64[n]: `NOWHERE` = in none."""
    sizes: Int64s
    """int64[n]: bytes of each, head and all."""

    @classmethod
    def nowhere(cls, n: int) -> TextPlaces:
        """Return the places of so many texts that are in no file."""
        return cls(np.full(n, NOWHERE), np.zeros(n, np.int64))

    @classmethod
    def of(cls, begin: int, packed: Sequence[bytes]) -> TextPlaces:
        """Return the places of texts that are written one after another from a place on."""
        sizes = np.fromiter(map(len, packed), np.int64, len(packed))
        return cls(begin + np.cumsum(sizes) - sizes, sizes)

    def take(self, chosen: Bools) -> TextPlaces:
        """Return those of the chosen texts."""
        return TextPlaces(self.begins[chosen], self.sizes[chosen])


class LoggedTexts:
    """Texts by position and by where they begin in their file. No error reaches the caller: the store has them all.

    Checksums depend on the position and on ``seed``, a number of 64 bits that only this log has.
    """

    def __init__(self, series: FileSeries, seed: int) -> None:
        self._series = series
        self._seed = seed
        self._said: set[str] = set()
        """What went wrong, each of which is said once."""

    def append(self, pair: FilePair | None, positions: Int64s, texts: Sequence[str]) -> TextPlaces:
        """Append the texts of posts to the last pair of files, and return where they are."""
        if pair is None:
            return TextPlaces.nowhere(len(positions))
        seed = self._seed
        packed = [pack_text(text, seed + at) for at, text in zip(positions.tolist(), texts, strict=True)]
        try:
            begin = pair.texts.append(b"".join(packed))
        except OSError as error:
            self._say("cannot be written, and are made anew of the store's when they are needed", error)
            return TextPlaces.nowhere(len(positions))
        return TextPlaces.of(begin, packed)

    def read(self, positions: Int64s, places: Int64s) -> list[str | None]:
        """Return texts, in the order asked; None for those that are not there as they were written.

        ``places`` int64[n] say where they begin, as `append` or the records do; `NOWHERE` where that is not known.
        """
        texts: list[str | None] = [None] * len(positions)
        there = np.flatnonzero(places != NOWHERE) if self._series.pairs else np.zeros(0, np.int64)
        try:
            found = self._read(positions[there], places[there])
        except OSError as error:
            self._say("cannot be read, and are made anew of the store's", error)
            return texts
        if None in found:
            self._say("are damaged or missing here and there, and those are made anew of the store's")
        for row, text in zip(there.tolist(), found, strict=True):
            texts[row] = text
        return texts

    def _read(self, positions: Int64s, places: Int64s) -> list[str | None]:
        """Read texts that begin somewhere; see `read`."""
        files = (pair.texts.opened for pair in self._series.pairs_of(positions))
        return read_texts(files, places.tolist(), (self._seed + position for position in positions.tolist()))

    def _say(self, what: str, error: OSError | None = None) -> None:
        if what not in self._said:
            logger.warning("%s: texts %s%s", self._series.folder, what, "" if error is None else f": {error}")
        self._said.add(what)
