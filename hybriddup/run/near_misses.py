"""Near misses: pairs of kept posts with a score just below the threshold, and pairs that only a guard rejected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import Float64s, Int64s, VerifiedPairs

WITHIN = 0.1
"""Maximum difference between the threshold and the score of a near miss."""
MOST_POSTS = 100_000
"""Maximum number of kept posts to compare, from the start of the input. Comparing them takes seconds, and most copies
follow soon after the original."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Two kept posts that would be repeats with a slightly lower threshold, or without a guard."""

    row: int
    """Zero-based input row of the later post."""
    id: Any
    text: str
    """The later post's text, as it was read."""
    earlier_row: int
    earlier_id: Any
    earlier_text: str
    hamming_distance: int
    verifier: str
    """Name of the verifier that decided the pair."""
    score: float
    threshold: float
    """The score that the pair would need to be a repeat."""
    length_band: str
    """The length band of the pair's shorter text, such as ``7-20``."""
    guards: list[str]
    """Reasons of the guards that rejected the pair; empty if the score is below the threshold."""


class JudgedPairs(NamedTuple):
    """Judged candidate pairs, with the names of the verifiers and length bands, which the pairs store as indices."""

    pairs: VerifiedPairs
    """Pairs of posts, as indices in the corpus."""
    verifiers: Sequence[str]
    length_bands: Sequence[str]
    guards: Sequence[list[str]]
    """For each pair, the reasons of the guards that reject it."""


Judge = Callable[[Corpus, Settings], JudgedPairs]
"""Function that returns the candidate pairs of a corpus that reach the thresholds in the settings; removes no posts."""


@dataclass(frozen=True)
class NearMisses:
    """All near misses of a run, as arrays, in the order of `find_near_misses`; `first` makes the `NearMiss` objects."""

    corpus: Corpus
    """The kept posts that were compared with each other."""
    judged: JudgedPairs
    thresholds: Float64s
    """float64[n]: each pair's threshold in the run."""

    def first(self, n: int) -> list[NearMiss]:
        """Return the first ``n`` near misses, or all if there are fewer."""
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
    """Return the near misses among the kept posts; ``kept``: int64[n_kept], ascending, their indices in the corpus.

    Pairs below the threshold alternate with pairs that a guard rejected. Of each kind, the pairs with scores nearest to
    the threshold come first.
    """
    by = min([WITHIN, *settings.thresholds])
    lower = settings.map_thresholds(lambda threshold: threshold - by)
    some = corpus.take(kept[:MOST_POSTS])
    judged = judge(some, lower.model_copy(update={"recipe": None}))
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
