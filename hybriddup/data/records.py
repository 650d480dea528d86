"""What moves between the steps: texts, tokens, fingerprints, pairs and decisions.

Everything here is arrays, so that a step handles many posts in one call. Two kinds of numbers point at posts:

``row``       the zero-based position of a post in the input, over all files; what users see.
``position``  the zero-based place of a text in the order of deciding; what steps and kernels see.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

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
"""Of whichever width is enough."""
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
Bools = NDArray[np.bool_]


NO_KEY = 2**64 - 1
"""Stands where a text has no more block keys."""

SKETCH_WORDS = 4
"""Words of a sketch of the characters of a text, as `hybriddup.kernels.text.characters.sketch_characters` writes it. Of
the candidate pairs of posts that have too few characters in common, four words tell two thirds in Chinese, a third in
English."""
NO_SKETCHES: UInt64s = np.zeros((0, SKETCH_WORDS), np.uint64)
"""Where characters are not asked."""


class EncodedTexts(NamedTuple):
    """Texts as one array of code points; text ``i`` is ``code_points[offsets[i]:offsets[i + 1]]``."""

    code_points: UInt32s
    """uint32[n_code_points]: lone surrogates stand for themselves."""
    offsets: Int64s
    """int64[n_texts + 1], rising from 0."""

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int64s:
        """int64[n_texts]: the code points of each text."""
        return self.offsets[1:] - self.offsets[:-1]

    def points_of(self, text: int) -> UInt32s:
        """Return uint32[n]: the code points of one text."""
        return self.code_points[self.offsets[text] : self.offsets[text + 1]]


def encode_texts(texts: Sequence[str]) -> EncodedTexts:
    """Return the texts as one array of code points."""
    # the quickest copy, and one that can be written to: kernels would be compiled once more for what cannot
    code_points = np.array(["".join(texts)], np.str_).view(np.uint32)
    offsets = offsets_of(texts)  # now that joining has fetched the texts from memory
    return EncodedTexts(code_points[: offsets[-1]], offsets)  # numpy's strings have a character at least


def offsets_of(texts: Sequence[Sized]) -> Int64s:
    """Return int64[n_texts + 1]: where each begins when they are put one after another."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.fromiter(map(len, texts), np.int64, len(texts)).cumsum(out=offsets[1:])
    return offsets


def text_lengths(texts: Sequence[str]) -> Int32s:
    """Return int32[n]: the code points of each text."""
    return np.fromiter(map(len, texts), np.int32, len(texts))


class Tokens(NamedTuple):
    """Tokens of many texts. A token is a slice of ``code_points``; slices may overlap, as n-grams do."""

    code_points: UInt32s
    """uint32[n_code_points]."""
    starts: Int64s
    """int64[n_tokens]: where each token begins in ``code_points``."""
    lengths: Int32s
    """int32[n_tokens]: code points of each token, at least 1."""
    offsets: Int64s
    """int64[n_texts + 1]: the tokens of text ``i`` are ``offsets[i]`` to ``offsets[i + 1]``."""

    @property
    def n_texts(self) -> int:
        """Number of texts."""
        return len(self.offsets) - 1

    def strings(self, text: int) -> list[str]:
        """Return the tokens of one text as strings, in order; for people and for tests, slow."""
        span = slice(int(self.offsets[text]), int(self.offsets[text + 1]))
        starts, lengths = self.starts[span], self.lengths[span]
        first, last = int(starts.min(initial=len(self.code_points))), int((starts + lengths).max(initial=0))
        points = self.code_points[first:last].astype("<u4", copy=False)
        whole = points.tobytes().decode("utf-32-le", "surrogatepass")
        return [whole[at : at + n] for at, n in zip((starts - first).tolist(), lengths.tolist(), strict=True)]


def tokens_from_lists(token_lists: Sequence[Sequence[str]]) -> Tokens:
    """Return ``Tokens`` for one list of strings a text; empty strings are left out.

    Examples
    --------
    >>> tokens_from_lists([["big", "cat"], []]).offsets.tolist()
    [0, 2, 2]
    """
    kept = [[token for token in tokens if token] for tokens in token_lists]
    flat = [token for tokens in kept for token in tokens]
    encoded = encode_texts(flat)
    return Tokens(encoded.code_points, encoded.offsets[:-1], encoded.lengths.astype(np.int32), offsets_of(kept))


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """Simhash fingerprints of distinct texts, with what stage 1 needs to know of each text."""

    positions: Int64s
    """int64[n]: places in the order of deciding, rising."""
    bits: UInt64s
    """uint64[n, words]: bit ``b`` of a fingerprint is bit ``b % 64`` of word ``b // 64``."""
    limits: PairLimits

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, chosen: Int64s | Bools | slice) -> Fingerprints:
        """Return the chosen texts, in the order given."""
        return Fingerprints(self.positions[chosen], self.bits[chosen], self.limits.take(chosen))


class PairLimits(NamedTuple):
    """What a pair must satisfy to be worth a second look; all five are those of the pair's shorter text."""

    lengths: Int32s
    """int32[n]: code points after normalizing."""
    max_hamming_distances: Int32s
    """int32[n]: the limit of the text's length band, inclusive; -1 where the text may only be an exact repeat."""
    max_partner_lengths: Int32s
    """int32[n]: the longest text that this one, as the shorter, could still match, inclusive."""
    common_of_shorter: Float32s
    common_of_longer: Float32s
    """float32[n]: at least these shares of the shorter and of the longer text, added up, are the characters that a pair
    has in common, whatever their order; 0.0 where characters alone rule nothing out."""

    def take(self, chosen: Int64s | Bools | slice) -> PairLimits:
        """Return the limits of the chosen texts, in the order given."""
        return PairLimits._make(column[chosen] for column in self)


class NearPairs(NamedTuple):
    """Pairs that share a key and are within their limits, by later text, then by earlier, each once."""

    earlier: Int64s
    """int64[n_pairs]: the position of the earlier text, or its row among the texts that were searched."""
    later: Int64s
    """int64[n_pairs]: the row of the later text among those that were asked about."""
    distances: Int32s
    """int32[n_pairs]: differing bits."""
    depths: Int64s
    """int64[n_pairs]: the smallest number that the earlier text has, 1 being the newest, in a key that both share."""

    def take(self, chosen: Int64s | Bools) -> NearPairs:
        """Return the chosen pairs, in the order given."""
        return NearPairs._make(column[chosen] for column in self)


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePairs:
    """Pairs that passed stage 1, in any order; a pair may stand there twice, once for each copy of its later text."""

    earlier: Int64s
    """int64[n_pairs]: positions; for verifiers, which of their texts."""
    later: Int64s
    """int64[n_pairs]: the same of the later text."""
    hamming_distances: Int32s
    """int32[n_pairs]: differing bits, 0 to the fingerprint's width."""

    def __len__(self) -> int:
        return len(self.earlier)

    def take(self, chosen: Int64s | Bools | slice) -> CandidatePairs:
        """Return the chosen pairs, in the order given."""
        return CandidatePairs(self.earlier[chosen], self.later[chosen], self.hamming_distances[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class VerifiedPairs:
    """Candidate pairs that the verifier of their length band accepted, with the score and how it was reached."""

    earlier: Int64s
    later: Int64s
    hamming_distances: Int32s
    scores: Float64s
    """float64[n_pairs]: 0.0 to 1.0, 1.0 = same; ``score >= threshold`` holds for each."""
    thresholds: Float64s
    verifiers: Int32s
    """int32[n_pairs]: index into the verifier names of the plan."""
    length_bands: Int32s
    """int32[n_pairs]: index of the length band."""

    def __len__(self) -> int:
        return len(self.earlier)

    def of(self, pairs: CandidatePairs) -> VerifiedPairs:
        """Return the same scores for as many other pairs, such as posts in the place of their texts."""
        return replace(self, earlier=pairs.earlier, later=pairs.later)

    def take(self, chosen: Int64s | Bools) -> VerifiedPairs:
        """Return the chosen pairs, in the order given."""
        return VerifiedPairs(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Removed:
    """One removed post: the kept post that it matches and the pair's own evidence."""

    row: int
    """Zero-based input row over all files."""
    id: Any
    text: str
    """The text as it was read."""
    keeper_row: int
    keeper_id: Any
    keeper_text: str
    """The text of the kept post, as it was read."""
    reason: str
    """``exact``: equal after normalizing; ``near``: any other verified pair."""
    hamming_distance: int
    verifier: str
    """Name of the verifier whose score decided; ``equal`` for exact repeats."""
    score: float
    threshold: float
    length_band: str
    """The band of the pair's shorter text, such as ``7-20``."""
    config: str
    """Name or path of the configuration."""
    recipe_id: str
    """What made the fingerprints, as in the summary."""
    keeper_source: str | None = None
    """Name of the other corpus that the kept post and its row are of, such as a file of ``--against``; None = of the
    same posts."""
