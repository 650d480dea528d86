"""Arrays passed between the steps: texts, tokens, fingerprints, pairs and decisions.

Each type has the data of many posts, so that a step handles them in one call. Posts have two kinds of numbers:

``row``       zero-based index of a post in the input, across all files; shown to users.
``position``  zero-based index of a text in the order in which posts are decided; used by steps and kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence, Sized
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Int8s = NDArray[np.int8]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
UInt8s = NDArray[np.uint8]
UInt16s = NDArray[np.uint16]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
UInts = NDArray[np.unsignedinteger[Any]]
"""Unsigned integers of any width."""
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Bools = NDArray[np.bool_]


_UTF_32 = f"utf-32-{sys.byteorder[0]}e"

NO_KEY = 2**64 - 1
"""Padding in arrays of block keys, for texts with fewer keys than others."""

SKETCH_WORDS = 4
"""Number of uint64 words in a character sketch, see `hybriddup.kernels.text.characters.sketch_characters`. With four,
sketches rule out two thirds (Chinese) or one third (English) of the candidate pairs with too few common characters."""
NO_SKETCHES: UInt64s = np.zeros((0, SKETCH_WORDS), np.uint64)
"""Empty array in place of character sketches, for a run whose verifiers require no characters in common."""


class EncodedTexts(NamedTuple):
    """Texts as one array of code points; text ``i`` is ``code_points[offsets[i]:offsets[i + 1]]``."""

    code_points: UInt32s
    """uint32[n_code_points]: the code points of all texts, including lone surrogates."""
    offsets: Int64s
    """int64[n_texts + 1]: start of each text in ``code_points``, and the total length."""

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64s:
        """int64[n_texts]: length of each text in code points."""
        return self.offsets[1:] - self.offsets[:-1]

    def points_of(self, text: int) -> UInt32s:
        """Return uint32[n]: the code points of one text."""
        return self.code_points[self.offsets[text] : self.offsets[text + 1]]


def encode_texts(texts: Sequence[str], lengths: Int32s | None = None) -> EncodedTexts:
    """Convert texts to one array of code points, with the offset of each text.

    ``lengths``: int32[n_texts], the length of each text, if it is known.
    """
    # the fastest copy, and a writable one: numba would compile each kernel again for read-only arrays
    code_points = np.array(["".join(texts)], np.str_).view(np.uint32)
    # after joining, which has brought the texts into the CPU's cache
    offsets = offsets_of(texts) if lengths is None else np.append(0, lengths.cumsum(dtype=np.int64))
    return EncodedTexts(code_points[: offsets[-1]], offsets)  # numpy pads an empty string to one character


def decode_points(code_points: UInt32s) -> str:
    """Return the string of contiguous code points, which may include lone surrogates."""
    return str(code_points.data, _UTF_32, "surrogatepass")


def decode_texts(code_points: UInt32s, offsets: Int64s) -> list[str]:
    """Return the texts that `encode_texts` has converted; ``offsets`` are their bounds in the code points."""
    text = decode_points(code_points)
    return [text[first:last] for first, last in pairwise(offsets.tolist())]


def characters_between(start: int, end: int) -> str:
    """Return a string of all characters from code point ``start`` to ``end`` - 1, including surrogates."""
    return decode_points(np.arange(start, end, dtype=np.uint32))


def offsets_of(texts: Sequence[Sized]) -> Int64s:
    """Return int64[n_texts + 1]: the start of each text in their concatenation, and the total length."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.fromiter(map(len, texts), np.int64, len(texts)).cumsum(out=offsets[1:])
    return offsets


def text_lengths(texts: Sequence[str]) -> Int32s:
    """Return int32[n]: the length of each text in code points."""
    return np.fromiter(map(len, texts), np.int32, len(texts))


class Tokens(NamedTuple):
    """Tokens of many texts. A token is a slice of ``code_points``; slices may overlap, as n-grams do."""

    code_points: UInt32s
    """uint32[n_code_points]: the code points of all texts."""
    starts: Int64s
    """int64[n_tokens]: start of each token in ``code_points``."""
    lengths: Int32s
    """int32[n_tokens]: length of each token in code points, at least 1."""
    offsets: Int64s
    """int64[n_texts + 1]: text ``i`` has the tokens from ``offsets[i]`` to ``offsets[i + 1]``, exclusive."""

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.offsets) - 1

    def strings(self, text: int) -> list[str]:
        """Return the tokens of one text as strings, in order. Slow: meant for explanations and tests."""
        span = slice(int(self.offsets[text]), int(self.offsets[text + 1]))
        starts, lengths = self.starts[span], self.lengths[span]
        first, last = int(starts.min(initial=len(self.code_points))), int((starts + lengths).max(initial=0))
        whole = decode_points(self.code_points[first:last])
        return [whole[at : at + n] for at, n in zip((starts - first).tolist(), lengths.tolist(), strict=True)]


def tokens_from_lists(token_lists: Sequence[Sequence[str]]) -> Tokens:
    """Convert one list of token strings per text to ``Tokens``; empty strings are left out.

    Examples
    --------
    >>> tokens_from_lists([["big", "cat"], []]).offsets.tolist()
    [0, 2, 2]
    """
    kept = [[token for token in tokens if token] for tokens in token_lists]
    flat = [token for tokens in kept for token in tokens]
    encoded = encode_texts(flat)
    return Tokens(encoded.code_points, encoded.offsets[:-1], encoded.lengths.astype(np.int32), offsets_of(kept))


class PairLimits(NamedTuple):
    """Limits of each text, within which its pairs are verified; in a pair, the shorter text's limits apply.

    The number of characters that the two texts have in common, in any order, must be at least ``common_of_shorter``
    times the length of the shorter text plus ``common_of_longer`` times the length of the longer one. Both factors are
    0.0 if the verifier does not require common characters.
    """

    lengths: Int32s
    """int32[n]: length of each text in code points, after normalizing."""
    max_hamming_distances: Int32s
    """int32[n]: Hamming limit of the text's length band, inclusive; -1 = only equal texts match."""
    max_partner_lengths: Int32s
    """int32[n]: length of the longest text that can match each text, in code points."""
    common_of_shorter: Float32s
    """float32[n]: common characters required per character of a pair's shorter text; `common_of_longer` adds more."""
    common_of_longer: Float32s
    """float32[n]: common characters required per character of a pair's longer text, in addition to those that
    `common_of_shorter` requires."""


class NearPairs(NamedTuple):
    """Distinct pairs that share a block key and are within their limits, sorted by later text, then by earlier text."""

    earlier: Int64s
    """int64[n_pairs]: the earlier text: its position, or what else the function that returns the pairs states."""
    later: Int64s
    """int64[n_pairs]: index of the later text among the texts that were looked up."""
    distances: Int32s
    """int32[n_pairs]: number of differing bits."""
    depths: Int64s
    """int64[n_pairs]: rank of the earlier text among the searched texts with a shared block key, 1 = newest. If the two
    texts share several keys, some searches give the smallest rank, others the rank for any one of the keys."""

    def take(self, chosen: Int64s | Bools) -> NearPairs:
        """Return the chosen pairs, in the order given."""
        return NearPairs._make(column[chosen] for column in self)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Base class of dataclasses with arrays of equal length as fields, which have one element per row."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(getattr(self, fields(self)[0].name))

    def take(self, chosen: Int64s | Bools | slice) -> Self:
        """Return the chosen rows, in the order given."""
        return type(self)(*(getattr(self, column.name)[chosen] for column in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs(Rows):
    """Pairs of texts with similar fingerprints, to be verified, in any order.

    If several later texts are equal, there are separate pairs for each of them.
    """

    earlier: Int64s
    """int64[n_pairs]: position of the earlier text; for a verifier, index of the text in `VerifierContext.texts`."""
    later: Int64s
    """int64[n_pairs]: position of the later text; for a verifier, index of the text in `VerifierContext.texts`."""
    hamming_distances: Int32s
    """int32[n_pairs]: number of differing bits, 0 to the fingerprint's width."""


@dataclass(frozen=True, slots=True, eq=False)
class VerifiedPairs(Rows):
    """Candidate pairs accepted by the verifier of their length band, with the score of each pair and its evidence."""

    earlier: Int64s
    later: Int64s
    hamming_distances: Int32s
    scores: Float64s
    """float64[n_pairs]: score of each pair, from the pair's threshold to 1.0, the score of equal texts."""
    thresholds: Float64s
    verifiers: Int32s
    """int32[n_pairs]: index in `hybriddup.run.bands.JudgePlan.names` of the verifier that decided the pair."""
    length_bands: Int32s
    """int32[n_pairs]: index of the length band of the pair's shorter text."""

    def of(self, pairs: CandidatePairs) -> VerifiedPairs:
        """Return a copy whose `earlier` and `later` are from ``pairs``; scores and evidence stay the same."""
        return replace(self, earlier=pairs.earlier, later=pairs.later)


class LabeledPairs(NamedTuple):
    """Pairs of texts, and whether they should match."""

    a: Sequence[str]
    b: Sequence[str]
    labels: Bools
    """bool[n_pairs]: True = the two texts are duplicates."""


SHOWN = 40
"""Maximum number of characters of each text in the repr of a removed post."""


@dataclass(frozen=True, slots=True, repr=False)
class Removed:
    """One removed post: the kept post that it matches and the evidence for the pair."""

    row: int
    """Zero-based input row, counted across all files."""
    id: Any
    text: str
    """Text as it was read, before normalizing."""
    keeper_row: int
    duplicate_of: Any
    keeper_text: str
    """Text of the kept post as it was read."""
    reason: str
    """``exact``: equal after normalizing; ``near``: any other verified pair."""
    hamming_distance: int
    verifier: str
    """Name of the verifier that accepted the pair; ``equal`` for exact repeats."""
    score: float
    threshold: float
    length_band: str
    """Length band of the pair's shorter text, such as ``7-20``."""
    config: str
    """Name or path of the configuration."""
    recipe_id: str
    """Hash of the components and learned data that determine the fingerprints; the same as in the summary."""
    keeper_source: str | None = None
    """Name of another corpus, such as a file of ``--against``, if the kept post is from there; else None."""

    def to_dict(self) -> dict[str, Any]:
        """Return the removed post as a dict, which JSON can represent if it can represent the ids."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        text, keeper = (one if len(one) <= SHOWN else one[: SHOWN - 1] + "…" for one in (self.text, self.keeper_text))
        return (
            f"Removed(row={self.row}, text={text!r}, keeper_row={self.keeper_row}, keeper_text={keeper!r}, "
            f"reason={self.reason!r}, score={self.score:.3f})"
        )
