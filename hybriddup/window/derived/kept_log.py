"""A log of what is held in memory, beside the store: opening a window looks at a few texts only, after a crash as well.

A record is appended for every kept post when its batch is on disk. Each has a checksum and names the post before it, so
that records are believed as far as none is damaged or missing. What comes after them is derived from the store, which
alone is always believed, and appended anew. Nothing waits until the log is on disk: what a power failure takes from it
is derived.

The normalized text of the post is appended before, to a file beside, and the record names its place. Texts are not read
when a window is opened; each has a checksum of its own, and where one is damaged or missing the store is asked instead.

A file beside the records names the first file of them, what they depend on, and which store they go with: every batch
brings to the store the token of the opening that it was written by, and a log goes with its own. So where the store was
put back from a backup, or went on while the log could not be written, the log begins anew.
"""

from __future__ import annotations

import json
import logging
import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from pydantic import TypeAdapter

from hybriddup.errors import StoreError
from hybriddup.window.derived.file_series import FilePair, FileSeries, replace_file
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.derived.kept_records import RecordForm, RecordsInFile, Sound, sound_records
from hybriddup.window.derived.text_files import NOWHERE, LoggedTexts
from hybriddup.window.event_time import NEVER
from hybriddup.window.stores import LOG_TOKEN, WindowStore, stored_watermark
from hybriddup.window.stores.private_files import PRIVATE_FOLDER

FOLDER, ABOUT_FILE = "derived", "about.json"
NO_POST = -1
MOST_UNWRITTEN = 2**22
"""Bytes that wait for room on the disk. With more, nothing is appended until the window is opened again."""

logger = logging.getLogger("hybriddup")


@dataclass(frozen=True)
class About:
    """What the file beside the records says."""

    made_with: str
    """As `RecordForm.made_with`."""
    first: str
    """Name of the first file that counts; earlier ones hold forgotten posts only."""
    id: str = field(default_factory=lambda: os.urandom(16).hex())
    """Of the log: records of another one, of which a power failure left a file, have other checksums."""
    before: int = NO_POST
    """Position of the post before the first one in the first file; `NO_POST` = the log begins with it."""
    watermark: float = NEVER
    """When the posts before were forgotten; for a store of an earlier time, the log lacks some."""
    tokens: tuple[str, ...] = ()
    """The store has one of these: that of this opening, and before its first batch that of the one before."""

    @property
    def seed(self) -> np.uint64:
        """Of the checksums of records."""
        return np.uint64(xxhash.xxh3_64_intdigest(f"{self.made_with} {self.id}".encode()))

    @property
    def text_seed(self) -> int:
        """Of the checksums of texts; the position of each is added."""
        return xxhash.xxh3_64_intdigest(f"text {self.id}".encode())


ABOUT = TypeAdapter(About)


class KeptLog:
    """The log in the directory of a store, for the process that writes. No error reaches the caller: all is derived."""

    def __init__(self, folder: Path, store: WindowStore) -> None:
        self._folder = folder / FOLDER
        self._store = store
        self._series = FileSeries(self._folder)
        self.texts = LoggedTexts(self._series, 0)
        """The normalized texts of its posts."""
        self._about = About("", "")
        self._last = NO_POST
        """Position of the last post in the log."""
        self._form: RecordForm | None = None
        """None = nothing is appended."""
        self._unwritten = b""
        """Records that could not be written yet; without them, later ones would not be believed."""
        self._failing: set[str] = set()
        """What went wrong when it was done last, which is said once."""
        self.token = b""
        """Goes into the store, under `LOG_TOKEN`, with every batch."""

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

        Where anything goes wrong on the way, nothing is appended, and no later opening believes what is there.
        """
        self.close()
        self._series, self._last, self.token = FileSeries(self._folder), NO_POST, os.urandom(16)
        self.texts = LoggedTexts(self._series, 0)
        before = self._store.meta(LOG_TOKEN)
        try:
            self._folder.mkdir(PRIVATE_FOLDER, exist_ok=True)
            self._about, files = self._files_to_read(form, before)
            self._series.delete_but(files)
            sound: dict[Path, Sound] = {}
            end = self._store.next_position
            for path, records in sound_records(files, form.dtype, self._about.before, self._about.seed, end):
                sound.setdefault(path, Sound(int(records["position"][0]))).note(records)
                self._last = int(records["position"][-1])
                yield form.columns(records)
            self._go_on_after(sound)
            self.texts = LoggedTexts(self._series, self._about.text_seed)
            self._note(tokens=tuple(each.hex() for each in (before, self.token) if each))
            self._form = form
        except OSError as error:
            self._failed("resume", error)

    def append(self, columns: KeptColumns, texts: Sequence[str]) -> KeptColumns:
        """Append kept posts, which come after all those in the log and are on disk, with their normalized texts.

        Returns them with the places of these texts.
        """
        if self._form is None or not len(columns.positions):
            return columns
        try:
            pair: FilePair | None = self._series.pair_for(int(columns.positions[0]), may_be_full=bool(self._unwritten))
        except OSError as error:
            self._failed("append", error)
            pair = None
        columns = columns._replace(text_places=self.texts.append(pair, columns.positions, texts))
        self._unwritten += self._form.records(columns, self._last, self._about.seed).tobytes()
        self._last = int(columns.positions[-1])
        if pair is not None:
            self._write(pair)
        if len(self._unwritten) > MOST_UNWRITTEN:
            self.close()
        return columns

    def _write(self, pair: FilePair) -> None:
        """Append the records that are not written yet."""
        try:
            if len(self._about.tokens) > 1 and self._store.meta(LOG_TOKEN) == self.token:
                self._note(tokens=(self.token.hex(),))
            pair.records.append(self._unwritten)
        except OSError as error:
            self._failed("append", error)
        else:
            self._unwritten = b""
            self._failing.discard("append")

    def erase(self, position: int) -> None:
        """Have nothing left of the text of a kept post, on disk as well; StoreError where it cannot be overwritten."""
        try:
            if self._form is None or not self._erase(position, self._form.dtype):
                self.close()  # nobody finds a text in its file any more
                self._series.delete_texts()
        except OSError as error:
            raise StoreError(
                f"{self._folder}: the text of the post cannot be overwritten, so it was not deleted. See that the disk "
                f"works, and try again: {error}"
            ) from error

    def _erase(self, position: int, dtype: np.dtype[np.void]) -> bool:
        """Overwrite the text of a kept post, if it has one; return False if somebody removed the records."""
        if not self._series.pairs:
            return True
        pair = self._series.pairs_of(np.array([position]))[0]
        if not pair.records.path.exists():
            return False
        for records in (RecordsInFile(pair.records.path, dtype), np.frombuffer(self._unwritten, dtype)):
            place = bisect_left(range(len(records)), position, key=lambda row: int(records[row]["position"]))
            if place < len(records) and records[place]["position"] == position and records[place]["text"] != NOWHERE:
                pair.texts.erase(int(records[place]["text"]), int(records[place]["text_bytes"]))
        return True

    def forget_before(self, position: int, watermark: float) -> None:
        """Delete the files whose posts are all before a position, which were forgotten at a watermark."""
        # a file that was begun when the disk became full has no record yet
        if self._form is None or self._unwritten or not (n := self._series.n_before(position)):
            return
        try:
            first = self._series.pairs[n].records.path
            record = np.fromfile(first, self._form.dtype, 1)[0]
            self._note(first=first.name, before=int(record["position"]) - int(record["gap"]), watermark=watermark)
        except OSError as error:
            self._failed("forget", error)
        else:
            self._series.remove_first(n)
            self._failing.discard("forget")

    def close(self) -> None:
        """Close the files; nothing is appended then. A second call does nothing."""
        self._form, self._unwritten, self._failing = None, b"", set()
        self._series.close()

    def _files_to_read(self, form: RecordForm, token: bytes | None) -> tuple[About, list[Path]]:
        """Return what there is of this form and of this store; where there is nothing, what a new log begins with."""
        about, files = read_about(self._folder), self._series.found()
        names = [path.name for path in files]
        if (
            about is not None
            and about.made_with == form.made_with
            and token is not None
            and token.hex() in about.tokens
            and about.first in names
            and about.watermark <= stored_watermark(self._store)
        ):
            return about, files[names.index(about.first) :]
        if (about is None or about.made_with == form.made_with) and any(path.stat().st_size for path in files):
            logger.warning("%s does not go with the store beside it, and is rebuilt from the store", self._folder)
        return About(form.made_with, self._series.next_name), []

    def _go_on_after(self, sound: dict[Path, Sound]) -> None:
        """Cut off what is not sound, and keep the rest."""
        self._series.delete_but(sound)
        for path, part in sound.items():
            pair = self._series.use(path, part.first_position)
            pair.records.cut(part.n_bytes)
            pair.texts.cut(part.end_of_texts)
        if sound and pair.texts.size == part.end_of_texts:  # else, what comes next would stand where texts are missing
            self._series.go_on()
        elif not sound:
            self._about = About(self._about.made_with, self._series.next_name)

    def _note(self, **changed: Any) -> None:
        """Write the file beside the records, with what changed."""
        about = replace(self._about, **changed)
        replace_file(self._folder / ABOUT_FILE, json.dumps(asdict(about)).encode())
        self._about = about

    def _failed(self, doing: str, error: OSError) -> None:
        if doing not in self._failing:
            logger.warning(
                "%s: cannot write the index snapshot; the next opening rebuilds it from the store: %s",
                self._folder,
                error,
            )
        self._failing.add(doing)


def read_about(folder: Path) -> About | None:
    """Return what the file beside the records says; None where there is none that can be read."""
    try:
        return ABOUT.validate_json((folder / ABOUT_FILE).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
