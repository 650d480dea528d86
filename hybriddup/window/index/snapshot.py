"""Snapshots of a live index: its texts in a file with a checksum, from which an index is filled without the store.

The tables are not in it: filling them anew takes less than a microsecond a text and table, and the file then serves
whatever shape the index has when it is opened. What is not whole, of another recipe or of another version is refused.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import xxhash

from hybriddup.records import Fingerprints, PairLimits
from hybriddup.window.index import LiveIndex, LiveTexts, fill

MAGIC = b"hybriddup live index\n"
VERSION = 3
READ_AT_ONCE = 2**22
BYTES_OF_DIGEST = 8
INT64, INT32, FLOAT32, UINT64, UINT32 = (np.dtype(code) for code in ("<i8", "<i4", "<f4", "<u8", "<u4"))

logger = logging.getLogger("hybriddup")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot that is whole and of the recipe asked for."""

    path: Path
    position: int
    """What was given when it was saved: posts from this position on are not in it."""
    n_texts: int
    bits: int
    sketched: bool
    n_shingles: int
    start: int
    """Where the first batch begins in the file, in bytes."""

    def texts(self) -> Iterator[LiveTexts]:
        """Yield the texts in order, in batches."""
        n_read = 0
        with self.path.open("rb") as file:
            file.seek(self.start)
            while n_read < self.n_texts:
                texts = read_batch(file, self.bits // 64, self.n_shingles, sketched=self.sketched)
                n_read += len(texts.prints)
                yield texts

    def suits(self, index: LiveIndex) -> bool:
        """Return whether there is everything of each text that an index asks for."""
        return index.n_shingles <= self.n_shingles and index.sketched <= self.sketched

    def restore(self, index: LiveIndex) -> None:
        """Add the texts to an empty index for which `suits` is true."""
        fill(index, self.texts())


def save(path: str | Path, index: LiveIndex, *, recipe_id: str, position: int) -> None:
    """Write the texts of an index to a file, which appears when it is whole or not at all.

    Parameters
    ----------
    recipe_id
        Of what made the fingerprints.
    position
        The next position to be given out: all kept posts before it that can be found are in the index.

    Raises
    ------
    OSError
        It cannot be written; the file that was there before is as it was.
    """
    target = Path(path)
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            write(file, index, {"recipe_id": recipe_id, "position": position})
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


def load(path: str | Path, recipe_id: str) -> Snapshot | None:
    """Return a snapshot, or None where there is none that can be believed; the reason is logged."""
    source = Path(path)
    if not source.exists():
        return None
    try:
        reason, snapshot = read_header(source, recipe_id)
    except OSError as error:
        reason, snapshot = f"it cannot be read: {error}", None
    if snapshot is None:
        logger.warning("the snapshot %s is not used, and the index is rebuilt from the store: %s", source, reason)
    return snapshot


def write(file: BinaryIO, index: LiveIndex, header: dict[str, Any]) -> None:
    """Write all of a snapshot."""
    digest = xxhash.xxh3_64()

    def put(data: bytes | memoryview) -> None:
        digest.update(data)
        file.write(data)

    batches = index.texts()
    first = next(batches, None)
    words = first.prints.bits.shape[1] if first else 1
    about = header | {
        "n_texts": index.report().n_texts,
        "bits": 64 * words,
        "sketched": index.sketched,
        "n_shingles": index.n_shingles,
    }
    text = json.dumps(about).encode()
    put(MAGIC)
    put(np.array([VERSION, len(text)], INT64).tobytes())
    put(text)
    while first is not None:
        for column in columns_of(first):
            put(column.tobytes())
        first = next(batches, None)
    file.write(digest.intdigest().to_bytes(BYTES_OF_DIGEST, "little"))


def columns_of(texts: LiveTexts) -> Iterator[np.ndarray]:
    """Yield the columns of a batch as they are written: counts, each length with its limits, and a row a text."""
    prints = texts.prints
    _, chosen, number = np.unique(prints.limits.lengths, return_index=True, return_inverse=True)
    yield np.array([len(prints), len(chosen)], INT64)
    lengths, distances, longest, of_shorter, of_longer = prints.limits.take(chosen)
    for integers in (lengths, distances, longest):
        yield integers.astype(INT32)
    for shares in (of_shorter, of_longer):
        yield shares.astype(FLOAT32)
    yield number.astype(INT32)
    yield prints.positions.astype(INT64)
    yield prints.bits.astype(UINT64)
    if texts.sketches is not None:
        yield texts.sketches.astype(UINT64)
    if texts.shingles is not None:
        yield texts.shingles.astype(UINT32)


def read_batch(file: BinaryIO, words: int, n_shingles: int, *, sketched: bool) -> LiveTexts:
    """Return the next batch of a file."""

    def take(n: int, dtype: np.dtype[Any]) -> np.ndarray:
        return np.frombuffer(file.read(n * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))

    n_texts, n_lengths = take(2, INT64).tolist()
    integers = [take(n_lengths, INT32) for _ in range(3)]
    rows = PairLimits._make([*integers, take(n_lengths, FLOAT32), take(n_lengths, FLOAT32)])
    limits = rows.take(take(n_texts, INT32).astype(np.int64))
    positions, bits = take(n_texts, INT64), take(n_texts * words, UINT64).reshape(n_texts, words)
    sketches = take(n_texts * 2, UINT64).reshape(n_texts, 2) if sketched else None
    shingles = take(n_texts * n_shingles, UINT32).reshape(n_texts, n_shingles) if n_shingles else None
    return LiveTexts(Fingerprints(positions, bits, np.zeros((n_texts, 0), np.uint8), limits), sketches, shingles)


def read_header(path: Path, recipe_id: str) -> tuple[str, Snapshot | None]:
    """Return the snapshot of a file, or why it is not to be used."""
    with path.open("rb") as file:
        prefix = file.read(len(MAGIC) + 16)
        if not prefix.startswith(MAGIC) or len(prefix) < len(MAGIC) + 16:
            return "it is no snapshot, or its beginning is damaged", None
        version, length = np.frombuffer(prefix[len(MAGIC) :], INT64).tolist()
        if version != VERSION:
            return f"it is of version {version}, and this program reads version {VERSION}", None
        if not is_whole(file, path.stat().st_size):
            return "its checksum is not that of its content", None
        file.seek(len(prefix))
        about = cast("dict[str, Any]", json.loads(file.read(length)))
    if about["recipe_id"] != recipe_id:
        return f"its recipe id is {about['recipe_id']}, and that of this window {recipe_id}", None
    fields = {name: about[name] for name in ("position", "n_texts", "bits", "sketched", "n_shingles")}
    return "", Snapshot(path, **fields, start=len(prefix) + length)


def is_whole(file: BinaryIO, size: int) -> bool:
    """Return whether the checksum at the end of a file is that of all before it."""
    digest, left = xxhash.xxh3_64(), size - BYTES_OF_DIGEST
    file.seek(0)
    while left > 0:
        data = file.read(min(left, READ_AT_ONCE))
        if not data:
            return False
        digest.update(data)
        left -= len(data)
    return left == 0 and file.read() == digest.intdigest().to_bytes(BYTES_OF_DIGEST, "little")
