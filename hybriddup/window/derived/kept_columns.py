"""What is remembered of kept posts, a column each: memory is filled with it, and the log has it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s, UInt64s
from hybriddup.window.derived.text_files import TextPlaces
from hybriddup.window.event_time import PostTimes
from hybriddup.window.index import LiveTexts
from hybriddup.window.preparing import PreparedTexts


class KeptColumns(NamedTuple):
    """Some kept posts in order."""

    positions: Int64s
    """int64[n], rising."""
    times: Float64s
    """float64[n]: seconds since 1970."""
    watermarks: Float64s
    """float64[n]: when each was decided."""
    hashes: UInt64s
    """uint64[n]: of what each must be equal in to be an exact repeat."""
    texts: LiveTexts
    """Those that could have near repeats; their positions tell which they are."""
    text_places: TextPlaces
    """Where the normalized text of each is in the log."""


def without(columns: KeptColumns, positions: Int64s) -> KeptColumns:
    """Return what is to be remembered but for the posts at some positions."""
    stay, texts = ~np.isin(columns.positions, positions), columns.texts
    return KeptColumns(
        columns.positions[stay],
        columns.times[stay],
        columns.watermarks[stay],
        columns.hashes[stay],
        texts.take(~np.isin(texts.prints.positions, positions)),
        columns.text_places.take(stay),
    )


def columns_of(prepared: PreparedTexts, times: PostTimes, kept: Bools) -> KeptColumns:
    """Return what is to be remembered of the kept ones, bool[n], of these posts."""
    return KeptColumns(
        prepared.positions[kept],
        times.times[kept],
        times.watermarks[kept],
        prepared.hashes[kept],
        prepared.live.take(kept[prepared.places]),
        TextPlaces.nowhere(int(np.count_nonzero(kept))),
    )
