"""Kept posts as records of equal size, each with a checksum, and back; and which records of files are believed."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY, SKETCH_WORDS, Bools, Fingerprints, Int64s, UInt32s, UInt64s
from hybriddup.kernels.text.xxh3 import sum_records
from hybriddup.run.bands import Bands
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.options import to_plain
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.derived.text_files import NOWHERE, TextPlaces
from hybriddup.window.index import LiveTexts
from hybriddup.window.preparing import Steps

VERSION = 5
"""Raised when the same fields come to mean something else."""
NOT_FINDABLE = -1
"""Stands for the length of a text that has no near repeats."""
READ_AT_ONCE = 2**16
"""Records that are read together."""

Records = NDArray[np.void]
logger = logging.getLogger("hybriddup")


@dataclass(frozen=True)
class RecordForm:
    """How a record is laid out, and what its content depends on."""

    dtype: np.dtype[np.void]
    made_with: str
    """An id of all that; records of another one are not to be used."""
    bands: Bands
    """Tell the limits of each length, which are not in the records."""
    index: BlockIndex
    """Makes the keys that are not in the records."""

    @classmethod
    def of(cls, steps: Steps, horizon: float) -> RecordForm:
        """Return the form for a window that goes by these steps and forgets after so many seconds."""
        fields = [
            ("checksum", np.uint64),
            ("gap", np.uint32),
            ("length", np.int32),
            ("position", np.int64),
            ("time", np.float64),
            ("watermark", np.float64),
            ("hash", np.uint64),
            ("text", np.int64),
            ("text_bytes", np.int64),
            ("bits", np.uint64, (steps.components.fingerprinter.n_bits // 64,)),
            ("sketch", np.uint64, (SKETCH_WORDS if steps.counts_characters else 0,)),
            ("keys", *stored_keys(steps.components.block_index)),
        ]
        dtype = np.dtype(fields)
        return cls(dtype, made_with(steps, horizon, dtype), steps.components.bands, steps.components.block_index)

    def records(self, columns: KeptColumns, before: int, seed: np.uint64) -> Records:
        """Return the records of some kept posts; ``before`` is the position of the one before them, -1 = none."""
        records = np.zeros(len(columns.positions), self.dtype)
        records["gap"] = gaps(before, columns.positions)
        records["position"], records["hash"] = columns.positions, columns.hashes
        records["time"], records["watermark"] = columns.times, columns.watermarks
        records["text"], records["text_bytes"] = columns.text_places
        prints, sketches, keys = columns.texts.prints, columns.texts.sketches, columns.texts.keys
        rows = np.searchsorted(columns.positions, prints.positions)
        records["length"] = NOT_FINDABLE
        records["length"][rows], records["bits"][rows] = prints.limits.lengths, prints.bits
        if sketches is not None:
            records["sketch"][rows] = sketches
        if self.dtype["keys"].itemsize:
            records["keys"] = NO_KEY & np.iinfo(self.dtype["keys"].base).max
            records["keys"][rows, : keys.shape[1]] = keys  # NO_KEY has the low bits that stand for none
        records["checksum"] = checksums(records, seed)
        return records

    def columns(self, records: Records) -> KeptColumns:
        """Return what records say."""
        findable = records[records["length"] != NOT_FINDABLE]
        prints = Fingerprints(
            column(findable, "position"),
            column(findable, "bits"),
            self.bands.limits_of(findable["length"].astype(np.int32)),
        )
        sketches = column(findable, "sketch") if self.dtype["sketch"].itemsize else None
        texts = LiveTexts(prints, sketches, *self.keys_and_probes(findable, prints.bits))
        places = TextPlaces(column(records, "text"), column(records, "text_bytes"))
        positions, times, watermarks = (column(records, name) for name in ("position", "time", "watermark"))
        return KeptColumns(positions, times, watermarks, column(records, "hash"), texts, places)

    def keys_and_probes(self, findable: Records, bits: UInt64s) -> tuple[UInt64s, UInt64s]:
        """Return the keys of texts, and those that they would be looked up by."""
        index = self.index
        if not index.reads_texts:
            keys = index.keys([""] * len(bits), bits)
        else:
            stored = column(findable, "keys")[:, : index.n_keys]
            none = np.iinfo(stored.dtype).max
            keys = np.where(stored == none, np.uint64(NO_KEY), stored.astype(np.uint64))
        return keys, index.probes(keys, bits) if index.probes_others else keys


def stored_keys(index: BlockIndex) -> tuple[type[np.generic], tuple[int, ...]]:
    """Return the type and the number of the keys in a record, whole words together; none where the bits tell them."""
    if not index.reads_texts:
        return np.uint64, (0,)
    n_keys = index.n_keys or 0
    return (np.uint32, (n_keys + n_keys % 2,)) if index.key_bits <= 32 else (np.uint64, (n_keys,))


def can_be_recorded(index: BlockIndex) -> bool:
    """Return whether records can have the keys of texts: not where the number of them differs from text to text."""
    return index.n_keys is not None or not index.reads_texts


def n_sound(records: Records, before: int, end: int, seed: np.uint64) -> int:
    """Return how many records, from the first on, are as they were written and follow one another.

    The first one has to name the position ``before``, and none is of ``end``, the next position of the store, or later.
    """
    sound: Bools = (checksums(records, seed) == records["checksum"]) & (records["position"] < end)
    sound &= records["gap"] == gaps(before, records["position"])
    return int(np.argmin(np.append(sound, np.False_)))


def gaps(before: int, positions: Int64s) -> UInt32s:
    """Return uint32[n]: how many positions each is after the one before it, the low bits of that."""
    return np.diff(positions, prepend=before).astype(np.uint32)


def checksums(records: Records, seed: np.uint64) -> UInt64s:
    """Return uint64[n]: the checksum of each record, which is its first word, of all its other words."""
    words = records.view(np.uint64).reshape(len(records), records.dtype.itemsize // 8)
    sums: UInt64s = sum_records(words[:, 1:], seed)
    return sums


def end_of_texts(records: Records) -> int:
    """Return where the last text of some records ends in its file; 0 where none is in it."""
    there = records["text"] != NOWHERE
    return int((records["text"] + records["text_bytes"])[there].max(initial=0))


def column(records: Records, name: str) -> Any:
    """Return a field of all records, one after another in memory."""
    return np.ascontiguousarray(records[name])


def made_with(steps: Steps, horizon: float, dtype: np.dtype[np.void]) -> str:
    """Return an id of what records depend on.

    That is the recipe of the fingerprints, the bands, what the block index learned, and the horizon: with a longer one,
    posts would still match that are no longer in the log.
    """
    components = steps.components
    learned = {
        name: xxhash.xxh3_128_hexdigest(array.tobytes()) for name, array in components.block_index.learned().items()
    }
    bands = [band.to_dict() for _, band in components.settings.bands()]
    parts = [
        VERSION,
        sys.byteorder,
        str(dtype),
        components.recipe(),
        components.settings.blocks.to_dict(),
        bands,
        learned,
        horizon,
    ]
    return xxhash.xxh3_128_hexdigest(json.dumps(parts, sort_keys=True, default=to_plain).encode())


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
        return self.path.stat().st_size // self.dtype.itemsize

    def __getitem__(self, row: int) -> np.void:
        record: np.void = np.fromfile(self.path, self.dtype, 1, offset=row * self.dtype.itemsize)[0]
        return record


def sound_records(
    files: Sequence[Path], dtype: np.dtype[np.void], before: int, seed: np.uint64, end: int
) -> Iterator[tuple[Path, Records]]:
    """Yield the records of files, some at a time, as far as they are sound; see `n_sound`."""
    for path in files:
        for records in read_records(path, dtype):
            n = n_sound(records, before, end, seed)
            if n:
                before = int(records["position"][n - 1])
                yield path, records[:n]
            if n < len(records):
                logger.warning("%s is damaged or of another store; what follows is rebuilt from the store", path)
                return


def read_records(path: Path, dtype: np.dtype[np.void]) -> Iterator[Records]:
    """Yield the records of a file, some at a time; a last one that is not whole is left out."""
    with path.open("rb") as file:
        while len(records := np.fromfile(file, dtype, READ_AT_ONCE)):
            yield records
