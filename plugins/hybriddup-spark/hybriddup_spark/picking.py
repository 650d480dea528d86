"""Tasks that select the rows and columns of prepared posts for each step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hybriddup.data.records import Bools, Int32s, Int64s, UInt64s
from hybriddup_spark.blocks import Batches, Task
from hybriddup_spark.columns import bools, key_lists, longs
from hybriddup_spark.schemas import ENTRIES, EQUAL, NEEDED, TOGETHER

OF_EQUAL = "position", "equal_a", "equal_b", "is_near", "length"
OF_ENTRIES = "position", "is_near", "length", "bits", "sketch", "keys", "probes"
OF_TEXTS = "position", "text"
OF_BINS = "position", "text", "length", "bits", "sketch", "keys"
"""Columns of `POSTS` that each task reads; Spark does not read the others."""
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Parts:
    """A hash partitioning of keys, or of positions."""

    values: Int32s
    """int32[n]: value of each part in the column ``part``, chosen so that Spark gives each part to a different task."""

    def of(self, numbers: UInt64s) -> Int32s:
        """Return int32[n]: the part of each key or position."""
        mixed = numbers * MIX
        return self.values[((mixed ^ (mixed >> np.uint64(32))) % np.uint64(len(self.values))).astype(np.int64)]


@dataclass(frozen=True)
class Flags:
    """A bit set of consecutive posts, small enough to be sent to tasks."""

    first: int
    """Position of the first post."""
    bits: NDArray[np.uint8]
    """Bits as packed by `numpy.packbits`."""

    @classmethod
    def of(cls, first: int, flags: Bools) -> Flags:
        """Pack ``flags``, bool[n], of consecutive posts from position ``first`` on."""
        return cls(first, np.packbits(flags))

    @classmethod
    def at_positions(cls, positions: Int64s) -> Flags:
        """Build the bit set with the bits at ``positions`` set; these must be non-empty and in ascending order."""
        first = int(positions[0])
        flags = np.zeros(int(positions[-1]) + 1 - first, np.bool_)
        flags[positions - first] = True
        return cls.of(first, flags)

    def at(self, positions: Int64s) -> Bools:
        """Return bool[n]: the bit at each position."""
        rows = positions - self.first
        return np.asarray((self.bits[rows >> 3] >> (7 - (rows & 7)).astype(np.uint8)) & 1 == 1)


def equal_of(parts: Parts) -> Task:
    """Return the task that makes `EQUAL` from `POSTS`."""

    def pick(batches: Batches) -> Batches:
        for batch in batches:
            part = parts.of(longs(batch, "equal_a").view(np.uint64))
            rest = [batch.column(field.name) for field in list(EQUAL)[1:]]
            yield pa.record_batch([pa.array(part, pa.int32()), *rest], schema=EQUAL)

    return pick


def entries_of(parts: Parts, chosen: Flags, repeated: Flags, *, probes: bool) -> Task:
    """Return the task that makes `ENTRIES` from the chosen `POSTS` of a round that could be near repeats.

    Parameters
    ----------
    chosen, repeated
        Chosen posts of the round, and posts with a later copy in it.
    probes
        Whether texts are looked up under other keys than their own.
    """

    def pick(batches: Batches) -> Batches:
        for batch in batches:
            some = batch.filter(pa.array(chosen.at(longs(batch, "position")) & bools(batch, "is_near")))
            is_repeated = repeated.at(longs(some, "position"))
            own, n_own = key_lists(some, "keys")
            both = np.ones(len(own), np.bool_)
            yield _entries(parts, some, own, n_own, (both, both if not probes else ~both), is_repeated)
            if probes:
                probed, n_probed = key_lists(some, "probes")
                is_probe = np.ones(len(probed), np.bool_)
                yield _entries(parts, some, probed, n_probed, (~is_probe, is_probe), is_repeated)

    return pick


def _entries(
    parts: Parts, some: pa.RecordBatch, keys: UInt64s, counts: Int64s, flags: tuple[Bools, Bools], repeated: Bools
) -> pa.RecordBatch:
    part = parts.of(keys)
    order = np.argsort(part, kind="stable")
    rows = np.repeat(np.arange(len(counts)), counts)[order]
    texts = some.select([name for name in ENTRIES.names if name in some.schema.names]).take(pa.array(rows))
    columns = {
        "part": part[order],
        "key": keys.view(np.int64)[order],
        "is_own": flags[0][order],
        "is_probe": flags[1][order],
        "is_repeated": repeated[rows],
    }
    arrays = [
        pa.array(columns[field.name], field.type) if field.name in columns else texts.column(field.name)
        for field in ENTRIES
    ]
    return pa.record_batch(arrays, schema=ENTRIES)


def texts_at(parts: Parts, wanted: Flags) -> Task:
    """Return a task that selects the texts of the ``wanted`` `POSTS`, as `NEEDED`."""

    def pick(batches: Batches) -> Batches:
        for batch in batches:
            positions = longs(batch, "position")
            chosen = np.flatnonzero(wanted.at(positions))
            some = batch.take(pa.array(chosen))
            part = pa.array(parts.of(positions[chosen].view(np.uint64)), pa.int32())
            yield pa.record_batch([part, some.column("position"), some.column("text")], schema=NEEDED)

    return pick


def binned(wanted: pa.Table) -> Task:
    """Return the task that makes `TOGETHER` from `POSTS`, given the `WANTED` texts."""
    wanted = wanted.take(np.argsort(longs(wanted, "position"), kind="stable")).combine_chunks()

    def pick(batches: Batches) -> Batches:
        at = longs(wanted, "position")
        for batch in batches:
            positions = longs(batch, "position")
            begins, ends = np.searchsorted(at, positions), np.searchsorted(at, positions, side="right")
            rows = np.repeat(np.arange(len(positions)), ends - begins)
            if not len(rows):
                continue
            places = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends, strict=True)])
            yield _together(batch.take(pa.array(rows)), wanted.take(places))

    return pick


def _together(posts: pa.RecordBatch, wanted: pa.Table) -> pa.RecordBatch:
    columns = {name: wanted.column(name).combine_chunks() for name in ("bin", "is_open", "places")}
    columns["keys"] = pc.coalesce(wanted.column("keys").combine_chunks(), posts.column("keys"))
    columns["text"] = pc.if_else(pa.array(bools(wanted, "is_met")), posts.column("text"), None)
    arrays = [columns[field.name] if field.name in columns else posts.column(field.name) for field in TOGETHER]
    return pa.record_batch(arrays, schema=TOGETHER)


def is_among(values: Int64s, wanted: Int64s) -> Bools:
    """Return bool[n]: whether each value is in ``wanted``, int64[m] in ascending order."""
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[places] == values)
