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
from collections.abc import Mapping, Sequence
from pathlib import Path
from struct import Struct
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt32s, offsets_of
from hybriddup.kernels.copies import (
    BYTES_OF_WORD,
    WORDS_OF_HEADER,
    WORDS_OF_UNIT,
    find_copies,
    sound_sizes,
    write_copies,
)
from hybriddup.kernels.file_reads import read_together
from hybriddup.window.records import PostId, StoredPost
from hybriddup.window.stores.file_series import FileSeries, replace_file

FOLDER, ENDING, TOKEN_FILE = "copies", ".posts", "token"
UNIT = BYTES_OF_WORD * WORDS_OF_UNIT
"""A copy begins at a multiple of so many bytes."""
HEADER = BYTES_OF_WORD * WORDS_OF_HEADER
"""Bytes before the id."""
LENGTHS, LENGTHS_AT = Struct("=Q"), 2 * BYTES_OF_WORD
"""The bytes of the id, and those of the text in the upper half, and where a copy says it."""
READ_AT_ONCE = 512
"""Bytes that most copies take; more is read where one is longer."""
SMALLEST = 4096
MOST_REMEMBERED = 4096
"""Copies that are remembered until others are written, or more where more are asked for at once."""
IS_POSSIBLE = hasattr(os, "pread") and hasattr(os, "posix_fadvise")
"""Not on every platform; without copies, the posts are read from the store."""

logger = logging.getLogger("hybriddup")


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
        self._read: dict[int, bytes] = {}
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
        kept = [post for post in posts if post.evidence is None and post.position >= end]
        if not kept:
            return
        try:
            self._write(kept)
            self._is_stuck = False
        except OSError as error:
            self._warn(error)

    def read(self, positions: Int64s) -> Mapping[int, bytes]:
        """Return, by position, the sound copies of these posts, and perhaps of others."""
        if len(self._read) > MOST_REMEMBERED:
            self._read = {}
        unread = np.array([each for each in positions.tolist() if each not in self._read], np.int64)
        if len(unread):  # a single post mostly asks for none
            self._read |= read_copies(self._located(unread))
        return self._read

    def forget_before(self, position: int) -> None:
        """Delete the files whose posts are all before a position."""
        self._places.forget_before(position)
        self._series.remove_first(self._series.n_before(position))

    def close(self) -> None:
        """Close the files; a second call does nothing."""
        self._series.close()

    def _write(self, posts: Sequence[StoredPost]) -> None:
        """Append copies to the last file, or to a new one."""
        positions = np.array([post.position for post in posts])
        copies, bounds = pack(positions, [post.id for post in posts], [post.compared_text for post in posts])
        start = self._series.file_for(posts[0].position).append(copies.tobytes())
        self._places.add(positions, ((start + bounds[:-1]) // UNIT + 1).astype(np.uint32))

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
        words = np.memmap(path, np.uint64, "r", shape=(size // BYTES_OF_WORD,))
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


def pack(positions: Int64s, ids: Sequence[PostId], texts: Sequence[str]) -> tuple[UInt8s, Int64s]:
    """Return the copies of some posts, and int64[n + 1]: the bytes before each and after the last."""
    packed_ids = [id_to_bytes(each) for each in ids]
    packed_texts = [text.encode("utf-8", "surrogatepass") for text in texts]
    copies: tuple[UInt8s, Int64s] = write_copies(
        positions, in_a_row(packed_ids), offsets_of(packed_ids), in_a_row(packed_texts), offsets_of(packed_texts)
    )
    return copies


def in_a_row(parts: Sequence[bytes]) -> UInt8s:
    """Return the bytes of all parts, one after another."""
    return np.frombuffer(b"".join(parts), np.uint8)


def read_copies(places: CopyPlaces) -> dict[int, bytes]:
    """Return, by position, the sound copies at some places."""
    read, n_read = read_together(places.descriptors, places.starts, READ_AT_ONCE)
    sizes = sound_sizes(read, n_read, places.positions, places.rooms)
    rows, data = np.flatnonzero(sizes), read.tobytes()
    copies: dict[int, bytes] = {}
    for row, position, size in zip(rows.tolist(), places.positions[rows].tolist(), sizes[rows].tolist(), strict=True):
        first = row * READ_AT_ONCE
        if copy := data[first : first + size] if size <= READ_AT_ONCE else read_long(places, row, size):
            copies[position] = copy
    return copies


def read_long(places: CopyPlaces, row: int, size: int) -> bytes:
    """Return a copy of so many bytes, or none where it is not sound."""
    try:
        copy = os.pread(int(places.descriptors[row]), size, int(places.starts[row]))
    except OSError:
        return b""
    if len(copy) < size:
        return b""
    where = slice(row, row + 1)
    read = np.frombuffer(copy, np.uint8).reshape(1, size)
    sizes = sound_sizes(read, np.array([size]), places.positions[where], places.rooms[where])
    return copy if sizes[0] == size else b""


def id_of(copy: bytes) -> PostId:
    """Return the id in a sound copy."""
    n_id, _ = lengths_in(copy)
    return id_from_bytes(copy[HEADER : HEADER + n_id])


def lengths_in(copy: bytes) -> tuple[int, int]:
    """Return the bytes of the id and of the text."""
    (lengths,) = LENGTHS.unpack_from(copy, LENGTHS_AT)
    return lengths & 0xFFFFFFFF, lengths >> 32


def text_of(copy: bytes) -> str:
    """Return the text in a sound copy."""
    n_id, n_text = lengths_in(copy)
    return copy[HEADER + n_id : HEADER + n_id + n_text].decode("utf-8", "surrogatepass")


def id_to_bytes(post_id: PostId) -> bytes:
    """Return an id with its type."""
    return b"s" + post_id.encode("utf-8", "surrogatepass") if isinstance(post_id, str) else b"i%d" % post_id


def id_from_bytes(data: bytes) -> PostId:
    """Return the id of some bytes."""
    return data[1:].decode("utf-8", "surrogatepass") if data[:1] == b"s" else int(data[1:])
