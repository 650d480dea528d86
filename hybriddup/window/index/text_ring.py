"""The texts of a live index, in a ring buffer where new texts replace the oldest, and the limits of each length."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybriddup.data.records import SKETCH_WORDS, CandidatePairs, Int32s, Int64s, NearPairs, UInt64s
from hybriddup.errors import WindowError
from hybriddup.kernels.live.reads import find_near_anywhere
from hybriddup.kernels.live.texts import (
    BLOCK_BITS,
    IN_BLOCK,
    LaterTexts,
    Ring,
    RingColumns,
    first_from,
    number_texts,
    numbers_from,
    select_in_ring,
    write_texts,
)
from hybriddup.kernels.search.pair_limits import LIMIT, Records, TextColumns, shortest_partners
from hybriddup.steps.candidates import Batch
from hybriddup.steps.parallel import map_slices

SPARE = 256
"""Number of texts per extra slot of the ring buffer. Extra slots are needed because texts are added before the oldest
are forgotten."""
GROWTH = 1.25
"""Minimum factor by which a full ring grows. Columns are copied one by one, so only one is in memory twice."""
MOST_TEXTS = 2**31
"""Maximum number of texts: their ranks must fit into 32 bits."""
MOST_SHORT_NUMBERS = 2**16
FEWEST_IN_SLICE = 2**18
"""Minimum number of comparisons for which starting a thread is worthwhile."""
MAX_PARTNER_LENGTH = 2**12
"""Largest length with an entry of its own in the arrays of `find_partners`; longer texts use its entry, too."""


class LengthTable:
    """Numbers the distinct lengths of texts, and stores the limits of each."""

    def __init__(self) -> None:
        self.number_of: dict[int, int] = {}
        self.lengths: Int32s = np.zeros(0, np.int32)
        self.limits: Records = np.zeros(0, LIMIT)
        """``lengths``, int32[n]: the length that has each number; ``limits``, LIMIT[n]: the limits of this length."""
        self.partners = find_partners(self.lengths, self.limits)

    def numbers(self, texts: TextColumns) -> Int64s:
        """Return int64[n]: the number assigned to the length of each text; a new length gets the next number."""
        lengths = texts.lengths.tolist()
        new = {length: row for row, length in enumerate(lengths) if length not in self.number_of}
        if new:
            self.number_of |= {length: len(self.number_of) + place for place, length in enumerate(new)}
            self.lengths = np.append(self.lengths, np.array(list(new), np.int32))
            self.limits = np.append(self.limits, texts.limits[texts.facts["kind"][list(new.values())]])
            self.partners = find_partners(self.lengths, self.limits)
        return np.fromiter(map(self.number_of.__getitem__, lengths), np.int64, len(lengths))


class TextRing:
    """Fingerprints, lengths and positions of the texts that can be found; the oldest are forgotten.

    It has capacity for ``n_texts`` fingerprints of ``bits`` bits, with or without sketches, and grows if needed.
    """

    def __init__(self, bits: int, n_texts: int, *, sketched: bool) -> None:
        self.table = LengthTable()
        self.n_texts = 0
        """Number of texts that can be found."""
        self.first = self.next = IN_BLOCK
        """Numbers of the oldest and of the next text. Numbers ascend in the order of adding. A text is in the slot
        number modulo `capacity`, which is a multiple of `IN_BLOCK`."""
        self._edge = 0
        capacity = round_up(n_texts + n_texts // SPARE) + IN_BLOCK
        # memory that is never written to costs nothing
        self.columns = RingColumns(
            bits=np.zeros((capacity, bits // 64), np.uint64),
            length_numbers=np.zeros((capacity,), np.uint16),
            offsets=np.zeros((capacity,), np.uint16),
            anchors=np.zeros((capacity // IN_BLOCK,), np.int64),
            sketches=np.zeros((capacity if sketched else 0, SKETCH_WORDS), np.uint64),
        )

    @property
    def capacity(self) -> int:
        """The number of slots."""
        return len(self.columns.bits)

    @property
    def span(self) -> int:
        """Number of slots from the oldest to the newest text, inclusive; slots in between may have no text."""
        return self.next - self.first

    @property
    def live(self) -> Ring:
        """The live texts as a `Ring`, for the kernels."""
        of_lengths = self.table.lengths, self.table.limits, *self.table.partners
        first_slot = np.uint64(self.first % self.capacity)
        return Ring(self.columns, *of_lengths, np.uint64(self.next), np.uint64(self.span), first_slot)

    @property
    def n_bytes(self) -> int:
        """Approximate memory in use, in bytes, without memory that was never written to."""
        a_slot = sum(column.nbytes for column in self.columns) / self.capacity
        return int(a_slot * min(self.next, self.capacity)) + self.table.lengths.nbytes + self.table.limits.nbytes

    def append(self, texts: Batch) -> Int64s:
        """Add one or more texts; return int64[n]: their numbers, ascending."""
        positions = texts.positions
        anchor = int(self.columns.anchors[self.next % self.capacity >> BLOCK_BITS]) if self.next % IN_BLOCK else 0
        numbers, anchors = number_texts(positions, self.next, anchor)
        length_numbers = self.table.numbers(texts.columns)
        self._make_room(int(numbers[-1]) + 1)
        write_texts(self.columns, numbers, anchors, self.next, positions, texts.columns, length_numbers)
        self.next = int(numbers[-1]) + 1
        self.n_texts += len(numbers)
        return numbers

    def forget_before(self, position: int) -> None:
        """Remove the texts before ``position``."""
        if position <= self._edge:
            return
        self._edge = position
        self.first, n_gone = first_from(self.columns, self.first, self.next, position)
        self.n_texts -= n_gone

    def near_anywhere(self, first: int, last: int, later: LaterTexts, workers: int) -> NearPairs:
        """Compare ``later`` with all texts numbered ``first`` to ``last - 1``, whatever their keys.

        Return the near pairs. `NearPairs.depths` is 1 for every pair, as for the newest text of a key.
        """
        ring, place, nothing = self.live, first - self.first, np.zeros(0, np.uint64)
        n_worthwhile = max(FEWEST_IN_SLICE // max(len(later.positions), 1), 1)

        def find(begin: int, end: int) -> UInt64s:
            return find_near_anywhere(ring, place + begin, place + end, later)

        near = map_slices(find, last - first, workers, n_worthwhile)
        found = np.sort(np.concatenate([nothing, *near]))  # each part is sorted by later text
        return select_in_ring(found, np.ones(len(found), np.int32), ring, later)

    def scan_from(self, position: int, n_texts: int, later: LaterTexts) -> tuple[CandidatePairs, int | None]:
        """Compare ``later`` with about ``n_texts`` texts from ``position`` on; see `LiveIndex.scan_from`."""
        first = int(self.numbers_of(np.array([position]))[0])
        last = min(first + n_texts, self.next)
        found = self.near_anywhere(first, last, later, workers=1)
        pairs = CandidatePairs(found.earlier, later.positions[found.later], found.distances)
        number, _ = first_from(self.columns, last, self.next, 0)
        return pairs, self._position(number) if number < self.next else None

    def numbers_of(self, positions: Int64s) -> Int64s:
        """Return int64[n]: for each position, the number in the ring of its text, else of the first text after it."""
        return numbers_from(self.columns, self.first, self.next, positions)

    def numbers_at(self, positions: Int64s) -> Int64s:
        """Return int64[n]: for each position, the number in the ring of its text; -1 if the ring has no such text."""
        numbers = self.numbers_of(positions)
        pairs = zip(numbers.tolist(), positions.tolist(), strict=True)
        is_there = [number < self.next and self._position(number) == position for number, position in pairs]
        return np.where(is_there, numbers, -1)

    def _position(self, number: int) -> int:
        slot = number % self.capacity
        return int(self.columns.anchors[slot >> BLOCK_BITS]) + int(self.columns.offsets[slot])

    def _make_room(self, last: int) -> None:
        """Enlarge the ring buffer if texts with numbers up to ``last - 1`` do not fit."""
        if last - self.first > MOST_TEXTS:
            raise WindowError(
                f"a window holds at most {MOST_TEXTS:,} kept posts at a time, and has {self.n_texts:,}. "
                "Give it a shorter horizon."
            )
        start = self.first - self.first % IN_BLOCK
        if last - start > self.capacity:
            self._copy(max(round_up(last - start), round_up(int(self.capacity * GROWTH))))
        if len(self.table.number_of) > MOST_SHORT_NUMBERS and self.columns.length_numbers.dtype == np.uint16:
            self.columns = self.columns._replace(length_numbers=self.columns.length_numbers.astype(np.uint32))

    def _copy(self, capacity: int) -> None:
        """Copy the texts to a larger ring buffer, column by column."""
        before, copied = self.capacity, dict[str, Any]()
        for name in RingColumns._fields:
            column = getattr(self.columns, name)
            a_row = before // max(len(column), 1)  # anchors have one row per block of slots
            copied[name] = larger_ring(column, self.first // a_row, -(-self.next // a_row), capacity // a_row)
            self.columns = self.columns._replace(**{name: column[:0].copy()})  # so that only one column is there twice
            del column
        self.columns = RingColumns(**copied)


def find_partners(lengths: Int32s, limits: Records) -> tuple[Int32s, Int32s]:
    """Find the shorter texts that a later text of each length may match; return ``max_distances`` and ``shortest``.

    These two fields of `Ring` are the largest Hamming limit of these shorter texts (-1 if there are none), and the
    length of the shortest one. Both arrays are indexed by the later text's length, up to `MAX_PARTNER_LENGTH`.
    """
    lengths, reaches = lengths.clip(max=MAX_PARTNER_LENGTH), limits["max_partner_length"].clip(max=MAX_PARTNER_LENGTH)
    shortest = shortest_partners(lengths, reaches, MAX_PARTNER_LENGTH)
    of_lengths = np.full(len(shortest), -1, np.int32)
    np.maximum.at(of_lengths, lengths, limits["max_distance"])
    from_length = np.maximum.accumulate(of_lengths[::-1])[::-1]
    return from_length[shortest], shortest


def larger_ring(column: np.ndarray, first: int, end: int, n_rows: int) -> np.ndarray:
    """Copy the items numbered ``first`` to ``end - 1`` of a ring buffer to a larger one with ``n_rows`` rows.

    The row of an item is its number modulo the number of rows. A ring buffer without rows stays as it is.
    """
    larger = np.zeros((n_rows if len(column) else 0, *column.shape[1:]), column.dtype)
    while len(column) and first < end:
        row, new_row = first % len(column), first % n_rows
        n = min(end - first, len(column) - row, n_rows - new_row)
        larger[new_row : new_row + n] = column[row : row + n]
        first += n
    return larger


def round_up(n_texts: int) -> int:
    """Round a number of texts up to whole blocks of `IN_BLOCK` texts, at least one block."""
    return max(-(-n_texts // IN_BLOCK), 1) * IN_BLOCK
