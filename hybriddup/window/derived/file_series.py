"""Files beside a store to which a record and the text of each kept post are appended, in the order of the posts.

Records and texts are in two files, so that the records can be read without the texts. There is always such a pair to
append to; when it has grown, another one is begun. The first pair goes when all of its posts are forgotten, so that the
files stop growing when the window is full.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.stores.private_files import open_private

RECORDS, TEXTS = ".kept", ".texts"
"""How the names of the two files of a pair end."""
SHARE_OF_FILE, SMALLEST_FILE = 8, 2**18
"""Another pair is begun when one has such a share of all bytes, and so many."""
NUMBER = re.compile(r"[0-9]{6,}")


@dataclass
class AppendedFile:
    """A file that grows at its end."""

    path: Path
    size: int
    stream: FileIO | None = None
    """Opened when it is first used."""

    @classmethod
    def begin(cls, path: Path) -> AppendedFile:
        """Return a new file, empty, in place of one that may be there."""
        return cls(path, 0, FileIO(path, "w+b", opener=open_private))

    @property
    def opened(self) -> FileIO:
        """The file, open for reading and writing."""
        if self.stream is None:
            self.stream = FileIO(self.path, "r+b")
        return self.stream

    def append(self, data: bytes) -> int:
        """Append all of some bytes, or nothing; return where they begin."""
        start = self.size
        try:
            self._write(start, data)
        except OSError:
            with suppress(OSError):  # what is left behind then is written over later
                self.opened.truncate(start)
            raise
        self.size += len(data)
        return start

    def erase(self, begin: int, n_bytes: int) -> None:
        """Overwrite some bytes with zeros, as far as the file goes, and have that on disk."""
        self._write(begin, bytes(max(min(n_bytes, self.size - begin), 0)))
        os.fsync(self.opened.fileno())

    def cut(self, size: int) -> None:
        """Cut off what is after so many bytes."""
        if self.size > size:
            os.truncate(self.path, size)
            self.size = size

    def _write(self, start: int, data: bytes) -> None:
        left = memoryview(data)
        self.opened.seek(start)
        while left:
            left = left[self.opened.write(left) :]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        stream, self.stream = self.stream, None
        if stream is not None:
            with suppress(OSError):
                stream.close()

    def remove(self) -> None:
        """Close and delete the file; one that cannot be deleted is left to the next opening."""
        self.close()
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


@dataclass
class FilePair:
    """The records and the texts of some kept posts in a row."""

    first_position: int
    records: AppendedFile
    texts: AppendedFile

    @classmethod
    def begin(cls, path: Path, first_position: int) -> FilePair:
        """Return a pair of new files; ``path`` is that of the records."""
        texts = AppendedFile.begin(path.with_suffix(TEXTS))
        try:
            return cls(first_position, AppendedFile.begin(path), texts)
        except OSError:
            texts.remove()
            raise

    @classmethod
    def found(cls, path: Path, first_position: int) -> FilePair:
        """Return a pair of which the file of records is there; that of the texts is made where it is not."""
        texts = path.with_suffix(TEXTS)
        if not texts.exists():
            AppendedFile.begin(texts).close()
        return cls(first_position, AppendedFile(path, path.stat().st_size), AppendedFile(texts, texts.stat().st_size))

    @property
    def size(self) -> int:
        """Bytes of both."""
        return self.records.size + self.texts.size

    def close(self) -> None:
        """Close both; a second call does nothing."""
        self.records.close()
        self.texts.close()

    def remove(self) -> None:
        """Close and delete both."""
        self.records.remove()
        self.texts.remove()


class FileSeries:
    """The files ``000001``, ``000002`` and so on of a directory, which need not be there yet, in pairs.

    What comes first goes into a pair of its own, unless `go_on` is called.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pairs: list[FilePair] = []
        self._number = 0
        """Of the last pair."""
        self._needs_pair = True
        """Whether what comes next goes into a pair of its own."""

    @property
    def n_bytes(self) -> int:
        """Bytes of the files."""
        return sum(pair.size for pair in self.pairs)

    @property
    def next_name(self) -> str:
        """The name of the next file of records."""
        return f"{self._number + 1:06}{RECORDS}"

    def found(self) -> list[Path]:
        """Return the files of records that are there, in order."""
        paths = sorted(self.folder.glob(f"*{RECORDS}"), key=lambda path: (len(path.stem), path.stem))
        return [path for path in paths if NUMBER.fullmatch(path.stem)]

    def delete_but(self, paths: Container[Path]) -> None:
        """Delete all files of records but these, and the files of texts without one."""
        for ending in (RECORDS, TEXTS):
            for path in self.folder.glob(f"*{ending}"):
                if path.with_suffix(RECORDS) not in paths:
                    path.unlink(missing_ok=True)

    def delete_texts(self) -> None:
        """Delete all files of texts, and use no pair any more; OSError if they cannot be listed or deleted."""
        self.close()
        self.pairs = []
        if self.folder.exists():
            for path in self.folder.iterdir():  # `glob` passes over a directory that may not be read
                if path.suffix == TEXTS:
                    path.unlink(missing_ok=True)

    def use(self, path: Path, first_position: int) -> FilePair:
        """Keep the pair of a file that was found, after those kept so far."""
        self.pairs.append(FilePair.found(path, first_position))
        self._number = int(path.stem)
        return self.pairs[-1]

    def go_on(self) -> None:
        """Append to the last pair that is kept: what it holds to its end is of this series."""
        self._needs_pair = False

    def pair_for(self, position: int, *, may_be_full: bool = False) -> FilePair:
        """Return the pair to which the post at a position is appended; a new one where the last one is full."""
        is_full = not self._needs_pair and self.pairs[-1].size >= max(self.n_bytes // SHARE_OF_FILE, SMALLEST_FILE)
        if self._needs_pair or (is_full and not may_be_full):
            if self.pairs:
                self.pairs[-1].records.close()  # nobody writes or reads there any more
            self.pairs.append(FilePair.begin(self.folder / self.next_name, position))
            self._number += 1
            self._needs_pair = False
        return self.pairs[-1]

    def pairs_of(self, positions: Int64s) -> list[FilePair]:
        """Return the pairs that have the posts at some positions, of each; there has to be a pair."""
        firsts = np.fromiter((pair.first_position for pair in self.pairs), np.int64, len(self.pairs))
        places = np.maximum(np.searchsorted(firsts, positions, side="right") - 1, 0)
        return [self.pairs[place] for place in places.tolist()]

    def n_before(self, position: int) -> int:
        """Return of how many pairs, from the first on, all posts are before a position; the last one always stays."""
        return sum(pair.first_position <= position for pair in self.pairs[1:])

    def remove_first(self, n: int) -> None:
        """Delete so many pairs, from the first on."""
        gone, self.pairs = self.pairs[:n], self.pairs[n:]
        for pair in gone:
            pair.remove()

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        for pair in self.pairs:
            pair.close()


def replace_file(path: Path, data: bytes) -> None:
    """Have a file hold these bytes: whole, or it is as it was."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    with FileIO(unfinished, "wb", opener=open_private) as file:
        file.write(data)
    unfinished.replace(path)
