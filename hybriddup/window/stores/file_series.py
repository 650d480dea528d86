"""Files beside a store to which something of each kept post is appended, in the order of the posts.

There is always a file to append to; when it has grown, another one is begun. The first one goes when all of its posts
are forgotten, so that the files stop growing when the window is full.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import FileIO

SHARE_OF_FILE, SMALLEST_FILE = 8, 2**18
"""Another file is begun when one has such a share of all bytes, and so many."""
NUMBER = re.compile(r"[0-9]{6,}")


@dataclass
class SeriesFile:
    """A file that is open, with the position of its first post."""

    path: Path
    first_position: int
    stream: FileIO
    size: int

    def append(self, data: bytes) -> int:
        """Append all of some bytes; return where they begin. What an error leaves behind is written over later."""
        start, left = self.size, memoryview(data)
        self.stream.seek(start)
        while left:
            left = left[self.stream.write(left) :]
        self.size += len(data)
        return start

    def remove(self) -> None:
        """Close and delete the file; one that cannot be deleted is left to the next opening."""
        with suppress(OSError):
            self.stream.close()
            self.path.unlink(missing_ok=True)


class FileSeries:
    """The files ``000001``, ``000002`` and so on of a directory, with an ending.

    A process appends to files of its own only, so that what others left behind is not written into.

    Parameters
    ----------
    folder
        The directory, which need not be there yet.
    ending
        Of the names, such as ``.posts``.
    read_randomly
        Whether the files are read here and there, so that the system reads nothing besides.
    """

    def __init__(self, folder: Path, ending: str, *, read_randomly: bool = False) -> None:
        self._folder = folder
        self._ending = ending
        self._read_randomly = read_randomly
        self.files: list[SeriesFile] = []
        self._number = 0
        """Of the last file."""
        self._needs_file = True
        """Whether what comes next goes into a file of its own."""

    @property
    def n_bytes(self) -> int:
        """Bytes of the files."""
        return sum(file.size for file in self.files)

    @property
    def next_name(self) -> str:
        """The name of the next file."""
        return f"{self._number + 1:06}{self._ending}"

    def found(self) -> list[Path]:
        """Return the files that are there, in order; others that end alike are deleted."""
        paths = sorted(self._folder.glob(f"*{self._ending}"), key=lambda path: (len(path.stem), path.stem))
        delete(path for path in paths if not NUMBER.fullmatch(path.stem))
        return [path for path in paths if NUMBER.fullmatch(path.stem)]

    def use(self, path: Path, first_position: int) -> None:
        """Go on with a file that was found, after those used so far."""
        self._hold(path, first_position, path.open("rb", buffering=0))
        self._number = int(path.stem)

    def file_for(self, position: int) -> SeriesFile:
        """Return the file to which something of a post at a position is appended, which may be a new one."""
        if self._needs_file or self.files[-1].size >= max(self.n_bytes // SHARE_OF_FILE, SMALLEST_FILE):
            path = self._folder / self.next_name
            self._hold(path, position, path.open("w+b", buffering=0))
            self._number += 1
            self._needs_file = False
        return self.files[-1]

    def _hold(self, path: Path, first_position: int, stream: FileIO) -> None:
        if self._read_randomly:
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        self.files.append(SeriesFile(path, first_position, stream, path.stat().st_size))

    def taken_before(self, position: int) -> list[SeriesFile]:
        """Take out the files whose posts are all before a position, but never the last one; they are to be removed."""
        n = sum(file.first_position <= position for file in self.files[1:])
        taken, self.files = self.files[:n], self.files[n:]
        return taken

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        for file in self.files:
            file.stream.close()
        self.files, self._needs_file = [], True


def delete(paths: Iterable[Path]) -> None:
    """Delete files that may be gone already."""
    for path in paths:
        path.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Have a file hold these bytes: whole, or it is as it was."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_bytes(data)
    unfinished.replace(path)
