"""Packs kept posts into records of equal size, and unpacks them.

A record holds everything that a window keeps in memory about a kept post, except its text.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from hybriddup.data.records import NO_KEY, NO_SKETCHES, SKETCH_WORDS, UInt64s
from hybriddup.kernels.search.pair_limits import text_columns
from hybriddup.run.bands import Bands
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.candidates import Batch
from hybriddup.steps.options import to_plain
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.preparing import Steps
from hybriddup.window.stores import Derived

VERSION = 6
"""Version of the format of records; increased when the meaning of a field changes."""
NOT_FINDABLE = -1
"""Placeholder in records for the length of a text that cannot have near repeats."""
POSTS_PER_PART = 2**14
"""Number of posts whose records are stored as one value, limited because SQLite refuses values of a gigabyte."""

Records = NDArray[np.void]


@dataclass(frozen=True)
class RecordForm:
    """The layout of a record, and everything that the content of a record depends on."""

    dtype: np.dtype[np.void]
    made_with: str
    """Id of the settings and data from which records are computed; stored records with another id are not used."""
    bands: Bands
    """The length bands, which give the limits for each length, so that records need not contain limits."""
    index: BlockIndex
    """The block index, which computes the keys that records do not contain."""

    @classmethod
    def of(cls, steps: Steps) -> RecordForm | None:
        """Return the layout of the records of a window; None if the number of keys differs from text to text."""
        index = steps.components.block_index
        if index.n_keys is None and index.reads_texts:
            return None
        key_type = np.uint32 if index.reads_texts and index.key_bits <= 32 else np.uint64
        n_keys = (index.n_keys or 0) if index.reads_texts else 0  # if not, fingerprints suffice to compute the keys
        fields = [
            ("position", np.int64),
            ("time", np.float64),
            ("watermark", np.float64),
            ("hash", np.uint64),
            ("bits", np.uint64, (steps.components.fingerprinter.n_bits // 64,)),
            ("sketch", np.uint64, (SKETCH_WORDS if steps.counts_characters else 0,)),
            ("keys", key_type, (n_keys,)),
            ("length", np.int32),
        ]
        dtype = np.dtype(fields)
        return cls(dtype, made_with(steps, dtype), steps.components.bands, index)

    def derived(self, columns: KeptColumns, first: int, end: int, normalized: Sequence[str | None] = ()) -> Derived:
        """Return derived data for the store: records of the kept posts at ``first`` to ``end - 1``, and ``normalized``.

        ``normalized`` has the normalized text of each post, or is empty.
        """
        ends = [*range(first + POSTS_PER_PART, end, POSTS_PER_PART), end]
        edges = [0, *np.searchsorted(columns.positions, ends).tolist()]
        records = self.records(columns)
        parts = [(ends[n], records[edges[n] : edges[n + 1]].tobytes()) for n in range(len(ends))]
        return Derived(self.made_with, parts, normalized)

    def records(self, columns: KeptColumns) -> Records:
        """Pack kept posts into records."""
        records = np.zeros(len(columns.positions), self.dtype)
        records["position"], records["hash"] = columns.positions, columns.hashes
        records["time"], records["watermark"] = columns.times, columns.watermarks
        texts, keys = columns.texts.columns, columns.texts.keys
        rows = np.searchsorted(columns.positions, columns.texts.positions)
        records["length"] = NOT_FINDABLE
        records["length"][rows], records["bits"][rows] = texts.lengths, texts.bits
        if self.dtype["sketch"].itemsize:
            records["sketch"][rows] = texts.sketches
        if self.dtype["keys"].itemsize:
            records["keys"] = NO_KEY & np.iinfo(self.dtype["keys"].base).max
            records["keys"][rows, : keys.shape[1]] = keys  # the low bits of NO_KEY are the mark in 32 bits, too
        return records

    def columns(self, packed: bytes) -> KeptColumns:
        """Unpack records into the columns of their kept posts."""
        records: Records = np.frombuffer(packed, self.dtype)
        findable = records[records["length"] != NOT_FINDABLE]
        found, bits = column(findable, "position"), column(findable, "bits")
        sketches = column(findable, "sketch") if self.dtype["sketch"].itemsize else NO_SKETCHES
        limits, kinds = self.bands.limits_by_length(column(findable, "length"))
        of_texts = text_columns(bits, limits, sketches, kinds)
        texts = Batch(found, *self.keys_and_probes(findable, bits), of_texts, found)  # no batch: none need be equal
        positions, times, watermarks = (column(records, name) for name in ("position", "time", "watermark"))
        return KeptColumns(positions, times, watermarks, column(records, "hash"), texts)

    def keys_and_probes(self, findable: Records, bits: UInt64s) -> tuple[UInt64s, UInt64s]:
        """Return the block keys of texts, and their probes, the keys by which they are looked up; each is uint64[n, m].

        ``findable`` and ``bits`` are the records and the fingerprints of the texts.
        """
        index = self.index
        if not index.reads_texts:
            keys = index.keys([""] * len(bits), bits)
        else:
            stored = column(findable, "keys")
            none = np.iinfo(stored.dtype).max
            keys = np.where(stored == none, np.uint64(NO_KEY), stored.astype(np.uint64))
        return keys, index.probes(keys, bits) if index.probes_others else keys


def column(records: Records, name: str) -> Any:
    """Return a field of all records as a contiguous array."""
    return np.ascontiguousarray(records[name])


def made_with(steps: Steps, dtype: np.dtype[np.void]) -> str:
    """Return an id of the settings and data from which records are computed, such as recipe, bands and learned data."""
    settings, arrays = steps.components.settings, steps.components.block_index.learned()
    learned = {name: xxhash.xxh3_128_hexdigest(array.tobytes()) for name, array in arrays.items()}
    bands, made_by = [band.to_dict() for band in settings.lengths], steps.components.recipe()
    parts = [VERSION, sys.byteorder, str(dtype), made_by, settings.blocks.to_dict(), bands, learned]
    return xxhash.xxh3_128_hexdigest(json.dumps(parts, sort_keys=True, default=to_plain).encode())
