"""Files beside a store to which something of each kept post is appended, in the order of the posts.

There is always a file to append to; when it has grown, another one is begun. The first one goes when all of its posts
are forgotten, so that the files stop growing when the window is full.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from hybriddup.window.stores.private_files import open_private

SHARE_OF_FILE, SMALLEST_FILE = 8, 2**18
"""Another file is begun when one has such a share of all bytes, and so many."""
NUMBER = re.compile(r"[0-9]{6,}")


@dataclass
class SeriesFile:
    """A file with the position of its first post."""

    path: Path
    first_position: int
    size: int
    stream: FileIO | None = None
    """Opened when it is first appended to."""

    def append(self, data: bytes) -> int:
        """Append all of some bytes; return where they begin. What an error leaves behind is written over later."""
        start, left = self.size, memoryview(data)
        if self.stream is None:
            self.stream = self.path.open("r+b", buffering=0)
        self.stream.seek(start)
        while left:
            left = left[self.stream.write(left) :]
        self.size += len(data)
        return start

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


class FileSeries:
    """The files ``000001``, ``000002`` and so on of a directory, with an ending.

    What comes first goes into a file of its own, unless `go_on` is called.

    Parameters
    ----------
    folder
        The directory, which need not be there yet.
    ending
        Of the names, such as ``.kept``.
    """

    def __init__(self, folder: Path, ending: str) -> None:
        self._folder = folder
        self._ending = ending
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
        """Keep a file that was found, after those kept so far."""
        self.files.append(SeriesFile(path, first_position, path.stat().st_size))
        self._number = int(path.stem)

    def go_on(self) -> None:
        """Append to the last file that is kept: what it holds to its end is of this series."""
        self._needs_file = False

    def file_for(self, position: int) -> SeriesFile:
        """Return the file to which something of a post at a position is appended, which may be a new one."""
        if self._needs_file or self.files[-1].size >= max(self.n_bytes // SHARE_OF_FILE, SMALLEST_FILE):
            self.files.append(SeriesFile(self._folder / self.next_name, position, 0))
            self.files[-1].stream = FileIO(self.files[-1].path, "w+b", opener=open_private)
            self._number += 1
            self._needs_file = False
        return self.files[-1]

    def n_before(self, position: int) -> int:
        """Return of how many files, from the first on, all posts are before a position; the last one always stays."""
        return sum(file.first_position <= position for file in self.files[1:])

    def remove_first(self, n: int) -> None:
        """Delete so many files, from the first on."""
        gone, self.files = self.files[:n], self.files[n:]
        for file in gone:
            file.remove()

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        for file in self.files:
            file.close()


def delete(paths: Iterable[Path]) -> None:
    """Delete files that may be gone already."""
    for path in paths:
        path.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> None:
    """Have a file hold these bytes: whole, or it is as it was."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    with FileIO(unfinished, "wb", opener=open_private) as file:
        file.write(data)
    unfinished.replace(path)
