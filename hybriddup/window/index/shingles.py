"""Shingles: what the texts of a live index are found by where copies share enough of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.errors import WindowError
from hybriddup.kernels.shingles import NO_SHINGLE, WORDS_OF_COMMON, all_shingles, bottom_shingles, mark_common
from hybriddup.records import Int64s, UInt32s, encode_texts

UNITS = 5
"""A shingle is three characters of a dense script such as Han, or five letters."""
MOST_SHINGLES = 16
"""So many of each text are at hand; an index keeps the first of them."""
LEARNED_FROM = 2048
"""Characters of a text that are learned from, so that a few enormous ones take neither memory nor time."""


class CountedShingles(NamedTuple):
    """The shingles of some texts."""

    shingles: UInt32s
    """uint32[n]: each once, rising."""
    n_texts: Int64s
    """int64[n]: of the texts with each."""


def count_shingles(texts: Sequence[str]) -> CountedShingles:
    """Return in how many of some texts each shingle is."""
    hashes, of_texts = all_shingles(*encode_texts([text[:LEARNED_FROM] for text in texts]), UNITS)
    each_once = np.unique(hashes.astype(np.uint64) << np.uint64(32) | of_texts.astype(np.uint64))
    shingles, n_texts = np.unique((each_once >> np.uint64(32)).astype(np.uint32), return_counts=True)
    return CountedShingles(shingles, n_texts)


class Shingler:
    """Makes the shingles of texts; learns once, from the first posts of a window, which are common.

    In millions of posts, two of three shingles are in hundreds of others. A bucket of a common one is crowded, so that
    only the newest of its texts are read; those that six thousand posts show to be common are hardly ever chosen.
    """

    def __init__(self) -> None:
        self._common: UInt32s = np.zeros(WORDS_OF_COMMON, np.uint32)

    def learn(self, counted: CountedShingles, common_in: int) -> None:
        """Learn which shingles are common, those in so many of some texts, in place of what was known before."""
        self._common = mark_common(counted.shingles[counted.n_texts >= common_in])

    def learned(self) -> bytes:
        """Return what was learned."""
        return self._common.astype("<u4").tobytes()

    def use(self, learned: bytes) -> None:
        """Go on with what was learned.

        Raises
        ------
        WindowError
            It is not what `learned` returned.
        """
        if len(learned) != 4 * WORDS_OF_COMMON:
            raise WindowError(
                "what the window learned of its shingles is of another version. Open it with the version of hybriddup "
                "that it was made with, or begin a new store."
            )
        self._common = np.frombuffer(learned, "<u4").astype(np.uint32)

    def shingles(self, texts: Sequence[str]) -> UInt32s:
        """Return uint32[n, MOST_SHINGLES], as `hybriddup.kernels.shingles.bottom_shingles` returns them."""
        kept: UInt32s = bottom_shingles(*encode_texts(texts), UNITS, MOST_SHINGLES, self._common)
        return kept


def n_needed(earlier: UInt32s, later: UInt32s) -> Int64s:
    """Return int64[n]: of how many of its shingles each text shares one with the other, row by row.

    It is `MOST_SHINGLES` + 1 where they share none.
    """
    same = (earlier[:, :, None] == later[:, None, :]) & (earlier != NO_SHINGLE)[:, :, None]
    ranks = np.arange(1, earlier.shape[1] + 1)
    needed = np.where(same, np.maximum(ranks[:, None], ranks[None, :]), MOST_SHINGLES + 1)
    smallest: Int64s = needed.min(axis=(1, 2), initial=MOST_SHINGLES + 1)
    return smallest
