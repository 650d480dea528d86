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
"""Texts to look up that are worth a thread."""


@dataclass(frozen=True)
class WindowSize:
    """What a live index may know of its window."""

    n_texts: int
    """About so many texts will be in it; with more, it grows."""
    bits: int
    """Width of the fingerprints: 64 or 128."""
    workers: int = 1
    sketched: bool = False
    """Whether a sketch of the characters is kept of each text, 32 bytes, so that fewer pairs are handed on."""
    n_first: int | None = None
    """The ring of texts, all of whose memory is written to sooner or later, begins with room for so many, and grows;
    None = for as many as will be in it."""


class LiveIndex(ABC):
    """The texts of a window that can be found. They stand in a ring, and come and go alike however they are looked up.

    One thread at a time may call it. The limits of a text are a function of its length, the same in every call.
    """

    def __init__(self, size: WindowSize, shape: str, *, exact: bool) -> None:
        self._ring = TextRing(size.bits, size.n_texts if size.n_first is None else size.n_first, sketched=size.sketched)
        self._workers = size.workers
        self.report = BlockReport(shape, exact)
        """What the index is, and what it did since it was made."""

    @property
    def n_texts(self) -> int:
        """Texts that can be found."""
        return self._ring.n_texts

    @property
    def sketched(self) -> bool:
        """Whether sketches of the characters are kept of each text."""
        return self._ring.sketched

    def look_up(self, texts: Batch, *, counts_characters: bool = True) -> NearPairs:
        """Return the pairs of these texts with live texts that share a key and are within the limits.

        Of a key, the newest ``max_bucket_size`` texts are read. ``later`` is a row of ``texts``. If the index has
        sketches and ``counts_characters``, pairs need enough characters in common.
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
        """Return int64[n, n_probes]: which number from the newest an earlier text has in each key of a later one.

        ``rows`` int64[n] are those of the later texts, ``earlier`` int64[n] positions. It is 0 where the earlier text
        is not among those that are looked at, and 1 for each where no text is left out.
        """
        return np.ones((len(rows), texts.probes.shape[1]), np.int64)

    def add(self, texts: Batch, is_kept: Bools) -> None:
        """Make the kept ones of these texts findable, and count the look-ups of all that met a crowded key.

        Positions rise from call to call.
        """
        if is_kept.any():
            self._ring.append(texts.take(np.flatnonzero(is_kept)))

    def remove(self, texts: Batch) -> None:  # noqa: B027  where every text is looked at, none takes another's room
        """Have some texts that were added take up no room among the newest of their keys.

        Pairs with them may still be returned: whoever asks leaves them out.
        """

    def scan_from(self, position: int, n_texts: int, later: Batch) -> Scanned:
        """Compare these with every text from a position on, up to about so many, and return all the pairs.

        That is the truth by which the index is audited: every text looked at, a part at a time. ``later`` may be of
        positions that were added; their pairs are with earlier texts only.
        """
        return self._ring.scan_from(position, n_texts, LaterTexts(later.positions, later.columns, True))

    def forget_before(self, position: int) -> None:
        """Find texts before this position no more; a smaller position than one given before changes nothing.

        Their memory is used again, a little at each call of `add`.
        """
        self._ring.forget_before(position)

    @property
    def n_bytes(self) -> int:
        """Bytes of memory in use, of the arrays of the index."""
        return self._ring.n_bytes
