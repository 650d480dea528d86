"""Divide large bins of open posts into slices, so that several tasks can share the work of deciding a bin.

One task has to decide a bin, because each decision depends on the ones before it. But most of its time goes into
verifying pairs, nearly all of them with texts kept in earlier slices. So other tasks verify the pairs of a slice first:
each of them decides one piece of the slice as if the other pieces did not exist. The one task then looks up their
verdicts, and verifies only the pairs that they did not expect: about a tenth for edits of templates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from hybriddup.data.records import Bools, Int64s
from hybriddup_spark.columns import bools, key_lists, longs, packed_lists, table_of
from hybriddup_spark.gathering import Places
from hybriddup_spark.schemas import WANTED

FIRST_SLICE = 2**13
"""Number of places in the first slice of a bin, whose pairs are not verified ahead. Each later slice has as many places
as all slices before it together, up to `LARGEST_SLICE`, so that most of its posts repeat posts kept before it."""
LARGEST_SLICE = 2**14
"""With twice the size, the one task takes four times as long, because fewer pairs are verified ahead."""
VERIFIED_TOGETHER = 2**13
"""Largest number of places whose pairs one task verifies. A slice with no more is decided without verifying ahead."""


def slices(places: Places) -> Iterator[Places]:
    """Yield the slices of ``places``, sorted by bin, then position; slice i has the i-th range of each bin."""
    numbers = slice_numbers(places.bins)
    for number in range(int(numbers.max(initial=-1)) + 1):
        yield places.take(numbers == number)


def are_divided(places: Places) -> bool:
    """Return whether ``places`` have more than one slice, because a bin is large."""
    return bool(slice_numbers(places.bins).any())


def verified_ahead(places: Places) -> bool:
    """Return whether it pays to verify the pairs of a slice ahead, because several tasks can share the work."""
    return bool(np.bincount(places.bins).max(initial=0) > VERIFIED_TOGETHER)


def slice_numbers(bins: Int64s) -> Int64s:
    """Return int64[n]: the slice number of each place; ``bins``, ascending, has the bin of each place.

    Examples
    --------
    >>> bins = np.repeat([3, 7], [FIRST_SLICE, 2 * FIRST_SLICE + 1])
    >>> np.unique(slice_numbers(bins), return_counts=True)[1].tolist() == [2 * FIRST_SLICE, FIRST_SLICE, 1]
    True
    """
    ranks = np.arange(len(bins)) - np.searchsorted(bins, bins)
    ends = [FIRST_SLICE]
    while ends[-1] <= ranks.max(initial=0):
        ends.append(ends[-1] + min(ends[-1], LARGEST_SLICE))
    found: Int64s = np.searchsorted(ends, ranks, side="right")
    return found


def pieces(bins: Int64s) -> Int64s:
    """Divide places among the tasks that verify pairs ahead: return int64[n], the task number of each place, from 0.

    ``bins``, ascending, has the bin of each place; a task has places of one bin only.
    """
    ranks = np.arange(len(bins)) - np.searchsorted(bins, bins)
    is_first = ranks % VERIFIED_TOGETHER == 0
    found: Int64s = np.cumsum(is_first) - 1
    return found


class Kept(NamedTuple):
    """Open texts that were kept in earlier slices, in ascending order of ``texts``."""

    texts: Int64s
    positions: Int64s
    """int64[n]: place at which each text was kept."""
    bins: Int64s

    @classmethod
    def none(cls) -> Kept:
        """Return an empty set of texts."""
        return cls(*np.zeros((3, 0), np.int64))

    def with_those_of(self, places: Places, settled: pa.Table) -> Kept:
        """Return these texts and, in addition, the ones at ``places`` that are kept according to `SETTLED`."""
        kept = longs(settled, "position")[bools(settled, "is_kept")]
        chosen = places.take(np.isin(places.positions, kept))
        added = chosen.texts, chosen.positions, chosen.bins
        all_kept = [np.concatenate(both) for both in zip(self, added, strict=True)]
        order = np.argsort(all_kept[0])
        return Kept(*(column[order] for column in all_kept))

    def keepers(self, places: Places) -> Int64s:
        """Return int64[n]: the position at which each place's text was kept in an earlier slice, or -1."""
        if not len(self.texts):
            return np.full(len(places.texts), -1)
        at = np.minimum(np.searchsorted(self.texts, places.texts), len(self.texts) - 1)
        return np.where(self.texts[at] == places.texts, self.positions[at], -1)

    def wanted(self) -> pa.Table:
        """Return the texts as `WANTED`: open posts may find them under all of their keys."""
        return wanted_texts(self.texts, self.positions, self.bins, np.zeros(len(self.texts), np.bool_))


def wanted_texts(texts: Int64s, positions: Int64s, bins: Int64s, is_open: Bools) -> pa.Table:
    """Merge rows of texts, one per place, to one per text and bin, as `WANTED`; they may be found under all their keys.

    ``is_open`` must be the same for all places of a text.
    """
    order = np.lexsort((positions, texts, bins))
    texts, positions, bins = texts[order], positions[order], bins[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (np.diff(texts) != 0) | (np.diff(bins) != 0)
    firsts = np.flatnonzero(is_first)
    return table_of(
        WANTED,
        position=texts[firsts],
        bin=bins[firsts],
        is_open=is_open[order][firsts],
        is_met=np.ones(len(firsts), np.bool_),
        keys=pa.nulls(len(firsts), pa.binary()),
        places=packed_lists(positions, np.diff(firsts, append=len(order))),
    )


def wanted_in(places: Places, others: pa.Table, groups: Int64s) -> pa.Table:
    """Return the texts needed to decide ``places``, as `WANTED`, whose column ``bin`` has the group of places.

    Parameters
    ----------
    others
        Kept texts by bin, as `WANTED`. A group gets the ones in its bin that come before its last place.
    groups
        int64[n]: the group of each place. All places of a group have one bin.
    """
    own = wanted_texts(places.texts, places.positions, groups, np.ones(len(groups), np.bool_))
    bins, kept_at = longs(others, "bin"), key_lists(others, "places")[0].view(np.int64)
    order = np.lexsort((kept_at, bins))
    bins, kept_at = bins[order], kept_at[order]
    rows, n_rows = [np.zeros(0, np.int64)], [0]
    found, firsts = np.unique(groups, return_index=True)
    last = np.zeros(int(found.max(initial=0)) + 1, np.int64)
    np.maximum.at(last, groups, places.positions)
    for bin_, end in zip(places.bins[firsts].tolist(), last[found].tolist(), strict=True):
        begin, after = np.searchsorted(bins, [bin_, bin_ + 1])
        rows.append(order[begin : begin + np.searchsorted(kept_at[begin:after], end)])
        n_rows.append(len(rows[-1]))
    of_group = pa.array(np.repeat(found, n_rows[1:]), pa.int32())
    return pa.concat_tables([own, others.take(np.concatenate(rows)).set_column(1, WANTED.field("bin"), of_group)])
