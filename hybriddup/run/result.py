"""The result of a run: its decisions, with methods that compute clusters, tables and reports from the decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np

from hybriddup.config.settings import CombinedVerifier, Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.frames import removed_to_pandas, removed_to_polars, take_posts
from hybriddup.data.records import Int64s
from hybriddup.data.removed import RemovedPosts, rows_with_keepers
from hybriddup.errors import HybriddupError, InputError
from hybriddup.files.outputs import save_whole
from hybriddup.plugin.registry import Registry
from hybriddup.run.near_misses import Judge, NearMiss, NearMisses, find_near_misses
from hybriddup.run.recipe import LearnedRecipe
from hybriddup.run.summary import Summary

Posts = TypeVar("Posts")

TIME_FIELD = "created_at"
"""Default name of the field with the times of posts."""
NO_ORIGIN = (
    "the result was not made by a run, so that its posts and settings are not known; hybriddup.dedupe makes one."
)


class Origin(NamedTuple):
    """The inputs of the run that made a result, for further analysis of the result."""

    corpus: Corpus
    settings: Settings
    judge: Judge
    """Function that judges the candidate pairs of a corpus, with the settings given to it and the recipe of the run."""
    registry: Registry
    """Registry that creates the components named in the settings."""
    per: str | None
    """The field whose value two posts must share to repeat each other; None = any two posts may."""
    time_field: str = TIME_FIELD
    """Name of the field with the times of posts, for the setting ``within`` and for reports."""
    authors: str | None = None
    """The field with the authors of posts, for reports; None = there are no authors."""


@dataclass(frozen=True, repr=False)
class Result:
    """The decisions of a run. Rows are zero-based input rows; every removed row names a kept row that it matches.

    Examples
    --------
    >>> import hybriddup
    >>> hybriddup.dedupe(["good morning, everybody", "nothing like it", "Good morning everybody!"])
    Result: kept 2 of 3, removed 1 (0 exact, 1 near)
    """

    kept_rows: Int64s
    """int64[n_kept]: kept rows, in input order."""
    removed: RemovedPosts
    """Removed rows, in input order; each `Removed` object is created when it is accessed."""
    summary: Summary
    n_rows: int
    verified_rows: Int64s
    """int64[n_pairs, 2]: all verified near pairs, as rows; for analysis."""
    dropped: Sequence[int] = ()
    """Rows that are neither kept nor removed, because they have no text (``without_text: drop``), in input order."""
    originals: Sequence[int] = ()
    """Rows removed because later posts repeat them, with ``keep: none``, in input order."""
    recipe: LearnedRecipe | None = None
    """The recipe learned from the posts, or given; ``recipe.save(path)`` saves it for other runs and windows."""
    origin: Origin | None = None
    """The posts and settings; None if the result was not made by a run."""

    @cached_property
    def kept(self) -> list[int]:
        """Kept rows, in input order; a list takes five times the memory of `kept_rows`."""
        kept: list[int] = self.kept_rows.tolist()
        return kept

    @cached_property
    def n_copies(self) -> Int64s:
        """int64[n_kept]: the number of posts removed for each of the `kept_rows`.

        Examples
        --------
        >>> import hybriddup
        >>> hybriddup.dedupe(["good morning, everybody", "nothing like it", "Good morning everybody!"]).n_copies
        array([1, 0])
        """
        corpus, columns = self.removed.corpus, self.removed.columns
        places = corpus.n_against + np.searchsorted(corpus.rows[corpus.n_against :], self.kept_rows)
        return np.bincount(columns.keepers, minlength=len(corpus.texts))[places]

    @cached_property
    def labels(self) -> Int64s:
        """int64[n_rows]: for each removed row, the kept row that it repeats (its keeper); for any other row, itself.

        The label is -1 if the keeper is a post of another corpus (``against``).

        Examples
        --------
        >>> import hybriddup
        >>> hybriddup.dedupe(["good morning, everybody", "nothing like it", "Good morning everybody!"]).labels
        array([0, 1, 0])
        """
        labels, (rows, keepers) = np.arange(self.n_rows), rows_with_keepers(self.removed)
        labels[self.removed.rows] = -1
        labels[rows] = keepers
        return labels

    def filter(self, posts: Posts) -> Posts:
        """Return the kept posts, in a container of the same type as ``posts``.

        Parameters
        ----------
        posts
            The posts that ``dedupe`` received, or the same number of other items in the same order: a list, tuple or
            array, a pandas or polars DataFrame or Series, or a Hugging Face Dataset.

        Raises
        ------
        InputError
            The number of posts differs, or ``posts`` has no length (for example, a generator).

        Examples
        --------
        >>> import hybriddup
        >>> posts = ["good morning, everybody", "nothing like it", "Good morning everybody!"]
        >>> hybriddup.dedupe(posts).filter(posts)
        ['good morning, everybody', 'nothing like it']
        """
        kept: Posts = take_posts(posts, self.kept, self.n_rows)
        return kept

    def clusters(self, *, connected: bool = False) -> list[list[int]]:
        """Return clusters of at least two rows, kept rows first.

        Matches with posts of another corpus (``against``) form no clusters.

        Parameters
        ----------
        connected
            False: each kept row with the rows removed for it, so that every member matches the first.
            True: connected components of all verified pairs, which may chain texts that do not match each other.
        """
        if connected:
            return connected_clusters(self.removed, self.verified_rows)
        return keeper_clusters(self.removed)

    def near_misses(self, n: int = 20) -> list[NearMiss]:
        """Return the pairs of kept posts that were nearly repeats, nearest first.

        A near miss is a candidate pair with a score up to 0.1 below its threshold, or with a sufficient score but
        refused by a guard of ``must_agree``. The two kinds alternate. The first call compares the kept posts again,
        which takes about as long as a run over them.

        Parameters
        ----------
        n
            Maximum number of pairs, at least 1.

        Returns
        -------
        Up to ``n`` pairs, from the first 100,000 kept posts.

        Raises
        ------
        InputError
            ``n`` is below 1.
        HybriddupError
            The result was not made by a run.

        Examples
        --------
        >>> import hybriddup
        >>> posts = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
        >>> result = hybriddup.dedupe(posts, config={"lengths": [{"verifier": {"use": "edit", "threshold": 0.9}}]})
        >>> [(miss.row, miss.earlier_row, round(miss.score, 2), miss.threshold) for miss in result.near_misses()]
        [(1, 0, 0.88, 0.9)]
        """
        if n < 1:
            raise InputError(f"n must be 1 or more; got {n}.")
        return self._all_near_misses.first(n)

    def rethreshold(self, threshold: float) -> Result:
        """Return the result for a higher threshold, computed from the scores of the removed posts without a new run.

        Near duplicates with a lower score are kept; all others stay removed, as repeats of the same kept posts.
        The posts that are newly kept were not compared with each other, so a new run may remove some of them. A length
        band with a higher threshold keeps its threshold.

        Parameters
        ----------
        threshold
            Lowest score of duplicates, inclusive; from the lowest threshold of the run to 1.0.

        Raises
        ------
        InputError
            The threshold is out of range, or several verifiers judge together, so that one score does not decide.
        HybriddupError
            The result was not made by a run.

        Examples
        --------
        >>> import hybriddup
        >>> posts = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "明天下雨吗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
        >>> result = hybriddup.dedupe(posts)
        >>> result.kept, result.rethreshold(0.6).kept, result.rethreshold(0.99).kept
        ([0, 1], [0, 1], [0, 1, 2])
        """
        settings = self._origin.settings
        lowest = min(settings.thresholds, default=1.0)
        if any(isinstance(band.verifier, CombinedVerifier) for band in settings.lengths):
            raise InputError("rethreshold needs one score for each pair, but several verifiers judge together.")
        if not lowest <= threshold <= 1:
            raise InputError(
                f"the threshold must be from {lowest:g}, the lowest of this run, to 1.0; got {threshold:g}. "
                "A lower one needs a new run: hybriddup.dedupe(posts, threshold=...)."
            )
        removed, columns = self.removed, self.removed.columns
        thresholds = np.where(columns.is_exact, columns.thresholds, np.maximum(columns.thresholds, threshold))
        stays = columns.scores >= thresholds
        left = removed.replaced(replace(columns, thresholds=thresholds).take(np.flatnonzero(stays)))
        n_exact, n_against = int(left.columns.is_exact.sum()), removed.corpus.n_against
        summary = replace(
            self.summary,
            n_near=len(left) - n_exact,
            n_kept=self.summary.n_kept + int((~stays).sum()),
            n_removed_against=int((left.columns.keepers < n_against).sum()),
            notes=[*self.summary.notes, f"the threshold was raised to {threshold:g} afterwards."],
        )
        kept, pairs = np.sort(np.concatenate([self.kept_rows, removed.rows[~stays]])), rows_with_keepers(left)
        origin = self._origin._replace(settings=settings.map_thresholds(lambda one: max(one, threshold)))
        return replace(
            self, kept_rows=kept, removed=left, summary=summary, verified_rows=np.stack(pairs, axis=1), origin=origin
        )

    @cached_property
    def _all_near_misses(self) -> NearMisses:
        corpus, origin = self._own_posts, self._origin
        kept = np.searchsorted(corpus.rows, self.kept_rows)
        return find_near_misses(corpus, kept, origin.settings, origin.judge)

    @cached_property
    def _own_posts(self) -> Corpus:
        """The posts that were deduplicated, without the posts of other corpora (``against``)."""
        corpus = self._origin.corpus
        return corpus.take(np.arange(corpus.n_against, len(corpus.texts))) if corpus.n_against else corpus

    @property
    def _origin(self) -> Origin:
        if self.origin is None:
            raise HybriddupError(NO_ORIGIN)
        return self.origin

    def to_pandas(self) -> Any:
        """Return the removed posts as a pandas DataFrame with one column per field of `Removed`.

        Raises
        ------
        HybriddupError
            pandas is not installed.
        """
        return removed_to_pandas(self.removed)

    def to_polars(self) -> Any:
        """Return the removed posts as a polars DataFrame with one column per field of `Removed`.

        Raises
        ------
        HybriddupError
            polars is not installed.
        """
        return removed_to_polars(self.removed)

    def report(self, target: str | Path | BinaryIO, *, times: Sequence[Any] | None = None, name: str = "") -> None:
        """Write an HTML report: a single file that needs no network.

        It shows counts, charts by length, day, score and distance, the most repeated posts, a sample of the removed
        posts next to the posts that they repeat, with the differences marked, the nearest misses, and the settings. The
        same result gives the same bytes. Like `near_misses`, it compares the kept posts again.

        Parameters
        ----------
        target
            Path of the file, which is replaced if it exists, or an open binary file.
        times
            Time of each row, for the chart by day: dates, seconds or milliseconds since 1970, or text such as
            ``2026-11-24``. None = no such chart, unless the run read the times of posts.
        name
            Name of the posts for the head of the page, such as a file name.

        Raises
        ------
        HybriddupError
            The extra ``report`` is not installed, or the result was not made by a run.
        InputError
            The number of times is not the number of rows.
        OutputError
            The file could not be written.
        """
        from hybriddup.run.report.contents import Contents
        from hybriddup.run.report.page import check_installed, render

        check_installed()
        corpus, settings = self._own_posts, self._origin.settings
        if times is None:
            times = corpus.order_values.get(self._origin.time_field)
        elif len(times) == self.n_rows:
            times = list(map(list(times).__getitem__, corpus.rows.tolist()))
        else:
            raise InputError(f"times must have one entry per row, {self.n_rows:,}; got {len(times):,}.")
        misses, authors = self._all_near_misses, corpus.order_values.get(self._origin.authors or "")
        contents = Contents(self.summary, settings, corpus, self.removed, self.dropped, misses, times, name, authors)
        page = render(contents)
        if isinstance(target, (str, Path)):
            save_whole(target, lambda file: file.write(page))
        else:
            target.write(page)

    def __repr__(self) -> str:
        return f"Result: {self.summary.in_one_line}"

    def _repr_html_(self) -> str:
        from hybriddup.run.report.notebooks import removed_html  # with what only notebooks need

        return removed_html(repr(self), self.removed)


def keeper_clusters(removed: RemovedPosts) -> list[list[int]]:
    """Return a cluster per keeper, ordered by keeper: the keeper's row, then the rows removed for it, ascending.

    Every member matches the keeper. Kept rows without removed rows are left out.
    """
    members: dict[int, list[int]] = {}
    for row, keeper in np.stack(rows_with_keepers(removed), axis=1).tolist():
        members.setdefault(keeper, []).append(row)
    return [[keeper, *sorted(members[keeper])] for keeper in sorted(members)]


def connected_clusters(removed: RemovedPosts, verified_rows: Int64s) -> list[list[int]]:
    """Return the connected components of the graph of all verified near pairs and exact repeats, as lists of rows.

    In a component, kept rows come first, then removed rows, both ascending; components are ordered by their first row.
    A component may chain texts that do not match each other, and may contain several kept rows: it describes the
    corpus, not the decisions.

    ``verified_rows``: int64[n_pairs, 2], the rows of all verified near pairs.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = np.concatenate([verified_rows.reshape(-1, 2), np.stack(rows_with_keepers(removed), axis=1)])
    rows, ends = np.unique(edges, return_inverse=True)
    a, b = ends.reshape(edges.shape).T
    graph = coo_array((np.ones(len(edges), np.bool_), (a, b)), shape=(len(rows), len(rows)))
    _, labels = connected_components(graph, directed=False)
    is_removed = np.isin(rows, removed.rows)
    order = np.lexsort((rows, is_removed, labels))
    bounds = np.flatnonzero(np.diff(labels[order])) + 1
    return sorted(part.tolist() for part in np.split(rows[order], bounds) if len(part))
