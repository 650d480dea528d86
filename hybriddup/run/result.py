"""The result of a run, and how it is put together from decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.corpus import Corpus
from hybriddup.data.frames import removed_to_pandas
from hybriddup.data.records import Int32s, Int64s, Removed
from hybriddup.data.removed import RemovedBy, RemovedColumns, RemovedPosts
from hybriddup.run.bands import Bands
from hybriddup.run.clusters import connected_clusters, keeper_clusters
from hybriddup.run.decisions import RunDecisions
from hybriddup.run.learned import LearnedRecipe
from hybriddup.run.summary import Summary

NO_PAIR = np.int64(-1)

Number = TypeVar("Number", np.int32, np.int64, np.float64)


@dataclass(frozen=True)
class Result:
    """What a run decided. Rows are zero-based input rows; every removed row names a kept row that it matches."""

    kept: list[int]
    """Rows that stay, in input order."""
    removed: Sequence[Removed]
    """Rows that go, in input order; each object is made when it is asked for."""
    summary: Summary
    n_rows: int
    verified_rows: Int64s
    """int64[n_pairs, 2]: every near pair that was verified on the way, as rows; for analysis."""
    dropped: Sequence[int] = ()
    """Rows that were left out for having no text, as ``without_text: drop`` asks, in input order."""
    recipe: LearnedRecipe | None = None
    """What was learned of the posts, or was given; ``recipe.save(path)`` keeps it for other runs and windows."""

    def clusters(self, *, connected: bool = False) -> list[list[int]]:
        """Return the rows that belong together, keeper first, only where there are two or more.

        Posts that were removed for one of another corpus (``against``) are in no cluster for that.

        Parameters
        ----------
        connected
            False: each kept row with the rows removed for it, so that every member matches the first.
            True: connected components of all verified pairs, which may chain texts that do not match each other.
        """
        if connected:
            return connected_clusters(self.removed, self.verified_rows)
        return keeper_clusters(self.removed)

    def to_pandas(self) -> Any:
        """Return the removed posts as a pandas DataFrame, one column a field of `Removed`.

        Raises
        ------
        HybriddupError
            pandas is not installed.
        """
        return removed_to_pandas(self.removed)


@dataclass(frozen=True)
class Assembler:
    """Everything that a result is put together from. A *place* is a post's index in the order of deciding."""

    corpus: Corpus
    order: Int64s
    """int64[n]: the index in the corpus of each place."""
    text_numbers: Int64s
    """int64[n]: which distinct text stands at each place."""
    decisions: RunDecisions
    lengths: Int32s
    """int32[n_texts]: code points after normalizing, of each distinct text."""
    bands: Bands

    def assemble(self, summary: Summary) -> Result:
        """Return the result and fill the counts of posts into the summary."""
        corpus, columns = self.corpus, self.removed()
        stays = np.arange(len(corpus.texts)) >= corpus.n_against
        stays[columns.posts] = False
        kept = corpus.rows[stays].tolist()
        summary.n_bad_lines = corpus.n_bad_records
        summary.n_exact = int(columns.is_exact.sum())
        summary.n_removed_against = int((columns.keepers < corpus.n_against).sum())
        summary.n_near, summary.n_kept = len(columns.posts) - summary.n_exact, len(kept)
        by = RemovedBy(self.bands.plan.names, self.bands.names, summary.config, summary.recipe_id)
        removed = RemovedPosts(corpus, columns, by)
        n_rows = max(corpus.n_rows, len(corpus.texts) - corpus.n_against)
        return Result(kept, removed, summary, n_rows, self.verified_rows())

    def removed(self) -> RemovedColumns:
        """Return every removed post, in input order."""
        gone = np.flatnonzero(~self.decisions.kept)
        gone = gone[gone >= self.corpus.n_against]
        return self.evidence(gone[np.argsort(self.order[gone])])

    def evidence(self, places: Int64s) -> RemovedColumns:
        """Return why the posts at these places go; in exact repeats no bit differs, score and threshold are 1.0."""
        deciding = self.decisions.deciding
        pair_of = np.full(len(self.order), NO_PAIR)
        pair_of[deciding.later] = np.arange(len(deciding))
        pairs = pair_of[places]
        is_exact = pairs == NO_PAIR

        def of_pair(column: NDArray[Number], of_exact: NDArray[Number] | float) -> NDArray[Number]:
            values = np.full(len(pairs), of_exact, column.dtype)
            values[~is_exact] = column[pairs[~is_exact]]
            return values

        return RemovedColumns(
            posts=self.order[places],
            keepers=self.order[of_pair(deciding.earlier, self.decisions.exact[places])],
            is_exact=is_exact,
            hamming_distances=of_pair(deciding.hamming_distances, 0),
            verifiers=of_pair(deciding.verifiers, 0),
            scores=of_pair(deciding.scores, 1.0),
            thresholds=of_pair(deciding.thresholds, 1.0),
            length_bands=of_pair(deciding.length_bands, self.bands.of_lengths(self.lengths[self.text_numbers[places]])),
        )

    def verified_rows(self) -> Int64s:
        """Return int64[n_pairs, 2]: every near pair that was verified, as rows; none with posts of other corpora."""
        verified, rows = self.decisions.accepted, self.corpus.rows[self.order]
        verified = verified.take(verified.earlier >= self.corpus.n_against)
        return np.stack([rows[verified.earlier], rows[verified.later]], axis=1)
