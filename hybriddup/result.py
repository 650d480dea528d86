"""From decisions about distinct texts to the result for every input row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hybriddup.bands import Bands
from hybriddup.corpus import Corpus
from hybriddup.exact import EqualTexts
from hybriddup.records import Int32s, Int64s, Result, VerifiedPairs
from hybriddup.removed import RemovedColumns, RemovedPosts, in_input_order
from hybriddup.steps.deciders import Decisions
from hybriddup.summary import Summary

NOT_REMOVED = -1


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

    def assemble(self, summary: Summary) -> Result:
        """Return the result and fill the counts of posts into the summary."""
        corpus, columns = self.corpus, in_input_order(self.removed())
        stays = np.ones(len(corpus.texts), np.bool_)
        stays[columns.posts] = False
        kept = corpus.rows[stays].tolist()
        summary.n_read, summary.n_bad_lines = len(corpus.texts), corpus.n_bad_records
        summary.n_exact = int(columns.is_exact.sum())
        summary.n_near, summary.n_kept = len(columns.posts) - summary.n_exact, len(kept)
        removed = RemovedPosts(corpus, columns, self.bands.plan.names, self.bands.names)
        return Result(kept, removed, summary, max(corpus.n_rows, len(corpus.texts)), self.verified_rows())

    def removed(self) -> RemovedColumns:
        """Return every removed post, in the order of deciding."""
        equal, deciding = self.equal, self.decisions.deciding
        positions = self.positions()
        pair_of = np.full(len(equal.distinct), NOT_REMOVED, np.int64)
        pair_of[deciding.later] = np.arange(len(deciding))
        is_repeat = equal.first_of != np.arange(len(equal.first_of))
        gone = np.flatnonzero(is_repeat | (pair_of[positions] != NOT_REMOVED))
        return self.evidence(gone, positions[gone], pair_of[positions[gone]])

    def positions(self) -> Int64s:
        """Return int64[n]: the position of the text at each place."""
        position_of = np.empty(len(self.equal.first_of), np.int64)
        position_of[self.equal.distinct] = np.arange(len(self.equal.distinct))
        return position_of[self.equal.first_of]

    def evidence(self, places: Int64s, positions: Int64s, pairs: Int64s) -> RemovedColumns:
        """Return why the posts at these places go; a text equal to a removed one was removed by the same pair."""
        is_exact = pairs == NOT_REMOVED
        deciding = with_one_more(self.decisions.deciding).take(pairs)  # -1 takes the last one
        return RemovedColumns(
            posts=self.order[places],
            keepers=self.order[self.equal.distinct[np.where(is_exact, positions, deciding.earlier)]],
            is_exact=is_exact,
            hamming_distances=deciding.hamming_distances,
            verifiers=deciding.verifiers,
            scores=deciding.scores,
            thresholds=deciding.thresholds,
            length_bands=np.where(is_exact, self.bands.of_lengths(self.lengths[positions]), deciding.length_bands),
        )

    def verified_rows(self) -> Int64s:
        """Return int64[n_pairs, 2]: every near pair that was verified, as rows."""
        verified = self.decisions.verified
        rows_of_positions = self.corpus.rows[self.order[self.equal.distinct]]
        return np.stack([rows_of_positions[verified.earlier], rows_of_positions[verified.later]], axis=1)


def with_one_more(pairs: VerifiedPairs) -> VerifiedPairs:
    """Return the pairs and, after them, one of equal texts: no bit differs, score and threshold are 1.0."""
    zero = np.zeros(1, np.int64)
    number, one = np.zeros(1, np.int32), np.ones(1)
    return VerifiedPairs(
        np.append(pairs.earlier, zero),
        np.append(pairs.later, zero),
        np.append(pairs.hamming_distances, number),
        np.append(pairs.scores, one),
        np.append(pairs.thresholds, one),
        np.append(pairs.verifiers, number),
        np.append(pairs.length_bands, number),
    )
