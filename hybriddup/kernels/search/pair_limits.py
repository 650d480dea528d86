"""Checks pairs of texts against limits on their lengths, common characters, and Hamming distance.

Lengths and character sketches rule out most pairs, and take only 40 bytes per text.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import NO_SKETCHES, SKETCH_WORDS, Int32s, Int64s, NearPairs, PairLimits, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import with_room_for
from hybriddup.kernels.popcount import differing_bits, popcount

FACT = np.dtype(
    [
        ("length", np.int32),
        ("kind", np.int32),
        ("sketch_0", np.uint64),
        ("sketch_1", np.uint64),
        ("sketch_2", np.uint64),
        ("sketch_3", np.uint64),
    ]
)
"""Record of a text: its length, the index of its limits (``kind``), and the sketch of its characters. The fields are
stored together, so that reading them costs one cache miss, or two if the record crosses a cache line."""
LIMIT = np.dtype(
    [
        ("max_distance", np.int32),
        ("max_partner_length", np.int32),
        ("common_of_shorter", np.float32),
        ("common_of_longer", np.float32),
    ]
)
"""The limits of a pair, given by its shorter text; the fields are those of
`hybriddup.data.records.PairLimits`, in the same order."""
Records = NDArray[np.void]
Sketch = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


class LookUpCounts(NamedTuple):
    """Statistics of look-ups: comparisons made, keys looked up, and the largest number of texts with the same key."""

    n_comparisons: int
    """Number of pairs of fingerprints that were compared."""
    n_look_ups: int
    """Number of keys that were looked up."""
    largest: int
    """Largest number of texts with the same key."""


class TextColumns(NamedTuple):
    """Fingerprints and limits of texts, by row."""

    bits: UInt64s
    """uint64[n, words]: fingerprints, each as 64-bit words."""
    facts: Records
    """FACT[n]: length, index into ``limits``, and character sketch of each text."""
    limits: Records
    """LIMIT[n_kinds]: the distinct limits. In a run, texts of one length share one, so all fit in the CPU cache."""
    shortest: Int32s
    """int32[longest + 1]: for each text length, the length of the shortest text that may match; at most the length
    itself."""

    @property
    def lengths(self) -> Int32s:
        """int32[n]: the length of each text, as a view into ``facts``."""
        return self.facts["length"]

    @property
    def max_partner_lengths(self) -> Int32s:
        """int32[n]: length of the longest text that each text may match."""
        longest: Int32s = self.limits["max_partner_length"][self.facts["kind"]]
        return longest

    @property
    def max_distances(self) -> Int32s:
        """int32[n]: the Hamming limit of each text; -1 = the text can only be an exact repeat."""
        limits: Int32s = self.limits["max_distance"][self.facts["kind"]]
        return limits

    @property
    def widest(self) -> int:
        """The largest Hamming limit of any text, but at least 0."""
        return int(self.limits["max_distance"].max(initial=0))

    @property
    def sketches(self) -> UInt64s:
        """uint64[n, SKETCH_WORDS]: the character sketch of each text, as a view into ``facts``.

        `kernels.text.characters` makes the sketches. They are all zeros if characters are not counted.
        """
        words = self.facts.view(np.uint64).reshape(len(self.facts), FACT.itemsize // 8)
        return words[:, -SKETCH_WORDS:]

    def take(self, chosen: Int64s | slice) -> "TextColumns":
        """Return the chosen texts, in the order given."""
        if isinstance(chosen, slice):
            return self._replace(bits=self.bits[chosen], facts=self.facts[chosen])
        # for rows of several words, numpy's take is three to six times as fast as an index
        return self._replace(bits=self.bits.take(chosen, axis=0), facts=self.facts.take(chosen))


def text_columns(
    bits: UInt64s, limits: PairLimits, sketches: UInt64s = NO_SKETCHES, kinds: Int64s | None = None
) -> TextColumns:
    """Build the columns of texts from fingerprints, character sketches and limits.

    Parameters
    ----------
    bits, sketches
        uint64[n, words], and uint64[n, SKETCH_WORDS] or no rows.
    limits, kinds
        The distinct limits; and int64[n], the index into ``limits`` for each text. None = the index is the text's row.
    """
    facts, of_kinds = np.zeros(len(bits), FACT), np.empty(len(limits.lengths), LIMIT)
    facts["kind"] = np.arange(len(bits)) if kinds is None else kinds
    facts["length"] = limits.lengths[facts["kind"]]
    for name, column in zip(LIMIT.names or (), limits[1:], strict=True):
        of_kinds[name] = column
    longest = limits.lengths.max(initial=0)
    columns = TextColumns(bits, facts, of_kinds, shortest_partners(limits.lengths, limits.max_partner_lengths, longest))
    if len(sketches):
        columns.sketches[:] = sketches
    return columns


@njit(cache=True, nogil=True, inner=True)
def may_be_within(texts: TextColumns, a: int, b: int) -> bool:
    """Return whether the texts in rows ``a`` and ``b`` may match, judging by their lengths and sketches."""
    a_is_shorter = texts.facts[a]["length"] < texts.facts[b]["length"]
    shorter, longer = texts.facts[a if a_is_shorter else b], texts.facts[b if a_is_shorter else a]
    lacking = count_lacking(sketch_of(shorter), sketch_of(longer))
    return are_within(shorter["length"], longer["length"], lacking, texts.limits[shorter["kind"]])


@njit(cache=True, nogil=True, inner=True)
def distance_within(texts: TextColumns, a: int, b: int) -> int:
    """Return the Hamming distance of the texts in rows ``a`` and ``b``; -1 if it exceeds the shorter text's limit."""
    shorter = a if texts.facts[a]["length"] < texts.facts[b]["length"] else b
    distance = np.int64(differing_bits(texts.bits, a, texts.bits, b))
    limit = texts.limits[texts.facts[shorter]["kind"]]["max_distance"]
    return distance if distance <= limit else np.int64(-1)


@njit(cache=True, nogil=True)
def distances_within(texts: TextColumns, a: Int64s, b: Int64s) -> Int64s:
    """Return int64[n_pairs]: the Hamming distance of each pair of rows; -1 if any limit rules the pair out."""
    distances = np.full(len(a), -1, np.int64)
    for pair in range(len(a)):
        if may_be_within(texts, a[pair], b[pair]):
            distances[pair] = distance_within(texts, a[pair], b[pair])
    return distances


@njit(cache=True, nogil=True, inner=True)
def are_within(shorter: int, longer: int, lacking: int, limit: np.void) -> bool:
    """Return whether the lengths and common characters of a pair are within ``limit``, the `LIMIT` of its shorter text.

    ``shorter`` and ``longer`` are the lengths of the two texts, and ``lacking`` is the number of characters of the
    shorter text that the longer one lacks. The Hamming distance is not checked.
    """
    least = least_common(np.int64(shorter), np.int64(longer), limit["common_of_shorter"], limit["common_of_longer"])
    return bool(longer <= limit["max_partner_length"] and lacking <= np.int64(shorter) - least)


@njit(cache=True, nogil=True, inner=True)
def sketch_of(fact: np.void) -> Sketch:
    """Return the character sketch in a `FACT` record, as four uint64."""
    return fact["sketch_0"], fact["sketch_1"], fact["sketch_2"], fact["sketch_3"]


@njit(cache=True, nogil=True, inner=True)
def count_lacking(sketch: Sketch, other: Sketch) -> int:
    """Return a lower bound on the number of characters of one text that another text lacks, given their sketches.

    If characters are not counted, sketches are all zeros, and the result is 0.
    """
    lacking = np.int64(popcount(sketch[0] & ~other[0]))
    lacking += np.int64(popcount(sketch[1] & ~other[1]))
    lacking += np.int64(popcount(sketch[2] & ~other[2]))
    lacking += np.int64(popcount(sketch[3] & ~other[3]))
    return lacking


@njit(cache=True, nogil=True)
def least_common(shorter: int, longer: int, of_shorter: np.float32, of_longer: np.float32) -> float:
    """Return how many characters two texts must have in common: ``of_shorter * shorter + of_longer * longer``.

    ``shorter`` and ``longer`` are the lengths of the texts; ``of_shorter`` and ``of_longer`` are the factors
    ``common_of_shorter`` and ``common_of_longer`` of `PairLimits`. About a millionth of the total length is
    subtracted, more than the error of rounding the factors to float32.
    """
    slack = 1e-6 * (shorter + longer) + 1e-3
    return np.float64(of_shorter) * shorter + np.float64(of_longer) * longer - slack


@njit(cache=True, nogil=True)
def new_pairs(n: int) -> NearPairs:
    """Allocate uninitialized arrays with space for ``n`` pairs and some more."""
    room = n + 1024
    return NearPairs(
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.int64)
    )


@njit(cache=True, nogil=True)
def larger_pairs(found: NearPairs, n_pairs: int, n_more: int) -> NearPairs:
    """Copy the first ``n_pairs`` pairs to larger arrays, with capacity for ``n_more`` more."""
    return NearPairs(
        with_room_for(found.earlier, n_pairs, n_more),
        with_room_for(found.later, n_pairs, n_more),
        with_room_for(found.distances, n_pairs, n_more),
        with_room_for(found.depths, n_pairs, n_more),
    )


@njit(cache=True, nogil=True)
def first_pairs(found: NearPairs, n: int) -> NearPairs:
    """Copy the first ``n`` pairs into arrays of exactly this length."""
    return NearPairs(
        found.earlier[:n].copy(), found.later[:n].copy(), found.distances[:n].copy(), found.depths[:n].copy()
    )


CLASSES_OF_DOUBLING, LAST_CLASS = 16, 255
"""Number of length classes between a length and its double, and the highest class."""


@njit(cache=True, nogil=True, inner=True)
def length_class(length: int) -> int:
    """Map a length to a class, 0 to 255, that never decreases with the length; about 16 classes per doubling.

    Each length below 32 has its own class; lengths from 31 * 2**14 on have the highest class.
    """
    doublings = np.int64(0)
    while length >> doublings >= 2 * CLASSES_OF_DOUBLING:
        doublings += 1
    return min((length >> doublings) + CLASSES_OF_DOUBLING * doublings, LAST_CLASS)


def shortest_partners(lengths: Int32s, reaches: Int32s, longest: int) -> Int32s:
    """Return int32[longest + 1]: for each text length, the length of the shortest text that may match.

    The result for a length is the length itself if no shorter text may match.

    Parameters
    ----------
    lengths, reaches
        int32[n] each: text lengths, at most ``longest``, and the length of the longest text that may match each.
        A longer text may have a smaller reach, because limits differ between ranges of lengths.
    """
    farthest, every = np.zeros(longest + 1, np.int32), np.arange(longest + 1, dtype=np.int32)
    np.maximum.at(farthest, lengths, reaches)
    return np.minimum(np.searchsorted(np.maximum.accumulate(farthest), every), every).astype(np.int32)
