"""The live index of a window: it finds earlier texts, and forgets texts that are older than the horizon."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, NearPairs, UInt64s
from hybriddup.kernels.live.texts import LaterTexts
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch, join_near
from hybriddup.steps.parallel import map_slices
from hybriddup.window.index.text_ring import TextRing

WORTHWHILE = 64
"""Minimum number of look-ups for which starting a thread is worthwhile."""


@dataclass(frozen=True)
class WindowSize:
    """The properties of a window that determine how its live index is laid out."""

    n_texts: int
    """Expected number of texts; with more, the index grows."""
    bits: int
    """Width of the fingerprints: 64 or 128."""
    workers: int = 1
    sketched: bool = False
    """Whether the index has a 32-byte sketch of the characters of each text, which rules out more pairs."""
    n_first: int | None = None
    """Initial capacity of the ring buffer, in texts; it grows. None = ``n_texts``."""


class LiveIndex(ABC):
    """Finds the texts of a window that may match a text. Every kind of live index stores the texts in a `TextRing`.

    Only one thread at a time may call it. Texts of equal length must have the same limits in every call.
    """

    def __init__(self, size: WindowSize, shape: str) -> None:
        self._ring = TextRing(size.bits, size.n_texts if size.n_first is None else size.n_first, sketched=size.sketched)
        self._workers = size.workers
        self.report = BlockReport(shape)
        """Description of the index, and how often it hit ``max_bucket_size`` since it was created."""

    @property
    def n_texts(self) -> int:
        """Number of texts that can be found."""
        return self._ring.n_texts

    def look_up(self, texts: Batch, *, counts_characters: bool = True) -> NearPairs:
        """Return all pairs that ``texts`` form with texts in the index; ``later`` is a row of ``texts``.

        Two texts are a pair if they share a key, the earlier one is among the newest ``max_bucket_size`` texts of that
        key, and their Hamming distance and the longer length are at most the limits for the shorter length. If the
        index has sketches and ``counts_characters``, pairs with too few characters in common are left out.
        """
        if not len(texts) or not self._ring.n_texts:
            return join_near([])

        def find(first: int, last: int) -> NearPairs:
            part = slice(first, last)
            later = LaterTexts(texts.positions[part], texts.columns.take(part), counts_characters)
            near = self._find(texts.probes[part], later)
            return near._replace(later=near.later + first)

        n = len(texts)
        found = [find(0, n)] if n < 2 * WORTHWHILE else map_slices(find, n, self._workers, WORTHWHILE)
        return found[0] if len(found) == 1 else join_near(found)

    @abstractmethod
    def _find(self, probes: UInt64s, later: LaterTexts) -> NearPairs:
        """Return all pairs that the ``later`` texts form with texts in the index."""

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:  # noqa: ARG002
        """Return int64[n, n_probes]: for each pair and key, the rank of the earlier text among the texts with this key.

        The keys are the later text's keys. The newest text of a key has rank 1; 0 means that a look-up does not reach
        the earlier text. An index that compares with all texts returns 1 for every key. ``rows``, int64[n], has the
        rows of the later texts in ``texts``, and ``earlier``, int64[n], the positions of the earlier texts.
        """
        return np.ones((len(rows), texts.probes.shape[1]), np.int64)

    def add(self, texts: Batch, is_kept: Bools) -> None:
        """Add the texts for which ``is_kept``, bool[n], is True, and count the crowded keys of all ``texts``.

        A key is crowded for a text if more than ``max_bucket_size`` earlier texts have the key. Positions must increase
        from call to call.
        """
        if is_kept.any():
            self._ring.append(texts.take(np.flatnonzero(is_kept)))

    def remove(self, texts: Batch) -> None:  # noqa: B027  where every text is looked at, none takes another's room
        """Remove texts from the posting lists of their keys, so that they no longer count towards ``max_bucket_size``.

        The index may still return pairs with removed texts, which the caller must drop.
        """

    def scan_from(self, position: int, n_texts: int, later: Batch) -> tuple[CandidatePairs, int | None]:
        """Compare each of ``later`` with about ``n_texts`` texts from ``position`` on, and return all pairs found.

        Also return the position of the next text to compare with; None = all were compared. These pairs are the ground
        truth for auditing the index. Texts of ``later`` that are in the index themselves are compared with earlier
        texts only.
        """
        return self._ring.scan_from(position, n_texts, LaterTexts(later.positions, later.columns, True))

    def forget_before(self, position: int) -> None:
        """Forget the texts before ``position``: from now on, they are not found.

        A position smaller than in an earlier call changes nothing. The memory of the texts is reused gradually, by
        later calls of `add`.
        """
        self._ring.forget_before(position)

    @property
    def n_bytes(self) -> int:
        """Memory in use by the arrays of the index, in bytes."""
        return self._ring.n_bytes
