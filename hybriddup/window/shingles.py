"""Shingles: what the texts of a live index are found by where copies share enough of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.kernels.shingles import NO_SHINGLE, bottom_shingles
from hybriddup.parallel import map_slices
from hybriddup.records import Int64s, UInt32s, encode_texts

UNITS = 5
"""A shingle is three characters of a dense script such as Han, or five letters."""
WORTHWHILE = 64
"""Texts that are worth a thread."""
MOST_SHINGLES = 16
"""So many of each text are at hand; an index keeps the first of them."""


def shingles_of(texts: Sequence[str], workers: int = 1) -> UInt32s:
    """Return uint32[n, MOST_SHINGLES], as `hybriddup.kernels.shingles.bottom_shingles` returns them."""
    code_points, offsets = encode_texts(texts)

    def of_slice(first: int, last: int) -> UInt32s:
        shingles: UInt32s = bottom_shingles(code_points, offsets[first : last + 1], UNITS, MOST_SHINGLES)
        return shingles

    parts = map_slices(of_slice, len(texts), workers, WORTHWHILE)
    return np.concatenate(parts) if parts else np.zeros((0, MOST_SHINGLES), np.uint32)


def n_needed(earlier: UInt32s, later: UInt32s) -> Int64s:
    """Return int64[n]: of how many of its shingles each text shares one with the other, row by row.

    It is `MOST_SHINGLES` + 1 where they share none.
    """
    same = (earlier[:, :, None] == later[:, None, :]) & (earlier != NO_SHINGLE)[:, :, None]
    ranks = np.arange(1, earlier.shape[1] + 1)
    needed = np.where(same, np.maximum(ranks[:, None], ranks[None, :]), MOST_SHINGLES + 1)
    smallest: Int64s = needed.min(axis=(1, 2), initial=MOST_SHINGLES + 1)
    return smallest
