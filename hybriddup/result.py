"""From decisions about distinct texts to the result for every input row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hybriddup.bands import Bands
from hybriddup.corpus import Corpus
from hybriddup.exact import EqualTexts
from hybriddup.records import Int32s, Int64s, Removed, Result
from hybriddup.steps.deciders import Decisions
from hybriddup.summary import Summary

EQUAL = "equal"
"""What results name as the verifier of exact repeats: their texts were compared as a whole."""
NOT_REMOVED = -1


class Evidence(NamedTuple):
    """Why a post was removed: the last fields of `Removed`, after the position of the keeper."""

    keeper: int
    reason: str
    hamming_distance: int
    verifier: str
    score: float
    threshold: float
    length_band: str


@dataclass(frozen=True)
class Assembler:
    """Everything that a result is put together from. A *place* is a post's index in the order of deciding."""

    corpus: Corpus
    order: Int64s
    """int64[n]: the index in the corpus of each place."""
    equal: EqualTexts
    decisions: Decisions
    lengths: Int32s
    """int32[n_distinct]: code points after normalizing, by position."""
    bands: Bands

    @cached_property
    def rows(self) -> list[int]:
        """Input row of each post of the corpus."""
        rows: list[int] = self.corpus.rows.tolist()
        return rows

    @cached_property
    def post_of(self) -> list[int]:
        """Index in the corpus of each place."""
        post_of: list[int] = self.order.tolist()
        return post_of

    @cached_property
    def place_of(self) -> list[int]:
        """Place of each position."""
        place_of: list[int] = self.equal.distinct.tolist()
        return place_of

    def assemble(self, summary: Summary) -> Result:
        """Return the result and fill the counts of posts into the summary."""
        removed = sorted(self.removed(), key=lambda post: post.row)
        gone = {post.row for post in removed}
        kept = [row for row in self.rows if row not in gone]
        summary.n_read, summary.n_bad_lines = len(self.corpus.texts), self.corpus.n_bad_records
        summary.n_exact = sum(post.reason == "exact" for post in removed)
        summary.n_near, summary.n_kept = len(removed) - summary.n_exact, len(kept)
        rows_of_positions = self.corpus.rows[self.order[self.equal.distinct]]
        verified = self.decisions.verified
        verified_rows = np.stack([rows_of_positions[verified.earlier], rows_of_positions[verified.later]], axis=1)
        return Result(kept, removed, summary, max(self.corpus.n_rows, len(self.corpus.texts)), verified_rows)

    def removed(self) -> Iterator[Removed]:
        """Yield every removed post, in the order of deciding."""
        equal, deciding = self.equal, self.decisions.deciding
        positions = np.searchsorted(equal.distinct, equal.first_of)
        pair_of = np.full(len(equal.distinct), NOT_REMOVED, np.int64)
        pair_of[deciding.later] = np.arange(len(deciding))
        is_repeat = equal.first_of != np.arange(len(equal.first_of))
        gone = np.flatnonzero(is_repeat | (pair_of[positions] != NOT_REMOVED))
        evidence = self.evidence()
        equal_bands = self.bands.of_lengths(self.lengths).tolist()
        for place, position, pair in zip(
            gone.tolist(), positions[gone].tolist(), pair_of[positions[gone]].tolist(), strict=True
        ):
            if pair == NOT_REMOVED:
                exact = Evidence(position, "exact", 0, EQUAL, 1.0, 1.0, self.bands.names[equal_bands[position]])
                yield self.record(place, exact)
            else:
                yield self.record(place, evidence[pair])

    def evidence(self) -> list[Evidence]:
        """Return the evidence of each deciding pair; a text equal to a removed one was removed by the same pair."""
        deciding, names = self.decisions.deciding, self.bands.plan.names
        return [
            Evidence(keeper, "near", distance, names[verifier], score, threshold, self.bands.names[band])
            for keeper, distance, verifier, score, threshold, band in zip(
                deciding.earlier.tolist(),
                deciding.hamming_distances.tolist(),
                deciding.verifiers.tolist(),
                deciding.scores.tolist(),
                deciding.thresholds.tolist(),
                deciding.length_bands.tolist(),
                strict=True,
            )
        ]

    def record(self, place: int, evidence: Evidence) -> Removed:
        """Return the record of one removed post."""
        corpus = self.corpus
        post, keeper = self.post_of[place], self.post_of[self.place_of[evidence.keeper]]
        return Removed(
            self.rows[post],
            corpus.ids[post],
            corpus.texts[post],
            self.rows[keeper],
            corpus.ids[keeper],
            *evidence[1:],
        )
