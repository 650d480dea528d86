"""Checks that the paths of a store still lead to the files that were opened.

An open file stays usable after it is removed or replaced: posts would be written to it and lost when it is closed. So
the store compares device and inode before it answers.
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from hybriddup.errors import StoreError


class OpenedFiles:
    """The files of a store, as they were when it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        """Path of the first file, which messages give as the path of the store."""
        self._opened: dict[Path, os.stat_result] = {}
        """The state of each file when it was opened, with its device and inode."""
        self._error = ""
        """The first error found; it stays, because posts may have been written to a file that is gone."""
        self.add(path)

    def add(self, path: Path) -> None:
        """Record the device and inode of a file; OSError if it does not exist."""
        self._opened[path] = path.stat()

    def check(self, n: int | None = None) -> None:
        """Raise StoreError if one of the first ``n`` files was removed or replaced, or if an earlier check failed."""
        self._error = self._error or self._what_is_wrong(n)
        if self._error:
            raise StoreError(self._error)

    def _what_is_wrong(self, n: int | None) -> str:
        """Return an error message if one of the first ``n`` files was removed or replaced; otherwise empty text."""
        for path, opened in islice(self._opened.items(), n):
            try:
                if os.path.samestat(path.stat(), opened):
                    continue
                what = "was replaced by another file"
            except (FileNotFoundError, NotADirectoryError):
                what = "is gone"
            except OSError as error:  # such as a directory that may not be entered now
                raise unreachable(path, error) from error
            return (
                f"{self._path}: {path.name} {what} since the window was opened: the store was removed or "
                "moved, a backup was put in its place, or a file system was mounted or unmounted. The window answers "
                "nothing any more, because what it wrote is not where the next opening looks. Put the right store in "
                "place, then open the window again (restart hybriddup serve or watch)."
            )
        return ""


def unreachable(path: Path, error: OSError) -> StoreError:
    """Return the error for a file that this process may not access."""
    return StoreError(f"{path} cannot be reached: {error.strerror or error}; check the path and its permissions")
