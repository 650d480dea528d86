"""Cuts long texts into sections that are compared one by one, so that time and memory are linear in their length.

The longest common subsequence of two texts of n characters takes time proportional to n * n; section by section, time
proportional to n. The subsequences of the sections form a common subsequence of the texts: never longer than the
longest one, and equally long for near-equal texts. There are two ways to cut, and the better result is used. The first
cuts at `GRAM` characters that each text contains exactly once; insertions and moved paragraphs do not mislead it. The
second cuts into equal parts, for texts that repeat themselves.

The cuts depend on the two texts alone, and are symmetric in them.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int64s, UInt32s, UInt64s

LONGEST_EXACT = 8192
"""Length, in code points, up to which the shorter text of a pair is compared without cutting. Two texts of this length
take about 2 ms."""
SECTION = 1024
"""Minimum length of a section, in code points. Of two sections that are compared, the shorter has up to twice this
length; the length of the longer is not limited."""
STEPS = (1, 2, 4, 4)
GRAM = 1 + sum(STEPS)
"""Number of characters that identify a position to cut at. For 100,000 Han characters or English letters and their
randomly edited copy, the common share that is found is exact if it is 0.83, and 0.004 too low if it is 0.74."""
ONE_IN = 8
"""Average distance between the positions that are examined as places to cut; a hash selects them, more than a hundred
per section."""
MULTIPLIERS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
"""Odd multipliers of the hash, as in `hybriddup.kernels.search.key_groups`."""
HALF = np.uint64(32)


class Cut(NamedTuple):
    """The section bounds of two texts; section ``i`` of one text is compared with section ``i`` of the other.

    The texts are equal before the first bound and after the last one.
    """

    of_a: Int64s
    """int64[n_sections + 1], ascending: bounds of the sections of the first text."""
    of_b: Int64s


def cuts_of(a: UInt32s, b: UInt32s) -> list[Cut]:
    """Return one or two ways to cut two texts, given as code points; the caller uses the way with the better result."""
    first, n_after = equal_ends(a, b)
    a, b = a[first : len(a) - n_after], b[first : len(b) - n_after]
    if is_before(b, a):
        return [Cut(cut.of_b + first, cut.of_a + first) for cut in cuts_of_ordered(b, a)]
    return [Cut(cut.of_a + first, cut.of_b + first) for cut in cuts_of_ordered(a, b)]


def equal_ends(a: UInt32s, b: UInt32s) -> tuple[int, int]:
    """Return the length of the common prefix of two texts, and of the common suffix of the remaining parts."""
    n = min(len(a), len(b))
    first = n_equal(a[:n], b[:n])
    n -= first
    return first, n_equal(a[len(a) - n :][::-1], b[len(b) - n :][::-1])


def n_equal(a: UInt32s, b: UInt32s) -> int:
    """Return the length of the common prefix of two texts of equal length."""
    differ = a != b
    return int(differ.argmax()) if differ.any() else len(a)


def is_before(a: UInt32s, b: UInt32s) -> bool:
    """Return whether a text sorts before another one: by length, then by the first character that differs."""
    if len(a) != len(b) or not len(a):
        return len(a) < len(b)
    at = min(n_equal(a, b), len(a) - 1)
    return bool(a[at] < b[at])


def cuts_of_ordered(a: UInt32s, b: UInt32s) -> list[Cut]:
    """Return one or two ways to cut two texts without a common prefix or suffix; ``a`` is not longer than ``b``."""
    whole = Cut(np.array([0, len(a)]), np.array([0, len(b)]))
    if len(a) <= LONGEST_EXACT:
        return [whole]
    at_a, at_b = common_places(a, b)
    some = np.unique(np.searchsorted(at_a, np.arange(SECTION, len(a), SECTION)))
    some = some[some < len(at_a)]
    at_places = Cut(np.r_[0, at_a[some], len(a)], np.r_[0, at_b[some], len(b)])
    return [cut_evenly(cut) for cut in ((at_places, whole) if len(some) else (whole,))]


def cut_evenly(cut: Cut) -> Cut:
    """Divide each section that is too long in both texts into equal parts."""
    bounds_a, bounds_b = [0], [0]
    for (first_a, last_a), (first_b, last_b) in zip(
        pairwise(cut.of_a.tolist()), pairwise(cut.of_b.tolist()), strict=True
    ):
        n_a, n_b = last_a - first_a, last_b - first_b
        n = -(-min(n_a, n_b) // (2 * SECTION)) or 1
        bounds_a += [first_a + n_a * part // n for part in range(1, n + 1)]
        bounds_b += [first_b + n_b * part // n for part in range(1, n + 1)]
    return Cut(np.array(bounds_a), np.array(bounds_b))


def common_places(a: UInt32s, b: UInt32s) -> tuple[Int64s, Int64s]:
    """Find positions in two texts with the same next `GRAM` characters: the largest choice that ascends in both texts.

    Returns two arrays, int64[n], ascending: the matching positions in each text, all of them from `rare_places`.
    """
    (places_a, hashes_a), (places_b, hashes_b) = rare_places(a), rare_places(b)
    _, in_a, in_b = np.intersect1d(hashes_a, hashes_b, assume_unique=True, return_indices=True)
    order = np.argsort(places_a[in_a])
    at_a, at_b = places_a[in_a][order], places_b[in_b][order]
    rising = longest_rising(at_b.tolist())
    return at_a[rising], at_b[rising]


def rare_places(points: UInt32s) -> tuple[Int64s, UInt64s]:
    """Return positions whose next `GRAM` characters occur only once in the text, and the hashes of the characters.

    Only positions that a hash selects are examined, see `ONE_IN`.
    """
    hashes = points.astype(np.uint64)
    for step in STEPS:
        hashes = hashes[:-step] * MULTIPLIERS[0] + hashes[step:] * MULTIPLIERS[1]
        hashes ^= hashes >> HALF
    hashes *= MULTIPLIERS[0]
    places = np.flatnonzero(hashes < np.uint64(2**64 // ONE_IN))
    values, firsts, counts = np.unique(hashes[places], return_index=True, return_counts=True)
    return places[firsts[counts == 1]], values[counts == 1]


def longest_rising(numbers: list[int]) -> list[int]:
    """Return the indices of a longest increasing subsequence of ``numbers``, which must be distinct.

    Examples
    --------
    >>> longest_rising([30, 10, 20, 5, 40])
    [1, 2, 4]
    """
    lowest: list[int] = []  # by length of a subsequence: its lowest possible last number, and the index of that number
    last: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        n = bisect_left(lowest, number)
        before.append(last[n - 1] if n else -1)
        lowest[n : n + 1], last[n : n + 1] = [number], [place]
    places: list[int] = []
    place = last[-1] if last else -1
    while place >= 0:
        places.append(place)
        place = before[place]
    return places[::-1]
