"""What is believed of the files of records: whole records, each of which names the one before it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hybriddup.window.derived.kept_records import Records, end_of_texts, n_sound

READ_AT_ONCE = 2**16
"""Records that are read together."""
ANY_POSITION = 2**63 - 1
WHAT_WAS_LOST = (
    "If no older copy of posts.sqlite3 was put back, the -wal file beside it was damaged, and posts that were "
    "acknowledged are gone: they are decided anew when they are sent again."
)

logger = logging.getLogger("hybriddup")


@dataclass
class Sound:
    """What is believed of a file."""

    first_position: int
    n_bytes: int = 0
    end_of_texts: int = 0
    """In the file beside."""

    def note(self, records: Records) -> None:
        """Take note of the next records that are believed."""
        self.n_bytes += records.nbytes
        self.end_of_texts = max(self.end_of_texts, end_of_texts(records))


@dataclass(frozen=True)
class RecordsInFile:
    """The records of a file, one of which is read at a time."""

    path: Path
    dtype: np.dtype[np.void]

    def __len__(self) -> int:
        """Return how many there are."""
        return self.path.stat().st_size // self.dtype.itemsize

    def __getitem__(self, row: int) -> np.void:
        """Return a record."""
        record: np.void = np.fromfile(self.path, self.dtype, 1, offset=row * self.dtype.itemsize)[0]
        return record


def sound_records(
    files: Sequence[Path], dtype: np.dtype[np.void], before: int, seed: np.uint64, end: int
) -> Iterator[tuple[Path, Records]]:
    """Yield the records of files, some at a time, up to the first that is damaged or does not follow the one before.

    Parameters
    ----------
    before
        The position that the first record has to name.
    seed
        Of the checksums, as they were written.
    end
        The next position of the store; no record is of it or a later one.
    """
    for path in files:
        for records in read_records(path, dtype):
            n = n_sound(records, before, end, seed)
            if n:
                before = int(records["position"][n - 1])
                yield path, records[:n]
            if n < len(records):
                warn_of_lost_posts(path, records[n:], before, seed)
                return


def warn_of_lost_posts(path: Path, records: Records, before: int, seed: np.uint64) -> None:
    """Say in the log where records are sound, and only the store does not have their posts: it has lost some."""
    n = n_sound(records, before, ANY_POSITION, seed)
    if n:
        logger.error(
            "%s has kept posts from position %d on, which the store has not. %s",
            path,
            records["position"][0],
            WHAT_WAS_LOST,
        )


def read_records(path: Path, dtype: np.dtype[np.void]) -> Iterator[Records]:
    """Yield the records of a file, some at a time; a last one that is not whole is left out."""
    with path.open("rb") as file:
        while len(records := np.fromfile(file, dtype, READ_AT_ONCE)):
            yield records
