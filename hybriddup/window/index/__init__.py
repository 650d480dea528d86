"""Live index: what finds earlier texts of a window, and lets go of those that have left it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, Int64s, NearPairs, UInt64s
from hybriddup.kernels.live.texts import LaterTexts
from hybriddup.kernels.search.pair_limits import LookUpCounts
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch, join_near
from hybriddup.steps.parallel import map_slices
from hybriddup.window.index.text_ring import Scanned, TextRing

WORTHWHILE = 64
"""Smallest number of look-ups per thread."""


@dataclass(frozen=True)
class WindowSize:
    """What a live index may know of its window."""

    n_texts: int
    """Expected number of texts; with more, the index grows."""
    bits: int
    """Width of the fingerprints: 64 or 128."""
    workers: int = 1
    sketched: bool = False
    """Whether a sketch of the characters is kept of each text, 32 bytes, so that fewer pairs are handed on."""
    n_first: int | None = None
    """Number of texts that the ring has room for at first; it grows. None = ``n_texts``."""


class LiveIndex(ABC):
    """The texts of a window that can be found. They are in a ring, whatever kind of index looks them up.

    One thread at a time may call it. The limits of a text are a function of its length, the same in every call.
    """

    def __init__(self, size: WindowSize, shape: str, *, exact: bool) -> None:
        self._ring = TextRing(size.bits, size.n_texts if size.n_first is None else size.n_first, sketched=size.sketched)
        self._workers = size.workers
        self.report = BlockReport(shape, exact)
        """Description of the index, and its counts since it was created."""

    @property
    def n_texts(self) -> int:
        """Texts that can be found."""
        return self._ring.n_texts

    @property
    def sketched(self) -> bool:
        """Whether sketches of the characters are kept of each text."""
        return self._ring.sketched

    def look_up(self, texts: Batch, *, counts_characters: bool = True) -> NearPairs:
        """Return the pairs of these texts with texts that were added and not forgotten; ``later`` is a row of them.

        Two texts are a pair if they share a key, the earlier one is among the newest ``max_bucket_size`` texts of that
        key, and they are within the limits of the shorter one. If the index has sketches and ``counts_characters``,
        pairs with too few characters in common are ruled out.
        """
        if not len(texts) or not self._ring.n_texts:
            return join_near([])
        reports: list[LookUpCounts] = []

        def find(first: int, last: int) -> NearPairs:
            part = slice(first, last)
            later = LaterTexts(texts.positions[part], texts.columns.take(part), counts_characters)
            near, counts = self._find(texts.probes[part], later)
            reports.append(counts)
            return near._replace(later=near.later + first)

        n = len(texts)
        found = [find(0, n)] if n < 2 * WORTHWHILE else map_slices(find, n, self._workers, WORTHWHILE)
        for counts in reports:
            self.report.add(*counts)
        return found[0] if len(found) == 1 else join_near(found)

    @abstractmethod
    def _find(self, probes: UInt64s, later: LaterTexts) -> tuple[NearPairs, LookUpCounts]:
        """Return the pairs of the later texts, and what that took."""

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:  # noqa: ARG002
        """Return int64[n, n_probes]: the rank from the newest of an earlier text in each key of a later one.

        ``rows`` int64[n] are rows of later texts, ``earlier`` int64[n] positions. The rank is 0 if the earlier text is
        not looked at, and 1 for every key if no text is left out.
        """
        return np.ones((len(rows), texts.probes.shape[1]), np.int64)

    def add(self, texts: Batch, is_kept: Bools) -> None:
        """Make the kept ones of these texts findable, and count the look-ups of all that met a crowded key.

        Positions rise from call to call.
        """
        if is_kept.any():
            self._ring.append(texts.take(np.flatnonzero(is_kept)))

    def remove(self, texts: Batch) -> None:  # noqa: B027  where every text is looked at, none takes another's room
        """Remove texts from the lists of the newest texts of their keys, so that they no longer use up their limit.

        The index may still return pairs with removed texts, which the caller must drop.
        """

    def scan_from(self, position: int, n_texts: int, later: Batch) -> Scanned:
        """Compare these with every text from a position on, up to about ``n_texts``, and return all the pairs.

        The audit of the index uses this as the truth, a part at a time. ``later`` may have positions that were added;
        their pairs are with earlier texts only.
        """
        return self._ring.scan_from(position, n_texts, LaterTexts(later.positions, later.columns, True))

    def forget_before(self, position: int) -> None:
        """Stop finding texts before this position; a smaller position than an earlier one changes nothing.

        Their memory is used again, a little at each call of `add`.
        """
        self._ring.forget_before(position)

    @property
    def n_bytes(self) -> int:
        """Bytes of memory in use, of the arrays of the index."""
        return self._ring.n_bytes
