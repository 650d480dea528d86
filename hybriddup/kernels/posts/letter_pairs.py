"""Counts the pairs of adjacent letters that two texts have in common, as a test before posts are parsed.

Two long texts in an alphabet have most letters in common, whatever they say, but not most pairs of adjacent letters.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int32s, Int64s, UInt8s, UInt16s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import SPREAD
from hybriddup.kernels.posts.tokens import DIGIT, KIND, LETTER

LAST_ALPHABETIC = 0x2E7F
"""Code points above this belong to Han, kana, Hangul and the like."""
N_BUCKETS, TO_BUCKET = 4096, np.uint64(52)
"""Pairs of letters are counted by a hash with this many values: the upper 12 of 64 bits."""
PER_LETTER = np.uint64(0x110001)
"""Factor that gives each pair of code points a number of its own."""


class LetterPairs(NamedTuple):
    """The pairs of adjacent letters or digits of some texts, in alphabets; characters between them are skipped."""

    hashes: UInt16s
    """uint16[n]: the hash, below `N_BUCKETS`, of each pair; the first letter of a text also counts as a pair."""
    offsets: Int64s
    """int64[n_texts + 1]: text ``i`` has the pairs ``offsets[i]`` to ``offsets[i + 1] - 1``."""


@njit(cache=True, nogil=True)
def letter_pairs_of(points: UInt32s, offsets: Int64s, kinds: UInt8s) -> LetterPairs:
    """Return the pairs of adjacent letters of texts.

    ``points`` and ``offsets``: the texts, as in `hybriddup.data.records.EncodedTexts`; ``kinds``: `Characters.kinds`.
    """
    hashes, bounds, n = np.empty(len(points), np.uint16), np.zeros(len(offsets), np.int64), np.int64(0)
    for text in range(len(offsets) - 1):
        before = np.uint64(0)
        for at in range(offsets[text], offsets[text + 1]):
            point = np.uint64(points[np.uint64(at)])
            if point <= LAST_ALPHABETIC and LETTER <= kinds[point] & KIND <= DIGIT:
                hashes[n] = np.uint16((before * PER_LETTER + point) * SPREAD >> TO_BUCKET)
                n, before = n + 1, point
        bounds[text + 1] = n
    return LetterPairs(hashes[:n], bounds)


@njit(cache=True, nogil=True)
def share_letter_pairs(texts: LetterPairs, earlier: Int64s, later: Int64s, may_lack: Float64s) -> Bools:
    """Return bool[n_pairs]: whether the text with fewer letter pairs lacks few of the letter pairs of the other one.

    Parameters
    ----------
    earlier, later
        int64[n_pairs]: the texts of each pair; pairs with the same later text should be consecutive.
    may_lack
        float64[n_pairs]: the number of letter pairs that may be lacking.
    """
    shared = np.zeros(len(earlier), np.bool_)
    counts, counted = np.zeros(N_BUCKETS, np.int32), np.int64(-1)
    for pair in range(len(earlier)):
        a, b = earlier[pair], later[pair]
        first, end, n_b = texts.offsets[a], texts.offsets[a + 1], texts.offsets[b + 1] - texts.offsets[b]
        left = np.int64(may_lack[pair]) + max(0, end - first - n_b)
        if left >= end - first:
            shared[pair] = True
            continue
        if b != counted:
            if counted >= 0:
                add_to_counts(counts, texts, counted, np.int32(-1))
            counted = b
            add_to_counts(counts, texts, counted, np.int32(1))
        at = first
        while at < end and left >= 0:
            bucket = texts.hashes[at]
            left -= counts[bucket] <= 0
            counts[bucket] -= np.int32(1)
            at += 1
        shared[pair] = left >= 0
        for back in range(first, at):
            counts[texts.hashes[back]] += np.int32(1)
    return shared


@njit(cache=True, nogil=True, inner=True)
def add_to_counts(counts: Int32s, texts: LetterPairs, text: int, number: np.int32) -> None:
    """Add a number to the count of each letter pair of a text, once per occurrence."""
    for at in range(texts.offsets[text], texts.offsets[text + 1]):
        counts[texts.hashes[at]] += number
