"""Builds the result of a run from its decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.corpus import Corpus
from hybriddup.data.records import Int32s, Int64s
from hybriddup.data.removed import RemovedBy, RemovedColumns, RemovedPosts
from hybriddup.kernels.search.decide import NONE
from hybriddup.run.components import Components
from hybriddup.run.decisions import RunDecisions
from hybriddup.run.result import Result
from hybriddup.run.summary import Summary

Number = TypeVar("Number", np.int32, np.int64, np.float64)


@dataclass(frozen=True)
class Assembler:
    """Builds the result of a run. A *position* is the index of a post in the order of deciding."""

    corpus: Corpus
    order: Int64s | None
    """int64[n]: indices of the posts in the corpus, in the order of deciding; None = decided in input order."""
    text_numbers: Int32s
    """int32[n]: index of each post's distinct text, in the order of deciding."""
    decisions: RunDecisions
    lengths: Int32s
    """int32[n_texts]: length of each distinct text after normalizing, in code points."""
    components: Components
    """The components of the run, with its settings and length bands."""

    def assemble(self, summary: Summary) -> Result:
        """Return the result, and add the counts of posts to the summary."""
        corpus, columns, bands = self.corpus, self.removed(), self.components.bands
        stays = np.ones(len(corpus.texts), np.bool_)
        stays[: corpus.n_against] = stays[columns.posts] = False
        originals = np.zeros(len(stays), np.bool_)
        if self.components.settings.keep == "none":
            originals[columns.keepers] = True
            originals &= stays
        kept, gone = corpus.rows[stays & ~originals], corpus.rows[originals].tolist()
        summary.n_originals = len(gone)
        summary.n_bad_lines = corpus.n_bad_records
        summary.n_exact = int(columns.is_exact.sum())
        summary.n_removed_against = int((columns.keepers < corpus.n_against).sum())
        summary.n_near, summary.n_kept = len(columns.posts) - summary.n_exact, len(kept)
        by = RemovedBy(bands.plan.names, bands.names, summary.config, summary.recipe_id)
        removed = RemovedPosts(corpus, columns, by)
        n_rows = max(corpus.n_rows, len(corpus.texts) - corpus.n_against)
        return Result(kept, removed, summary, n_rows, self.verified_rows(), originals=gone)

    def removed(self) -> RemovedColumns:
        """Return the keeper, distance, score and other evidence of every removed post, in input order."""
        gone = np.flatnonzero(~self.decisions.kept)
        gone = gone[gone >= self.corpus.n_against]
        columns = self.evidence(gone)
        if max_copies := self.components.settings.max_copies:
            order = np.argsort(columns.keepers, kind="stable")
            keepers = columns.keepers[order]
            numbers = np.arange(len(keepers)) - np.searchsorted(keepers, keepers)
            columns = columns.take(np.sort(order[numbers >= max_copies]))
        return columns if self.order is None else columns.take(np.argsort(columns.posts))

    def evidence(self, positions: Int64s) -> RemovedColumns:
        """Return the evidence for removing each post; an exact repeat has the distance 0 and the score 1.0."""
        deciding = self.decisions.deciding
        is_exact = self.decisions.exact[positions] != NONE
        pairs = np.searchsorted(deciding.later, positions[~is_exact])
        lengths = self.lengths[self.text_numbers[positions]]

        def of_pair(column: NDArray[Number], of_exact: NDArray[Number] | float) -> NDArray[Number]:
            values = np.full(len(positions), of_exact, column.dtype)
            values[~is_exact] = column[pairs]
            return values

        return RemovedColumns(
            posts=self.places(positions),
            keepers=self.places(of_pair(deciding.earlier, self.decisions.exact[positions])),
            is_exact=is_exact,
            hamming_distances=of_pair(deciding.hamming_distances, 0),
            verifiers=of_pair(deciding.verifiers, 0),
            scores=of_pair(deciding.scores, 1.0),
            thresholds=of_pair(deciding.thresholds, 1.0),
            length_bands=of_pair(deciding.length_bands, self.components.bands.of_lengths(lengths)),
        )

    def verified_rows(self) -> Int64s:
        """Return int64[n_pairs, 2]: input rows of all accepted pairs, except pairs with a post of ``against``."""
        verified, rows = self.decisions.accepted, self.corpus.rows
        verified = verified.take(verified.earlier >= self.corpus.n_against)
        return np.stack([rows[self.places(verified.earlier)], rows[self.places(verified.later)]], axis=1)

    def places(self, positions: Int64s) -> Int64s:
        """Return int64[n]: the index in the corpus of each post, given its position in the order of deciding."""
        return positions if self.order is None else self.order[positions]
