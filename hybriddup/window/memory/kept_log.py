"""A log of what is held in memory, beside the store, so that opening a window looks at no text, after a crash either.

A record is appended for every kept post when its batch is on disk. Each has a checksum and names the post before it, so
that records are believed as far as none is damaged or missing. What comes after them is derived from the store, which
alone is always believed, and appended anew. Nothing waits until the log is on disk: what a power failure takes from it
is derived.

A file beside the records names the first file of them, what they depend on, and the time of the store: where the store
was put back from a backup, or makes other fingerprints, the log begins anew.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from hybriddup.errors import StoreError
from hybriddup.window.memory.kept_columns import KeptColumns
from hybriddup.window.memory.kept_records import RecordForm, Records, n_sound
from hybriddup.window.meta import LOG_TIME
from hybriddup.window.stores import WindowStore
from hybriddup.window.stores.file_series import FileSeries, delete, replace_file

FOLDER, ENDING, ABOUT_FILE = "memory", ".kept", "about.json"
READ_AT_ONCE = 2**16
"""Records that are read together."""
NO_POST = -1
MOST_UNWRITTEN = 2**26
"""Bytes that wait for room on the disk. With more, nothing is appended until the window is opened again."""

logger = logging.getLogger("hybriddup")


@dataclass(frozen=True)
class About:
    """What the file beside the records says."""

    made_with: str
    """As `RecordForm.made_with`."""
    first: str
    """Name of the first file that counts; earlier ones hold forgotten posts only."""
    before: int
    """Position of the post before the first one in that file; `NO_POST` = the log begins with it."""
    tokens: list[str]
    """The store has one of these: that of its last opening. While one is under way, that of the opening before, too."""


class KeptLog:
    """The log beside one store, for the process that writes to it. No error reaches the caller: all of it is derived.

    Parameters
    ----------
    folder
        The directory of the store.
    """

    def __init__(self, folder: Path, store: WindowStore) -> None:
        self._folder = folder / FOLDER
        self._store = store
        self._series = FileSeries(self._folder, ENDING)
        self._about = About("", "", NO_POST, [])
        self._last = NO_POST
        """Position of the last post in the log."""
        self._form: RecordForm | None = None
        """None = nothing is appended."""
        self._unwritten = b""
        """Records that could not be written yet; without them, later ones would not be believed."""
        self._is_waiting = False
        """Whether there are any, which is said once."""

    @property
    def n_bytes(self) -> int:
        """Bytes of the files."""
        return self._series.n_bytes

    @property
    def end(self) -> int:
        """The position after the last post in the log; 0 where there is none."""
        return self._last + 1

    def resume(self, form: RecordForm) -> Iterator[KeptColumns]:
        """Yield what is believed, in order; when all of it is taken, later posts can be appended.

        Where nothing can be written, the log is read all the same.
        """
        self.close()
        self._series, self._last = FileSeries(self._folder, ENDING), NO_POST
        try:
            self._folder.mkdir(exist_ok=True)
            files = self._files_to_read(form)
            delete(path for path in self._series.found() if path not in files)
            can_write = self._note_opening()
            sound: dict[Path, Sound] = {}
            for path, records in sound_records(files, form.dtype, self._about.before, self._store.next_position):
                sound.setdefault(path, Sound(int(records["position"][0]))).n_bytes += records.nbytes
                self._last = int(records["position"][-1])
                yield form.columns(records)
            if can_write:
                self._go_on_after(sound)
                self._form = form
        except OSError as error:
            self._warn(error)

    def append(self, columns: KeptColumns) -> None:
        """Append kept posts, which come after all those in the log and are on disk."""
        if self._form is None or not len(columns.positions):
            return
        self._unwritten += self._form.records(columns, self._last).tobytes()
        self._last = int(columns.positions[-1])
        try:
            self._series.file_for(int(columns.positions[0])).append(self._unwritten)
        except OSError as error:
            self._wait_for_room(error)
        else:
            self._unwritten = b""
            self._is_waiting = False

    def forget_before(self, position: int) -> None:
        """Delete the files whose posts are all before a position."""
        # a file that was begun when the disk became full has no record yet
        if self._form is None or self._unwritten or not (taken := self._series.taken_before(position)):
            return
        try:
            first = self._series.files[0].path
            before = int(np.fromfile(first, self._form.dtype, 1)["before"][0])
            self._note(replace(self._about, first=first.name, before=before))
        except OSError as error:
            self._warn(error)
        for file in taken:
            file.remove()

    def close(self) -> None:
        """Close the files; nothing is appended then. A second call does nothing."""
        self._form, self._unwritten = None, b""
        self._series.close()

    def _files_to_read(self, form: RecordForm) -> list[Path]:
        """Return the files of records that are of this form and of the time of the store; where there are none, begin.

        Earlier files are not among them.
        """
        about, token, files = read_about(self._folder), self._store.meta(LOG_TIME), self._series.found()
        if about and token and token.hex() in about.tokens and about.made_with == form.made_with:
            names = [path.name for path in files]
            if about.first in names:
                self._about = about
                return files[names.index(about.first) :]
        self._about = About(form.made_with, self._series.next_name, NO_POST, [])
        return []

    def _note_opening(self) -> bool:
        """Take note, in the store and beside the records, that they belong together; return whether that was possible.

        Nothing is appended before, so that a crash on the way costs nothing. After it, a store of the time before is
        not believed: it may have been put back from a backup.
        """
        before, token = self._store.meta(LOG_TIME), os.urandom(16)
        try:
            self._note(replace(self._about, tokens=[each.hex() for each in (before, token) if each]))
            self._store.set_meta({LOG_TIME: token})
            self._note(replace(self._about, tokens=[token.hex()]))
        except (OSError, StoreError) as error:
            self._warn(error)
            return False
        return True

    def _go_on_after(self, sound: dict[Path, Sound]) -> None:
        """Cut off what is not sound, and keep the rest."""
        delete(path for path in self._series.found() if path not in sound)
        for path, part in sound.items():
            os.truncate(path, part.n_bytes)
            self._series.use(path, part.first_position)

    def _note(self, about: About) -> None:
        replace_file(self._folder / ABOUT_FILE, json.dumps(asdict(about)).encode())
        self._about = about

    def _wait_for_room(self, error: OSError) -> None:
        if not self._is_waiting:
            self._warn(error)
        self._is_waiting = True
        if len(self._unwritten) > MOST_UNWRITTEN:
            self.close()

    def _warn(self, error: Exception) -> None:
        logger.warning("%s: what opening the window would need cannot be noted: %s", self._folder, error)


@dataclass
class Sound:
    """What is believed of a file."""

    first_position: int
    n_bytes: int = 0


def read_about(folder: Path) -> About | None:
    """Return what the file beside the records says; None where there is none that can be read."""
    try:
        return About(**json.loads((folder / ABOUT_FILE).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def sound_records(
    files: Sequence[Path], dtype: np.dtype[np.void], before: int, end: int
) -> Iterator[tuple[Path, Records]]:
    """Yield the records of files, some at a time, up to the first that is damaged or does not follow the one before.

    Parameters
    ----------
    before
        The position that the first record has to name.
    end
        The next position of the store; no record is of it or a later one.
    """
    for path in files:
        for records in read_records(path, dtype):
            n = n_sound(records, before, end)
            if n:
                before = int(records["position"][n - 1])
                yield path, records[:n]
            if n < len(records):
                return


def read_records(path: Path, dtype: np.dtype[np.void]) -> Iterator[Records]:
    """Yield the records of a file, some at a time; a last one that is not whole is left out."""
    with path.open("rb") as file:
        while len(records := np.fromfile(file, dtype, READ_AT_ONCE)):
            yield records
