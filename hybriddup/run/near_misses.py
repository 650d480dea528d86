"""Near misses: pairs of kept posts whose score is just under the threshold, and pairs that a guard keeps apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config.settings import CombinedVerifier, LengthBand, Settings, SingleVerifier
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import Float64s, Int64s, VerifiedPairs

WITHIN = 0.1
"""A score that is less than the threshold by so much, at most, is a near miss."""
MOST_POSTS = 100_000
"""The first so many kept posts are looked at: comparing them takes seconds, and copies mostly come soon."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Two kept posts that would be repeats by a slightly lower threshold, or without a guard."""

    row: int
    """Zero-based input row of the later post."""
    id: Any
    text: str
    """The text as it was read."""
    earlier_row: int
    earlier_id: Any
    earlier_text: str
    hamming_distance: int
    verifier: str
    """Name of the verifier whose score decided."""
    score: float
    threshold: float
    """What the score would have had to reach."""
    length_band: str
    """The band of the pair's shorter text, such as ``7-20``."""
    guards: list[str]
    """What keeps the two apart though the score reaches the threshold; empty where the score does not."""


class JudgedPairs(NamedTuple):
    """Candidate pairs that were judged, and what the numbers in them stand for."""

    pairs: VerifiedPairs
    """Places of posts in the corpus."""
    verifiers: Sequence[str]
    length_bands: Sequence[str]
    guards: Sequence[list[str]]
    """What keeps each pair apart, by each guard that does."""


Judge = Callable[[Corpus, Settings], JudgedPairs]
"""Returns the candidate pairs of a corpus that reach the thresholds of settings, whatever else is decided."""


@dataclass(frozen=True)
class NearMisses:
    """All near misses of a run, nearest first; an object is made for those that are asked for."""

    corpus: Corpus
    """The posts that were looked at."""
    judged: JudgedPairs
    thresholds: Float64s
    """float64[n]: those of the run."""

    def first(self, n: int) -> list[NearMiss]:
        """Return the ``n`` nearest ones, or all where there are fewer."""
        corpus, (pairs, verifiers, bands, guards) = self.corpus, self.judged
        places = zip(pairs.later[:n].tolist(), pairs.earlier[:n].tolist(), strict=True)
        return [
            NearMiss(
                int(corpus.rows[later]), corpus.ids[later], corpus.texts[later],
                int(corpus.rows[earlier]), corpus.ids[earlier], corpus.texts[earlier],
                int(pairs.hamming_distances[at]), verifiers[pairs.verifiers[at]],
                float(pairs.scores[at]), float(self.thresholds[at]), bands[pairs.length_bands[at]], guards[at],
            )
            for at, (later, earlier) in enumerate(places)
        ]  # fmt: skip


def find_near_misses(corpus: Corpus, kept: Int64s, settings: Settings, judge: Judge) -> NearMisses:
    """Return the near misses among kept posts, whose places in the corpus are int64[n_kept], rising.

    Those nearest to the threshold come first: by turns one under it, and one over it that a guard keeps apart.
    """
    by = min([WITHIN, *thresholds_of(settings.lengths)])
    some = corpus.take(kept[:MOST_POSTS])
    judged = judge(some, with_lower_thresholds(settings, by))
    thresholds = np.round(judged.pairs.thresholds + by, 12)
    short_by = thresholds - judged.pairs.scores
    is_apart = np.fromiter(map(bool, judged.guards), np.bool_, len(judged.guards))
    order = np.lexsort((judged.pairs.earlier, judged.pairs.later, abs(short_by)))
    under = order[(short_by[order] > 0) & ~is_apart[order]]
    apart = order[(short_by[order] <= 0) & is_apart[order]]
    turns = np.concatenate([np.arange(len(under)), np.arange(len(apart)) + 0.5])
    order = np.concatenate([under, apart])[np.argsort(turns)]
    guards = [judged.guards[place] for place in order.tolist()]
    return NearMisses(some, judged._replace(pairs=judged.pairs.take(order), guards=guards), thresholds[order])


def thresholds_of(lengths: Sequence[LengthBand]) -> list[float]:
    """Return the thresholds of all verifiers of some length bands."""

    def of(verifier: SingleVerifier | CombinedVerifier) -> list[float]:
        if isinstance(verifier, SingleVerifier):
            return [verifier.threshold]
        return [threshold for member in verifier.members for threshold in of(member)]

    return [threshold for band in lengths if band.verifier is not None for threshold in of(band.verifier)]


def with_lower_thresholds(settings: Settings, by: float) -> Settings:
    """Return settings that learn nothing new, in which each threshold is lower by the same."""

    def lower(verifier: SingleVerifier | CombinedVerifier) -> SingleVerifier | CombinedVerifier:
        if isinstance(verifier, SingleVerifier):
            return verifier.model_copy(update={"threshold": verifier.threshold - by})
        return verifier.model_copy(update={verifier.combine: tuple(map(lower, verifier.members))})

    lengths = tuple(
        band if band.verifier is None else band.model_copy(update={"verifier": lower(band.verifier)})
        for band in settings.lengths
    )
    return settings.model_copy(update={"lengths": lengths, "recipe": None})
