"""Copies of the kept posts in plain files beside the store, where one access to the disk finds one.

Every batch asks for the ids and texts of a hundred kept posts or so from all over the window. In a tree of pages, each
takes several accesses, one after another; here it is known where each copy begins, and all are asked of the disk
together.

The copies are believed no more than what else is derived from the store: each has a checksum, over its position as
well, and one that is missing or damaged is read from the store. All of them are made anew where the store is not the
one that they were made beside, such as a file that was put back from a backup.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple

import numpy as np
import xxhash

from hybriddup.kernels.copy_places import WORDS_OF_UNIT, find_copies
from hybriddup.kernels.file_reads import read_together
from hybriddup.records import Int32s, Int64s, UInt32s
from hybriddup.window.records import PostId, StoredPost
from hybriddup.window.stores.file_series import FileSeries, replace_file

FOLDER, ENDING, TOKEN_FILE = "copies", ".posts", "token"
UNIT = 4 * WORDS_OF_UNIT
"""A copy begins at a multiple of so many bytes."""
READ_AT_ONCE = 512
"""Bytes that most copies take; more is read where one is longer."""
HEADER, CHECKSUM, SUMMED = Struct("<QqII"), Struct("<Q"), Struct("<qII")
"""Checksum of what follows, position, and the bytes of the id and of the text; as `hybriddup.kernels.copy_places`."""
HEADER_FIELDS = np.dtype([("checksum", "<u8"), ("position", "<i8"), ("n_id", "<u4"), ("n_text", "<u4")])
"""The same for many copies at once."""
SMALLEST = 4096
MOST_REMEMBERED = 4096
"""Copies that are remembered until others are written, or more where more are asked for at once."""
IS_POSSIBLE = hasattr(os, "pread") and hasattr(os, "posix_fadvise")
"""Not on every platform; without copies, the posts are read from the store."""

logger = logging.getLogger("hybriddup")


class Copy(NamedTuple):
    """What deciding asks of a kept post."""

    id: PostId
    compared_text: str


class CopyPlaces(NamedTuple):
    """Where some copies are."""

    positions: Int64s
    """int64[n]: of their posts."""
    descriptors: Int32s
    """int32[n]: of their files."""
    starts: Int64s
    """int64[n]: bytes before each in its file."""
    rooms: Int64s
    """int64[n]: bytes of the file from there on."""


class Places:
    """Where the copy of each position begins in its file, in units and from 1; 0 = there is none."""

    def __init__(self, base: int = 0) -> None:
        self._base = base
        """The position of the first place."""
        self._places: UInt32s = np.zeros(0, np.uint32)
        self._n = 0

    @property
    def end(self) -> int:
        """The position after the last one."""
        return self._base + self._n

    @property
    def n_bytes(self) -> int:
        """Memory that is held."""
        return self._places.nbytes

    def of(self, positions: Int64s) -> UInt32s:
        """Return uint32[n]: the places of positions."""
        rows = positions - self._base
        known = (rows >= 0) & (rows < self._n)
        places = np.zeros(len(positions), np.uint32)
        places[known] = self._places[rows[known]]
        return places

    def add(self, positions: Int64s, places: UInt32s) -> None:
        """Take in the places of positions, at least one, that rise and come after all others."""
        if not self._n:
            self._base = int(positions[0])
        end = int(positions[-1]) + 1 - self._base
        if end > len(self._places):
            longer = np.zeros(max(2 * end, SMALLEST), np.uint32)
            longer[: self._n] = self._places[: self._n]
            self._places = longer
        self._places[positions - self._base] = places
        self._n = end

    def forget_before(self, position: int) -> None:
        """Let go of the places before a position, when they are half of all."""
        n_gone = min(position - self._base, self._n)
        if n_gone > self._n // 2 and self._n > SMALLEST:
            self._places = self._places[n_gone : self._n].copy()
            self._base, self._n = self._base + n_gone, self._n - n_gone


class KeptCopies:
    """The copies beside one store, for the process that writes to it.

    Parameters
    ----------
    folder
        The directory of the store.
    before, token
        Tell the time of the store: ``before`` as it was when it was opened last, ``token`` as it is from now on. Copies
        that were made at another time are deleted.
    next_position
        The next position of the store; copies of later posts are deleted, too.
    """

    def __init__(self, folder: Path, before: bytes | None, token: bytes, next_position: int) -> None:
        self._folder = folder / FOLDER
        self._series = FileSeries(self._folder, ENDING, read_randomly=True)
        self._places = Places()
        self._is_stuck = False
        """Whether the last copies could not be written, which is said once."""
        self._read: dict[int, Copy] = {}
        """By position, what was read since copies were written last: the text of a post is asked for first, its id
        after."""
        try:
            self._resume(before, token, next_position)
        except OSError as error:
            self._warn(error)

    @property
    def n_bytes(self) -> int:
        """Bytes of the files."""
        return self._series.n_bytes

    def hold(self, posts: Sequence[StoredPost]) -> None:
        """Copy the kept ones of some posts that come after all those copied so far; others are left out."""
        self._read = {}
        end = self._places.end
        kept = [post for post in posts if post.kept and post.position >= end]
        if not kept:
            return
        try:
            self._write(kept)
            self._is_stuck = False
        except OSError as error:
            self._warn(error)

    def read(self, positions: Int64s) -> dict[int, Copy]:
        """Return, by position, the posts of which there is a sound copy."""
        if len(self._read) > MOST_REMEMBERED:
            self._read = {}
        unread = np.array([each for each in positions.tolist() if each not in self._read], np.int64)
        if len(unread):  # a single post mostly asks for none
            self._read |= read_copies(self._located(unread))
        return {position: self._read[position] for position in positions.tolist() if position in self._read}

    def forget_before(self, position: int) -> None:
        """Delete the files whose posts are all before a position."""
        self._places.forget_before(position)
        self._series.remove_first(self._series.n_before(position))

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        self._series.close()

    def _write(self, posts: Sequence[StoredPost]) -> None:
        """Append copies to the last file, or to a new one."""
        records = [pack(post.position, post.id, post.compared_text) for post in posts]
        start = self._series.file_for(posts[0].position).append(b"".join(records))
        starts = np.cumsum([start, *map(len, records)])[:-1]
        self._places.add(np.array([post.position for post in posts]), starts // UNIT + 1)

    def _located(self, positions: Int64s) -> CopyPlaces:
        """Return where the copies are that there should be."""
        places = self._places.of(positions)
        positions, starts = positions[places > 0], (places[places > 0].astype(np.int64) - 1) * UNIT
        files = self._series.files
        of_file = np.searchsorted([file.first_position for file in files], positions, side="right") - 1
        descriptors = np.array([file.stream.fileno() if file.stream else -1 for file in files], np.int32)[of_file]
        sizes = np.array([file.size for file in files], np.int64)[of_file]
        return CopyPlaces(positions, descriptors, starts, sizes - starts)

    def _resume(self, before: bytes | None, token: bytes, next_position: int) -> None:
        """Use the files of before, or delete them where they are not of the same time."""
        self._folder.mkdir(exist_ok=True)
        noted = self._folder / TOKEN_FILE
        is_same = before is not None and noted.exists() and noted.read_bytes() == before
        for path in self._series.found():
            if not is_same or not self._use(path, next_position):
                path.unlink()
        replace_file(noted, token)

    def _use(self, path: Path, next_position: int) -> bool:
        """Note where the copies of a file begin; return whether there are any."""
        size = path.stat().st_size
        if size < UNIT:
            return False
        words = np.memmap(path, "<u4", "r", shape=(size // 4,))
        positions, bounds = find_copies(np.asarray(words), self._places.end - 1)
        del words
        n = int(np.searchsorted(positions, next_position))
        if not n:
            return False
        # what follows is not whole, or of posts of another branch, which later ones of their positions are not to be
        os.truncate(path, int(bounds[n]) * UNIT)
        self._places.add(positions[:n], bounds[:n] + np.uint32(1))
        self._series.use(path, int(positions[0]))
        self._series.go_on()
        return True

    def _warn(self, error: OSError) -> None:
        if not self._is_stuck:
            logger.warning("%s: posts are not copied, and read from the store instead: %s", self._folder, error)
        self._is_stuck = True


def pack(position: int, post_id: PostId, text: str) -> bytes:
    """Return the copy of a kept post."""
    packed_id, packed_text = id_to_bytes(post_id), text.encode("utf-8", "surrogatepass")
    body = b"%b%b%b" % (SUMMED.pack(position, len(packed_id), len(packed_text)), packed_id, packed_text)
    packed = CHECKSUM.pack(xxhash.xxh3_64_intdigest(body)) + body
    return packed.ljust(-(-len(packed) // UNIT) * UNIT, b"\0")


def read_copies(places: CopyPlaces) -> dict[int, Copy]:
    """Return, by position, the copies at some places that are whole and of their positions."""
    read, n_read = read_together(places.descriptors, places.starts, READ_AT_ONCE)
    headers = np.ascontiguousarray(read[:, : HEADER.size]).view(HEADER_FIELDS).ravel()
    sizes = headers["n_id"].astype(np.int64) + headers["n_text"] + HEADER.size
    likely = (n_read >= HEADER.size) & (headers["position"] == places.positions) & (sizes <= places.rooms)
    data, of_rows = read.tobytes(), np.flatnonzero(likely)
    copies: dict[int, Copy] = {}
    for row, size in zip(of_rows.tolist(), sizes[of_rows].tolist(), strict=True):
        first = row * READ_AT_ONCE
        whole = data[first : first + size] if size <= READ_AT_ONCE else read_long(places, row, size)
        if (copy := unpack(whole)) is not None:
            copies[int(places.positions[row])] = copy
    return copies


def read_long(places: CopyPlaces, row: int, size: int) -> bytes:
    """Return so many bytes of a copy, fewer where they cannot be read."""
    try:
        return os.pread(int(places.descriptors[row]), size, int(places.starts[row]))
    except OSError:
        return b""


def unpack(data: bytes) -> Copy | None:
    """Return the content of a copy; None where it is not whole or the checksum is another."""
    if len(data) < HEADER.size:
        return None
    checksum, _, n_id, _ = HEADER.unpack_from(data)
    if xxhash.xxh3_64_intdigest(memoryview(data)[CHECKSUM.size :]) != checksum:
        return None
    text_at = HEADER.size + n_id
    return Copy(id_from_bytes(data[HEADER.size : text_at]), data[text_at:].decode("utf-8", "surrogatepass"))


def id_to_bytes(post_id: PostId) -> bytes:
    """Return an id with its type."""
    return b"s" + post_id.encode("utf-8", "surrogatepass") if isinstance(post_id, str) else b"i%d" % post_id


def id_from_bytes(data: bytes) -> PostId:
    """Return the id of some bytes."""
    return data[1:].decode("utf-8", "surrogatepass") if data[:1] == b"s" else int(data[1:])
